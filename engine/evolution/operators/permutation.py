"""Orders of n things.

Crossovers: order (OX, Davis 1985; pymoo's), partially mapped (PMX, Goldberg & Lingle 1985) and cycle (CX, Oliver, Smith
& Holland 1987). A thing that both parents have at one place stays there in PMX and CX; in CX every place is as in one
of the parents. OX keeps the order in which things follow one another.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pymoo.operators.crossover.ox import ox
from pymoo.operators.mutation.inversion import inversion_mutation

from engine.evolution.operators.coding import Reals, TwoStep

Orders = NDArray[np.int32]
Crossover = Literal["ox", "pmx", "cx"]
Mutation = Literal["inversion", "swap", "insertion"]


class PermutationSpace(TwoStep):
    """Genomes are int32[n, size], each row an order of 0 … size - 1."""

    def __init__(self, size: int, *, crossover_by: Crossover = "ox", mutation_by: Mutation = "inversion") -> None:
        self.shape, self.dtype, self.width = (size,), np.dtype(np.int32), size
        self.crossover_by, self.mutation_by = crossover_by, mutation_by

    def sample(self, rng: np.random.Generator, n: int) -> Orders:
        """n uniform orders."""
        rows = np.tile(np.arange(self.shape[0], dtype=np.int32), (n, 1))
        return rng.permuted(rows, axis=1)

    def decode(self, numbers: Reals) -> Orders:
        """The order that sorts the numbers."""
        return np.argsort(numbers, axis=1, kind="stable").astype(np.int32)

    def _cross(self, rng: np.random.Generator, mothers: Orders, fathers: Orders) -> Orders:
        if self.shape[0] < 2:
            return mothers.copy()
        if self.crossover_by == "cx":
            return cycle(rng, mothers, fathers)
        first, last = _segments(rng, *mothers.shape)
        if self.crossover_by == "pmx":
            return partially_mapped(mothers, fathers, first, last)
        children = [ox(m, f, seq=(a, b)) for m, f, a, b in zip(mothers, fathers, first, last, strict=True)]
        return np.array(children, dtype=np.int32).reshape(mothers.shape)

    def _mutate(self, rng: np.random.Generator, children: Orders) -> Orders:
        out = children.copy()
        if self.shape[0] < 2:
            return out
        first, last = _segments(rng, *children.shape)
        for row, a, b in zip(out, first.tolist(), last.tolist(), strict=True):
            if self.mutation_by == "inversion":
                inversion_mutation(row, (a, b))
            elif self.mutation_by == "swap":
                row[[a, b]] = row[[b, a]]
            else:
                row[a : b + 1] = np.roll(row[a : b + 1], 1)
        return out


def _segments(rng: np.random.Generator, n: int, size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """n pairs of different places, the first before the last, all pairs equally likely."""
    a, b = rng.integers(0, size, n), rng.integers(0, size - 1, n)
    b += b >= a
    return np.minimum(a, b), np.maximum(a, b)


def partially_mapped(
    mothers: Orders, fathers: Orders, first: NDArray[np.int64], last: NDArray[np.int64]
) -> Orders:  # fmt: skip
    """PMX by swaps: the places first … last take the father's things by swapping things within the mother's order; so a
    place outside holds the mother's thing or the one that the mapping puts there."""
    children = mothers.copy()
    rows = np.arange(len(children))
    where = np.empty_like(children)
    np.put_along_axis(where, children.astype(np.int64), np.arange(children.shape[1], dtype=np.int32)[None, :], axis=1)
    for place in range(children.shape[1]):
        row = rows[(first <= place) & (place <= last)]
        wanted, present = fathers[row, place], children[row, place]
        other = where[row, wanted]
        children[row, place], children[row, other] = wanted, present
        where[row, wanted], where[row, present] = place, other
    return children


def cycle(rng: np.random.Generator, mothers: Orders, fathers: Orders) -> Orders:
    """CX: a coin toss for each cycle of places that hold the same things in both parents."""
    n, size = mothers.shape
    place = np.broadcast_to(np.arange(size), (n, size))
    where = np.empty((n, size), dtype=np.int64)
    np.put_along_axis(where, mothers.astype(np.int64), place, axis=1)
    onward = np.take_along_axis(where, fathers.astype(np.int64), axis=1)
    label = place.copy()
    for _ in range(int(size).bit_length()):  # doubling strides: the smallest place of a cycle spreads through it
        label = np.minimum(label, np.take_along_axis(label, onward, axis=1))
        onward = np.take_along_axis(onward, onward, axis=1)
    coin = np.take_along_axis(rng.random((n, size)) < 0.5, label, axis=1)
    return np.where(coin, mothers, fathers)
