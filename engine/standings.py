"""Who stands where in a tournament, by its table (``engine.metagame.table``)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle

Floats = NDArray[np.float64]
OWN = ("own", "own_low", "own_high")
"""Columns of the share of wins in the battles that a player played itself, and the ends of its range."""
COLUMNS = ("share", "low", "high", "rating", "rating_low", "rating_high", "picked", "picked_low", "picked_high")


class Standing(NamedTuple):
    """A player of a tournament. ``share`` of wins against all others or, where not everybody met, in its own battles;
    ``rating`` in Elo points; each has the ends of its range of 95 %. ``picked``: how often it would be seen if
    everybody picked well; its ends hold 95 % of re-drawn tournaments, which after few meetings miss the truth more
    often (of two players near even, one in four after two meetings). What nobody knows is NaN."""

    name: str
    share: float
    low: float
    high: float
    rating: float
    rating_low: float
    rating_high: float
    picked: float
    picked_low: float
    picked_high: float


def everybody_met(table: Bundle) -> bool:
    """Whether all pairs did."""
    return not table.meta["missing"]


def standings(table: Bundle) -> list[Standing]:
    """All players, the strongest first: by their shares of wins where everybody met everybody, otherwise, as some met
    stronger ones than others, by what all results together say."""
    met, columns = everybody_met(table), table.arrays
    shares = [columns[name] for name in ("standing", "standing_low", "standing_high")] if met else _own(table)
    others = [columns[name] for name in COLUMNS[3:]]
    by = columns.get("strength", shares[0]) if not met else shares[0]
    order = sorted(range(len(by)), key=lambda i: -(float(by[i]) if math.isfinite(by[i]) else 0.0))
    return [
        Standing(table.meta["teams"][i]["name"], *(float(column[i]) for column in (*shares, *others))) for i in order
    ]


def _own(table: Bundle) -> list[Floats]:
    """Each player's share of wins in the battles that it played, with its range; of a table of an earlier version,
    which has none, without a range. Pairs that never met would count as half a win each in the share against all
    others."""
    if OWN[0] in table.arrays:
        return [table.arrays[name] for name in OWN]
    shares, meetings = table.arrays["share"], table.arrays["meetings"]
    won = np.where(meetings > 0, np.nan_to_num(shares) * meetings, 0.0).sum(axis=1)
    with np.errstate(invalid="ignore"):
        own = won / meetings.sum(axis=1)
    return [own, *[np.full(len(own), np.nan)] * 2]


def surely_first(found: list[Standing], met: bool) -> bool:
    """Whether the range of the first lies above those of all others: of wins or, where not everybody ``met``, of Elo
    points, which alone take into account against whom each played."""
    ends = [(one.low, one.high) if met else (one.rating_low, one.rating_high) for one in found]
    return all(ends[0][0] > high for _, high in ends[1:])
