"""What racing saves, and whether it keeps its word.

``selection-…``: 200 planted generations of the genetic algorithm (30 candidates join 30 that are known, 4 to 32
replicates): how often the race ends with the survivors of full sampling, and the replicates it saves.
``-wins``: won or lost with chances of 0.1 to 0.9, raced by bounds; ``-wins-two``: the same with two goals and NSGA-II;
``-tests``: normal noise and sequential tests; ``-tests-paired``: nine tenths of the noise's variance are common random
numbers, compared pair by pair. ``engine.bench trust`` tries more kinds of noise, more often.
``search``: whole searches for what wins most often, raced by bounds and with every candidate played to the end; the
true chance of what each would hand over. ``intervals``: 95 % intervals from 16 fresh replicates of members of noisy
fronts.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from engine.bench.noisy import Floats, Noisy, Planted, Wins, planted
from engine.bench.row import row
from engine.evolution.ga import GA
from engine.evolution.noise import Racing, Resampling
from engine.evolution.nsga2 import NSGA2
from engine.indicators import half_width, hypervolume
from engine.problem import Request

NAME = "racing"
CASES = ("selection-wins", "selection-wins-two", "selection-tests", "selection-tests-paired", "search", "intervals")
FIRST, MOST, ERROR = 4, 32, 0.05
N = 30
BOUNDS_OR_FULL: tuple[Racing, Racing] = ("bounds", "off")
TESTS_OR_FULL: tuple[Racing, Racing] = ("tests", "off")
_NOISY = Noisy(sigma=0.2)


class Outcome(NamedTuple):
    """Who survives a generation, and the replicates that its newcomers played."""

    survivors: frozenset[int]
    replicates: int


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    if case.startswith("selection"):
        yield selection(case, quick)
    else:
        yield {"search": search, "intervals": intervals}[case](quick)


def selection(case: str, quick: bool) -> dict[str, Any]:
    """Races beside full sampling, replicate for replicate the same noise."""
    seeds = range(50 if quick else 200)
    both = [_both(case, seed) for seed in seeds]
    share = float(np.mean([race.survivors == full.survivors for race, full, _ in both]))
    saved = 1 - sum(race.replicates for race, _, _ in both) / sum(full.replicates for _, full, _ in both)
    gaps = [volume(truth[sorted(race.survivors)]) - volume(truth[sorted(full.survivors)]) for race, full, truth in both]
    detail = (
        f"replicates saved {saved:.1%}; true hypervolume of the raced minus the full selection {np.mean(gaps):+.5f}"
    )
    return row(NAME, case, share, "of the generations end as full sampling", goal=f">= {1 - ERROR:g}",
               meets=share >= 1 - ERROR, seeds=[seeds[0], seeds[-1]], detail=detail)  # fmt: skip


def _both(case: str, seed: int) -> tuple[Outcome, Outcome, Floats]:
    """The race of a planted generation, its full sampling, and the true costs."""
    rng = np.random.default_rng(seed)
    if "wins" in case:
        truth = rng.uniform(0.1, 0.9, (2 * N, 2 if case.endswith("two") else 1))
        lost = (rng.random((2 * N, MOST, truth.shape[1])) < truth[:, None]).astype(np.float64)
        race, full = (generation(lost, way, True, seed, (0.0, 1.0)) for way in BOUNDS_OR_FULL)
        return race, full, truth
    paired = "paired" in case
    truth, noisy = planted(rng, 2 * N, MOST, 1, 0.9 if paired else 0.0)
    race, full = (generation(noisy, way, paired, seed) for way in TESTS_OR_FULL)
    return race, full, truth


def generation(
    noisy: Floats, racing: Racing, paired: bool, seed: int, limits: tuple[float, float] | None = None
) -> Outcome:
    """The first half of the candidates float64[2 N, most, m] is known to the end; the second joins as a search's next
    generation, raced or played to the end."""
    evaluator, n, most = Planted(noisy, paired, limits), len(noisy) // 2, noisy.shape[1]
    method = NSGA2 if noisy.shape[2] > 1 else GA
    search = method(evaluator.describe(), n, 2, seed, FIRST if racing != "off" else most)
    algorithm = Resampling(search, racing=racing, most=most, error=ERROR)
    replicates = 0
    while not algorithm.done:
        for request in algorithm.ask(1):
            answer = evaluator.answer(request)
            replicates += answer.cost if request.genome[0] >= n else 0
            algorithm.tell(answer)
    assert search.P is not None
    return Outcome(frozenset(search.P.genomes[:, 0].tolist()), replicates)


def search(quick: bool) -> dict[str, Any]:
    """Whole searches; the value is the share of battles that racing leaves out."""
    seeds, ticks = range(1, 3 if quick else 21), 15 if quick else 40
    full = [_searched(MOST, "off", ticks, seed) for seed in seeds]
    race = [_searched(FIRST, "bounds", ticks, seed) for seed in seeds]
    saved = 1 - median(r[0] for r in race) / median(f[0] for f in full)
    gap = np.array([r[1] - f[1] for r, f in zip(race, full, strict=True)])
    margin = float(half_width(np.array([gap.std(ddof=1) / np.sqrt(len(gap))]), np.array([len(gap)]))[0])
    margin = margin if np.isfinite(margin) else 0.0  # all differ alike: that much is seen, if nothing beyond it
    same = sum(r[1] == f[1] for r, f in zip(race, full, strict=True))
    detail = (
        f"{same} of {len(gap)} end alike; true chance to win, raced minus full, {gap.mean():+.4f} ± {margin:.4f}, "
        "population 40"
    )
    return row(NAME, "search", saved, "of the battles saved", seeds=seeds,
               goal="chance not lower (95 %)", meets=gap.mean() + margin >= 0, detail=detail)  # fmt: skip


def intervals(quick: bool) -> dict[str, Any]:
    """Coverage of Student's t intervals on fresh seeds."""
    covered = count = 0
    for seed in range(3 if quick else 10):
        found = NSGA2(_NOISY.describe(), 200, 3, seed, FIRST)
        while not found.done:
            for request in found.ask(1):
                found.tell(_NOISY.answer(request))
        assert found.P is not None
        truth = _NOISY.truth(found.P.genomes)
        for first in range(1_000_000, 1_000_080, 16):
            again = [_NOISY.answer(Request(i, g, first, first + 16, seed)) for i, g in enumerate(found.P.genomes)]
            error = np.sqrt(np.stack([np.diag(e.covariance) for e in again]))
            gap = np.abs(np.stack([e.objectives for e in again]) - truth)
            covered += int((gap <= half_width(error, np.full(len(again), 16))).sum())
            count += truth.size
    share = covered / count
    return row(NAME, "intervals", share, "of the intervals cover the truth", goal="0.94 to 0.96",
               meets=0.94 <= share <= 0.96, seeds=range(3 if quick else 10), detail=f"{count:,} intervals")  # fmt: skip


def _searched(replicates: int, racing: Racing, ticks: int, seed: int) -> tuple[int, float]:
    """(battles, true chance of the best at the end)."""
    task = Wins()
    algorithm = Resampling(GA(task.describe(), 40, ticks, seed, replicates), racing=racing, most=MOST, error=ERROR)
    battles = 0
    while not algorithm.done:
        for request in algorithm.ask(10**6):
            answer = task.answer(request)
            battles += answer.cost
            algorithm.tell(answer)
    return battles, float(task.truth(algorithm.front()[0].genome[None])[0, 0])


def volume(truth: Floats) -> float:
    """The hypervolume of true costs float64[n, m]."""
    m = truth.shape[1]
    return hypervolume(truth, (-1,) * m, (3,) * m)
