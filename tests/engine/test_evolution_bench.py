"""The benchmark of evolutionary search: its problems' answers are right, and its searches find them."""

from __future__ import annotations

import numpy as np
import pytest

from engine.bench.ec import CASES, CONTENDERS, LEAST, pairs, run
from engine.bench.ec import ours as engine_search
from engine.bench.ec_tasks import MANY, ONE, PLAIN, TASKS, Task, ideal_share
from engine.catalog import ALGORITHMS


@pytest.mark.parametrize("name", [name for name in PLAIN if PLAIN[name].volume])
def test_known_volumes_are_those_of_the_true_fronts(name: str) -> None:
    task = Task(name)
    assert task.dominated(TASKS[name].truth()) == pytest.approx(task.volume, rel=2e-2)
    assert task.dominated(TASKS[name].truth()) <= task.volume + 1e-4


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_nothing_found_at_random_beats_the_known_answer(name: str) -> None:
    task = Task(name)
    genomes = task.space().sample(np.random.default_rng(0), 3000)
    if task.m == 1:
        assert task.score(genomes) >= 0
    else:
        assert task.score(genomes) <= 1 + 1e-6


def test_the_answers_of_dtlz5_and_dtlz7_and_shubert_are_reached() -> None:
    angle = np.column_stack([np.linspace(0, 1, 500), np.full((500, 9), 0.5)])
    assert Task("dtlz5").score(angle) == pytest.approx(1, abs=0.01)
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 80)] * 2), axis=2).reshape(-1, 2)
    assert Task("dtlz7").score(np.column_stack([grid, np.zeros((len(grid), 8))])) == pytest.approx(1, abs=0.02)
    assert Task("shubert").score(np.array([[-1.42512843, -0.80032110]])) == pytest.approx(0, abs=1e-6)


def test_noise_is_in_the_evaluations_and_not_in_the_score() -> None:
    task, rng = Task("noisy-sphere"), np.random.default_rng(0)
    same = np.full((4000, 10), 0.5)
    assert task.evaluate(same, rng).std() == pytest.approx(0.1, rel=0.1)
    assert task.score(same) == 0
    several = Task("noisy-zdt3")
    spread = several.evaluate(np.full((4000, 30), 0.5), rng).std(axis=0)
    np.testing.assert_allclose(spread, 0.1 * (several.high - several.low), rtol=0.1)


def test_every_algorithm_and_every_problem_with_and_without_noise_has_its_cases() -> None:
    one, many = ("sphere", "rastrigin", "rosenbrock", "shubert"), [f"zdt{i}" for i in range(1, 7)]
    plain = {*one, *many, *(f"dtlz{i}" for i in range(1, 8))}
    assert set(TASKS) == plain | {f"noisy-{name}" for name in plain}
    assert all(bool(TASKS[name].noise) == name.startswith("noisy-") for name in TASKS)
    assert {c.kind for c in CONTENDERS.values()} == set(ALGORITHMS)
    assert {c.tasks for c in CONTENDERS.values()} == {MANY, ONE, tuple(TASKS)}
    assert {f"{name}-{task}" for name, c in CONTENDERS.items() for task in c.tasks} <= set(CASES)
    for name in ("nsga2", "nsga3", "agemoea", "ga", "pso", "cmaes", "random"):
        assert {f"{name}-overhead-100", f"{name}-overhead-2000"} <= set(CASES)
    assert len(set(CASES)) == len(CASES)
    assert set(LEAST) <= set(CASES)


@pytest.mark.parametrize("name", CONTENDERS)
def test_every_case_runs_beside_its_peer(name: str) -> None:
    contender = CONTENDERS[name]
    if name == "agemoea":
        contender = contender._replace(peer_search=None)  # pymoo compiles its own for a quarter of a minute
    for task in map(Task, contender.tasks):
        ((mine, theirs),) = pairs(contender, task, 16, 2, [1])
        assert np.isfinite(task.score(mine.genomes))
        assert theirs is None or np.isfinite(task.score(theirs.genomes))


def test_the_ideal_set_of_ninety_one_directions_leaves_little_out() -> None:
    assert 0.915 < ideal_share(91, 12) < 0.93


def test_a_case_prints_its_quality_and_its_time_beside_the_peer_s() -> None:
    quality, seconds = run("pso-sphere", quick=True)
    assert quality["peer"] == seconds["peer"] == "pymoo PSO"
    assert 0 <= quality["value"] < 1e-3
    assert quality["peer_value"] < 1e-2
    assert seconds["unit"].startswith("ms a generation")


@pytest.mark.parametrize(
    ("name", "task", "population", "generations", "least"),
    [("nsga3", "dtlz2", 91, 60, 0.89), ("agemoea", "dtlz2", 92, 60, 0.89), ("nsga2", "dtlz2", 92, 60, 0.80)],
)
def test_three_objectives_are_searched_well(
    name: str, task: str, population: int, generations: int, least: float
) -> None:
    search = engine_search(CONTENDERS[name])
    found = Task(task)
    assert found.score(search(found, population, generations, 1).genomes) > least


@pytest.mark.parametrize(("name", "most"), [("ga", 1e-3), ("pso", 1e-3), ("cso", 0.05), ("random", 1.0)])
def test_one_objective_is_brought_down(name: str, most: float) -> None:
    task = Task("sphere")
    assert task.score(engine_search(CONTENDERS[name])(task, 40, 75, 1).genomes) < most
