"""Who surely beats whom, and the rings this makes.

"Surely" allows for how many match-ups were looked at: all cells of a table lie within ``Matchups.least`` and ``most``
at once but for a chance of 5 % (Bonferroni), so in at most 1 of 20 tables any such word is luck. A *counter* of a team
surely beats it; an *upset* does so although its rating is lower: that is what a ladder cannot explain. A *ring* is
three teams each of which surely beats the next: the shortest proof that no ladder holds for all, since every cycle of a
tournament contains one (Moon 1968).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.metagame.matchups import Matchups

Bools = NDArray[np.bool_]


class Counter(NamedTuple):
    """``team`` surely beats ``beaten``; ``upset``: although it is rated lower."""

    team: int
    beaten: int
    share: float
    least: float
    upset: bool


class Ring(NamedTuple):
    """The first surely beats the second, that the third, and that the first; the smallest of those three shares."""

    teams: tuple[int, int, int]
    share: float


def beats(found: Matchups) -> Bools:
    """bool[teams, teams]: the row's team surely beats the column's."""
    with np.errstate(invalid="ignore"):
        return np.asarray(found.least > 0.5)


def counters(found: Matchups, ratings: NDArray[np.float64]) -> list[Counter]:
    """All, the surest first."""
    listed = [
        Counter(i, j, float(found.share[i, j]), float(found.least[i, j]), bool(ratings[i] < ratings[j]))
        for i, j in np.argwhere(beats(found)).tolist()
    ]
    return sorted(listed, key=lambda c: (-c.least, -c.share, c.team, c.beaten))


def rings(found: Matchups, most: int = 20) -> list[Ring]:
    """Those whose weakest link is strongest, ``most`` of them at most."""
    sure, listed = beats(found), list[Ring]()
    for i in range(found.teams):
        for j in np.flatnonzero(sure[i, i + 1 :]) + i + 1:
            for k in np.flatnonzero(sure[j, i + 1 :] & sure[i + 1 :, i]) + i + 1:
                share = min(found.share[i, j], found.share[j, k], found.share[k, i])
                listed.append(Ring((i, int(j), int(k)), float(share)))
    return sorted(listed, key=lambda ring: (-ring.share, ring.teams))[:most]
