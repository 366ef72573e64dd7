"""Genomes of several named parts, each with its own coding and operators.

Layout: one float64 row, the parts one after the other in the order given, each flattened in C order. Whole numbers up
to 2^53 and float32 survive that exactly; ``parts`` gives each part back in its own type and shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.evolution.operators.coding import Coding, Reals
from engine.problem import Genome
from engine.rng import combine64


class Part(NamedTuple):
    """Columns ``first`` to ``last`` - 1 of a mixture's rows belong to this coding."""

    coding: Coding
    first: int
    last: int


class MixtureSpace(Coding):
    """Genomes are float64[n, sum of the parts' sizes]. Each part of a child comes from its coding's own crossover and
    mutation, with that coding's chances."""

    def __init__(self, codings: Mapping[str, Coding]) -> None:
        self.layout: dict[str, Part] = {}
        end = 0
        for name, coding in codings.items():
            first, end = end, end + int(np.prod(coding.shape))
            self.layout[name] = Part(coding, first, end)
        self.shape, self.dtype = (end,), np.dtype(np.float64)
        self.width = sum(coding.width for coding in codings.values())
        self.better_first = any(coding.better_first for coding in codings.values())

    def sample(self, rng: np.random.Generator, n: int) -> Reals:
        """n genomes, each part as its coding draws it."""
        return self.row({name: part.coding.sample(rng, n) for name, part in self.layout.items()})

    def decode(self, numbers: Reals) -> Reals:
        """Each part from its own numbers, in the parts' order."""
        found, end = {}, 0
        for name, part in self.layout.items():
            first, end = end, end + part.coding.width
            found[name] = part.coding.decode(numbers[:, first:end])
        return self.row(found)

    def perturbed(
        self, rng: np.random.Generator, genome: Genome, fresh: Genome, factors: Sequence[float], chance: float
    ) -> Genome:
        """Each part by itself."""
        cuts = [(part.coding, slice(part.first, part.last)) for part in self.layout.values()]
        return np.concatenate([c.perturbed(rng, genome[cut], fresh[cut], factors, chance) for c, cut in cuts])

    def parts(self, genomes: Reals) -> dict[str, Genome]:
        """Name to genomes of that part."""
        return {name: p.coding.from_row(genomes[:, p.first : p.last]) for name, p in self.layout.items()}

    def row(self, parts: Mapping[str, Genome]) -> Reals:
        """The inverse of ``parts``."""
        flat = [np.asarray(parts[name], np.float64).reshape(len(parts[name]), -1) for name in self.layout]
        return np.concatenate(flat, axis=1)

    def offspring(self, rng: np.random.Generator, mothers: Reals, fathers: Reals) -> Reals:
        """One child for each pair, part by part."""
        mother, father = self.parts(mothers), self.parts(fathers)
        return self.row({name: p.coding.offspring(rng, mother[name], father[name]) for name, p in self.layout.items()})

    def keys(self, genomes: Reals) -> NDArray[np.uint64]:
        """The parts' keys, combined."""
        key = np.zeros(len(genomes), dtype=np.uint64)
        for name, part in self.parts(genomes).items():
            key = combine64(key, self.layout[name].coding.keys(part))
        return key
