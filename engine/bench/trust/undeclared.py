"""Ranges of numbers whose ends nobody declares, from 8, 16, 64 and 256 replicates: how often they miss.

``open-gaussian``, ``open-t3`` (Student's of three degrees of freedom), ``open-exponential``, ``open-lognormal-SIGMA``,
``open-uniform``, ``open-bimodal`` (two equal humps): promised, and so is the list, of which ``open-lists-NOISE`` counts
the runs that confirm any of 60 lineups at the line by 16 replicates. ``open-lopsided`` (four of five replicates on the
upper hump) and ``open-drops`` (one replicate of twenty is 0) are not: few replicates may well have shown none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from engine.bench.row import row
from engine.bench.trust.noises import Floats
from engine.bench.trust.verdicts import MANY, sample
from engine.verdicts import ERROR, Goals, confirmed

RUNS, REPLICATES, LISTED = 5000, (8, 16, 64, 256), 16


class Open(NamedTuple):
    """``draw(rng, shape)`` values of mean ``truth``; whether a range of them is ``promised``."""

    truth: float
    draw: Callable[[np.random.Generator, tuple[int, ...]], Floats]
    promised: bool = True


def _lognormal(sigma: float) -> Open:
    return Open(math.exp(sigma**2 / 2), lambda rng, shape: np.exp(sigma * rng.standard_normal(shape)))


def _humps(share: float, promised: bool) -> Open:
    def draw(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return np.where(rng.random(shape) < share, 0.1, 0.9) + 0.01 * rng.standard_normal(shape)

    return Open(0.9 - 0.8 * share, draw, promised)


def _drops(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return np.where(rng.random(shape) < 0.05, 0.0, 0.5 + 0.01 * rng.standard_normal(shape))


NOISES = {
    "gaussian": Open(0.0, lambda rng, shape: rng.standard_normal(shape)),
    "t3": Open(0.0, lambda rng, shape: rng.standard_t(3, shape)),
    "exponential": Open(1.0, lambda rng, shape: rng.exponential(1, shape)),
    **{f"lognormal-{sigma:g}": _lognormal(sigma) for sigma in (0.5, 1.0, 1.5)},
    "uniform": Open(0.5, lambda rng, shape: rng.random(shape)),
    "bimodal": _humps(0.5, True),
    "lopsided": _humps(0.2, False),
    "drops": Open(0.475, _drops, False),
}
PROMISED = tuple(name for name, noise in NOISES.items() if noise.promised)
CASES = (*(f"open-{name}" for name in NOISES), *(f"open-lists-{name}" for name in PROMISED))


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    runs, listed = RUNS // 10 if quick else RUNS, case.startswith("open-lists-")
    name = case.removeprefix("open-lists-" if listed else "open-")
    margin = 3 * math.sqrt(ERROR * (1 - ERROR) / runs)
    for replicates in (LISTED,) if listed else REPLICATES:
        count = any_confirmed if listed else misses
        share = float(np.mean([count(name, np.random.default_rng(seed), replicates) for seed in range(runs)]))
        promised = NOISES[name].promised
        yield row("trust", case, share, "of the runs wrong", goal=f"<= {ERROR:g}" if promised else "",
                  meets=share <= ERROR + margin if promised else None, seeds=[0, runs - 1],
                  detail=f"{replicates} replicates, {runs:,} runs")  # fmt: skip


def misses(name: str, rng: np.random.Generator, replicates: int) -> bool:
    """Whether the range of so many replicates misses."""
    noise = NOISES[name]
    found = sample(noise.draw(rng, (replicates,)), -math.inf, math.inf)
    # A range misses exactly where the evidence on one side of the truth is strong enough; that is quicker to ask.
    return any(found.evidence(0, noise.truth, side) >= math.log(2 / ERROR) for side in (1.0, -1.0))


def any_confirmed(name: str, rng: np.random.Generator, replicates: int) -> bool:
    """Whether any of 60 lineups at the line is confirmed."""
    noise = NOISES[name]
    drawn = noise.draw(rng, (MANY, replicates)) - noise.truth
    found = [[sample(values, -math.inf, math.inf, 0.5 / MANY)] for values in drawn]
    return bool(confirmed(found, Goals([1.0], [0.0], None, None)).any())
