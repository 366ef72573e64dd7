"""What an exchange does to several lineups: the average of an objective before and after it, on the same luck.

Each replicate of a lineup has a value of its own, the jackknife's (``engine.lineups.objectives``), and their average
over the lineups is one number a replicate: replicates are independent, lineups need not be. So ranges are those of
means of replicates (``engine.means``). They say what luck leaves open of these lineups, which were picked for being
far over the line; they say nothing of lineups that nobody looked at.

Before and after have common random numbers: every battle of a twin has the seed that it had with the suspect in it. The
change is averaged replicate by replicate, so the luck that both share drops out of its range.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.means import range_by_battles

Floats = NDArray[np.float64]
ERROR = 0.05


class Level(NamedTuple):
    """A mean, and the ends of its 95 % range."""

    mean: float
    low: float
    high: float


class Bounds(NamedTuple):
    """Between which the objective lies in each lineup, float64[lineups] each, infinite where nobody says; of how many
    different ``battles`` one replicate of the average is made, at least; ``exact``: luck has no part in it."""

    low: Floats
    high: Floats
    battles: int
    exact: bool = False


def level(values: Floats, bounds: Bounds) -> Level:
    """The average over lineups of ``values`` float64[lineups, replicates]."""
    each, low, high = values.mean(axis=0), float(bounds.low.mean()), float(bounds.high.mean())
    return _level(each, low, high, bounds)


def change(before: Floats, after: Floats, bounds: Bounds) -> Level:
    """By how much the average changes from ``before`` to ``after``, float64[lineups, replicates] each."""
    each = (after - before).mean(axis=0)
    reach = float((bounds.high - bounds.low).mean())
    return _level(each, -reach, reach, bounds)


def _level(each: Floats, low: float, high: float, bounds: Bounds) -> Level:
    mean = float(each.mean())
    if bounds.exact:
        return Level(mean, mean, mean)
    ends = range_by_battles(each, low, high, float(bounds.battles), ERROR)
    return Level(mean, max(ends.low, low), min(ends.high, high))
