"""Whether two agents play one style: by the ranges of what they do, so that chance takes nobody for another; light
enough for a page.

Two agents play one style if, in every behaviour in which agents were seen to differ, they truly lie at most ``ALIKE``
of what all agents span apart. What is measured of each is a mean with a range. Here the ranges are as wide as holds
for all agents and all behaviours of a search at once, with an error of ``ERROR``: then no two agents of one style are
called surely others, and no two of different styles surely alike, however many pairs somebody looks at. Between,
nobody can tell yet.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.means import stretch
from engine.styles.selection import ROUNDING

ALIKE = 0.1
"""Of what all agents span in a behaviour: who differs by no more plays the same style."""
ERROR = 0.05
"""Probability that anything that is said to be sure of any two agents of a search is wrong."""
Floats = NDArray[np.float64]
Verdict = Literal["same", "open", "another"]


class Likeness(NamedTuple):
    """How far two agents lie apart in the behaviour in which that is most, as a share of what all agents span: ``by``
    their means, and surely at least ``low`` and at most ``high`` (infinite: unknown)."""

    by: float
    low: float
    high: float

    @property
    def verdict(self) -> Verdict:
        """Whether they surely play one style, or surely ``another``; ``open``: nobody can tell yet."""
        if self.low > ALIKE:
            return "another"
        return "same" if self.high <= ALIKE else "open"


def likeness(mean: Floats, low: Floats, high: Floats, row: int) -> list[Likeness]:
    """That of everybody to the agent in one row. ``mean`` float64[n, d] of each behaviour, ``low`` and ``high`` the
    ends of its 95 % range (not finite: unknown). Behaviours in which all were seen to do the same are left out; where
    there are no others, nobody knows who is alike unless the ranges have no width either."""
    n, d = mean.shape
    known = np.isfinite(mean) & np.isfinite(low) & np.isfinite(high)
    span = np.array([np.ptp(column[np.isfinite(column)]) if np.isfinite(column).any() else 0.0 for column in mean.T])
    widest = np.nanmax(np.abs(np.where(np.isfinite(mean), mean, np.nan)), axis=0, initial=0.0)
    differs = span > ROUNDING * widest
    if not differs.any():
        wide = bool((np.where(known, high - low, np.inf) > ROUNDING * widest).any())
        return [Likeness(0.0, 0.0, np.inf if wide and k != row else 0.0) for k in range(n)]
    wider = stretch(ERROR / (n * d))
    below, above = (np.where(known, wider * np.abs(mean - end), np.inf)[:, differs] for end in (low, high))
    change = (mean - mean[row])[:, differs]
    least, most = change - below - above[row], change + above + below[row]
    by = np.where(np.isfinite(change), np.abs(change), np.inf)
    lows = np.maximum(np.nan_to_num(np.maximum(least, -most), nan=0.0, neginf=0.0), 0.0)
    highs = np.nan_to_num(np.maximum(np.abs(least), np.abs(most)), nan=np.inf, posinf=np.inf)
    columns = (np.max(each / span[differs], axis=1) for each in (by, lows, highs))
    found = [Likeness(*each) for each in zip(*(column.tolist() for column in columns), strict=True)]
    return [Likeness(0.0, 0.0, 0.0) if k == row else each for k, each in enumerate(found)]
