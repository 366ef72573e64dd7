"""AGE-MOEA (Panichella 2019): non-dominated sorting, then survival by diversity and proximity in the estimated geometry
of the first front: the p of the p-norm for which it is a unit sphere.

Departures:

1. As NSGA-II's 1, 2, 3 and 4.
2. Scores of the first front are computed only for as many members as survive by them, and the two nearest neighbours
   are updated as members are chosen, so that time grows with N times the front, not with its cube.
3. Where the front is too small or too flat for a hyperplane, each objective is divided by its largest value (pymoo's).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pymoo.util.nds.non_dominated_sorting import NonDominatedSorting

from engine.config.algorithms import AGEMOEAConfig
from engine.evolution.algorithm import Population
from engine.evolution.search import Breeding

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
_sort = NonDominatedSorting()
_SMALL = 1e-8


class AGEMOEA(Breeding):
    """P the population, ranked by front and then by survival score (kept as ``crowding``)."""

    Settings = AGEMOEAConfig
    stream = "agemoea"

    def _survivors(self, R: Population, n: int) -> Indices:
        feasible = np.flatnonzero(R.violation <= 0)
        worse = np.flatnonzero(R.violation > 0)
        worse = worse[np.argsort(R.violation[worse], kind="stable")]
        R.rank[worse] = len(R) + np.arange(len(worse))
        kept: list[Indices] = []
        room = n
        for rank, front in enumerate(_sort.do(R.cost[feasible], n_stop_if_ranked=n) if len(feasible) else []):
            members = feasible[front]
            R.rank[members] = rank
            if rank == 0:
                geometry = Geometry(R.cost[members])
                R.crowding[members] = geometry.scores(min(room, len(members)))
            else:
                R.crowding[members] = geometry.proximity(R.cost[members])
            kept.append(members[np.argsort(-R.crowding[members], kind="stable")[:room]])
            room -= len(kept[-1])
        return np.concatenate([*kept, worse[:room]])


class Geometry:
    """The geometry of the first front ``F`` float64[n, m]: ideal point z, intercepts a, and p."""

    def __init__(self, F: Floats) -> None:
        self.z = F.min(axis=0)
        n, m = F.shape
        translated = F - self.z
        self.corners = corners(translated) if n > m else np.arange(n)
        self.a = intercepts(translated, self.corners)
        self.F = translated / self.a
        self.p = exponent(self.F, self.corners) if n > m else 1.0

    def proximity(self, F: Floats) -> Floats:
        """One over the distance from the ideal point (eq. 7)."""
        return 1.0 / np.maximum(norm((F - self.z) / self.a, self.p), _SMALL)

    def scores(self, k: int) -> Floats:
        """Survival scores (algorithm 3): infinite for the corners. Then, one at a time, the member with the largest
        distance to its two nearest chosen members, divided by its distance from the ideal point. Members beyond the
        k-th score -inf."""
        scores = np.full(len(self.F), -np.inf)
        scores[self.corners] = np.inf
        length = np.maximum(norm(self.F, self.p), _SMALL)
        nearest = np.full((2, len(self.F)), np.inf)
        for corner in self.corners:
            self._approach(nearest, int(corner))
        waiting = np.ones(len(self.F), dtype=bool)
        waiting[self.corners] = False
        for _ in range(k - len(self.corners)):
            apart = np.where(np.isfinite(nearest), nearest, 0.0).sum(axis=0) / length
            best = int(np.argmax(np.where(waiting, apart, -1.0)))
            scores[best] = apart[best]
            waiting[best] = False
            self._approach(nearest, best)
        return scores

    def _approach(self, nearest: Floats, chosen: int) -> None:
        """Distances [2, n] to the two nearest chosen members, now that one more is chosen."""
        d = np.maximum(norm(self.F - self.F[chosen], self.p), _SMALL)
        nearest[1] = np.minimum(np.maximum(d, nearest[0]), nearest[1])
        nearest[0] = np.minimum(d, nearest[0])


def norm(x: Floats, p: float) -> Floats:
    """The p-norm of each row."""
    return np.asarray((np.abs(x) ** p).sum(axis=1) ** (1 / p))


def corners(F: Floats) -> Indices:
    """For each axis the member nearest to it, no member for two axes."""
    m = F.shape[1]
    found: list[int] = []
    for axis in 1e-6 + np.eye(m):
        away = off_line(F, axis)
        away[found] = np.inf
        found.append(int(np.argmin(away)))
    return np.array(found)


def off_line(F: Floats, line: Floats) -> Floats:
    """Squared distance of each row from the line through the origin."""
    along = F @ line / (line @ line)
    return np.asarray(((F - along[:, None] * line) ** 2).sum(axis=1))


def intercepts(F: Floats, corner: Indices) -> Floats:
    """Intercepts of the hyperplane through the corners with the axes; the largest values if there is no such plane."""
    largest = F.max(axis=0)
    largest = np.where(largest > 0, largest, 1.0)
    if len(corner) < F.shape[1]:
        return largest
    try:
        plane = np.linalg.solve(F[corner], np.ones(F.shape[1]))
    except np.linalg.LinAlgError:
        return largest
    if not np.isfinite(plane).all() or (plane <= 0).any():
        return largest
    return np.asarray(1.0 / plane)


def exponent(F: Floats, corner: Indices) -> float:
    """p for which the member nearest to the diagonal lies on the unit sphere (eq. 5), kept within 0.1 and 20."""
    m = F.shape[1]
    away = off_line(F, np.ones(m))
    away[corner] = np.inf
    mean = float(F[np.argmin(away)].mean())
    if not 0 < mean < 1:
        return 1.0
    p = np.log(m) / np.log(1 / mean)
    return float(min(p, 20.0)) if p > 0.1 else 1.0
