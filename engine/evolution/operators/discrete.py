"""Bits and choices: uniform or one-point crossover and bit flips (pymoo's), and changes to another option."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pymoo.operators.mutation.bitflip import BitflipMutation
from pymoo.util.misc import crossover_mask

from engine.evolution.operators.coding import Bools, Reals, TwoStep
from engine.problem import Genome

Points = Literal["uniform", "one_point"]


class _Positional(TwoStep):
    """Genomes with genes at fixed places: a child has one of its parents' genes at each place."""

    def __init__(self, d: int, dtype: type[np.generic], points: Points, rate: float | None) -> None:
        self.shape, self.dtype, self.width, self.points = (d,), np.dtype(dtype), d, points
        self.rate = min(0.5, 1 / d) if rate is None else rate

    def _cross(self, rng: np.random.Generator, mothers: Genome, fathers: Genome) -> Genome:
        return np.asarray(crossover_mask(np.stack([mothers, fathers]), self._from_father(rng, len(mothers)))[0])

    def _from_father(self, rng: np.random.Generator, n: int) -> Bools:
        d = self.shape[0]
        if self.points == "uniform":
            return rng.random((n, d)) < 0.5
        return np.arange(d) >= rng.integers(1, max(d, 2), (n, 1))


class BinarySpace(_Positional):
    """Bits. Genomes are uint8[n, d] of 0 and 1. ``rate``: chance that a bit of a mutated child flips (1/d)."""

    def __init__(self, d: int, *, points: Points = "uniform", rate: float | None = None) -> None:
        super().__init__(d, np.uint8, points, rate)
        self.flips = BitflipMutation(prob_var=self.rate)

    def sample(self, rng: np.random.Generator, n: int) -> NDArray[np.uint8]:
        """n uniform rows of bits."""
        return rng.integers(0, 2, (n, *self.shape), dtype=np.uint8)

    def decode(self, numbers: Reals) -> NDArray[np.uint8]:
        """1 where the number is above a half."""
        return (numbers > 0.5).astype(np.uint8)

    def _mutate(self, rng: np.random.Generator, children: Genome) -> Genome:
        return np.asarray(self.flips._do(None, children.astype(bool), random_state=rng)).astype(np.uint8)


class CategoricalSpace(_Positional):
    """Choices without an order. Genomes are int32[n, d], gene j in 0 … options[j] - 1. ``rate``: chance that a gene of
    a mutated child becomes another of its options, all equally likely (1/d)."""

    def __init__(self, options: Sequence[int], *, points: Points = "uniform", rate: float | None = None) -> None:
        super().__init__(len(options), np.int32, points, rate)
        self.options = np.array(options, dtype=np.int32)

    def sample(self, rng: np.random.Generator, n: int) -> NDArray[np.int32]:
        """n rows of uniform choices."""
        return rng.integers(0, self.options, (n, *self.shape), dtype=np.int32)

    def decode(self, numbers: Reals) -> NDArray[np.int32]:
        """An equal part of [0, 1] for each option."""
        return np.minimum((numbers * self.options).astype(np.int32), self.options - 1)

    def _mutate(self, rng: np.random.Generator, children: Genome) -> Genome:
        others = np.maximum(self.options - 1, 1)
        turned = (children + 1 + rng.integers(0, others, children.shape, dtype=np.int32)) % self.options
        return np.where(rng.random(children.shape) < self.rate, turned, children)
