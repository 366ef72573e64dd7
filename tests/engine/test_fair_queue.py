"""The fair queue: the contract, the order in which a search learns, and that time does not decide who survives."""

from __future__ import annotations

import random

import numpy as np
import pytest

from engine.bench.asynchrony import TIMES, Sleeping, busy, correlation, follow, steady
from engine.catalog import ALGORITHMS
from engine.evolution.algorithm import Algorithm
from engine.evolution.fair import FairQueue
from engine.evolution.nsga2 import NSGA2
from tests.contracts.algorithm import AlgorithmContract, answer, problem, stored


class TestFairQueue(AlgorithmContract):
    def make(self, seed: int = 1, ticks: int = 6) -> Algorithm:
        return FairQueue(NSGA2(problem(), 12, ticks, seed, steady=self.steady))


class TestSteadyFairQueue(TestFairQueue):
    steady = True


def test_a_search_learns_in_the_order_of_its_requests_whatever_the_order_of_arrival() -> None:
    search = NSGA2(problem(), 12, 6, 1, steady=True)
    queue, rng, waiting, learnt = FairQueue(search), random.Random(1), [], []
    while not queue.done:
        waiting += queue.ask(9)
        before = set(search.outstanding)
        queue.tell(answer(waiting.pop(rng.randrange(len(waiting)))))
        learnt += sorted(before - set(search.outstanding))
    assert learnt == list(range(72))


def test_a_slow_candidate_holds_up_learning_but_not_the_workers() -> None:
    search = NSGA2(problem(), 12, 60, 1, steady=True)
    queue = FairQueue(search)
    for request in queue.ask(12):
        queue.tell(answer(request))
    slow, *waiting = queue.ask(5)
    evaluated = search.evaluated
    for _ in range(50):
        queue.tell(answer(waiting.pop(0)))
        assert search.evaluated == evaluated
        waiting += queue.ask(4)
        assert waiting, "there is always more to do"
    queue.tell(answer(slow))
    assert search.evaluated == evaluated + 51


def test_what_waits_in_the_queue_survives_a_checkpoint() -> None:
    queue, again = (FairQueue(NSGA2(problem(), 12, 6, 1, steady=True)) for _ in range(2))
    first = queue.ask(12)
    for request in first[3:9]:
        queue.tell(answer(request))
    again.load(stored(queue.state()))
    assert [r.id for r in again.ask(12)] == [0, 1, 2, 9, 10, 11]
    for one in (queue, again):
        for request in [*first[9:], *first[:3]]:
            one.tell(answer(request))
    assert [r.genome.tobytes() for r in again.ask(6)] == [r.genome.tobytes() for r in queue.ask(6)]


def test_time_decides_about_survival_without_it_and_not_with_it() -> None:
    plain, fair = (
        np.mean([correlation(follow(steady(seed, queue, 50), "lognormal", seed)) for seed in (1, 2)])
        for queue in (False, True)
    )
    assert plain < -0.07
    assert abs(fair) < 0.07
    assert abs(fair) < abs(plain) / 2


def test_utilisation_is_the_share_of_the_workers_time_that_they_work() -> None:
    assert busy([(0.0, 1.0), (0.0, 2.0), (1.0, 2.0)], 2, 0.0) == 1.0
    assert busy([(1.0, 2.0), (0.0, 2.0)], 2, 0.0) == 0.75
    assert busy([(0.0, 1.0), (0.0, 3.0)], 2, 0.0) == pytest.approx(4 / 6), "one is idle while the last one works"


STEADY = [kind for kind in ALGORITHMS if "steady" in ALGORITHMS[kind].config.model_fields]


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("kind", STEADY)
def test_five_workers_hardly_ever_wait_in_a_steady_search_whatever_the_times(kind: str, times: str) -> None:
    """From the first request on: nobody waits for the slowest of the first population, nor for any other."""
    problem = Sleeping(times, 0.0).describe()
    in_rounds, steadily = (ALGORITHMS[kind].load()(problem, 20, 6, 1, steady=steady) for steady in (False, True))
    waiting = follow(in_rounds, times, 1, workers=5).utilisation
    assert follow(steadily, times, 1, workers=5).utilisation >= max(0.95, waiting)
    if times == "lognormal":
        assert waiting < 0.9
