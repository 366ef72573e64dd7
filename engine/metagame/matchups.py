"""The match-ups of a round robin: how often each team won against each other one, and where that may lie.

A *meeting* is two battles of the same two teams, one from each seat; its result is the first team's share of the two
wins, draws as half. Meetings are independent and lie between 0 and 1, so their ranges hold for any game and at every
look (``engine.confidence``). Pairs stand in the order of ``itertools.combinations``.

Departure: what is computed from the whole table by normal approximation (``split``, ``dominance``, redrawn tables)
takes as a match-up's standard error no less than that of a win rate with half a win and half a loss added (Agresti and
Coull 1998): ten wins of ten have no spread, and are no certainty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.means import range_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
DOUBT = 0.05
"""The chance that a range misses; and, over a whole table, that any of its sure words is luck."""


class Pairs(NamedTuple):
    """Which teams meet in each pair: indices int64[pairs]."""

    first: Ints
    second: Ints


class Matchups(NamedTuple):
    """float64[teams, teams] of the row's team against the column's, not a number on the diagonal and where no meeting
    ended: its ``share`` of wins, the ends ``low`` and ``high`` of the 95 % range of that cell alone, ``least`` and
    ``most`` between which all cells lie at once, the ``variance`` of the share (unbiased) and its standard ``error``
    (never 0); ``meetings`` int64[teams, teams]."""

    share: Floats
    low: Floats
    high: Floats
    least: Floats
    most: Floats
    variance: Floats
    error: Floats
    meetings: Ints

    @property
    def teams(self) -> int:
        """How many there are."""
        return len(self.share)

    @property
    def payoff(self) -> Floats:
        """By how much the row's share is above even, antisymmetric; what nobody played counts as even."""
        return np.asarray(np.nan_to_num(self.share - 0.5))

    @property
    def whole(self) -> bool:
        """Whether every two teams have met."""
        return bool((self.meetings + np.eye(self.teams, dtype=np.int64) > 0).all())


def pairs_of(teams: int) -> Pairs:
    """Every two of so many teams."""
    return Pairs(*(side.astype(np.int64) for side in np.triu_indices(teams, 1)))


def matchups(teams: int, results: Floats) -> Matchups:
    """By ``results`` float64[pairs, meetings] of each pair's first team, not a number where a meeting did not end."""
    pairs = pairs_of(teams)
    found = np.array([_cell(row[~np.isnan(row)], len(results)) for row in results]).reshape(len(results), 8)
    share, low, high, least, most, variance, error, count = found.T
    table = {
        "share": _both(teams, pairs, share, 1 - share),
        "low": _both(teams, pairs, low, 1 - high),
        "high": _both(teams, pairs, high, 1 - low),
        "least": _both(teams, pairs, least, 1 - most),
        "most": _both(teams, pairs, most, 1 - least),
        "variance": _both(teams, pairs, variance, variance),
        "error": _both(teams, pairs, error, error),
    }
    return Matchups(**table, meetings=np.nan_to_num(_both(teams, pairs, count, count)).astype(np.int64))


def redrawn(found: Matchups, rng: np.random.Generator) -> Floats:
    """Payoffs float64[teams, teams] as another round robin might have measured them: each match-up moved by its
    error, within what is possible."""
    pairs = pairs_of(found.teams)
    moved = rng.standard_normal(len(pairs.first)) * np.nan_to_num(found.error[pairs])
    share = np.clip(found.payoff[pairs] + moved, -0.5, 0.5)
    return np.nan_to_num(_both(found.teams, pairs, share, -share))


def _cell(values: Floats, pairs: int) -> tuple[float, ...]:
    n = len(values)
    if not n:
        return (np.nan,) * 7 + (0.0,)
    ends, sure = range_of(values, 0.0, 1.0, DOUBT), range_of(values, 0.0, 1.0, DOUBT / pairs)
    near = (values.sum() + 0.5) / (n + 1)
    least = near * (1 - near) / (n + 1)
    variance = float(values.var(ddof=1)) / n if n > 1 else least
    error = np.sqrt(max(variance, least))
    return float(values.mean()), *ends, *sure, variance, float(error), float(n)


def _both(teams: int, pairs: Pairs, first: Floats, second: Floats) -> Floats:
    """A table of what the first and the second team of each pair have."""
    table = np.full((teams, teams), np.nan)
    table[pairs.first, pairs.second], table[pairs.second, pairs.first] = first, second
    return table
