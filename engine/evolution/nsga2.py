"""NSGA-II (Deb, Pratap, Agarwal, Meyarivan 2002): fast non-dominated sorting, crowding distance, binary tournament.

Uses pymoo's non-dominated sorting and crowding distance; keeps its own population and generator, so a checkpoint needs
no pickle. Departures:

1. Evaluations arrive one at a time in any order; a generation is complete with its last member (``steady``: every
   evaluation joins at once and every N of them are a tick).
2. Duplicates of population members (by canonical key) are not proposed, where a few tries find something else.
3. Ties in crowding are broken by age, not at random: the same evaluations always give the same survivors.
4. Failed evaluations and violations are constraint-dominated (Deb's feasibility rule) and never on a front.
5. ``steady``: until the first N evaluations have arrived and can be parents, free workers get random candidates, N more
   at most, so the first selection may be among 2 N.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pymoo.operators.survival.rank_and_crowding.metrics import get_crowding_function
from pymoo.util.nds.non_dominated_sorting import NonDominatedSorting

from engine.config.algorithms import NSGA2Config, SearchAlgorithm
from engine.evolution.algorithm import Population
from engine.evolution.search import Breeding

_sort = NonDominatedSorting()
_crowd = get_crowding_function("cd")


class NSGA2(Breeding):
    """P the population, Q the offspring being evaluated, R both (the paper's symbols)."""

    Settings: ClassVar[type[SearchAlgorithm]] = NSGA2Config
    stream = "nsga2"

    def _survivors(self, R: Population, n: int) -> NDArray[np.int64]:
        return survivors(R, n)


def best_first(R: Population) -> NDArray[np.int64]:
    """All of R, best first; sets R's rank and crowding. One objective: by value, equals by age; several: by front, then
    crowding. Infeasible ones come last, by violation."""
    if R.cost.shape[1] > 1:
        survivors(R, len(R))
        return np.lexsort((-R.crowding, R.rank))
    violation = np.maximum(R.violation, 0.0)
    order = np.lexsort((np.where(violation > 0, 0.0, R.cost[:, 0]), violation))
    R.rank[order] = np.arange(len(R))
    return order


def survivors(R: Population, n: int) -> NDArray[np.int64]:
    """Indices of the n survivors, best first; sets rank and crowding of R. Infeasible members come after all feasible
    ones, by violation."""
    feasible = np.flatnonzero(R.violation <= 0)
    kept: list[NDArray[np.int64]] = []
    room, rank = n, 0
    for front in _sort.do(R.cost[feasible], n_stop_if_ranked=n) if len(feasible) else []:
        members = feasible[front]
        short = len(members) - room
        R.rank[members] = rank
        R.crowding[members] = _crowd.do(R.cost[members], n_remove=max(short, 0))
        if short > 0:
            members = members[np.argsort(-R.crowding[members], kind="stable")[:room]]
        kept.append(members)
        room, rank = room - len(members), rank + 1
        if room == 0:
            break
    if room:
        rest = np.setdiff1d(np.flatnonzero(R.violation > 0), np.concatenate(kept) if kept else [])
        rest = rest[np.argsort(R.violation[rest], kind="stable")]
        R.rank[rest] = rank + np.arange(len(rest))
        kept.append(rest[:room])
    return np.concatenate(kept)
