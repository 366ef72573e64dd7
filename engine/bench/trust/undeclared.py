"""Ranges of numbers whose ends nobody declares: how often they miss.

``open-NOISE``: from 8, 16, 64 and 256 replicates, one look each. ``open-looks-NOISE``: at any of 20 looks, 8 further
replicates before each. ``open-lists-NOISE``: any of 60 lineups at the line confirmed by 16 replicates, where large
numbers are what is looked for, and where small ones are (the tail of the noise is then on the side that flatters).

Promised for ``gaussian``, ``t3`` (Student's of three degrees of freedom), ``exponential``, ``lognormal-SIGMA`` up to 1,
``uniform`` and ``bimodal`` (two equal humps). Not for ``lognormal-1.5``, ``lopsided`` (four of five replicates on the
upper hump) and ``drops`` (one replicate of twenty is 0): few replicates may well have shown nothing of what is rare.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from engine.bench.row import row
from engine.bench.trust.noises import Floats
from engine.bench.trust.verdicts import MANY, sample
from engine.verdicts import ERROR, Goals, confirmed

RUNS, REPLICATES, LISTED, LOOKS = 5000, (8, 16, 64, 256), 16, 20


class Open(NamedTuple):
    """``draw(rng, shape)`` values of mean ``truth``; whether a range of them is ``promised``."""

    truth: float
    draw: Callable[[np.random.Generator, tuple[int, ...]], Floats]
    promised: bool = True


def _lognormal(sigma: float) -> Open:
    return Open(math.exp(sigma**2 / 2), lambda rng, shape: np.exp(sigma * rng.standard_normal(shape)), sigma <= 1)


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
CASES = tuple(f"open-{family}{name}" for family in ("", "looks-", "lists-") for name in NOISES)


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    runs = RUNS // 10 if quick else RUNS
    if case.startswith("open-lists-"):
        name = case.removeprefix("open-lists-")
        for side, which in ((1.0, "large"), (-1.0, "small")):
            condition = f"{which} numbers are looked for, {LISTED} replicates"
            yield _row(case, name, runs, condition, partial(any_confirmed, name, LISTED, side))
    elif case.startswith("open-looks-"):
        name = case.removeprefix("open-looks-")
        condition = f"any of {LOOKS} looks, {REPLICATES[0]} replicates before each"
        yield _row(case, name, runs, condition, partial(misses_at_a_look, name, REPLICATES[0]))
    else:
        name = case.removeprefix("open-")
        for n in REPLICATES:
            yield _row(case, name, runs, f"{n} replicates", partial(misses, name, n))


def _row(
    case: str, name: str, runs: int, condition: str, wrong: Callable[[np.random.Generator], bool]
) -> dict[str, Any]:
    promised, margin = NOISES[name].promised, 3 * math.sqrt(ERROR * (1 - ERROR) / runs)
    share = float(np.mean([wrong(np.random.default_rng(seed)) for seed in range(runs)]))
    return row("trust", case, share, "of the runs wrong", goal=f"<= {ERROR:g}" if promised else "",
               meets=share <= ERROR + margin if promised else None, seeds=[0, runs - 1],
               detail=f"{condition}, {runs:,} runs")  # fmt: skip


def misses(name: str, replicates: int, rng: np.random.Generator) -> bool:
    """Whether the range of so many replicates misses."""
    noise = NOISES[name]
    return _beyond(noise.draw(rng, (replicates,)), noise.truth)


def misses_at_a_look(name: str, each: int, rng: np.random.Generator) -> bool:
    """Whether the range misses at any look, with so many replicates more at each."""
    noise = NOISES[name]
    values = noise.draw(rng, (LOOKS * each,))
    return any(_beyond(values[: look * each], noise.truth) for look in range(1, LOOKS + 1))


def _beyond(values: Floats, truth: float) -> bool:
    """A range misses exactly where the evidence on one side of the truth is strong enough; that is quicker to ask."""
    found = sample(values, -math.inf, math.inf)
    return any(found.evidence(0, truth, side) >= math.log(2 / ERROR) for side in (1.0, -1.0))


def any_confirmed(name: str, replicates: int, side: float, rng: np.random.Generator) -> bool:
    """Whether any of 60 lineups at the line is confirmed; ``side``: 1.0 where large numbers are looked for, -1.0 where
    small ones are."""
    noise = NOISES[name]
    drawn = noise.draw(rng, (MANY, replicates)) - noise.truth
    found = [[sample(values, -math.inf, math.inf, 0.5 / MANY)] for values in drawn]
    return bool(confirmed(found, Goals([side], [0.0], None, None)).any())
