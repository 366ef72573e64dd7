"""The space of evolved players: genes of settings, and the weights of networks where those are bred."""

from __future__ import annotations

from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import unpack
from engine.config.algorithms import Breeding, SearchAlgorithm
from engine.config.evolve import EvolveConfig, TaskConfig
from engine.config.genes import Gene, express, genes
from engine.errors import below
from engine.evolution.genes import GeneSpace
from engine.evolution.operators import BlobSpace, LayerGroup, MixtureSpace
from engine.evolution.operators.coding import Coding, Reals, TwoStep
from engine.problem import TRAINED, Capabilities, Evaluation, Genome
from engine.rl.policy import Policy, PolicySpec
from engine.rl.surgery import grown
from engine.rng import generator
from engine.store import Artifacts

_GENES, _NETWORK = "genes", "network"
_LEAST_SPREAD = 0.01


class Start(NamedTuple):
    """A trained policy around which the first networks are drawn; ``noise``: their standard deviation from it."""

    policy: Policy
    noise: float


class PlayerSpace(MixtureSpace):
    """Genomes float64[n, genes + weights]: the genes of the task and, where networks are bred, the initial network. A
    child's network is the better parent's, or has the first layers of one parent and the rest of the other; the genes
    of the task cross and mutate as real numbers and integers."""

    def __init__(self, config: EvolveConfig, spec: PolicySpec, store: Artifacts, begin: Start | None = None) -> None:
        """``begin``: where the first networks come from (None: new ones). Raises ConfigError at ``start`` where it does
        not fit the game or the network."""
        self.redraws = config.redraws
        self.task, self.spec = config.task, spec
        self.genes: tuple[Gene, ...] = genes(config.task)
        self.settings = GeneSpace(self.genes, **_operators_of_settings(config.algorithm))
        self.bred, self.lamarckian, self.store = config.networks != "fresh", config.learnt_is_inherited, store
        parts: dict[str, Coding] = {_GENES: self.settings} if self.genes else {}
        if config.networks != "fresh":
            groups, start = layers(spec, config.seed)
            parts[_NETWORK] = BlobSpace(
                groups, start=begun(begin.policy, spec, config.seed) if begin else start,
                crossover_by=config.networks, strength=config.network_noise, scatter=begin.noise if begin else None,
            )  # fmt: skip
        super().__init__(parts)
        if isinstance(config.algorithm, Breeding):
            for coding in (*(p.coding for p in self.settings.layout.values()), *parts.values()):
                if isinstance(coding, TwoStep):
                    coding.crossover, coding.mutation = config.algorithm.crossover, config.algorithm.mutation

    def values(self, genome: Genome) -> dict[str, float]:
        """The number of each gene by its place."""
        return self.settings.values(self.parts(genome[None])[_GENES][0]) if self.genes else {}

    def expressed(self, genome: Genome) -> tuple[TaskConfig, PolicySpec]:
        """A candidate's task and its policy's specification. Raises ConfigError where values do not go together."""
        task = express(self.task, self.values(genome)) if self.genes else self.task
        return task, self.spec._replace(network=task.learner.network)

    def gene_values(self, genome: Genome) -> Reals:
        """The genes as float64[genes], in the units of their settings."""
        found = self.values(genome)
        return np.array([found[gene.place] for gene in self.genes], dtype=np.float64)

    def network(self, genome: Genome) -> NDArray[np.float32] | None:
        """A candidate's initial weights; None where they are drawn at random."""
        return np.asarray(self.parts(genome[None])[_NETWORK][0], np.float32) if self.bred else None

    def offspring(self, rng: np.random.Generator, mothers: Reals, fathers: Reals) -> Reals:
        """One child for each pair; where the study redraws settings, with new ones."""
        children = super().offspring(rng, mothers, fathers)
        if not (self.redraws and self.genes):
            return children
        return self.row({**self.parts(children), _GENES: self.settings.sample(rng, len(children))})

    @property
    def can(self) -> Capabilities:
        """The capabilities of a mixture; where networks are bred, also Lamarckian inheritance."""
        inherit = self.inherited if self.bred and self.lamarckian else None
        return super().can._replace(inherit=inherit)

    def inherited(self, genome: Genome, evaluation: Evaluation) -> Genome:
        """The genome with the trained network (Lamarckian inheritance)."""
        digest = evaluation.context.artifacts.get(TRAINED)
        if digest is None:
            return genome
        parts = self.parts(genome[None])
        weights = unpack(self.store.get(digest)).arrays["weights"]
        return np.asarray(self.row({**parts, _NETWORK: weights[None]})[0])


def _operators_of_settings(algorithm: SearchAlgorithm) -> dict[str, Any]:
    """Operators of settings, where the algorithm configures them."""
    if not isinstance(algorithm, Breeding):
        return {}
    return {"crossover_by": algorithm.settings_crossover, "mutation_by": algorithm.settings_mutation}


def layers(spec: PolicySpec, seed: int) -> tuple[list[LayerGroup], NDArray[np.float32]]:
    """The layers of a policy's weights, each with the standard deviation of initial weights, and their means: zero for
    layers, the initial values for other parameters (scales of observations, exploration)."""
    model = spec.model()
    first = model.initial(generator(seed, "brood"))
    groups: list[LayerGroup] = []
    end = 0
    sizes = zip(model.network.shapes, model.network.sizes, strict=True)
    for layer, tensors in groupby(sizes, key=lambda tensor: tensor[0].rpartition(".")[0] or tensor[0]):
        size = sum(size for _, size in tensors)  # weights and biases stay together
        groups.append(LayerGroup(layer, size, max(float(first[end : end + size].std()), _LEAST_SPREAD)))
        end += size
    start = np.zeros(model.size, np.float32)
    start[end:] = first[end:]
    if model.size > end:
        groups.append(LayerGroup("scales", model.size - end, 0.0))
    return groups, start


def begun(policy: Policy, spec: PolicySpec, seed: int) -> NDArray[np.float32]:
    """The weights of a trained policy as the specification lays them out, which may be larger. Where it learned from
    several rewards, the values of a style begin anew. Raises ConfigError at ``start`` for a policy that does not
    fit."""
    with below("start"):
        return grown(policy, spec, spec.model().initial(generator(seed, "brood")))
