"""Tiers: teams that their ranges do not tell apart stand in one.

A team's *standing* is its share of wins against all others of the table, each opponent counting alike. Its range holds
for any game, by two ways at once, each with half of the doubt: meetings of the same number make one average, and these
averages are alike and independent; and all single meetings, which are independent, bet against one mean (their own
differ, but wealth grows with the geometric mean, which is largest where they do not: Hoeffding 1956). All teams' ranges
hold together (Bonferroni). The team of the highest standing leads the first tier, with all whose ranges reach up
to its own; the best of the rest leads the next, and so on. So the leader of a tier is surely better than everybody in
the tiers below, whatever the noise; within a tier nothing is said.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.confidence import Range
from engine.means import range_of
from engine.metagame.matchups import DOUBT, pairs_of

Floats = NDArray[np.float64]


class Tiers(NamedTuple):
    """``share`` float64[teams] against all others, the ends of its own 95 % range, and the ``tier`` int64[teams] from
    0; teams that met nobody stand in the last one, without a share."""

    share: Floats
    low: Floats
    high: Floats
    tier: NDArray[np.int64]


def tiers(teams: int, results: Floats) -> Tiers:
    """By ``results`` as ``matchups`` has them."""
    pairs = pairs_of(teams)
    rows = [_standing(i, pairs.first, pairs.second, results, teams) for i in range(teams)]
    share, low, high, least, most = np.array(rows).T
    return Tiers(share, low, high, _grouped(share, least, most))


def _standing(i: int, first: NDArray[np.int64], second: NDArray[np.int64], results: Floats, teams: int) -> list[float]:
    """Share, range, and the range that holds with all others'."""
    values = np.concatenate([results[first == i], 1 - results[second == i]])
    values = values[:, ~np.isnan(values).any(axis=0)]
    if not values.size:
        return [np.nan] * 5
    return [float(values.mean()), *_range(values, DOUBT), *_range(values, DOUBT / teams)]


def _range(values: Floats, error: float) -> Range:
    """Where the mean of ``values`` [opponents, meetings] lies."""
    averages, singles = (range_of(each, 0.0, 1.0, error / 2) for each in (values.mean(axis=0), values.ravel()))
    return Range(max(averages.low, singles.low), min(averages.high, singles.high))


def _grouped(share: Floats, least: Floats, most: Floats) -> NDArray[np.int64]:
    tier, at = np.zeros(len(share), np.int64), -1
    floor = np.inf
    for i in np.lexsort((np.arange(len(share)), -np.nan_to_num(share, nan=-1.0))).tolist():
        if at < 0 or most[i] < floor:
            at, floor = at + 1, least[i]
        tier[i] = at
    return tier
