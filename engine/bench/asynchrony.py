"""Evaluations of unequal time: how busy workers are, and whether slow candidates are at a disadvantage.

``utilisation-*``: five workers of a Ray pool whose evaluations sleep (fixed, uniform or log-normal times); the share of
the workers' time that they spend evaluating, from the first request until the last evaluation begins (after that there
is nothing left to do). Beside it the same search synchronous, with its barrier at each generation.

``survival-*``: the same search under a virtual clock with many workers (so that thousands of candidates can be
followed). Time says nothing about quality; survival is whether a candidate is still in the population when as many
others as the population holds were learnt from after it. The correlation of time and survival is shown as it is, and
with the fair queue.
"""

from __future__ import annotations

import heapq
import json
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pymoo.problems import get_problem

from engine.bench.row import row
from engine.config.pool import PoolConfig
from engine.evolution.algorithm import Algorithm
from engine.evolution.fair import FairQueue
from engine.evolution.nsga2 import NSGA2
from engine.evolution.operators import RealSpace
from engine.evolution.survival import Survival, search_in
from engine.problem import Evaluation, Genome, Objective, Problem, Request, ShouldStop
from engine.rng import combine64
from engine.runtime.pool import Pool, open_pool

NAME = "asynchrony"
TIMES = ("fixed", "uniform", "lognormal")
CASES = tuple(f"utilisation-{t}" for t in TIMES) + tuple(f"survival-{t}" for t in TIMES[1:])
WORKERS, MEAN_S, GOAL = 5, 0.2, 0.95


class Sleeping:
    """An ``Evaluator`` of ZDT1 that takes its time. Metrics: when it began (seconds, ``time.time``) and how long it
    took. ``mean_s`` 0: it does not sleep."""

    def __init__(self, times: str, mean_s: float) -> None:
        self.times, self.mean_s = times, mean_s
        self.task = get_problem("zdt1", n_var=10)
        self.space = RealSpace(self.task.xl, self.task.xu)

    def describe(self) -> Problem:
        return Problem(self.space, (Objective("f1", "f1", "min"), Objective("f2", "f2", "min")), ("began", "took"))

    def initialize(self, rng: np.random.Generator) -> Genome:
        return np.asarray(self.space.sample(rng, 1)[0])

    def evaluate(self, requests: Sequence[Request], should_stop: ShouldStop) -> Iterator[Evaluation]:
        for request in requests:
            if should_stop():
                return
            began, start = time.time(), time.perf_counter()
            time.sleep(self.mean_s * relative(self.times, request.id))
            yield self.answer(request, began, time.perf_counter() - start)

    def answer(self, request: Request, began: float, took: float) -> Evaluation:
        """The true objectives, and when they were found."""
        found = np.asarray(self.task.evaluate(request.genome))
        return Evaluation(request.id, found, np.zeros((2, 2)), 1, np.array([began, took]), cost=1)


def build(payload: bytes) -> Sleeping:
    """The factory of the pool's workers."""
    return Sleeping(**json.loads(payload))


def relative(times: str, number: int) -> float:
    """How long candidate ``number`` takes, mean 1: always 1, uniform in [0.2, 1.8], or log-normal with sigma 1."""
    bits = combine64(np.array([number], np.uint64), np.array([7, 8], np.uint64))
    u = ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    if times == "uniform":
        return float(0.2 + 1.6 * u[0])
    if times == "lognormal":
        normal = np.sqrt(-2 * np.log(u[0])) * np.cos(2 * np.pi * u[1])
        return float(np.exp(normal - 0.5))
    return 1.0


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    kind, _, times = case.partition("-")
    yield utilisation(times, quick) if kind == "utilisation" else survival(times, quick)


def utilisation(times: str, quick: bool) -> dict[str, Any]:
    """Steady state and synchronous, on a pool of real workers."""
    ticks = 4 if quick else 12
    payload = json.dumps({"times": times, "mean_s": MEAN_S}).encode()
    config = PoolConfig(kind="ray", workers=WORKERS)
    shares = []
    with open_pool(config, "engine.bench.asynchrony:build", payload) as pool:
        pool.submit([Request(2**40 + i, np.full(10, 0.5), 0, 1, 1) for i in range(WORKERS)])
        warm = 0
        while warm < WORKERS:  # workers that still start are not idle workers
            warm += len(pool.finished(1.0))
        for steady in (True, False):
            shares.append(driven(pool, NSGA2(build(payload).describe(), 20, ticks, 1, steady=steady)))
    detail = f"{WORKERS} workers, population 20, {20 * ticks} evaluations of {MEAN_S * 1e3:.0f} ms on average"
    return row(NAME, f"utilisation-{times}", shares[0], "of the workers' time", peer="the same, synchronous",
               peer_value=shares[1], goal=f">= {GOAL}", meets=shares[0] >= GOAL, seeds=[1], detail=detail)  # fmt: skip


def driven(pool: Pool, search: NSGA2) -> float:
    """Run the search; how busy its workers were."""
    spans: list[tuple[float, float]] = []
    first = time.time()
    while not search.done:
        if requests := search.ask(pool.room):
            pool.submit(requests)
        for evaluation in pool.finished(0.2):
            began, took = evaluation.metrics.tolist()
            spans.append((began, began + took))
            search.tell(evaluation)
    return busy(spans, WORKERS, first)


def busy(spans: list[tuple[float, float]], workers: int, first: float) -> float:
    """Share of the workers' time that is spent in ``spans``, from ``first`` until the last of them ends: also while
    nothing is left to begin."""
    until = max(end for _, end in spans)
    return sum(end - begin for begin, end in spans) / (workers * (until - first))


class Followed(NamedTuple):
    """What became of each candidate that was followed long enough, and how busy the workers were."""

    seconds: NDArray[np.float64]
    survived: NDArray[np.bool_]
    utilisation: float


def survival(times: str, quick: bool) -> dict[str, Any]:
    """The correlation of log time and survival, as it is and with the fair queue."""
    seeds = range(1, 3 if quick else 9)
    plain, fair = (
        float(np.mean([correlation(follow(steady(seed, queue), times, seed)) for seed in seeds]))
        for queue in (False, True)
    )
    detail = "40 workers, population 20, 3,000 evaluations of ZDT1 a seed, virtual clock"
    return row(NAME, f"survival-{times}", fair, "correlation of log time and survival, fair queue",
               peer="in order of arrival", peer_value=plain, goal="|value| <= 0.03", meets=abs(fair) <= 0.03,
               seeds=seeds, detail=detail)  # fmt: skip


def correlation(followed: Followed) -> float:
    """Of the logarithm of the time and survival."""
    return float(np.corrcoef(np.log(followed.seconds), followed.survived)[0, 1])


def steady(seed: int, fair: bool, ticks: int = 150) -> Algorithm:
    """A steady-state NSGA-II, with the fair queue or without."""
    search = NSGA2(Sleeping("fixed", 0.0).describe(), 20, ticks, seed, steady=True)
    return FairQueue(search) if fair else search


def follow(algorithm: Algorithm, times: str, seed: int, workers: int = 40) -> Followed:
    """A search under a virtual clock."""
    evaluator, clock, search = Sleeping(times, 0.0), 0.0, search_in(algorithm)
    waiting: list[Request] = []
    flight: list[tuple[float, int, Request, float]] = []
    spans: list[tuple[float, float]] = []
    survival, fates = Survival(search), list[tuple[float, bool]]()
    while not algorithm.done:
        waiting += algorithm.ask(max(0, 2 * workers - len(waiting) - len(flight)))
        while waiting and len(flight) < workers:
            request = waiting.pop(0)
            took = relative(times, seed * 1_000_000 + request.id)
            spans.append((clock, clock + took))
            heapq.heappush(flight, (clock + took, request.id, request, took))
        clock, _, request, took = heapq.heappop(flight)
        survival.before(request.id, took)
        algorithm.tell(evaluator.answer(request, clock, 0.0))
        fates += survival.after()
    seconds, survived = zip(*fates[search.N :], strict=True)
    return Followed(np.array(seconds), np.array(survived), busy(spans, workers, 0.0))
