"""Search algorithms: the contract for each, and the quality of NSGA-II on a problem whose front is known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from engine.catalog import ALGORITHMS
from engine.evolution.agemoea import AGEMOEA
from engine.evolution.algorithm import Algorithm, Individual, Population
from engine.evolution.cso import CSO
from engine.evolution.ga import GA
from engine.evolution.nsga2 import NSGA2, survivors
from engine.evolution.nsga3 import NSGA3
from engine.evolution.operators import IntegerSpace, MixtureSpace, RealSpace
from engine.evolution.pso import PSO
from engine.evolution.random_search import RandomSearch
from engine.evolution.swarm import Swarm
from engine.indicators import hypervolume
from engine.problem import Evaluation, Problem
from tests.contracts.algorithm import MANY, ONE, AlgorithmContract, drive, problem

GOLDEN = Path(__file__).parent.parent / "golden"


class TestNSGA2(AlgorithmContract):
    algorithm = NSGA2


class TestSteadyNSGA2(AlgorithmContract):
    algorithm = NSGA2
    steady = True


class TestNSGA2OfOneObjective(AlgorithmContract):
    algorithm = NSGA2
    of = ONE


class TestNSGA2OfManyObjectives(AlgorithmContract):
    algorithm = NSGA2
    of = MANY


class TestGA(AlgorithmContract):
    algorithm = GA


class TestSteadyGA(AlgorithmContract):
    algorithm = GA
    steady = True


class TestGAOfOneObjective(AlgorithmContract):
    algorithm = GA
    of = ONE


class TestGAOfManyObjectives(AlgorithmContract):
    algorithm = GA
    of = MANY


class TestNSGA3(AlgorithmContract):
    algorithm = NSGA3


class TestSteadyNSGA3(AlgorithmContract):
    algorithm = NSGA3
    steady = True


class TestNSGA3OfOneObjective(AlgorithmContract):
    algorithm = NSGA3
    of = ONE


class TestNSGA3OfManyObjectives(AlgorithmContract):
    algorithm = NSGA3
    of = MANY


class TestAGEMOEA(AlgorithmContract):
    algorithm = AGEMOEA


class TestSteadyAGEMOEA(AlgorithmContract):
    algorithm = AGEMOEA
    steady = True


class TestAGEMOEAOfOneObjective(AlgorithmContract):
    algorithm = AGEMOEA
    of = ONE


class TestAGEMOEAOfManyObjectives(AlgorithmContract):
    algorithm = AGEMOEA
    of = MANY


class TestPSO(AlgorithmContract):
    algorithm = PSO


class TestSteadyPSO(AlgorithmContract):
    algorithm = PSO
    steady = True


class TestPSOOfOneObjective(AlgorithmContract):
    algorithm = PSO
    of = ONE


class TestPSOOfManyObjectives(AlgorithmContract):
    algorithm = PSO
    of = MANY


class TestCSO(AlgorithmContract):
    algorithm = CSO


class TestSteadyCSO(AlgorithmContract):
    algorithm = CSO
    steady = True


class TestCSOOfOneObjective(AlgorithmContract):
    algorithm = CSO
    of = ONE


class TestCSOOfManyObjectives(AlgorithmContract):
    algorithm = CSO
    of = MANY


class TestRandomSearch(AlgorithmContract):
    algorithm = RandomSearch


@pytest.mark.parametrize("swarm", [PSO, CSO])
def test_a_swarm_whose_particles_are_all_under_way_asks_for_nothing(swarm: type[Swarm]) -> None:
    several = MixtureSpace({"real": RealSpace([0.0], [1.0]), "whole": IntegerSpace([0], [9])})
    search = swarm(Problem(several, problem().objectives), 4, 3, 1, steady=True)
    first = search.ask(9)
    assert len(first) == 4
    assert search.ask(9) == []
    for request in first[:2]:
        search.tell(individual(request.id, (0.0, 1.0)).evaluation)
    assert 0 < len(search.ask(9)) <= 2, "whoever was evaluated moves on while the others are under way"
    assert len(search.front()) == 2


def volume(algorithm: Algorithm) -> float:
    front = np.stack([i.evaluation.objectives for i in algorithm.front()])
    return hypervolume(front, (-1, -1), (1.1, 1.1))


def test_nsga2_comes_close_to_the_known_front_and_random_search_does_not() -> None:
    searches = [NSGA2(problem(), 40, 150, 1), RandomSearch(problem(), 40, 150, 1)]
    for search in searches:
        drive(search)
    assert volume(searches[0]) > 0.97 * 0.87667  # ZDT1's true volume with this reference
    assert volume(searches[1]) < 0.5 * 0.87667


def individual(i: int, f: tuple[float, float], violation: float = 0.0) -> Individual:
    return Individual(np.zeros(10), Evaluation(i, np.array(f), np.zeros((2, 2)), 1, np.empty(0), violation), 0)


def test_survival_takes_whole_fronts_then_the_least_crowded() -> None:
    members = [(0, 3), (1, 2), (1.1, 1.9), (3, 0), (4, 4)]
    R = Population(problem(), [individual(i, f) for i, f in enumerate(members)])
    assert sorted(survivors(R, 3).tolist()) == [0, 1, 3] or sorted(survivors(R, 3).tolist()) == [0, 2, 3]
    assert 4 not in survivors(R, 4)


def test_violations_come_after_everything_feasible() -> None:
    R = Population(problem(), [individual(0, (0, 0), 2.0), individual(1, (9, 9)), individual(2, (0, 0), 1.0)])
    assert survivors(R, 2).tolist() == [1, 2]


@pytest.mark.parametrize("kind", sorted(ALGORITHMS))
def test_every_algorithm_has_a_golden_result_and_still_gives_it(kind: str) -> None:
    search = ALGORITHMS[kind].load()(problem(), 12, 8, 7)
    drive(search)
    found = sorted([round(float(v), 9) for v in i.evaluation.objectives] for i in search.front())
    golden = json.loads((GOLDEN / "algorithms.json").read_text())
    assert kind in golden, f"record a golden front for {kind}"
    np.testing.assert_allclose(np.array(found), np.array(golden[kind]), rtol=1e-6, atol=1e-9)
