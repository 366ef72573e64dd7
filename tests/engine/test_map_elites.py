"""MAP-Elites: the contract, who keeps a cell, coverage and score, and what noise does to a grid."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from engine.errors import ConfigError
from engine.evolution.map_elites import MAPElites
from engine.evolution.noise import Resampling
from engine.evolution.operators import RealSpace
from engine.problem import Evaluation, Objective, Problem, Request
from tests.contracts.algorithm import MANY, ONE, AlgorithmContract, stored

PLANE = Problem(RealSpace(np.zeros(4), np.ones(4)), (Objective("skill", "Skill"),), descriptors=("bold", "quick"))
"""Behaviour is the first two variables; skill is best where the other two are a half."""


class TestMAPElites(AlgorithmContract):
    algorithm = MAPElites


class TestSteadyMAPElites(AlgorithmContract):
    algorithm = MAPElites
    steady = True


class TestMAPElitesOfManyObjectives(AlgorithmContract):
    algorithm = MAPElites
    of = MANY


def answer(request: Request, sigma: float = 0.0) -> Evaluation:
    x, n = request.genome, request.last - request.first
    rng = np.random.default_rng([request.first, *np.ascontiguousarray(x).view(np.uint32).tolist()])
    noise = sigma * rng.normal(size=n)
    variance = np.array([[noise.var(ddof=1) / n if n > 1 else 0.0]])
    skill = -float(((x[2:] - 0.5) ** 2).sum()) + noise.mean()
    return Evaluation(request.id, np.array([skill]), variance, n, np.empty(0), descriptor=x[:2].copy())


def finish(search: MAPElites | Resampling, sigma: float = 0.0, order: random.Random | None = None) -> None:
    waiting: list[Request] = []
    while not search.done:
        waiting += search.ask(5)
        search.tell(answer(waiting.pop(order.randrange(len(waiting)) if order else 0), sigma))


def test_it_fills_the_grid_with_skilled_candidates_of_every_behaviour() -> None:
    search = MAPElites(PLANE, 50, 60, 1, bins=8, low=(0, 0), high=(1, 1))
    finish(search)
    assert search.coverage() > 0.9
    grid = search.grid()
    assert len(grid["id"]) == len(np.unique(grid["cell"], axis=0)) == round(search.coverage() * 64)
    assert np.median(grid["quality"]) > -0.02
    for individual in search.elites():
        x = individual.genome
        assert (
            np.minimum(x[:2] * 8, 7).astype(int) == grid["cell"][list(grid["id"]).index(individual.evaluation.id)]
        ).all()


@pytest.mark.parametrize("bounds", [{"low": (0.4, 0.4), "high": (0.6, 0.6)}, {}])
def test_the_cells_at_the_ends_also_hold_what_lies_beyond(bounds: dict[str, Any]) -> None:
    search = MAPElites(PLANE, 4, 2, 1, bins=4, **bounds)
    behaviour = [(0.4, 0.4), (0.6, 0.6), (0.5, 0.5), (0.55, 0.55), (-9.0, 9.0), (9.0, 0.5), (np.nan, 0.5), (0.45, 0.45)]
    for _ in range(2):
        for request in search.ask(4):
            search.tell(answer(request)._replace(descriptor=np.array(behaviour[request.id])))
    cells = {int(i): cell.tolist() for i, cell in zip(search.grid()["id"], search.grid()["cell"], strict=True)}
    assert (cells[4], cells[5], cells[6]) == ([0, 3], [3, 2], [0, 2])


def test_coverage_and_score_never_fall_without_noise() -> None:
    search, seen = MAPElites(PLANE, 20, 20, 2, bins=6, low=(0, 0), high=(1, 1)), [(0.0, 0.0)]
    while not search.done:
        for request in search.ask(1):
            search.tell(answer(request))
        seen.append((search.coverage(), search.qd_score()))
    assert seen == sorted(seen)
    assert seen[-1][1] > seen[1][1] > 0


def test_the_better_one_keeps_a_cell_and_the_older_one_when_equal() -> None:
    search = MAPElites(PLANE, 3, 2, 1, bins=1, low=(0, 0), high=(1, 1))
    for request, skill in zip(search.ask(1), (1.0, 2.0, 2.0), strict=True):
        search.tell(answer(request)._replace(objectives=np.array([skill])))
    assert [i.evaluation.id for i in search.elites()] == [1]


def test_behaviour_beyond_the_bounds_counts_to_the_outermost_cells() -> None:
    search = MAPElites(PLANE, 2, 1, 1, bins=4, low=(0, 0), high=(1, 1))
    for request, behaviour in zip(search.ask(1), ((-5.0, 0.3), (1.0, 9.0)), strict=True):
        search.tell(answer(request)._replace(descriptor=np.array(behaviour)))
    assert search.grid()["cell"].tolist() == [[0, 1], [3, 3]]


def test_without_given_bounds_the_first_candidates_span_the_grid() -> None:
    search = MAPElites(PLANE, 30, 2, 1)
    first = search.ask(1)
    for request in first:
        search.tell(answer(request))
    x = np.stack([r.genome[:2] for r in first])
    np.testing.assert_array_equal(search.low, x.min(axis=0))
    np.testing.assert_array_equal(search.high, x.max(axis=0))


Behaviour = Callable[[int, np.ndarray], tuple[float, float]]


def behaving(search: MAPElites, behaviour: Behaviour) -> MAPElites:
    """A whole search whose candidates behave as ``behaviour`` of their id and genome says."""
    while not search.done:
        for request in search.ask(1):
            told = np.array(behaviour(request.id, request.genome))
            search.tell(answer(request)._replace(descriptor=told))
    return search


@pytest.mark.parametrize("nothing", [np.nan, np.inf, -np.inf, 0.25])
def test_an_axis_that_says_nothing_at_first_gets_its_bounds_once_it_does(nothing: float) -> None:
    search = MAPElites(PLANE, 20, 10, 1, bins=4)
    behaving(search, lambda i, x: (x[0], nothing if i < 40 else x[1]))
    assert np.isfinite([search.low, search.high]).all()
    assert (search.high > search.low).all()
    assert len(np.unique(search.grid()["cell"][:, 1])) == 4, "the second axis tells candidates apart"
    assert len(np.unique(search.grid()["cell"][:, 0])) == 4
    for individual in search.elites():
        assert search.cells[search._cell(individual)] is individual


def test_the_bounds_of_such_an_axis_are_those_of_the_first_tick_with_numbers() -> None:
    search = MAPElites(PLANE, 3, 3, 1, bins=2)
    told = [
        (0.0, np.nan),
        (1.0, np.inf),
        (0.5, np.nan),
        (9.0, 2.0),
        (0.5, 4.0),
        (0.2, np.nan),
        (0.1, 99.0),
        (0, 0),
        (0, 3),
    ]
    behaving(search, lambda i, x: told[i])
    assert search.low.tolist() == [0.0, 2.0]
    assert search.high.tolist() == [1.0, 4.0]


def test_infinite_behaviour_bounds_nothing_and_goes_to_the_ends() -> None:
    search = MAPElites(PLANE, 4, 1, 1, bins=4)
    told = [(0.0, -np.inf), (1.0, np.inf), (0.5, 1.0), (0.6, 2.0)]
    behaving(search, lambda i, x: told[i])
    assert (search.low.tolist(), search.high.tolist()) == ([0.0, 1.0], [1.0, 2.0])
    cells = dict(zip(search.grid()["id"].tolist(), search.grid()["cell"].tolist(), strict=True))
    assert (cells[0][1], cells[1][1]) == (0, 3)


def test_an_axis_that_never_says_anything_is_one_cell_wide_and_travels() -> None:
    search = behaving(MAPElites(PLANE, 10, 4, 1, bins=4), lambda i, x: (x[0], np.nan))
    assert set(search.grid()["cell"][:, 1].tolist()) == {0}
    again = MAPElites(PLANE, 10, 4, 1, bins=4)
    again.load(stored(search.state()))
    assert again.grid()["id"].tolist() == search.grid()["id"].tolist()


def test_quality_that_is_not_a_finite_number_never_keeps_a_cell_for_good() -> None:
    search, skills = (
        MAPElites(PLANE, 3, 2, 1, bins=1, low=(0, 0), high=(1, 1)),
        [np.nan, -np.inf, np.nan, 1.0, 2.0, 0.0],
    )
    while not search.done:
        for request in search.ask(1):
            search.tell(answer(request)._replace(objectives=np.array([skills[request.id]])))
    assert [i.evaluation.id for i in search.elites()] == [4]
    assert search.qd_score() == 2.0, "the floor is that of the first tick that has finite ones"


def test_a_map_on_which_nobody_is_yet_has_no_cells() -> None:
    grid = MAPElites(PLANE, 20, 8, 3, bins=5).grid()
    assert {name: column.shape for name, column in grid.items()} == {"cell": (0, 2), "quality": (0,), "id": (0,)}


def test_a_resumed_grid_is_the_same_grid() -> None:
    whole, half, again = (MAPElites(PLANE, 20, 8, 3, bins=5) for _ in range(3))
    finish(whole)
    waiting: list[Request] = []
    for _ in range(70):
        waiting += half.ask(1)
        half.tell(answer(waiting.pop(0)))
    again.load(stored(half.state()))
    finish(again)
    for name, column in whole.grid().items():
        np.testing.assert_array_equal(again.grid()[name], column)
    assert again.qd_score() == whole.qd_score()


@pytest.mark.parametrize("steady", [False, True])
def test_elites_that_are_measured_again_lose_what_was_only_luck(steady: bool) -> None:
    optimism = []
    for again in (0, 60):
        search = MAPElites(PLANE, 40, 25, 4, 2, bins=5, low=(0, 0), high=(1, 1), steady=steady)
        noisy = Resampling(search, reevaluate=again, again=4)
        finish(noisy, sigma=0.3, order=random.Random(1))
        truth = [-float(((i.genome[2:] - 0.5) ** 2).sum()) for i in search.elites()]
        optimism.append(float(np.mean(search.grid()["quality"] - truth)))
    assert optimism[0] > 0.2
    assert optimism[1] < 0.5 * optimism[0]


def test_an_elite_that_turns_out_to_behave_otherwise_moves_to_its_cell() -> None:
    search = MAPElites(PLANE, 2, 2, 1, bins=2, low=(0, 0), high=(1, 1))
    for request, at in zip(search.ask(1), (0.1, 0.9), strict=True):
        search.tell(answer(request)._replace(objectives=np.array([at]), descriptor=np.array([at, at])))
    first = search.elites()[0].evaluation
    search.revise([first._replace(descriptor=np.array([0.9, 0.1]))])
    assert search.grid()["cell"].tolist() == [[1, 0], [1, 1]]
    search.revise([first._replace(descriptor=np.array([0.9, 0.9]))])
    assert [i.evaluation.id for i in search.elites()] == [1], "it loses against the better one there"


def test_what_cannot_span_a_grid_is_refused_in_words() -> None:
    with pytest.raises(ConfigError, match="how a candidate behaves"):
        MAPElites(ONE.problem, 10, 5, 1)
    with pytest.raises(ConfigError, match="no objective 'fun'"):
        MAPElites(PLANE, 10, 5, 1, quality="fun")
    with pytest.raises(ConfigError, match="2 lower and 2 upper"):
        MAPElites(PLANE, 10, 5, 1, low=(0,), high=(1,))
    with pytest.raises(ConfigError, match="foresee"):
        Resampling(MAPElites(PLANE, 10, 5, 1), racing="halving")


def test_a_map_by_other_estimates_drops_what_was_luck_and_leaves_the_map_itself_alone() -> None:
    search = MAPElites(PLANE, 3, 1, 1, bins=2, low=(0, 0), high=(1, 1))
    for request, (at, skill) in zip(search.ask(1), ((0.1, 1.0), (0.9, 2.0), (0.6, 1.5)), strict=True):
        search.tell(answer(request)._replace(objectives=np.array([skill]), descriptor=np.array([at, 0.1])))
    first, second = (i.evaluation for i in search.elites())
    moved = first._replace(objectives=np.array([3.0]), descriptor=np.array([0.9, 0.1]))
    (again,) = search.views_by([moved, second._replace(objectives=np.array([0.5]))])
    assert again.columns["id"].tolist() == [first.id]
    assert again.metrics["coverage"] < search.coverage()
    assert search.grid()["id"].tolist() == [first.id, second.id]
    assert search.grid()["quality"].tolist() == [1.0, 2.0]
