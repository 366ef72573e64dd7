"""The contract of every search algorithm, and the population type they share."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine import columns
from engine.arrays import Bundle
from engine.problem import Evaluation, Genome, Problem, Request

Parts = dict[str, Bundle]
"""A state in named parts. Wrappers of an algorithm add parts of their own."""


class Progress(NamedTuple):
    """A tick is complete: a generation, or N evaluations of a steady-state search."""

    tick: int


class Individual(NamedTuple):
    """A candidate with its evaluation; one that was never evaluated cannot exist."""

    genome: Genome
    evaluation: Evaluation
    tick: int


class Algorithm(Protocol):
    """Proposes candidates and learns from their evaluations. Each request is asked once and told once.

    The class behind a row of ``engine.catalog.ALGORITHMS`` is made with (problem, population, ticks, seed, replicates,
    context, …), where … are the fields of its configuration. A tick is ``population`` evaluations.
    """

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask or to wait for."""
        ...

    def ask(self, room: int) -> list[Request]:
        """Requests to evaluate next; ``room`` affects only when requests are handed out, not which."""
        ...

    def tell(self, evaluation: Evaluation) -> list[Progress]:
        """Take one evaluation, in any order, and return the ticks that it completes. Raises EvaluationError when a
        whole population failed, KeyError for a request that is not outstanding."""
        ...

    def front(self) -> list[Individual]:
        """The best known individuals: no other member of the population dominates them."""
        ...

    def state(self) -> Parts:
        """Everything needed to continue, as named parts, outstanding requests included."""
        ...

    def load(self, parts: Parts) -> None:
        """Continue from a state; requests that were outstanding are asked again."""
        ...


class Population:
    """Individuals as columns. ``cost`` float64[n, m] is minimised: objectives times ``signs``, -1 where maximised."""

    def __init__(self, problem: Problem, individuals: Sequence[Individual]) -> None:
        self.signs = np.array([-1.0 if o.direction == "max" else 1.0 for o in problem.objectives])
        self.individuals = list(individuals)
        self.genomes = np.array([i.genome for i in individuals])
        self.violation = np.array([i.evaluation.violation for i in individuals])
        self.cost = np.array([i.evaluation.objectives for i in individuals]) * self.signs
        self.rank = np.zeros(len(individuals), dtype=np.int64)
        self.crowding = np.zeros(len(individuals))

    def __len__(self) -> int:
        return len(self.individuals)

    def take(self, keep: NDArray[np.int64]) -> Population:
        """The members at these indices, in this order."""
        taken = copy.copy(self)
        taken.individuals = [self.individuals[i] for i in keep]
        for name in ("genomes", "violation", "cost", "rank", "crowding"):
            setattr(taken, name, getattr(self, name)[keep])
        return taken


def to_part(individuals: Sequence[Individual]) -> Bundle:
    """Individuals as a part of a checkpoint; empty where there are none."""
    if not individuals:
        return Bundle({}, {})
    meta, arrays = columns.encode([i.evaluation for i in individuals])
    arrays["genome"] = np.stack([i.genome for i in individuals])
    arrays["tick"] = np.array([i.tick for i in individuals], np.int32)
    return Bundle(meta, arrays)


def of_part(part: Bundle) -> list[Individual]:
    """The inverse of ``to_part``."""
    if not part.arrays:
        return []
    rows = zip(part.arrays["genome"], columns.decode(part), part.arrays["tick"].tolist(), strict=True)
    return [Individual(*row) for row in rows]


def generator_state(rng: np.random.Generator) -> dict[str, Any]:
    """A PCG64 generator as JSON (its 128-bit integers as text)."""
    state = rng.bit_generator.state
    return {**state, "state": {key: str(value) for key, value in state["state"].items()}}


def load_generator(state: dict[str, Any]) -> np.random.Generator:
    """The inverse of ``generator_state``."""
    bits = np.random.PCG64()
    plain: Any = {**state, "state": {key: int(value) for key, value in state["state"].items()}}
    bits.state = plain
    return np.random.Generator(bits)
