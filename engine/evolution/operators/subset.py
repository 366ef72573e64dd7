"""k of n things, in no order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.evolution.operators.coding import Bools, Reals, TwoStep

Members = NDArray[np.int32]


class SubsetSpace(TwoStep):
    """Genomes are int32[n, k] in ascending order, out of 0 … size - 1.

    Crossover (random assorting recombination without mutation, Radcliffe 1993): members of both parents stay, the rest
    is drawn from what one of them has. Mutation: each member is replaced with chance 1/k by one that is not there.
    """

    def __init__(self, size: int, k: int) -> None:
        self.size, self.k = size, k
        self.shape, self.dtype, self.width = (k,), np.dtype(np.int32), size

    def sample(self, rng: np.random.Generator, n: int) -> Members:
        """n uniform subsets."""
        return self._largest(rng.random((n, self.size)))

    def decode(self, numbers: Reals) -> Members:
        """The k largest numbers."""
        return self._largest(numbers)

    def _cross(self, rng: np.random.Generator, mothers: Members, fathers: Members) -> Members:
        parents = self._present(mothers).astype(float) + self._present(fathers)
        return self._largest(parents + 0.5 * rng.random(parents.shape))

    def _mutate(self, rng: np.random.Generator, children: Members) -> Members:
        present = self._present(children)
        leaving = present & (rng.random(present.shape) < 1 / self.k)
        chance = 0.5 * rng.random(present.shape)
        return self._largest(np.where(leaving, -1 + chance, np.where(present, 2.0, chance)))

    def _present(self, members: Members) -> Bools:
        present = np.zeros((len(members), self.size), dtype=bool)
        np.put_along_axis(present, members.astype(np.int64), True, axis=1)
        return present

    def _largest(self, scores: Reals) -> Members:
        """Columns of the k largest of each row, ascending."""
        best = np.argsort(-scores, axis=1, kind="stable")[:, : self.k]
        return np.sort(best, axis=1).astype(np.int32)
