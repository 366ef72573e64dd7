"""The bridge between search and games (Lamarckian, III-D): Problem, Request, Evaluation, Evaluator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

Direction = Literal["max", "min"]
Genome = NDArray[Any]
ShouldStop = Callable[[], bool]


class Objective(msgspec.Struct, frozen=True):
    """A number to push one way. ``threshold``: the line a designer drew (over it = the problem looked for)."""

    name: str
    title: str
    direction: Direction = "max"
    unit: str = ""
    threshold: float | None = None


class Problem(NamedTuple):
    """What an evaluator evaluates: the space of genomes, the objectives, and the names of its raw metrics and of the
    numbers that describe how a candidate behaves."""

    space: Space
    objectives: tuple[Objective, ...]
    metrics: tuple[str, ...] = ()
    descriptors: tuple[str, ...] = ()


class Space(Protocol):
    """A set of genomes with its own operators; every genome they return is valid. All arrays are batches.

    A space may also have ``width`` and ``decode(float64[n, width] in [0, 1]) -> genomes``, by which searches that only
    move through numbers search it; ``better_first`` = True, by which it is given the better parent as the mother; and
    ``inherited(genome, evaluation) -> genome``, what of an evaluated candidate its children inherit (Lamarckian).
    """

    def sample(self, rng: np.random.Generator, n: int) -> Genome:
        """n random genomes, stacked on axis 0."""
        ...

    def offspring(self, rng: np.random.Generator, mothers: Genome, fathers: Genome) -> Genome:
        """One child for each pair: crossover, then mutation."""
        ...

    def keys(self, genomes: Genome) -> NDArray[np.uint64]:
        """Canonical 64-bit hash of each genome: equal meaning, equal key."""
        ...


class Request(NamedTuple):
    """One question to an evaluator: play replicates ``first <= r < last`` of this genome. ``anchors`` fixes what an
    earlier evaluation chose (strongest and weakest team), so that fresh samples measure it rather than choose anew.
    ``start``: store hash of the weights that training goes on from (``Evaluation.genome`` of an earlier answer);
    ``trained``: hash of what an earlier answer's training made of this candidate, which is measured instead of training
    it once more. ``candidate``: id of the request whose candidate is measured further; -1: a candidate of its own."""

    id: int
    genome: Genome
    first: int
    last: int
    seed: int
    fidelity: str = "full"
    patch: str = ""
    anchors: tuple[int, ...] = ()
    start: str = ""
    trained: str = ""
    candidate: int = -1


class Evaluation(NamedTuple):
    """One answer. ``objectives`` float64[m] means, ``covariance`` float64[m, m] of those means, ``samples`` replicates,
    ``metrics`` float64[k] raw metrics in Problem order, ``violation`` >= 0 (0 = feasible), ``cost`` battles or steps
    requested, ``cached`` of them answered from memory, ``status`` ok or failed with its ``reason``; ``anchors`` what
    this evaluation chose; ``descriptor`` float64[k] how the candidate behaved; ``genome`` the store hash of what
    training made of it (Lamarckian inheritance); ``values`` float64[samples, m] the objectives of each replicate, where
    they can be told: by them candidates are compared replicate by replicate."""

    id: int
    objectives: NDArray[np.float64]
    covariance: NDArray[np.float64]
    samples: int
    metrics: NDArray[np.float64]
    violation: float = 0.0
    cost: int = 0
    cached: int = 0
    status: Literal["ok", "failed"] = "ok"
    reason: str = ""
    anchors: tuple[int, ...] = ()
    descriptor: NDArray[np.float64] | None = None
    genome: str = ""
    values: NDArray[np.float64] | None = None


class Evaluator(Protocol):
    """Lamarckian's bridge. Implementations hold no state a result depends on."""

    def describe(self) -> Problem:
        """The problem this evaluator answers for."""
        ...

    def initialize(self, rng: np.random.Generator) -> Genome:
        """One random genome."""
        ...

    def evaluate(self, requests: Sequence[Request], should_stop: ShouldStop) -> Iterator[Evaluation]:
        """Answer each request once, in any order; ends early when ``should_stop()``. Raises EvaluationError only when
        nothing at all can be evaluated; a single bad request comes back as a failed Evaluation."""
        ...


def failed(request: Request, reason: str, objectives: int, metrics: int) -> Evaluation:
    """The answer for a request that cannot be evaluated: not a number everywhere, constraint-dominated."""
    return Evaluation(
        request.id,
        np.full(objectives, np.nan),
        np.full((objectives, objectives), np.nan),
        0,
        np.full(metrics, np.nan),
        violation=float("inf"),
        status="failed",
        reason=reason,
    )
