"""Real vectors: simulated binary crossover and polynomial mutation (Deb & Agrawal 1995), pymoo's own functions at
NSGA-II's usual settings."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from pymoo.operators.crossover.sbx import cross_sbx
from pymoo.operators.mutation.pm import mut_pm

from engine.evolution.operators.coding import Reals, TwoStep


class RealSpace(TwoStep):
    """Real vectors within bounds. Genomes are float64[n, d]."""

    def __init__(self, low: ArrayLike, high: ArrayLike, *, eta_crossover: float = 15, eta_mutation: float = 20) -> None:
        self.low, self.high = np.asarray(low, float), np.asarray(high, float)
        self.shape, self.dtype, self.width = self.low.shape, np.dtype(np.float64), len(self.low)
        self.eta_crossover, self.eta_mutation = eta_crossover, eta_mutation
        self.exchange = 0.5

    def sample(self, rng: np.random.Generator, n: int) -> Reals:
        """n uniform points."""
        return np.asarray(rng.uniform(self.low, self.high, (n, len(self.low))))

    def decode(self, numbers: Reals) -> Reals:
        """Linearly from low to high."""
        return np.asarray(np.clip(self.low + numbers * (self.high - self.low), self.low, self.high))

    def _cross(self, rng: np.random.Generator, mothers: Reals, fathers: Reals) -> Reals:
        """One of SBX's two children, at random."""
        column = np.ones((len(mothers), 1))
        two = cross_sbx(
            np.stack([mothers, fathers]), self.low, self.high, self.eta_crossover * column, 0.5 * column,
            self.exchange * column, random_state=rng,
        )  # fmt: skip
        return np.asarray(np.where(rng.random((len(mothers), 1)) < 0.5, two[0], two[1]))

    def _mutate(self, rng: np.random.Generator, children: Reals) -> Reals:
        """Each variable with chance 1/d."""
        n, d = children.shape
        eta, rate = np.full(n, self.eta_mutation), np.full(n, min(0.5, 1 / d))
        changed = mut_pm(children, self.low, self.high, eta, rate, at_least_once=False, random_state=rng)
        return np.asarray(changed)
