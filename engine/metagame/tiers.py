"""Tiers: groups of teams whose ranges do not separate them.

A team's *standing* is its mean share of wins over all others of the table, each opponent counting alike; an opponent
that it never met counts as even. Its range holds for any game, by two ways at once, each with half of the doubt:
meetings of the same number make one average over opponents, and these averages are alike and independent; and all
single meetings, which are independent, bet against one mean (their own differ, but wealth grows with the geometric
mean, which is largest where they do not: Hoeffding 1956). Both need as many meetings of each opponent, so they take the
first ones of each; an opponent with less than half as many ended meetings as another is left out, and its share may be
anything from 0 to 1. All teams' ranges hold together (Bonferroni).

By falling standing, a team joins the first tier whose leader's range it reaches, or else leads a new one. So the leader
of a tier is surely better than every team of the tiers below, whatever the noise; within a tier nothing is said.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.confidence import Range
from engine.means import range_of
from engine.metagame.matchups import DOUBT, pairs_of

Floats = NDArray[np.float64]
NONE = -1
"""The tier of a team that met nobody."""
ENOUGH = 0.5
"""Share of the most ended meetings with any opponent from which on an opponent counts in a range."""


class Tiers(NamedTuple):
    """``share`` float64[teams] against all others, the ends of its own 95 % range, and the ``tier`` int64[teams] from
    0. A team that met nobody has no share (not a number) and no tier (NONE)."""

    share: Floats
    low: Floats
    high: Floats
    tier: NDArray[np.int64]


def tiers(teams: int, results: Floats) -> Tiers:
    """By ``results`` as ``matchups`` has them."""
    share, low, high, least, most = np.array(_standings(teams, results)).T
    return Tiers(share, low, high, _grouped(share, least, most))


def standings(teams: int, results: Floats) -> list[tuple[float, float, float]]:
    """Of each team its share, and the ends of the range that holds together with all others'."""
    return [(share, least, most) for share, _, _, least, most in _standings(teams, results)]


def _standings(teams: int, results: Floats) -> list[list[float]]:
    pairs = pairs_of(teams)
    return [_standing(i, pairs.first, pairs.second, results, teams) for i in range(teams)]


def _standing(i: int, first: NDArray[np.int64], second: NDArray[np.int64], results: Floats, teams: int) -> list[float]:
    """Share, range, and the range that holds with all others'."""
    met = [row[~np.isnan(row)] for row in (*results[first == i], *(1 - results[second == i]))]
    counts = np.array([len(row) for row in met])
    if not counts.any():
        return [np.nan] * 5
    share = float(np.mean([row.mean() if len(row) else 0.5 for row in met]))
    counted = counts >= ENOUGH * counts.max()
    values = np.stack([row[: counts[counted].min()] for row, in_ in zip(met, counted, strict=True) if in_])
    return [share, *_range(values, len(met), DOUBT), *_range(values, len(met), DOUBT / teams)]


def _range(values: Floats, opponents: int, error: float) -> Range:
    """Where the mean over so many opponents lies, by ``values`` [counted, meetings]; the others' may be anything."""
    averages, singles = (range_of(each, 0.0, 1.0, error / 2) for each in (values.mean(axis=0), values.ravel()))
    low, high, known = max(averages.low, singles.low), min(averages.high, singles.high), len(values) / opponents
    return Range(known * low, known * high + 1 - known)


def _grouped(share: Floats, least: Floats, most: Floats) -> NDArray[np.int64]:
    tier, floors = np.full(len(share), NONE, np.int64), list[float]()
    for i in np.lexsort((np.arange(len(share)), -np.nan_to_num(share))).tolist():
        if np.isnan(share[i]):
            continue
        tier[i] = next((at for at, floor in enumerate(floors) if most[i] >= floor), len(floors))
        if tier[i] == len(floors):
            floors.append(float(least[i]))
    return tier
