"""What battles that the game did not finish may hide: any of them may have been lost, or won, and what an experiment
tells holds whichever way these would have ended. A game that breaks off the battles which teams with a piece lose would
else make that piece look good. Where all were finished it is 0, and no number differs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from engine import confidence
from engine.confidence import Range
from engine.worth.expectations import WIN

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
LOST, WON = -0.5, 0.5
"""Outcomes beyond even, as which battles that were not finished may count."""
Bounds = Callable[[Floats, float, float, float], Range]
"""Range of the mean of values between two ends, which misses with a probability (``confidence.bounds``)."""


class Ways(NamedTuple):
    """Residuals of battles: of those that were finished; of all, had the others been ``lost``; and had they been
    ``won``."""

    rest: Floats
    lost: Floats
    won: Floats

    @classmethod
    def together(cls, parts: Sequence[Ways]) -> Ways:
        """One after another."""
        return cls(*(np.concatenate([np.empty(0), *(part[k] for part in parts)]) for k in range(3)))

    @property
    def turned(self) -> Ways:
        """Of the second teams, whose outcomes are the opposite of the first ones'."""
        return Ways(-self.rest, -self.won, -self.lost)

    def at(self, where: NDArray[np.bool_] | NDArray[np.int32]) -> Ways:
        """Of the battles ``where``, ``rest`` being not a number yet where they were not finished."""
        rest, lost, won = (each[where] for each in self)
        return Ways(rest[np.isfinite(rest)], lost, won)

    @property
    def least(self) -> tuple[Floats, ...]:
        """What must be high for the mean to be, whichever way they would have ended."""
        return (self.rest, self.lost) if len(self.lost) > len(self.rest) else (self.rest,)

    @property
    def most(self) -> tuple[Floats, ...]:
        """What must be low for the mean to be."""
        return (self.rest, self.won) if len(self.won) > len(self.rest) else (self.rest,)

    @property
    def hidden(self) -> float:
        """How far the mean of all may be from that of those that were finished; 1 where none was."""
        if len(self.lost) == len(self.rest):
            return 0.0
        return max(abs(float(v.mean() - self.rest.mean())) for v in self[1:]) if len(self.rest) else 1.0

    def range(self, low: float, high: float, error: float, of: Bounds = confidence.bounds) -> Range:
        """``of`` the mean, each value being within [low, high]. Which battles were not finished is luck, too: so it is
        a range of values of which some were lost (or won), and not that of the others, moved by their share."""
        ends = of(self.rest, low, high, error)
        least = min([ends.low, *(of(v, low, high, error).low for v in self.least[1:])])
        most = max([ends.high, *(of(v, low, high, error).high for v in self.most[1:])])
        return Range(least, most)


def ways(left: Callable[[Ints, Floats], Floats], rows: Ints, ahead: Floats) -> Ways:
    """Residuals of battles for their first teams, ``rest`` being not a number where they were not finished; ``left``:
    those [n, 2] of the outcomes ``ahead`` [n, 2] of the pairings ``rows``."""
    rest = left(rows, ahead)[:, WIN]
    off = ~np.isfinite(rest)
    if not off.any():
        return Ways(rest, rest, rest)
    lost, won = rest.copy(), rest.copy()
    for each, edge in ((lost, LOST), (won, WON)):
        each[off] = left(rows[off], np.full((int(off.sum()), 2), edge))[:, WIN]
    return Ways(rest, lost, won)


def hidden(weights: sparse.csr_matrix, forecast: Floats, mean: Floats, many: Floats) -> Floats:
    """By column, how far the ``mean`` of residuals of a total weight of ``many`` may be from that of all battles;
    ``weights`` [n, k] and ``forecast`` [n] of the teams whose battles were not finished."""
    extra = np.asarray(weights.sum(axis=0), np.float64).ravel()
    ways = [
        np.abs(weights.T @ (edge - forecast) - extra * mean) / np.maximum(many + extra, 1.0) for edge in (LOST, WON)
    ]
    return np.asarray(np.maximum(*ways))
