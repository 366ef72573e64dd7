"""Base of swarms: particles with a fixed number, positions and velocities.

A particle is idle once its evaluation has arrived, and moves when it is proposed again. Particles move in the space of
vectors that decode to genomes; one that would leave the box stops at its wall and returns at half the speed (Standard
PSO 2011). With one objective particles are compared by it; with several, by front and then by crowding. ``steady``: an
evaluated particle moves on among the evaluated ones, without waiting for those in flight.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle
from engine.evolution.algorithm import Parts, Population
from engine.evolution.nsga2 import best_first
from engine.evolution.search import PopulationSearch
from engine.problem import Floats, Genome

Bools = NDArray[np.bool_]
Indices = NDArray[np.int64]


class Swarm(PopulationSearch):
    """X float64[N, n]: positions as last proposed, V: velocities; ``settled``: the evaluated particles, P in their
    order; ``place`` int64[N]: each particle's rank in P (N: none yet)."""

    gradual = True
    kept: ClassVar[tuple[str, ...]] = ("X", "V", "idle", "settled")

    def _begin(self) -> None:
        numbers = self.can.numbers
        assert numbers is not None
        self.numbers = numbers
        self.particle: dict[int, int] = {}
        self.idle: list[int] = []
        self.settled: list[int] = []
        self.place = np.full(self.N, self.N)

    @abstractmethod
    def _movers(self, n: int) -> Indices:
        """At most n idle particles that move next."""

    @abstractmethod
    def _velocity(self, movers: Indices) -> Floats:
        """Their new velocities."""

    @abstractmethod
    def _stands(self, owners: Indices, better: Bools) -> Bools:
        """Whether the new evaluations of these particles replace the old ones in P; ``better``: whether they are
        better."""

    def _survivors(self, R: Population, n: int) -> Indices:
        """The member of R that represents each particle; R holds P, then the arrivals of the particles ``owners``."""
        place, known = merit(R), len(self.settled)
        row = np.full(self.N, -1)
        row[self.settled] = np.arange(known)
        before, new = row[self.owners], known + np.arange(len(self.owners))
        stands = self._stands(self.owners, (before < 0) | (place[new] < place[before]))
        row[self.owners[stands]] = new[stands]
        self.settled = np.flatnonzero(row >= 0).tolist()
        return row[self.settled]

    def _initial(self) -> Genome:
        """Random positions; the velocity is half of the way to another random position."""
        self.X = self.numbers.sample(self.rng, self.N)
        self.V = (self.numbers.sample(self.rng, self.N) - self.X) / 2
        self.particle = dict(enumerate(range(self.N)))
        return self.numbers.decode(self.X)

    def _offspring(self, n: int) -> Genome:
        movers = self._movers(n)
        if not len(movers):
            return self.X[:0]
        self.particle |= zip(range(self.next_id, self.next_id + len(movers)), movers.tolist(), strict=True)
        gone = set(movers.tolist())
        self.idle = [k for k in self.idle if k not in gone]
        V = self._velocity(movers)
        X = self.X[movers] + V
        if self.numbers.bounded:
            inside = np.clip(X, 0.0, 1.0)
            X, V = inside, np.where(inside == X, V, -0.5 * V)
        self.X[movers], self.V[movers] = X, V
        return self.numbers.decode(X)

    def _select(self) -> None:
        arrived = sorted(self.arrived, key=lambda member: member.evaluation.id)
        self.arrived = []
        self.owners = np.array([self.particle.pop(i.evaluation.id) for i in arrived])
        R = self._gathered([*self.elders(), *arrived])
        self.P = R.take(self._survivors(R, self.N))
        self.place[self.settled] = merit(self.P)
        self.idle += self.owners.tolist()

    def state(self) -> Parts:
        """The search's state, and which particle each outstanding request moves."""
        return super().state() | {"swarm": Bundle({"particle": list(self.particle.items())}, {})}

    def load(self, parts: Parts) -> None:
        """The inverse of ``state``."""
        super().load(parts)
        self.particle = {i: k for i, k in parts["swarm"].meta["particle"]}
        if self.P:
            self.place[self.settled] = merit(self.P)


def merit(R: Population) -> Indices:
    """Each member's rank, 0 for the best."""
    place = np.empty(len(R), dtype=np.int64)
    place[best_first(R)] = np.arange(len(R))
    return place
