"""What racing saves, and whether it keeps its word.

``selection``: 200 planted generations (60 candidates of which 30 survive, normal noise, 4 to 32 replicates): how often
the race ends with the survivors of full sampling, and the share of replicates it needs; ``-tests``: one goal,
sequential tests; ``-paired``: nine tenths of the noise's variance are common random numbers, compared pair by pair.
``search``: NSGA-II on noisy ZDT1, raced and with every candidate played to the end; the true hypervolume of what each
would hand over. ``intervals``: 95 % intervals from 16 fresh replicates of members of noisy fronts.
"""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from engine.bench.noisy import Floats, Noisy
from engine.bench.row import row
from engine.evolution.algorithm import Individual, Population
from engine.evolution.noise import Resampling
from engine.evolution.nsga2 import NSGA2, survivors
from engine.evolution.racing import Standing, out_by_chance, out_by_tests, rungs
from engine.indicators import half_width, hypervolume
from engine.problem import Evaluation, Request

NAME = "racing"
CASES = ("selection", "selection-tests", "selection-tests-paired", "search", "intervals")
FIRST, MOST, ERROR = 4, 32, 0.05
N, KEEP = 60, 30
_NOISY = Noisy(sigma=0.2)


class Outcome(NamedTuple):
    """Who survives, and the replicates that were played."""

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
    m, common = 1 if "tests" in case else 2, 0.9 if "paired" in case else 0.0
    seeds = range(50 if quick else 200)
    same, shares, gaps = 0, [], []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        truth = planted(rng)[:, :m]
        own, shared = rng.standard_normal((N, MOST, m)), rng.standard_normal((1, MOST, m))
        noisy = truth[:, None] + 0.2 * (np.sqrt(1 - common) * own + np.sqrt(common) * shared)
        full = _kept(noisy.mean(axis=1))
        found = raced(noisy, np.random.default_rng([seed, 7]), tests="tests" in case, paired=common > 0)
        same += found.survivors == full
        shares.append(found.replicates / (N * MOST))
        gaps.append(_volume(truth[sorted(found.survivors)]) - _volume(truth[sorted(full)]))
    share = same / len(seeds)
    saved = 1 - float(np.mean(shares))
    detail = (
        f"replicates saved {saved:.1%}; true hypervolume of the raced minus the full selection {np.mean(gaps):+.5f}"
    )
    return row(NAME, case, share, "of the generations end as full sampling", goal=f">= {1 - ERROR:g}",
               meets=share >= 1 - ERROR, seeds=[seeds[0], seeds[-1]], detail=detail)  # fmt: skip


def search(quick: bool) -> dict[str, Any]:
    """Whole searches; the value is the share of battles that racing leaves out."""
    seeds, ticks = range(1, 3 if quick else 6), 15 if quick else 40
    full = [_searched(MOST, "off", ticks, seed) for seed in seeds]
    race = [_searched(FIRST, "chance", ticks, seed) for seed in seeds]
    saved = 1 - median(r[0] for r in race) / median(f[0] for f in full)
    gap = np.array([r[1] - f[1] for r, f in zip(race, full, strict=True)])
    margin = float(half_width(np.array([gap.std(ddof=1) / np.sqrt(len(gap))]), np.array([len(gap)]))[0])
    volumes = " ".join(f"{r[1]:.3f}/{f[1]:.3f}" for r, f in zip(race, full, strict=True))
    detail = (
        f"true hypervolume raced/full by seed {volumes}; difference {gap.mean():+.4f} ± {margin:.4f}, population 40"
    )
    return row(NAME, "search", saved, "of the battles saved", seeds=seeds,
               goal="hypervolume not lower (95 %)", meets=gap.mean() + margin >= 0, detail=detail)  # fmt: skip


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


def planted(rng: np.random.Generator) -> Floats:
    """True costs of a generation in the middle of a search: a front, and what lies behind it."""
    x = rng.random(N)
    return np.asarray(np.stack([x, 1 - np.sqrt(x)], axis=1) + 1.5 * rng.random((N, 1)))


def raced(noisy: Floats, rng: np.random.Generator, *, tests: bool = False, paired: bool = False) -> Outcome:
    """The race over replicates float64[n, most, m]."""
    levels, open_, samples, m = rungs(FIRST, MOST), np.ones(N, dtype=bool), np.full(N, FIRST), noisy.shape[2]
    spent = ERROR / (len(levels) - 1)
    for level in levels[1:]:
        played = [x[:s] for x, s in zip(noisy, samples, strict=True)]
        covariance = np.stack([np.cov(x.T).reshape(m, m) / len(x) for x in played])
        mean = np.stack([x.mean(axis=0) for x in played])
        at = Standing(mean, covariance, samples, open_, played if paired else None)
        leave = out_by_tests(at, MOST, KEEP, spent) if tests else out_by_chance(at, MOST, KEEP, spent, rng)
        open_ = open_ & ~leave
        samples = np.where(open_, level if open_.sum() > KEEP else MOST, samples)
    mean = np.stack([x[:s].mean(axis=0) for x, s in zip(noisy, samples, strict=True)])
    inside = np.flatnonzero(open_)
    return Outcome(frozenset(inside[sorted(_kept(mean[inside]))].tolist()), int(samples.sum()))


def _kept(mean: Floats) -> frozenset[int]:
    """Who survives, by the means."""
    if mean.shape[1] == 1:
        return frozenset(np.argsort(mean[:, 0], kind="stable")[:KEEP].tolist())
    return frozenset(survivors(_population(mean), KEEP).tolist())


def _searched(replicates: int, racing: Any, ticks: int, seed: int) -> tuple[int, float]:
    """(battles, true hypervolume of the final front)."""
    algorithm = Resampling(NSGA2(_NOISY.describe(), 40, ticks, seed, replicates), racing=racing, most=MOST, error=ERROR)
    battles = 0
    while not algorithm.done:
        for request in algorithm.ask(10**6):
            answer = _NOISY.answer(request)
            battles += answer.cost
            algorithm.tell(answer)
    return battles, _volume(_NOISY.truth(np.stack([i.genome for i in algorithm.front()])))


def _volume(truth: Floats) -> float:
    m = truth.shape[1]
    return hypervolume(truth, (-1,) * m, (3,) * m)


def _population(cost: Floats) -> Population:
    nothing, metrics = np.zeros((2, 2)), np.empty(0)
    rows = [Individual(np.zeros(10), Evaluation(i, c, nothing, 1, metrics), 0) for i, c in enumerate(cost)]
    return Population(_NOISY.describe(), rows)
