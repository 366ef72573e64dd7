"""The confidence range of a mean, from its values: one rule for fresh battles, examinations and evolved players.

Values with declared bounds get a range that holds for any noise within them (``confidence.bounds``). Without declared
bounds, values of which many are equal get no range, because they say nothing of what else may occur; others get one
from their own spread (``confidence.seen``), from seven of them on at 95 %, and from more where several ranges hold at
once and each may miss less often. Whoever allows for what no value resembles gets a range of equal ones, too
(``range_of_like``). All ranges hold at every look.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import confidence
from engine.confidence import Observed, Range

Floats = NDArray[np.float64]
NOWHERE = Range(-math.inf, math.inf)
WHY_NOWHERE = (
    "the game does not say how far a value can go, and many episodes gave the very same number or few were played"
)
"""Why ``range_of`` knows no range, in words for whoever reads where one is unknown."""


class Mean:
    """The mean of ``values`` [samples], none of which can be below ``low`` or above ``high``, each the mean of so many
    ``battles``, which are independent, as each has a seed of its own, but need not be alike. ``like``: of values that
    resemble these alone, so that equal ones tell as much as others."""

    def __init__(self, values: Floats, low: float, high: float, battles: float, like: bool = False) -> None:
        self.values, self.low = values, low
        self.observed = Observed.of(values)
        self.mean = self.observed.mean
        self.coarse, self.bounded = not like and confidence.coarse(values), math.isfinite(low)
        self.full = confidence.full(self.mean, low, high, battles)
        self.unknown = not math.isfinite(self.mean) or (self.coarse and not self.bounded)

    def evidence(self, line: float) -> float:
        """Log of the evidence that the mean is above ``line``."""
        if self.unknown:
            return -math.inf
        if self.coarse:
            return confidence.log_evidence(self.values, self.low, self.observed.most, line)
        rare = confidence.unseen(self.mean, self.low, len(self.values) * self.full, line)
        return min(confidence.seen(self.values, self.observed, line, not self.bounded), rare)

    def least(self, error: float) -> float:
        """Lower confidence bound: the mean is below it with probability ``error`` at most, over all looks."""
        if self.unknown:
            return self.low
        step = max(float(np.ptp(self.values)), 1e-9)
        return confidence.lowest(self.evidence, self.mean, step, self.low, error)

    def growth(self, line: float) -> float:
        """Growth of the evidence per further value, if these resemble those so far; 0 where values are no evidence,
        however many there are."""
        if self.unknown:
            return 0.0
        if self.coarse and self.bounded:
            return confidence.growth(self.values, line, Range(self.low, self.observed.most))
        rare = confidence.unseen(self.mean, self.low, self.full, line)
        reach = confidence.reach_of(self.observed, len(self.values), line, not self.bounded)
        return max(0.0, min(confidence.growth(self.values, line, reach), rare))


def range_by_battles(values: Floats, low: float, high: float, battles: float, error: float) -> Range:
    """Range of the mean of ``values`` [samples], each the mean of so many ``battles`` between ``low`` and ``high``
    (infinite: not declared); misses with probability ``error`` at most, over all looks. Where values average several
    battles it is narrower than the bounds alone allow; verified for the noise that ``engine.bench trust`` tries."""
    least, most = Mean(values, low, high, battles), Mean(-values, -high, -low, battles)
    return Range(least.least(error / 2), -most.least(error / 2))


def range_of(values: Floats, low: float = -math.inf, high: float = math.inf, error: float = 0.05) -> Range:
    """Range of the mean of ``values`` [samples], each between ``low`` and ``high``; misses with probability ``error``
    at most, over all looks, for any noise where both bounds are finite. NOWHERE where either end is unknown."""
    if not len(values) or not np.isfinite(values).all():
        return NOWHERE
    if math.isfinite(high - low):
        return confidence.bounds(values, low, high, error)
    found = range_by_battles(values, low, high, 1.0, error)
    return found if math.isfinite(found.high - found.low) else NOWHERE


def range_of_like(values: Floats, error: float) -> Range:
    """Range of the mean of ``values`` [samples] without declared bounds, as far as all others resemble these, of which
    many or all may be equal: for whoever allows for the rest. NOWHERE where these are few."""
    if not len(values) or not np.isfinite(values).all():
        return NOWHERE
    least, most = (Mean(side, -math.inf, math.inf, 1.0, like=True).least(error / 2) for side in (values, -values))
    return Range(least, -most) if math.isfinite(least + most) else NOWHERE


def range_by_count(mean: float, samples: int, low: float, high: float, error: float = 0.05) -> Range:
    """The same from mean and count alone, where values were not kept; NOWHERE without both bounds."""
    if samples < 1 or not math.isfinite(mean) or not math.isfinite(high - low):
        return NOWHERE
    return confidence.count_bounds(mean, samples, low, high, error)


def widened(mean: float, ends: Range, error: float) -> Range:
    """A range that misses with probability ``error`` at most, from the 95 % range of a mean alone, where single values
    were not kept: what is chosen among K, or said of K at once, takes 0.05 / K. For values with bounds that is proved:
    the log of wealth that bets on a line win is convex in the line, and at the mean not above 0 (the mean of logs is
    below the log of the mean), so at c times the distance it is c times as large at least."""
    more = stretch(error)
    return Range(mean - more * (mean - ends.low), mean + more * (ends.high - mean))


def stretch(error: float) -> float:
    """How many times as wide as a 95 % range one is that misses with probability ``error`` at most (``widened``)."""
    return math.log(2 / error) / math.log(2 / 0.05)


def range_ends(arrays: Mapping[str, NDArray[Any]]) -> tuple[Floats, Floats]:
    """The columns ``low`` and ``high`` of candidates and their goals; NaN in arrays of versions that had no ranges."""
    nothing = np.full_like(arrays["objective"], np.nan)
    return arrays.get("low", nothing), arrays.get("high", nothing)
