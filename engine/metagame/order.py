"""The order of teams on a map of their match-ups, in which teams with similar match-ups are neighbours.

Average linkage of the rows, with leaves in the order that makes neighbours most similar (Bar-Joseph, Gifford and
Jaakkola 2001, "Fast optimal leaf ordering for hierarchical clustering"). Either direction is optimal; here the half
that wins more comes first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import pdist

Floats = NDArray[np.float64]


def order(payoff: Floats) -> NDArray[np.int64]:
    """Team indices int64[teams] in that order, from antisymmetric payoffs [teams, teams]."""
    n, wins = len(payoff), payoff.mean(axis=1)
    if n < 3:
        return np.argsort(-wins, kind="stable").astype(np.int64)
    apart = pdist(payoff)
    leaves = leaves_list(optimal_leaf_ordering(linkage(apart, "average"), apart)).astype(np.int64)
    middle = n // 2
    backwards = wins[leaves[:middle]].mean() < wins[leaves[n - middle :]].mean()
    return np.asarray(leaves[::-1] if backwards else leaves)
