"""Gossip between learners: who mixes with whom, with which weights, and how far apart mixing keeps them (GALA, Assran
et al. 2019, section 3 and proposition 1; PALA, Sun et al. 2023, section 4).

X(k) float64[n, d] has the parameters x_i of agent v_i as its rows. Each iteration adds what every agent learned by
itself, α G(k), and mixes: X(k+1) = P (X(k) + α G(k)). p_ij > 0 where v_i takes what v_j sends, j ∈ N_in(i). The paper's
uniform mean is x_i ← (x_i + Σ_j m_j) / (1 + |N_in|). It keeps the agents within a ball around their mean x̄:

    ‖X(k+1) − X̄(k+1)‖ ≤ α Σ_{s=0..k} β^{k+1−s} ‖G(s)‖.

Departures: 1. the papers ask only that the rows of P sum to 1. Here its columns do, too: where agents have different
numbers of neighbours (tree; an odd number of agents in two groups), the weights are Metropolis's, because under the
uniform mean x̄ would drift towards those with many neighbours and the bound would not hold. 2. β is ‖P − 11ᵀ/n‖, exact
for one P that does not change; the papers take the joint spectral radius of the matrices of a sequence with delays.
There is no bound here for agents that do not wait. 3. α G is the step that the optimiser really made; RMSprop's is not
a gradient times α. 4. A row of P is summed in float64, in the order of the agents, and
rounded to float32 once (``combined``): agents that all take the same, and agents that were equal, are equal to the last
bit afterwards. 5. The graphs do not change; those of the released code that are not
rings alternate peers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.config.gossip import Topology

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
Neighbours = tuple[tuple[int, ...], ...]
"""N_in of each agent, ascending."""


def _ring(n: int) -> Iterable[tuple[int, int]]:
    """v_i takes what v_{i−1} sends."""
    return ((i, (i - 1) % n) for i in range(n))


def _exponential(n: int) -> Iterable[tuple[int, int]]:
    """v_i takes from those 1, 2, 4, … before it."""
    return ((i, (i - (1 << m)) % n) for i in range(n) for m in range((n - 1).bit_length()))


def _bipartite(n: int) -> Iterable[tuple[int, int]]:
    """Even and odd agents exchange with those 1, 3, 5, 9, … (1 + 2^m) away that are of the other parity."""
    offsets = {1} | {1 + (1 << m) for m in range(1, (n - 1).bit_length())}
    pairs = ((i, (i + d) % n) for i in range(n) for d in offsets)
    return (ends for i, j in pairs if (i - j) % 2 for ends in ((i, j), (j, i)))


def _full(n: int) -> Iterable[tuple[int, int]]:
    """Everybody takes from everybody."""
    return ((i, j) for i in range(n) for j in range(n))


def _tree(n: int) -> Iterable[tuple[int, int]]:
    """A binary tree: v_i exchanges with v_{2i+1} and v_{2i+2}."""
    return (ends for i in range(1, n) for ends in ((i, (i - 1) // 2), ((i - 1) // 2, i)))


LINKS: dict[Topology, Callable[[int], Iterable[tuple[int, int]]]] = {
    "ring": _ring,
    "exponential": _exponential,
    "bipartite": _bipartite,
    "full": _full,
    "tree": _tree,
}
"""By topology, pairs (taker, sender) of n agents; a pair of an agent with itself, and a repeated one, do not count."""


def neighbours(topology: Topology, n: int) -> Neighbours:
    """N_in of each of n agents; empty for one alone."""
    found: list[set[int]] = [set() for _ in range(n)]
    for i, j in LINKS[topology](n):
        if i != j:
            found[i].add(j)
    return tuple(tuple(sorted(each)) for each in found)


def mixing(topology: Topology, n: int) -> F64:
    """P float64[n, n], doubly stochastic: the uniform mean on a regular graph, else Metropolis weights
    p_ij = 1 / (1 + max(|N_i|, |N_j|)) (the irregular graphs here are undirected)."""
    N_in = neighbours(topology, n)
    degree = [len(each) for each in N_in]
    P = np.zeros((n, n))
    for i, each in enumerate(N_in):
        for j in each:
            P[i, j] = 1.0 / (1 + max(degree[i], degree[j]))
        P[i, i] = 1.0 / (1 + degree[i]) if len(set(degree)) == 1 else 1.0 - P[i].sum()
    return P


def beta(P: F64) -> float:
    """β = ‖P − 11ᵀ/n‖: the share of their distance to x̄ that agents keep, at most, when they mix. cos(π/n) for a
    directed ring."""
    return float(np.linalg.norm(P - 1.0 / len(P), 2))


def combined(row: Mapping[int, float], x: Mapping[int, F32]) -> F32:
    """Σ_j p_ij x_j float32[d], of a ``row`` of P by agent."""
    total = np.zeros(len(next(iter(x.values()))))
    for j in sorted(row):
        total += row[j] * x[j].astype(np.float64)
    return total.astype(np.float32)


def distance(X: F64) -> float:
    """‖X − X̄‖ (Frobenius): the root of the summed squared distances of n agents [n, d] to their mean."""
    return float(np.linalg.norm(X - X.mean(axis=0)))


class Ball:
    """The radius ε(k) = α Σ_{s<k} β^{k−s} ‖G(s)‖ of the ball in which agents that wait for each other stay."""

    def __init__(self, beta: float, epsilon: float = 0.0) -> None:
        self.beta, self.epsilon = beta, epsilon

    def step(self, norms: Sequence[float]) -> float:
        """The radius after one more iteration, in which the agents' own steps had these norms ‖α G_i(k)‖."""
        self.epsilon = self.beta * (self.epsilon + float(np.linalg.norm(norms)))
        return self.epsilon
