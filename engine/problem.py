"""The bridge between search and games (Lamarckian, III-D): Problem, Space, Request, Evaluation, Evaluator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.channel import Streamed
from engine.errors import EngineError

Direction = Literal["max", "min"]
Floats = NDArray[np.float64]
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
    """What an evaluator evaluates: the space of genomes, the objectives, and the names of its raw metrics and of its
    behaviour descriptors. ``bounded``: evaluations with a record of their replicates also have ``limits``, and chance
    decides nothing else about a candidate. ``noun``: what a message calls a candidate."""

    space: Space
    objectives: tuple[Objective, ...]
    metrics: tuple[str, ...] = ()
    descriptors: tuple[str, ...] = ()
    bounded: bool = False
    noun: str = "candidate"


class Breed(NamedTuple):
    """``offspring(rng, mothers, fathers)``: one valid child for each pair, by crossover, then mutation.
    ``better_first``: the mother of each pair must be the better parent."""

    offspring: Callable[[np.random.Generator, Genome, Genome], Genome]
    better_first: bool = False


class Numbers(NamedTuple):
    """Real vectors float64[k, width] that stand for genomes. ``sample(rng, k)`` draws k vectors, ``decode`` turns
    vectors into genomes. ``bounded``: vectors lie in [0, 1]; otherwise anywhere, with samples of unit spread."""

    width: int
    sample: Callable[[np.random.Generator, int], Floats]
    decode: Callable[[Floats], Genome]
    bounded: bool = True


class Capabilities(NamedTuple):
    """What a space can do beyond ``sample`` and ``keys``; None: it cannot. Algorithms check this when they are made.

    ``perturb(rng, genome, fresh, factors, chance)``: one genome with each number multiplied by one of the factors, or
    with that chance replaced by the fresh genome's. ``inherit(genome, evaluation)``: what the children of an evaluated
    candidate inherit (Lamarckian). ``unmet(rng, genomes, met)``: the genomes, each whose key is in ``met`` replaced by
    one that is not, while there are such; ``met`` grows.
    """

    breed: Breed | None = None
    numbers: Numbers | None = None
    perturb: Callable[[np.random.Generator, Genome, Genome, Sequence[float], float], Genome] | None = None
    inherit: Callable[[Genome, Evaluation], Genome] | None = None
    unmet: Callable[[np.random.Generator, Genome, set[int]], Genome] | None = None


class Space(Protocol):
    """A set of genomes; every genome it returns is valid. All arrays are batches, stacked on axis 0."""

    @property
    def can(self) -> Capabilities:
        """What algorithms may ask of it."""
        ...

    def sample(self, rng: np.random.Generator, n: int) -> Genome:
        """n random genomes."""
        ...

    def keys(self, genomes: Genome) -> NDArray[np.uint64]:
        """Canonical 64-bit hash of each genome: equal meaning, equal key."""
        ...


class Context(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="plain"):
    """What evaluations of one kind need beyond the fields that all requests have. An answer has its request's context
    with what the evaluation added, and that is the context in which the candidate is measured further. ``artifacts``:
    what was made of the candidate, store hash by role; what is there is measured and not made again."""

    artifacts: Mapping[str, str] = {}


class LineupContext(Context, frozen=True, omit_defaults=True, tag="lineup"):
    """``fidelity``: how battles are played. ``patch``: hash of the changes to the game's data, empty: those of the
    study. ``anchors``: indices of the strongest and the weakest team, as an evaluation chose them; a request with
    anchors measures these two rather than choosing anew."""

    fidelity: str = "full"
    patch: str = ""
    anchors: tuple[int, ...] = ()


class PatchedContext(Context, frozen=True, omit_defaults=True, tag="patched"):
    """``changes``: numbers of the game beside those of the study, by path."""

    changes: Mapping[str, float] = {}


class TrainingContext(Context, frozen=True, omit_defaults=True, tag="training"):
    """``start``: store hash of the training that this one continues."""

    start: str = ""


AnyContext = Context | LineupContext | PatchedContext | TrainingContext
PLAIN = Context()
C = TypeVar("C", bound=Context)
TRAINED = "trained"
"""Role of a finished training among a context's artifacts."""


class Request(NamedTuple):
    """One question to an evaluator: play replicates ``first <= r < last`` of this genome. ``candidate``: id of the
    request whose candidate is measured further; -1: a candidate of its own. ``record``: asks for a record of each
    replicate; it holds that of the replicates before ``first`` (empty where there were none). With some, the answer is
    about all replicates < ``last``, as if they had been asked for together, and only its cost is that of the new
    ones."""

    id: int
    genome: Genome
    first: int
    last: int
    seed: int
    context: AnyContext = PLAIN
    candidate: int = -1
    record: Floats | None = None


class Evaluation(NamedTuple):
    """One answer. ``objectives`` float64[m] means, ``covariance`` float64[m, m] of those means, ``samples`` replicates,
    ``metrics`` float64[k] raw metrics in Problem order, ``violation`` >= 0 (0 = feasible), ``cost`` battles or steps
    requested, ``cached`` of them answered from memory, ``status`` ok or failed with its ``reason``; ``context`` that of
    the request with what the evaluation added; ``descriptor`` float64[k] the candidate's behaviour. Where replicates
    are recorded: ``values`` float64[samples, m] the objectives of each, whose means the objectives are; ``limits``
    float64[2, m] between which they lie, infinite where unknown; ``record`` float64[samples, k] what is needed of each
    replicate where objectives are no means of replicates (see Request); ``sums`` float64[samples, k] the sums of each
    replicate that the others of the objectives are made of."""

    id: int
    objectives: Floats
    covariance: Floats
    samples: int
    metrics: Floats
    violation: float = 0.0
    cost: int = 0
    cached: int = 0
    status: Literal["ok", "failed"] = "ok"
    reason: str = ""
    context: AnyContext = PLAIN
    descriptor: Floats | None = None
    values: Floats | None = None
    limits: Floats | None = None
    record: Floats | None = None
    sums: Floats | None = None


@runtime_checkable
class Evaluator(Protocol):
    """Lamarckian's bridge. Implementations hold no state a result depends on."""

    def describe(self) -> Problem:
        """The problem this evaluator answers for."""
        ...

    def initialize(self, rng: np.random.Generator) -> Genome:
        """One random genome."""
        ...

    def evaluate(self, requests: Sequence[Request], should_stop: ShouldStop) -> Iterator[Evaluation | Streamed]:
        """Answer each request once, in any order; ends early when ``should_stop()``. What is streamed for a request
        goes to the driver at once; a request that is begun again must stream the same again. Raises EvaluationError
        only when nothing at all can be evaluated; a single bad request comes back as a failed Evaluation."""
        ...


def redrawn(rng: np.random.Generator, genome: Genome, fresh: Genome, factors: Sequence[float], chance: float) -> Genome:
    """``Capabilities.perturb`` of genomes that are no numbers: the genome stays, or becomes the fresh one."""
    return fresh if rng.random() < chance else genome


def of_kind(context: Context, kind: type[C]) -> C:
    """The context as one of this kind; a plain one has the kind's defaults. Raises EngineError for another kind."""
    if isinstance(context, kind):
        return context
    if type(context) is Context:
        return kind()
    raise EngineError(f"This evaluation needs a {kind.__name__}, and was given a {type(context).__name__}.")


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
