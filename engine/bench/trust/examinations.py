"""Ranges of examinations and of evolved players: one number an episode, looked at after 2, 20 and 100 episodes.

``exam-win-P``: won or lost, P % of them won, ends known. ``exam-few``: such a win by mean and count alone, as where
single values were not kept. ``exam-score``: a score of 0 or 1 that nobody says the ends of, so there is no range where
it could be wrong. ``exam-gaussian`` and ``exam-lognormal-SIGMA``: numbers without ends. A range that is not told is not
wrong; the detail says how often one was.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.bench.row import row
from engine.bench.trust.noises import Floats
from engine.confidence import Range
from engine.means import range_by_count, range_of
from engine.verdicts import ERROR

RUNS, EPISODES = 5000, (2, 20, 100)
WINS = {"exam-win-1": 0.01, "exam-win-5": 0.05, "exam-win-50": 0.5, "exam-few": 0.05}
SPREADS = {"exam-lognormal-0.5": 0.5, "exam-lognormal-1": 1.0, "exam-lognormal-1.5": 1.5}
CASES = (*WINS, "exam-score", "exam-gaussian", *SPREADS)


def run(case: str, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure one case."""
    runs = RUNS // 10 if quick else RUNS
    margin = 3 * math.sqrt(ERROR * (1 - ERROR) / runs)
    for episodes in EPISODES:
        found = [examined(case, np.random.default_rng(seed), episodes) for seed in range(runs)]
        ranged, missed = np.isfinite([ends for _, ends in found]).all(axis=1), np.array([wrong for wrong, _ in found])
        yield row("trust", case, float(missed.mean()), "of the ranges wrong", goal=f"<= {ERROR:g}",
                  meets=bool(missed.mean() <= ERROR + margin), seeds=[0, runs - 1],
                  detail=f"{episodes} episodes, {runs:,} runs; a range in {ranged.mean():.1%} of them")  # fmt: skip


def examined(case: str, rng: np.random.Generator, episodes: int) -> tuple[bool, Range]:
    """Whether the range of so many episodes is wrong, and where it is."""
    values, truth = _drawn(case, rng, episodes)
    known = (0.0, 1.0) if case in WINS else (-math.inf, math.inf)
    if case == "exam-few":
        ends = range_by_count(float(values.mean()), episodes, *known)
    else:
        ends = range_of(values, *known)
    return not ends.low - 1e-9 <= truth <= ends.high + 1e-9, ends


def _drawn(case: str, rng: np.random.Generator, n: int) -> tuple[Floats, float]:
    """Values [n] and their mean."""
    if case in SPREADS:
        return np.exp(SPREADS[case] * rng.standard_normal(n)), math.exp(SPREADS[case] ** 2 / 2)
    if case == "exam-gaussian":
        return rng.standard_normal(n), 0.0
    chance = WINS.get(case, 0.05)
    return (rng.random(n) < chance).astype(np.float64), chance
