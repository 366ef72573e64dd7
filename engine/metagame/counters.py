"""Sure wins between teams, and the rings that they form.

"Surely" corrects for the number of match-ups: all cells of a table lie within ``Matchups.least`` and ``most`` at once
with probability 95 % (Bonferroni), so at most 1 table in 20 contains a sure win that is luck. A *counter* of a team
surely beats it; an *upset* is a counter with the lower rating, which a ladder cannot explain. A *ring* is three teams
each of which surely beats the next: the shortest proof that no ladder explains all, since every cycle of a tournament
contains one (Moon 1968).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.metagame.matchups import Matchups

Bools = NDArray[np.bool_]


class Counter(NamedTuple):
    """``team`` surely beats ``beaten``; ``upset``: its rating is lower."""

    team: int
    beaten: int
    share: float
    least: float
    upset: bool


class Ring(NamedTuple):
    """The first team surely beats the second, the second the third, and the third the first; the smallest of the three
    shares."""

    teams: tuple[int, int, int]
    share: float


def beats(found: Matchups) -> Bools:
    """bool[teams, teams]: the row team surely beats the column team."""
    with np.errstate(invalid="ignore"):
        return np.asarray(found.least > 0.5)


def counters(found: Matchups, ratings: NDArray[np.float64]) -> list[Counter]:
    """All counters, the surest first."""
    listed = [
        Counter(i, j, float(found.share[i, j]), float(found.least[i, j]), bool(ratings[i] < ratings[j]))
        for i, j in np.argwhere(beats(found)).tolist()
    ]
    return sorted(listed, key=lambda c: (-c.least, -c.share, c.team, c.beaten))


def rings(found: Matchups, most: int = 20) -> list[Ring]:
    """At most ``most`` rings, those with the strongest weakest link first."""
    sure, listed = beats(found), list[Ring]()
    for i in range(found.teams):
        for j in np.flatnonzero(sure[i, i + 1 :]) + i + 1:
            for k in np.flatnonzero(sure[j, i + 1 :] & sure[i + 1 :, i]) + i + 1:
                share = min(found.share[i, j], found.share[j, k], found.share[k, i])
                listed.append(Ring((i, int(j), int(k)), float(share)))
    return sorted(listed, key=lambda ring: (-ring.share, ring.teams))[:most]
