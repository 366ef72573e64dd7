"""Patches as genomes: a few changes, each a number and how many steps it goes; or a rule that keeps two pieces apart.

A genome is int32[most, 2], a row for each change in order of its place, unused ones (-1, 0). Places below the number of
``numbers`` are changes of these; those from there on are rules, of the level 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.patches.numbers import Number
from engine.problem import Breed, Capabilities
from engine.rng import combine64

Genomes = NDArray[np.int32]
FREE = -1
KEEP, DROP, ADD, MOVE, NEAR = 0.5, 0.25, 0.3, 0.7, 0.15
"""Chances that a child has a change that one parent has, loses one, gets a new one, has one moved; how far a move goes,
as a share of the reach."""


class Patch(NamedTuple):
    """Changed numbers by their place in ``numbers``, with their steps, and pairs of pieces that are kept apart."""

    levels: tuple[tuple[int, int], ...] = ()
    apart: tuple[tuple[int, int], ...] = ()

    @property
    def changes(self) -> int:
        """How many there are."""
        return len(self.levels) + len(self.apart)


class PatchSpace:
    """All patches of at most so many changes; a ``Space``. ``starts``: where searches begin, the empty one first."""

    def __init__(
        self, numbers: Sequence[Number], pairs: Sequence[tuple[int, int]], most: int, starts: Sequence[Patch] = ()
    ) -> None:
        self.numbers, self.pairs, self.most = numbers, pairs, most
        self.places = len(numbers) + len(pairs)
        self.starts = starts

    @property
    def can(self) -> Capabilities:
        return Capabilities(Breed(self.offspring))

    def sample(self, rng: np.random.Generator, n: int) -> Genomes:
        """The starts, then random ones."""
        made = [self.genome(each) for each in self.starts[:n]]
        while len(made) < n:
            levels: dict[int, int] = {}
            for _ in range(int(rng.integers(1, self.most + 1))):
                self._add(rng, levels)
            made.append(self._rows(levels))
        return np.stack(made)

    def offspring(self, rng: np.random.Generator, mothers: Genomes, fathers: Genomes) -> Genomes:
        """Changes that both parents have, some that one has, and then a small change."""
        return np.stack([self._child(rng, m, f) for m, f in zip(mothers, fathers, strict=True)])

    def keys(self, genomes: Genomes) -> NDArray[np.uint64]:
        """Hash of each."""
        key = np.zeros(len(genomes), np.uint64)
        for column in genomes.reshape(len(genomes), -1).T:
            key = combine64(key, column.astype(np.int64).astype(np.uint64))
        return key

    def genome(self, patch: Patch) -> Genomes:
        """A patch as a genome."""
        rules = {len(self.numbers) + self.pairs.index(pair): 1 for pair in patch.apart}
        return self._rows({**dict(patch.levels), **rules})

    def patch(self, genome: Genomes) -> Patch:
        """The inverse."""
        rows = [(place, level) for place, level in genome.tolist() if place != FREE]
        numbers = len(self.numbers)
        apart = tuple(self.pairs[place - numbers] for place, _ in rows if place >= numbers)
        return Patch(tuple((place, level) for place, level in rows if place < numbers), apart)

    def _child(self, rng: np.random.Generator, mother: Genomes, father: Genomes) -> Genomes:
        one, other = ({p: v for p, v in parent.tolist() if p != FREE} for parent in (mother, father))
        levels = {}
        for place in sorted(one.keys() | other.keys()):
            if (place in one and place in other) or rng.random() < KEEP:
                pick = [parent[place] for parent in (one, other) if place in parent]
                levels[place] = pick[int(rng.integers(len(pick)))]
        if levels and rng.random() < DROP:
            del levels[list(levels)[int(rng.integers(len(levels)))]]
        if not levels or rng.random() < ADD:
            self._add(rng, levels)
        if rng.random() < MOVE:
            self._move(rng, levels)
        while len(levels) > self.most:
            del levels[list(levels)[int(rng.integers(len(levels)))]]
        return self._rows(levels)

    def _add(self, rng: np.random.Generator, levels: dict[int, int]) -> None:
        place = int(rng.integers(self.places))
        levels[place] = 1 if place >= len(self.numbers) else self._level(place, rng.random())

    def _move(self, rng: np.random.Generator, levels: dict[int, int]) -> None:
        places = [place for place in levels if place < len(self.numbers)]
        if places:
            place = places[int(rng.integers(len(places)))]
            number = self.numbers[place]
            far = max(1, round(NEAR * (number.most - number.least) * abs(rng.standard_normal())))
            level = levels[place] + (far if rng.random() < 0.5 else -far)
            levels[place] = min(max(level, number.least), number.most)

    def _level(self, place: int, mark: float) -> int:
        """A level of a number, by a random mark in [0, 1)."""
        number = self.numbers[place]
        return number.least + int(mark * (number.most - number.least + 1))

    def _rows(self, levels: dict[int, int]) -> Genomes:
        rows = np.tile(np.array([FREE, 0], np.int32), (self.most, 1))
        used = [(place, level) for place, level in sorted(levels.items()) if level][: self.most]
        if used:
            rows[: len(used)] = used
        return rows
