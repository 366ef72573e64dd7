"""Tiers: groups of teams whose ranges do not separate them.

A team's *standing* is its share of wins against all others of the table, every opponent with equal weight. Its range
holds for any game and intersects two methods, each with half of the error: averages over the meetings of the same
number, which are identically distributed and independent; and bets of all single meetings, which are independent,
against one mean (their own means differ, but wealth grows with the geometric mean, which is largest where they do not:
Hoeffding 1956). All teams' ranges hold together (Bonferroni). The team of the highest standing leads the first tier,
with all teams whose ranges overlap its own; the best of the rest leads the next, and so on. So the leader of a tier is
surely better than every team in the tiers below, whatever the noise; within a tier there is no claim.
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
    """``share`` float64[teams] of wins against all others, the 95 % range of each by itself, and ``tier`` int64[teams]
    from 0; teams without a meeting are in the last tier, without a share."""

    share: Floats
    low: Floats
    high: Floats
    tier: NDArray[np.int64]


def tiers(teams: int, results: Floats) -> Tiers:
    """Tiers from ``results`` as ``matchups`` takes them."""
    pairs = pairs_of(teams)
    rows = [_standing(i, pairs.first, pairs.second, results, teams) for i in range(teams)]
    share, low, high, least, most = np.array(rows).T
    return Tiers(share, low, high, _grouped(share, least, most))


def _standing(i: int, first: NDArray[np.int64], second: NDArray[np.int64], results: Floats, teams: int) -> list[float]:
    """Share, its own range, and the range that holds together with those of all other teams."""
    values = np.concatenate([results[first == i], 1 - results[second == i]])
    values = values[:, ~np.isnan(values).any(axis=0)]
    if not values.size:
        return [np.nan] * 5
    return [float(values.mean()), *_range(values, DOUBT), *_range(values, DOUBT / teams)]


def _range(values: Floats, error: float) -> Range:
    """Range of the mean of ``values`` [opponents, meetings]."""
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
