"""NSGA-III (Deb & Jain 2014): non-dominated sorting, then niching by reference directions.

Uses pymoo's normalisation by a hyperplane, its association and its niching; the normalisation's state (ideal and worst
point, extreme points) is kept as arrays. Departures:

1. As NSGA-II's 1, 2 and 4.
2. Parents are drawn at random among the feasible (as in the paper); among others the smaller violation wins.
3. The nadir point never lies beyond the worst value seen (pymoo's).
4. By default, the largest number of axis divisions that gives at most N directions.
"""

from __future__ import annotations

import warnings
from math import comb

import numpy as np
from numpy.typing import NDArray
from pymoo.algorithms.moo.nsga3 import HyperplaneNormalization, associate_to_niches, niching
from pymoo.util.nds.non_dominated_sorting import NonDominatedSorting
from pymoo.util.ref_dirs import get_reference_directions

from engine.arrays import Bundle
from engine.config.algorithms import NSGA3Config
from engine.errors import ConfigError
from engine.evolution.algorithm import Parts, Population
from engine.evolution.search import Breeding

_sort = NonDominatedSorting()


class NSGA3(Breeding):
    """Z the reference directions float64[H, m] (Das & Dennis 1998); ``partitions``: divisions p of each axis."""

    Settings = NSGA3Config
    settings: NSGA3Config
    stream = "nsga3"

    def _begin(self) -> None:
        m = len(self.problem.objectives)
        self.Z = directions(m, self.N, self.settings.partitions)
        self.norm = HyperplaneNormalization(m)

    def _survivors(self, R: Population, n: int) -> NDArray[np.int64]:
        feasible = np.flatnonzero(R.violation <= 0)
        worse = np.flatnonzero(R.violation > 0)
        worse = worse[np.argsort(R.violation[worse], kind="stable")]
        R.rank[worse] = len(R) + np.arange(len(worse))
        kept = self._niched(R, feasible, min(n, len(feasible))) if len(feasible) else feasible
        return np.concatenate([kept, worse[: n - len(kept)]])

    def _niched(self, R: Population, feasible: NDArray[np.int64], n: int) -> NDArray[np.int64]:
        """Whole fronts while they fit; from the last one, members near the directions with the fewest members."""
        fronts = [feasible[front] for front in _sort.do(R.cost[feasible], n_stop_if_ranked=n)]
        for rank, front in enumerate(fronts):
            R.rank[front] = rank
        with warnings.catch_warnings():  # pymoo changes the global warning filters
            self.norm.update(R.cost[feasible], nds=np.searchsorted(feasible, fronts[0]))
        *whole, last = fronts
        kept = np.concatenate(whole) if whole else np.empty(0, dtype=np.int64)
        if len(kept) + len(last) == n:
            return np.concatenate([kept, last])
        members = np.concatenate([kept, last])
        niche, distance, _ = associate_to_niches(R.cost[members], self.Z, self.norm.ideal_point, self.norm.nadir_point)
        k = len(kept)
        count = np.bincount(niche[:k], minlength=len(self.Z))
        chosen = niching(last, n - k, count, niche[k:], distance[k:], random_state=self.rng)
        return np.concatenate([kept, last[chosen]])

    def _better(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.bool_]:
        assert self.P is not None
        violation = np.maximum(self.P.violation, 0.0)
        return np.asarray(violation[a] < violation[b])

    def state(self) -> Parts:
        """The search's state and the normalisation's."""
        norm = self.norm
        if norm.extreme_points is None:
            return super().state()
        known = {"ideal": norm.ideal_point, "worst": norm.worst_point, "extreme": norm.extreme_points}
        return super().state() | {"norm": Bundle({}, known)}

    def load(self, parts: Parts) -> None:
        """The inverse of ``state``."""
        super().load(parts)
        if "norm" in parts:
            known = parts["norm"].arrays
            self.norm.ideal_point, self.norm.worst_point = known["ideal"], known["worst"]
            self.norm.extreme_points = known["extreme"]


def directions(m: int, population: int, partitions: int = 0) -> NDArray[np.float64]:
    """Das and Dennis's directions float64[H, m]. Raises ConfigError when there are more than ``population``."""
    p = partitions
    if not p:
        while m > 1 and comb(p + m, m - 1) <= population:
            p += 1
    p = max(p, 1)
    count = comb(p + m - 1, m - 1)
    if count > population:
        why = f"makes {count} directions for {population} lineups in a round; at least as many lineups are needed"
        raise ConfigError([("algorithm.partitions", why)])
    return np.asarray(get_reference_directions("das-dennis", m, n_partitions=p))
