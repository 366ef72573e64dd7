"""The genes of a configuration as a coding: the search space of settings that are given as ranges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.config.genes import Gene
from engine.evolution.operators.coding import Coding, Reals
from engine.evolution.operators.integer import IntegerSpace
from engine.evolution.operators.mixture import MixtureSpace
from engine.evolution.operators.real import Crossover, Mutation, RealSpace
from engine.problem import Genome


class GeneSpace(MixtureSpace):
    """Genomes are float64[n, genes]: part ``real`` holds the real genes in their order, as logarithms where the search
    is logarithmic (then integers, too); part ``whole`` holds the other integers. Both have the same operators."""

    def __init__(
        self, genes: Sequence[Gene], *, crossover_by: Crossover = "simulated_binary",
        mutation_by: Mutation = "polynomial",
    ) -> None:  # fmt: skip
        self.real = [gene for gene in genes if not gene.whole or gene.log]
        self.whole = [gene for gene in genes if gene.whole and not gene.log]
        parts: dict[str, Coding] = {}
        if self.real:
            ends = np.array([[gene.low, gene.high] for gene in self.real])
            logs = np.array([gene.log for gene in self.real])
            low, high = np.where(logs, np.log(ends, where=logs[:, None], out=np.zeros_like(ends)).T, ends.T)
            parts["real"] = RealSpace(
                low, high, crossover_by=crossover_by, mutation_by=mutation_by, logarithms=logs
            )  # fmt: skip
        if self.whole:
            parts["whole"] = IntegerSpace(
                [gene.low for gene in self.whole], [gene.high for gene in self.whole], crossover_by=crossover_by,
                mutation_by=mutation_by,
            )  # fmt: skip
        super().__init__(parts)

    def perturbed(
        self, rng: np.random.Generator, genome: Genome, fresh: Genome, factors: Sequence[float], chance: float
    ) -> Genome:
        """As each part; a whole number whose logarithm is searched moves by one where it would round to itself."""
        found = super().perturbed(rng, genome, fresh, factors, chance)
        for i, gene in enumerate(self.real):
            if not gene.whole or found[i] in (genome[i], fresh[i]):
                continue
            before = round(np.exp(genome[i]))
            if round(np.exp(found[i])) == before:
                found[i] = np.log(min(max(before + np.sign(found[i] - genome[i]), gene.low), gene.high))
        return found

    def values(self, genome: Reals) -> dict[str, float]:
        """Numbers by place of one genome, as ``engine.config.genes.express`` takes them."""
        parts = self.parts(genome[None])
        found = {gene.place: _number(gene, value) for gene, value in self._pairs(self.real, parts, "real")}
        return found | {gene.place: int(value) for gene, value in self._pairs(self.whole, parts, "whole")}

    def _pairs(self, genes: list[Gene], parts: dict[str, Genome], name: str) -> list[tuple[Gene, float]]:
        return list(zip(genes, parts[name][0].tolist(), strict=True)) if genes else []


def _number(gene: Gene, value: float) -> float:
    """The gene's number, clipped to its range after rounding; never exactly the lower end, which a field may
    exclude."""
    number = np.exp(value) if gene.log else value
    if gene.whole:
        return round(min(max(number, gene.low), gene.high))
    return float(min(max(number, np.nextafter(gene.low, gene.high)), gene.high))
