"""Ranges and verdicts on fresh battles, on every kind of noise; log-normal noise with its tail below is among them, and
so are upsets: a replicate is eight battles, one is nearly always won, and the others are as good as lost.

``fresh``: 95 % ranges from 16 and from 64 replicates miss the truth. ``pooled``: ranges from three re-checks together
of the one of 60 that looked most extreme before. ``looks``: a range misses at any of 20 looks, of 16 replicates each.
``maxima``: the range of the furthest of 60 misses; ``equal-60`` and ``equal-300``: the same of lineups that are all
alike, with 64 replicates, so that luck alone says which is furthest. ``lists``: share of runs in which any of 60
lineups exactly at the line is confirmed, and ``lists-looks`` at any of 10 looks; ``lists-under``: is called under it at
any of 5 looks. ``fresh-jackpots`` is not promised: what is too rare to be seen. ``width``: how much wider than
Student's t ranges are on normal noise without declared ends from 256 replicates on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.bench.row import row
from engine.bench.trust.noises import NOISES, Floats, Noise, NoisyCandidates
from engine.indicators import half_width
from engine.verdicts import ERROR, Goals, Sample, cleared, confirmed, most_extreme


def _mirrored(rng: np.random.Generator, n: int, replicates: int) -> NoisyCandidates:
    """Log-normal noise with its long tail below."""
    truth, values = NOISES["lognormal"].draw(rng, n, replicates)
    return NoisyCandidates(-truth, -values)


def _jackpots(rng: np.random.Generator, n: int, replicates: int) -> NoisyCandidates:
    """One value of fifty is the highest there is; 16 of them seldom hold one."""
    usual = rng.uniform(0.3, 0.6, n)
    values = np.clip(usual[:, None] + 0.01 * rng.standard_normal((n, replicates)), 0, 1)
    return NoisyCandidates(0.98 * usual + 0.02, np.where(rng.random((n, replicates)) < 0.02, 1.0, values))


def _upsets(rng: np.random.Generator, n: int, replicates: int) -> NoisyCandidates:
    """The battle that is nearly always won is lost once in 8 to 100 times."""
    chance = rng.uniform(0.01, 0.12, n)
    values = 0.05 + 0.01 * rng.uniform(-1, 1, (n, replicates, EACH_OF))
    values[:, :, 0] += np.where(rng.random((n, replicates)) < chance[:, None], 0.0, 0.9)
    return NoisyCandidates(0.05 + 0.9 * (1 - chance) / EACH_OF, values.mean(axis=2))


EACH_OF = 8
TRIED = {**NOISES, "mirrored": Noise(-10.0, 0.0, _mirrored), "upsets": Noise(0.0, 1.0, _upsets, EACH_OF)}
NOT_PROMISED = Noise(0.0, 1.0, _jackpots)
RUNS, MANY, LOOKS, EACH = 5000, 60, 20, 16
AT_ZERO = Goals([1.0], [0.0], None, None)
KINDS = ("fresh", "pooled", "looks", "maxima", "equal-60", "equal-300", "lists", "lists-looks", "lists-under")
AWAY = (5, 10, 20, 100)
"""How far away ends are declared, in standard deviations of the noise."""
CASES = ("width", "width-declared", "fresh-jackpots", *(f"{kind}-{name}" for kind in KINDS for name in TRIED))


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    if case.startswith("width"):
        yield width(quick) if case == "width" else width_declared(quick)
        return
    kind = next(k for k in sorted(KINDS, key=len, reverse=True) if case.startswith(f"{k}-"))
    noise, runs = TRIED.get(case.removeprefix(f"{kind}-")), RUNS // 10 if quick else RUNS
    promised = noise is not None
    wrong = [float(_ONE[kind](np.random.default_rng(seed), noise or NOT_PROMISED)) for seed in range(runs)]
    share, margin = float(np.mean(wrong)), 3 * float(np.sqrt(ERROR * (1 - ERROR) / runs))
    meets = share <= ERROR + margin if promised else None
    yield row("trust", case, share, "of the runs wrong", goal=f"<= {ERROR:g}" if promised else "", meets=meets,
              seeds=[0, runs - 1], detail=f"{runs:,} runs")  # fmt: skip


def width(quick: bool) -> dict[str, Any]:
    """How much wider than Student's t ranges of normal noise are: the largest mean over 256 to 4,096 replicates."""
    rng, runs = np.random.default_rng(1), 20 if quick else 200
    ratio = {n: float(np.mean([_wider(rng.normal(size=n)) for _ in range(runs)])) for n in (16, 64, 256, 1024, 4096)}
    widest = max(r for n, r in ratio.items() if n >= 256)
    detail = ", ".join(f"{n}: {r:.2f}" for n, r in ratio.items())
    return row("trust", "width", widest, "times Student's t", goal="<= 2", meets=widest <= 2, seeds=[1], detail=detail)


def width_declared(quick: bool) -> dict[str, Any]:
    """The same where both ends are declared, so many standard deviations away: what ends cost that are not tight."""
    rng, runs = np.random.default_rng(1), 10 if quick else 100
    ratio = {
        (away, n): float(np.mean([_wider(rng.normal(size=n), away) for _ in range(runs)]))
        for away in AWAY for n in (256, 1024, 4096)
    }  # fmt: skip
    detail = ", ".join(f"{away} away, {n}: {r:.2f}" for (away, n), r in ratio.items())
    return row("trust", "width-declared", ratio[AWAY[1], 256], "times Student's t", seeds=[1], detail=detail)


def _wider(values: Floats, away: float = np.inf) -> float:
    found = sample(values, -away, away)
    ends = found.range(0)
    return (ends.high - ends.low) / (2 * float(half_width(found.error, len(values))[0]))


def sample(values: Floats, low: float, high: float, weight: float = 1.0, battles: int = 1) -> Sample:
    """One lineup with one objective, of values [n] within [low, high], each of so many battles."""
    n = len(values)
    error = values.std(ddof=1) / np.sqrt(n)
    ends = (np.array([low]), np.array([high]))
    plain, each = np.ones(1, bool), np.full(1, battles, np.int64)
    return Sample(values.mean(keepdims=True), np.array([error]), n, values[:, None], *ends, ~plain, plain, each, weight)


def _misses(values: Floats, noise: Noise, truth: float) -> bool:
    ends = sample(values, noise.low, noise.high, battles=noise.battles).range(0)
    return not ends.low - 1e-9 <= truth <= ends.high + 1e-9


def fresh(rng: np.random.Generator, noise: Noise) -> float:
    """Share of two ranges, of 16 and of 64 replicates, that miss."""
    drawn = noise.draw(rng, 2, 4 * EACH)
    return float(np.mean([_misses(drawn.values[i, :n], noise, drawn.truth[i]) for i, n in enumerate((EACH, 4 * EACH))]))


def pooled(rng: np.random.Generator, noise: Noise) -> bool:
    """Whether the range of three re-checks misses, of the lineup that looked furthest before."""
    drawn = noise.draw(rng, MANY, 4 * EACH)
    at = int(drawn.values[:, :EACH].mean(axis=1).argmax())
    return _misses(drawn.values[at, EACH:], noise, drawn.truth[at])


def looks(rng: np.random.Generator, noise: Noise) -> bool:
    """Whether a range misses at any of 20 looks."""
    drawn = noise.draw(rng, 1, LOOKS * EACH)
    first = (drawn.values[0, : k * EACH] for k in range(1, LOOKS + 1))
    seen = [sample(values, noise.low, noise.high, battles=noise.battles) for values in first]
    # A range misses exactly where the evidence on one side of the truth is strong enough; that is quicker to ask.
    return any(s.evidence(0, drawn.truth[0], side) >= np.log(2 / ERROR) for s in seen for side in (1.0, -1.0))


def maxima(rng: np.random.Generator, noise: Noise) -> bool:
    """Whether the range of the furthest of 60 misses the truth of that one."""
    drawn = noise.draw(rng, MANY, EACH)
    every = [sample(values, noise.low, noise.high, battles=noise.battles) for values in drawn.values]
    at, ends = most_extreme(every, 0, 1.0, MANY)
    return not ends.low - 1e-9 <= drawn.truth[at] <= ends.high + 1e-9


def equal(rng: np.random.Generator, noise: Noise, of: int = MANY) -> bool:
    """Whether the range of the furthest of so many that are all alike misses."""
    drawn = noise.draw(rng, 1, of * 4 * EACH)
    each = drawn.values.reshape(of, 4 * EACH)
    every = [sample(values, noise.low, noise.high, battles=noise.battles) for values in each]
    _, ends = most_extreme(every, 0, 1.0, of)
    return not ends.low - 1e-9 <= drawn.truth[0] <= ends.high + 1e-9


def equal_300(rng: np.random.Generator, noise: Noise) -> bool:
    """``equal`` of five times as many."""
    return equal(rng, noise, 5 * MANY)


def lists(rng: np.random.Generator, noise: Noise, times: int = 1) -> bool:
    """Whether any of 60 lineups that are exactly at the line is confirmed, at any of so many looks."""
    drawn = noise.draw(rng, MANY, times * EACH)
    return any(confirmed(_at_the_line(drawn, noise, k * EACH), AT_ZERO).any() for k in range(1, times + 1))


def _at_the_line(drawn: NoisyCandidates, noise: Noise, n: int) -> list[list[Sample]]:
    """Each one's line is its own truth: moved to 0."""
    moved = zip(drawn.values, drawn.truth.tolist(), strict=True)
    return [[sample(v[:n] - t, noise.low - t, noise.high - t, 0.5 / MANY, noise.battles)] for v, t in moved]


def lists_looks(rng: np.random.Generator, noise: Noise) -> bool:
    """``lists`` at ten looks."""
    return lists(rng, noise, 10)


def lists_under(rng: np.random.Generator, noise: Noise) -> bool:
    """Whether any of 60 lineups that are exactly at the line is called under it, at any of five looks."""
    drawn = noise.draw(rng, MANY, 5 * EACH)
    return any(cleared(_at_the_line(drawn, noise, k * EACH), AT_ZERO).any() for k in range(1, 6))


_ONE = {
    "fresh": fresh,
    "pooled": pooled,
    "looks": looks,
    "maxima": maxima,
    "equal-60": equal,
    "equal-300": equal_300,
    "lists": lists,
    "lists-looks": lists_looks,
    "lists-under": lists_under,
}
