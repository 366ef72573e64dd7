"""Particle swarm optimisation (Kennedy & Eberhart 1995), with the coefficients that Clerc & Kennedy (2002) show to
converge: every particle is drawn to the best it has seen itself and to the best the swarm has seen.

    v <- w v + c1 r1 (p - x) + c2 r2 (g - x),   x <- x + v

1. ``steady``: a particle moves again as soon as it is evaluated, by the best known then (asynchronous PSO).
2. Bounds and several objectives as in ``swarm``.
"""

from __future__ import annotations

import numpy as np

from engine.config.algorithms import PSOConfig
from engine.evolution.swarm import Bools, Indices, Swarm
from engine.problem import Floats, Genome


class PSO(Swarm):
    """P holds each particle's own best, B float64[N, n] its position."""

    Settings = PSOConfig
    settings: PSOConfig
    stream = "pso"
    kept = (*Swarm.kept, "B")

    def _begin(self) -> None:
        super()._begin()
        self.w, self.c1, self.c2 = self.settings.inertia, self.settings.cognitive, self.settings.social

    def _initial(self) -> Genome:
        genomes = super()._initial()
        self.B = self.X.copy()
        return genomes

    def _movers(self, n: int) -> Indices:
        return np.array(self.idle[:n], dtype=np.int64)

    def _velocity(self, movers: Indices) -> Floats:
        X, p, g = self.X[movers], self.B[movers], self.B[np.argmin(self.place)]
        r1, r2 = self.rng.random((2, *X.shape))
        return np.asarray(self.w * self.V[movers] + self.c1 * r1 * (p - X) + self.c2 * r2 * (g - X))

    def _stands(self, owners: Indices, better: Bools) -> Bools:
        self.B[owners[better]] = self.X[owners[better]]
        return better
