"""Real vectors: simulated binary crossover (Deb & Agrawal 1995, "Simulated binary crossover for continuous search
space") and polynomial mutation (Deb & Goyal 1996, "A combined genetic adaptive search (GeneAS) for engineering
design"), pymoo's own functions at NSGA-II's usual settings; or uniform crossover (pymoo) and uniform mutation
(Michalewicz 1992)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from pymoo.operators.crossover.sbx import cross_sbx
from pymoo.operators.mutation.pm import mut_pm
from pymoo.util.misc import crossover_mask

from engine.evolution.operators.coding import Reals, TwoStep
from engine.problem import Genome

Crossover = Literal["simulated_binary", "uniform"]
Mutation = Literal["polynomial", "uniform"]


class RealSpace(TwoStep):
    """Real vectors within bounds. Genomes are float64[n, d].

    Crossovers: ``simulated_binary`` (near or between both parents, spread by ``eta_crossover``) and ``uniform`` (each
    variable from one of them as it is). Mutations: ``polynomial`` (small steps, by ``eta_mutation``) and ``uniform``
    (drawn anew from the whole range).
    """

    def __init__(
        self, low: ArrayLike, high: ArrayLike, *, crossover_by: Crossover = "simulated_binary",
        mutation_by: Mutation = "polynomial", eta_crossover: float = 15, eta_mutation: float = 20,
        logarithms: ArrayLike = False,
    ) -> None:  # fmt: skip
        """``logarithms`` bool[d]: which variables are natural logarithms of what they stand for."""
        self.low, self.high = np.asarray(low, float), np.asarray(high, float)
        self.logarithms = np.broadcast_to(np.asarray(logarithms, bool), self.low.shape)
        self.shape, self.dtype, self.width = self.low.shape, np.dtype(np.float64), len(self.low)
        self.eta_crossover, self.eta_mutation = eta_crossover, eta_mutation
        self.exchange = 0.5
        self.crossover_by, self.mutation_by = crossover_by, mutation_by

    def sample(self, rng: np.random.Generator, n: int) -> Reals:
        """n uniform points."""
        return np.asarray(rng.uniform(self.low, self.high, (n, len(self.low))))

    def decode(self, numbers: Reals) -> Reals:
        """Linearly from low to high."""
        return np.asarray(np.clip(self.low + numbers * (self.high - self.low), self.low, self.high))

    def perturbed(
        self, rng: np.random.Generator, genome: Genome, fresh: Genome, factors: Sequence[float], chance: float
    ) -> Genome:
        """Each number times one of the factors, kept within the bounds, or the fresh one. Of a logarithm it is the
        number it stands for that is multiplied."""
        factor = rng.choice(factors, size=len(genome))
        moved = np.where(self.logarithms, genome + np.log(factor), genome * factor)
        changed = np.clip(moved, self.low, self.high)
        return np.asarray(np.where(rng.random(len(genome)) < chance, fresh, changed), dtype=genome.dtype)

    def _cross(self, rng: np.random.Generator, mothers: Reals, fathers: Reals) -> Reals:
        """One of the two children, at random."""
        if self.crossover_by == "uniform":
            from_father = rng.random(mothers.shape) < 0.5
            return np.asarray(crossover_mask(np.stack([mothers, fathers]), from_father)[0])
        column = np.ones((len(mothers), 1))
        two = cross_sbx(
            np.stack([mothers, fathers]), self.low, self.high, self.eta_crossover * column, 0.5 * column,
            self.exchange * column, random_state=rng,
        )  # fmt: skip
        return np.asarray(np.where(rng.random((len(mothers), 1)) < 0.5, two[0], two[1]))

    def _mutate(self, rng: np.random.Generator, children: Reals) -> Reals:
        """Each variable with chance 1/d, but 1/2 where there is one alone."""
        n, d = children.shape
        rate = min(0.5, 1 / d)
        if self.mutation_by == "uniform":
            return np.where(rng.random((n, d)) < rate, self.sample(rng, n), children)
        eta, rates = np.full(n, self.eta_mutation), np.full(n, rate)
        changed = mut_pm(children, self.low, self.high, eta, rates, at_least_once=False, random_state=rng)
        return np.asarray(changed)
