"""What evolution of players searches and measures: genes of the learner's settings, the networks where they are bred,
and the numbers of fresh episodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.arrays import unpack
from engine.config.algorithms import Breeding, SearchAlgorithm
from engine.config.evolve import EvolveConfig, TaskConfig, measure_names
from engine.config.genes import Gene, express, genes
from engine.errors import ConfigError, StoreError, below
from engine.evolution.genes import GeneSpace
from engine.evolution.operators import BlobSpace, LayerGroup, MixtureSpace
from engine.evolution.operators.coding import Coding, Reals, TwoStep
from engine.mdp.interface import SeatSpec
from engine.mdp.vector import VectorMDP
from engine.problem import Evaluation, Genome, Objective, Problem
from engine.rl.examine import Examination
from engine.rl.policy import PolicySpec
from engine.rng import generator
from engine.store import Store
from engine.study.fitting import learner_for
from engine.study.sampling import policy_spec

TIMES = ("began", "busy", "seconds")
"""Metrics that no result depends on: when the worker began (Unix time), how long it was at it, and how long training
and measuring took in all, interrupted attempts included."""
_GENES, _NETWORK = "genes", "network"
_LEAST_SPREAD = 0.01


class Measures:
    """Numbers of an episode by name, as ``engine.config.evolve.measure_names`` says."""

    def __init__(self, seat: SeatSpec) -> None:
        self.names = measure_names(seat.rewards, seat.signals)

    def of(self, found: Examination) -> NDArray[np.float64]:
        """float64[n, names] of n episodes."""
        plain = [found.returns.sum(axis=1), found.score, found.win, found.lengths.astype(np.float64)]
        return np.concatenate([np.stack(plain, axis=1), found.returns, found.signals], axis=1)

    def untold(self, config: EvolveConfig) -> list[tuple[str, str]]:
        """(place, sentence) for each goal, and each measure of behaviour, that the game does not tell."""
        named = {f"objectives.{i}.measure": aim.measure for i, aim in enumerate(config.objectives)}
        named |= {f"behaviour.{i}": name for i, name in enumerate(config.behaviour)}
        there = f"the game tells {', '.join(self.names)}"
        return [
            (place, f"{name!r} is not measured; {there}") for place, name in named.items() if name not in self.names
        ]

    def columns(self, config: EvolveConfig) -> tuple[list[int], list[int]]:
        """Which are the objectives, and which the behaviour, of a study that names no others."""
        aims = [self.names.index(aim.measure) for aim in config.objectives]
        return aims, [self.names.index(name) for name in config.behaviour]


class Brood(MixtureSpace):
    """Genomes float64[n, genes + weights]: the genes of the task, then the network a candidate begins with, where
    networks are bred. A network takes the better parent's place, or its first layers are one parent's and the rest the
    other's; the numbers of the task cross and mutate as real and whole numbers do."""

    def __init__(self, config: EvolveConfig, spec: PolicySpec, store: Store) -> None:
        self.task, self.spec = config.task, spec
        self.genes: tuple[Gene, ...] = genes(config.task)
        self.settings = GeneSpace(self.genes, **_ways(config.algorithm))
        self.bred, self.store = config.networks != "fresh", store
        self.lamarckian = self.bred and config.learnt_is_inherited
        parts: dict[str, Coding] = {_GENES: self.settings} if self.genes else {}
        if config.networks != "fresh":
            groups, start = layers(spec, config.seed)
            parts[_NETWORK] = BlobSpace(
                groups, start=start, crossover_by=config.networks, strength=config.network_noise
            )
        super().__init__(parts)
        for coding in (*(p.coding for p in self.settings.layout.values()), *parts.values()):
            if isinstance(coding, TwoStep):
                coding.crossover = getattr(config.algorithm, "crossover", coding.crossover)
                coding.mutation = getattr(config.algorithm, "mutation", coding.mutation)

    def values(self, genome: Genome) -> dict[str, float]:
        """Place to number of each gene."""
        return self.settings.values(self.parts(genome[None])[_GENES][0]) if self.genes else {}

    def expressed(self, genome: Genome) -> tuple[TaskConfig, PolicySpec]:
        """What a candidate is trained for, and what it plays with. Raises ConfigError where numbers do not go
        together."""
        task = express(self.task, self.values(genome)) if self.genes else self.task
        return task, self.spec._replace(network=task.learner.network)

    def numbers(self, genome: Genome) -> Reals:
        """The genes as float64[genes], in the units of their settings."""
        found = self.values(genome)
        return np.array([found[gene.place] for gene in self.genes], dtype=np.float64)

    def network(self, genome: Genome) -> NDArray[np.float32] | None:
        """The weights a candidate begins with; none where it begins with fresh ones."""
        return np.asarray(self.parts(genome[None])[_NETWORK][0], np.float32) if self.bred else None

    def inherited(self, genome: Genome, evaluation: Evaluation) -> Genome:
        """The genome with the network as training left it (Lamarckian inheritance)."""
        if not self.lamarckian or not evaluation.genome:
            return genome
        parts = self.parts(genome[None])
        weights = unpack(self.store.get(evaluation.genome)).arrays["weights"]
        return np.asarray(self.row({**parts, _NETWORK: weights[None]})[0])


def _ways(algorithm: SearchAlgorithm) -> dict[str, Any]:
    """How settings cross and mutate, where the algorithm says so."""
    if not isinstance(algorithm, Breeding):
        return {}
    return {"crossover_by": algorithm.settings_crossover, "mutation_by": algorithm.settings_mutation}


def layers(spec: PolicySpec, seed: int) -> tuple[list[LayerGroup], NDArray[np.float32]]:
    """The layers of a policy's weights, each with the spread of fresh ones, and what those are drawn around: zeros, but
    for what is no layer (the scales of observations, exploration)."""
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


def example(task: TaskConfig) -> TaskConfig:
    """The task as a candidate may have it: ranges at their lower ends, or just above where that is no number of theirs.
    Raises ConfigError where such numbers do not go together."""
    return express(task, {g.place: g.low if g.whole else g.low + (g.high - g.low) / 1000 for g in genes(task)})


def check(config: EvolveConfig, game: VectorMDP) -> None:
    """Raise ConfigError with all that the game has against a study, before anything begins: goals that it does not
    tell, and a learner that does not fit."""
    task = example(config.task)
    with below("task"):
        spec = policy_spec(task, game)
    wrong = Measures(spec.seat).untold(config)
    try:
        with below("task"):
            learner_for(task.learner, spec, config.seed, max(1, task.steps))
    except ConfigError as error:
        wrong += error.problems
    if wrong:
        raise ConfigError(wrong)


def problem_of(config: EvolveConfig, game: VectorMDP, store: Store) -> tuple[Problem, Brood]:
    """What is searched."""
    spec = policy_spec(config.task, game)
    measures = Measures(spec.seat)
    objectives = tuple(Objective(aim.measure, aim.measure, aim.direction) for aim in config.objectives)
    names = (*measures.names, *TIMES)
    brood = Brood(config, spec, store)
    return Problem(brood, objectives, names, config.behaviour), brood


def estimate(values: NDArray[np.float64], columns: Sequence[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means float64[m] of these columns of float64[n, k], and the covariance of those means."""
    chosen = values[:, columns]
    covariance = np.cov(chosen, rowvar=False, ddof=1).reshape(len(columns), len(columns)) / len(values)
    return chosen.mean(axis=0), covariance


def weights_of(store: Store, digest: str) -> NDArray[np.float32]:
    """The weights that training made. Raises StoreError when they are not there any more."""
    found = unpack(store.get(digest)).arrays.get("weights")
    if found is None:
        raise StoreError(f"Artifact {digest[:12]} holds no weights.")
    return np.asarray(found, np.float32)
