"""Integer vectors: the operators of real vectors, rounded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.evolution.operators.coding import Reals, TwoStep
from engine.evolution.operators.real import Crossover, Mutation, RealSpace
from engine.problem import Genome

Integers = NDArray[np.int64]


class IntegerSpace(TwoStep):
    """Whole numbers within bounds, ends included. Genomes are int64[n, d].

    The operators work on the interval that rounds to the bounds, so that the ends are as likely as other numbers. A
    polynomial mutation too small to reach another number moves by one step in its direction.
    """

    def __init__(
        self, low: ArrayLike, high: ArrayLike, *, crossover_by: Crossover = "simulated_binary",
        mutation_by: Mutation = "polynomial", eta_crossover: float = 15, eta_mutation: float = 20,
    ) -> None:  # fmt: skip
        self.lowest, self.highest = np.asarray(low, np.int64), np.asarray(high, np.int64)
        self.shape, self.dtype, self.width = self.lowest.shape, np.dtype(np.int64), len(self.lowest)
        half = np.where(self.highest > self.lowest, 0.5, 0.0)  # a gene with a single value stays fixed
        self.reals = RealSpace(
            self.lowest - half, self.highest + half, crossover_by=crossover_by, mutation_by=mutation_by,
            eta_crossover=eta_crossover, eta_mutation=eta_mutation,
        )  # fmt: skip

    def sample(self, rng: np.random.Generator, n: int) -> Integers:
        """n uniform points."""
        return rng.integers(self.lowest, self.highest, (n, len(self.lowest)), endpoint=True)

    def decode(self, numbers: Reals) -> Integers:
        """An equal part of [0, 1] for each number."""
        return self._rounded(np.floor(self.lowest + numbers * (self.highest - self.lowest + 1)))

    def perturbed(
        self, rng: np.random.Generator, genome: Genome, fresh: Genome, factors: Sequence[float], chance: float
    ) -> Genome:
        """As for real numbers, rounded; a number that would round to itself moves by one."""
        factor = rng.choice(factors, size=len(genome))
        rounded = np.rint(genome * factor)
        moved = np.where(rounded == genome, genome + np.where(factor > 1, 1, -1), rounded)
        inside = np.clip(moved, self.lowest, self.highest)
        return np.asarray(np.where(rng.random(len(genome)) < chance, fresh, inside), dtype=genome.dtype)

    def _cross(self, rng: np.random.Generator, mothers: Integers, fathers: Integers) -> Integers:
        return self._rounded(self.reals._cross(rng, mothers.astype(float), fathers.astype(float)))

    def _mutate(self, rng: np.random.Generator, children: Integers) -> Integers:
        moved = self.reals._mutate(rng, children.astype(float))
        rounded = self._rounded(moved)
        if self.reals.mutation_by == "uniform":
            return rounded
        step = np.sign(moved - children).astype(np.int64)
        return np.where(rounded == children, np.clip(children + step, self.lowest, self.highest), rounded)

    def _rounded(self, values: Reals) -> Integers:
        return np.clip(np.rint(values).astype(np.int64), self.lowest, self.highest)
