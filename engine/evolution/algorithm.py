"""The contract every search algorithm keeps, and the population they share."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.problem import Evaluation, Genome, Problem, Request

Arrays = dict[str, NDArray[Any]]


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
    *, fidelity, patch, …), where … are the fields of its configuration, ``steady`` among them where it can do without
    rounds. A tick is ``population`` evaluations.
    """

    @property
    def done(self) -> bool:
        """Nothing is left to ask or to wait for."""
        ...

    def ask(self, room: int) -> list[Request]:
        """Requests to evaluate next; what they are does not depend on ``room``, only when they are handed out."""
        ...

    def tell(self, evaluation: Evaluation) -> list[Progress]:
        """Take in one evaluation, in any order; the ticks it completes. Raises EvaluationError when a whole population
        failed, KeyError for a request that is not outstanding."""
        ...

    def front(self) -> list[Individual]:
        """The best known individuals: no other of the population beats them in every objective."""
        ...

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """Everything needed to go on, as arrays and JSON, requests still outstanding included."""
        ...

    def load(self, arrays: Arrays, meta: dict[str, Any]) -> None:
        """Go on from a state; requests that were outstanding are asked again."""
        ...


class Population:
    """Individuals as columns. ``cost`` float64[n, m] is what is minimised: objectives times ``signs``, -1 where
    maximised."""

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


COLUMNS = ("id", "genome", "objective", "error", "covariance", "samples", "violation", "status", "anchor", "tick")


def columns(individuals: Sequence[Individual], problem: Problem) -> Arrays:
    """Individuals as the columns every artifact has. ``metrics`` holds the problem's raw metrics; ``descriptor`` is
    there when the problem names descriptors (not a number for a candidate that has none), ``trained`` uint8[n, length]
    when some were trained: the text of the store hash, padded with zeros."""
    m, k = len(problem.objectives), len(problem.metrics)
    found = [i.evaluation for i in individuals]
    n = len(found)
    covariance = np.array([e.covariance for e in found]).reshape(n, m, m)
    anchors = [e.anchors if e.anchors else (-1, -1) for e in found]
    arrays: Arrays = {
        "id": np.array([e.id for e in found], dtype=np.int64),
        "genome": np.array([i.genome for i in individuals]),
        "objective": np.array([e.objectives for e in found]).reshape(n, m),
        "error": np.sqrt(np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 0.0)),
        "covariance": covariance,
        "samples": np.array([e.samples for e in found], dtype=np.int32),
        "violation": np.array([e.violation for e in found], dtype=np.float64),
        "status": np.array([e.status != "ok" for e in found], dtype=np.uint8),
        "anchor": np.array(anchors, dtype=np.int32).reshape(n, 2),
        "tick": np.array([i.tick for i in individuals], dtype=np.int32),
        "metrics": np.array([e.metrics for e in found]).reshape(n, k),
    }
    if problem.descriptors:
        none = np.full(len(problem.descriptors), np.nan)
        described = [none if e.descriptor is None else e.descriptor for e in found]
        arrays["descriptor"] = np.array(described, dtype=np.float64).reshape(n, len(none))
    if any(e.genome for e in found):
        arrays["trained"] = np.array([e.genome.encode() for e in found]).view(np.uint8).reshape(n, -1)
    return arrays


def trained(arrays: Arrays) -> list[str]:
    """The store hashes in the columns of individuals, empty for those that were not trained."""
    if "trained" not in arrays:
        return [""] * len(arrays["id"])
    return [row.tobytes().rstrip(b"\0").decode() for row in arrays["trained"]]


def individuals(arrays: Arrays) -> list[Individual]:
    """The inverse of ``columns`` (reasons of failures and costs are not kept)."""
    described, weights = arrays.get("descriptor"), trained(arrays)
    return [
        Individual(
            arrays["genome"][i],
            Evaluation(
                int(arrays["id"][i]),
                arrays["objective"][i],
                arrays["covariance"][i],
                int(arrays["samples"][i]),
                arrays["metrics"][i],
                violation=float(arrays["violation"][i]),
                status="failed" if arrays["status"][i] else "ok",
                anchors=tuple(int(a) for a in arrays["anchor"][i]) if arrays["anchor"][i][0] >= 0 else (),
                descriptor=None if described is None or np.isnan(described[i]).any() else described[i],
                genome=weights[i],
            ),
            int(arrays["tick"][i]),
        )
        for i in range(len(arrays["id"]))
    ]


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
