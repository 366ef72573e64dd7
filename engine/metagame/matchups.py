"""The match-ups of a round robin: each team's share of wins against each other team, with ranges.

A *meeting* is two battles of the same two teams, one from each seat; its result is the first team's share of the two
wins, draws as half. Results are independent and between 0 and 1, so ranges hold for any game and at every look
(``engine.confidence``). Pairs are in the order of ``itertools.combinations``.

Departure: normal approximations over the whole table (``split``, ``dominance``, redrawn tables) use a standard error of
a match-up no smaller than that of a win rate with half a win and half a loss added (Agresti and Coull 1998): ten wins
of ten have no spread, yet are no certainty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.means import range_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
DOUBT = 0.05
"""Probability that a range misses and, over a whole table, that any of its sure findings is luck."""


class Pairs(NamedTuple):
    """The two teams of each pair: indices int64[pairs]."""

    first: Ints
    second: Ints


class Matchups(NamedTuple):
    """float64[teams, teams] of the row team against the column team, NaN on the diagonal and where no meeting was
    finished: its ``share`` of wins, the 95 % range ``low`` to ``high`` of that cell alone, the range ``least`` to
    ``most`` within which all cells lie at once, the unbiased ``variance`` of the share and its standard ``error``
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
        """The number of teams."""
        return len(self.share)

    @property
    def payoff(self) -> Floats:
        """The row team's share minus one half, antisymmetric; match-ups without a result count as even."""
        return np.asarray(np.nan_to_num(self.share - 0.5))

    @property
    def whole(self) -> bool:
        """Whether every two teams have met."""
        return bool((self.meetings + np.eye(self.teams, dtype=np.int64) > 0).all())


def pairs_of(teams: int) -> Pairs:
    """All pairs of so many teams."""
    return Pairs(*(side.astype(np.int64) for side in np.triu_indices(teams, 1)))


def matchups(teams: int, results: Floats) -> Matchups:
    """Match-ups from ``results`` float64[pairs, meetings] of each pair's first team, NaN for unfinished meetings."""
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
    """Payoffs float64[teams, teams] of a simulated other round robin: each match-up moved by normal noise of its
    error, clipped to possible values; those of pairs that have not met may be anything, all alike likely."""
    pairs = pairs_of(found.teams)
    moved = rng.standard_normal(len(pairs.first)) * np.nan_to_num(found.error[pairs])
    share = np.clip(found.payoff[pairs] + moved, -0.5, 0.5)
    unknown = found.meetings[pairs] == 0
    share[unknown] = rng.uniform(-0.5, 0.5, int(unknown.sum()))
    return np.nan_to_num(_both(found.teams, pairs, share, -share))


def _cell(values: Floats, pairs: int) -> tuple[float, ...]:
    n = len(values)
    if not n:
        return (np.nan,) * 7 + (0.0,)
    ends, sure = range_of(values, 0.0, 1.0, DOUBT), range_of(values, 0.0, 1.0, DOUBT / pairs)
    squares = float(((values - values.mean()) ** 2).sum())
    variance, error = spread(n, float(values.sum()), squares)
    return float(values.mean()), *ends, *sure, variance, error, float(n)


def spread(n: int, wins: float, squares: float) -> tuple[float, float]:
    """The variance of a match-up's share from the number of meetings, their sum, and the sum of squares around their
    mean; and its standard error, which is never 0."""
    near = (wins + 0.5) / (n + 1)
    least = near * (1 - near) / (n + 1)
    variance = squares / (n - 1) / n if n > 1 else least
    return variance, float(np.sqrt(max(variance, least)))


def _both(teams: int, pairs: Pairs, first: Floats, second: Floats) -> Floats:
    """A table from the values of the first and of the second team of each pair."""
    table = np.full((teams, teams), np.nan)
    table[pairs.first, pairs.second], table[pairs.second, pairs.first] = first, second
    return table
