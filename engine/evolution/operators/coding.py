"""Base of all codings: when crossover and mutation happen, canonical keys, and random keys for searches that need
vectors of numbers."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.problem import Breed, Capabilities, Genome, Numbers, redrawn
from engine.rng import combine64

Reals = NDArray[np.float64]
Bools = NDArray[np.bool_]
_WIDE = 64
"""Genomes with more columns than this are hashed row by row: one call per column is too slow for networks."""


class Coding(ABC):
    """A ``Space``. ``shape`` and ``dtype`` are one genome's; ``width`` is how many numbers in [0, 1] describe one.

    ``better_first``: the mother of each pair must be the better parent.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    width: int
    better_first = False

    @property
    def can(self) -> Capabilities:
        """Breeding, numbers, and perturbing."""
        return Capabilities(Breed(self.offspring, self.better_first), self.numbers, self.perturbed)

    @property
    def numbers(self) -> Numbers:
        """Random keys."""
        return Numbers(self.width, lambda rng, k: rng.random((k, self.width)), self.decode)

    @abstractmethod
    def sample(self, rng: np.random.Generator, n: int) -> Genome:
        """n random genomes."""

    @abstractmethod
    def decode(self, numbers: Reals) -> Genome:
        """Genomes from float64[n, width] in [0, 1] (random keys, Bean 1994): uniform numbers have the distribution of
        ``sample``, and every genome can be reached."""

    @abstractmethod
    def offspring(self, rng: np.random.Generator, mothers: Genome, fathers: Genome) -> Genome:
        """One child for each pair: crossover, then mutation."""

    def perturbed(
        self, rng: np.random.Generator, genome: Genome, fresh: Genome, factors: Sequence[float], chance: float
    ) -> Genome:
        """As ``Capabilities.perturb``."""
        return redrawn(rng, genome, fresh, factors, chance)

    def keys(self, genomes: Genome) -> NDArray[np.uint64]:
        """Hash of the exact bits."""
        flat = genomes.reshape(len(genomes), -1)
        whole = flat.astype(np.float64 if flat.dtype.kind == "f" else np.int64, order="C", copy=False)
        return hashed(whole.view(np.uint64))

    def from_row(self, rows: Reals) -> Genome:
        """Genomes from the float64 rows a mixture keeps them in."""
        return rows.astype(self.dtype).reshape(len(rows), *self.shape)


class TwoStep(Coding):
    """A coding with one crossover and one mutation. ``crossover`` and ``mutation``: the probability of each for a
    child."""

    crossover: float = 0.9
    mutation: float = 0.9

    @abstractmethod
    def _cross(self, rng: np.random.Generator, mothers: Genome, fathers: Genome) -> Genome:
        """One child for each pair, in a new array."""

    @abstractmethod
    def _mutate(self, rng: np.random.Generator, children: Genome) -> Genome:
        """Changed children, in a new array."""

    def offspring(self, rng: np.random.Generator, mothers: Genome, fathers: Genome) -> Genome:
        """One child for each pair: crossover, then mutation, each with its chance."""
        each = (len(mothers),) + (1,) * len(self.shape)
        crossed = self._cross(rng, mothers, fathers)
        children = np.where(rng.random(each) < self.crossover, crossed, mothers)
        mutated = self._mutate(rng, children)
        return np.asarray(np.where(rng.random(each) < self.mutation, mutated, children))


def hashed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A 64-bit hash of each row of uint64[n, columns]."""
    if bits.shape[1] > _WIDE:
        digests = [hashlib.blake2b(row.tobytes(), digest_size=8).digest() for row in bits]
        return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
    key = np.zeros(len(bits), dtype=np.uint64)
    for column in range(bits.shape[1]):
        key = combine64(key, bits[:, column])
    return key
