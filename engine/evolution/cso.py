"""The competitive swarm optimiser (Cheng & Jin 2015): particles meet in pairs; the winner stays as it is, the loser
learns from the winner and, a little, from the swarm's mean.

    v_l <- r1 v_l + r2 (x_w - x_l) + phi r3 (mean - x_l),   x_l <- x_l + v_l     (eq. 6, 7)

1. A generation is N/2 evaluations, so a tick (N evaluations) is two of them. N is even.
2. ``steady``: idle particles meet one another; losers move and are evaluated, winners wait for the next meeting.
3. Bounds and several objectives as in ``swarm``.
"""

from __future__ import annotations

import numpy as np

from engine.config.algorithms import CSOConfig
from engine.evolution.swarm import Bools, Indices, Swarm
from engine.problem import Floats


class CSO(Swarm):
    """P holds each particle's current evaluation; ``phi``: weight of the mean."""

    Settings = CSOConfig
    settings: CSOConfig
    stream = "cso"

    def _begin(self) -> None:
        super()._begin()
        self.phi, self.batch = self.settings.phi, self.N // 2
        self.teacher = np.zeros(self.N, dtype=np.int64)

    def _movers(self, n: int) -> Indices:
        """The losers of at most n meetings of idle particles."""
        pairs = min(n, len(self.idle) // 2)
        a, b = self.rng.permutation(np.array(self.idle, dtype=np.int64))[: 2 * pairs].reshape(2, pairs)
        a_wins = self.place[a] < self.place[b]
        losers = np.where(a_wins, b, a)
        self.teacher[losers] = np.where(a_wins, a, b)
        return losers

    def _velocity(self, movers: Indices) -> Floats:
        X, winners = self.X[movers], self.X[self.teacher[movers]]
        r1, r2, r3 = self.rng.random((3, *X.shape))
        mean = self.X.mean(axis=0)
        return np.asarray(r1 * self.V[movers] + r2 * (winners - X) + self.phi * r3 * (mean - X))

    def _stands(self, owners: Indices, better: Bools) -> Bools:
        return np.ones_like(better)
