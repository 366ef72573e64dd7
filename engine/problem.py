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
    """A number to maximise or minimise. ``threshold``: the designer's line; beyond it lies the problem looked for."""

    name: str
    title: str
    direction: Direction = "max"
    unit: str = ""
    threshold: float | None = None


class Problem(NamedTuple):
    """An evaluator's problem: the space of genomes, the objectives, and the names of its raw metrics and behaviour
    descriptors. ``bounded``: evaluations that record their replicates also have ``limits``, and chance affects nothing
    else about a candidate. ``noun``: the word for a candidate in messages."""

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
    """What a space can do beyond ``sample`` and ``keys``; None: it cannot. Algorithms check this when constructed.

    ``perturb(rng, genome, fresh, factors, chance)``: one genome, each number multiplied by one of ``factors`` or, with
    probability ``chance``, replaced by that of ``fresh``. ``inherit(genome, evaluation)``: the genome that children of
    an evaluated candidate inherit (Lamarckian). ``unmet(rng, genomes, met)``: the genomes, with every one whose key is
    in ``met`` replaced by a new one while any are left; adds their keys to ``met``.
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
        """What it can do for algorithms."""
        ...

    def sample(self, rng: np.random.Generator, n: int) -> Genome:
        """n random genomes."""
        ...

    def keys(self, genomes: Genome) -> NDArray[np.uint64]:
        """Canonical 64-bit hash of each genome: equal meaning, equal key."""
        ...


class Context(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="plain"):
    """What evaluations of one kind need beyond the fields that all requests have. An answer carries its request's
    context plus what the evaluation added; further measurements of the candidate use that context. ``artifacts``:
    store hashes by role of what was made from the candidate; these are measured, not made again."""

    artifacts: Mapping[str, str] = {}


class LineupContext(Context, frozen=True, omit_defaults=True, tag="lineup"):
    """``fidelity``: how battles are played. ``patch``: hash of the changes to the game's data (empty: the study's).
    ``anchors``: indices of the strongest and the weakest team that an earlier evaluation chose; a request with anchors
    measures these two instead of choosing again."""

    fidelity: str = "full"
    patch: str = ""
    anchors: tuple[int, ...] = ()


class PatchedContext(Context, frozen=True, omit_defaults=True, tag="patched"):
    """``changes``: numbers of the game beside those of the study, by path."""

    changes: Mapping[str, float] = {}


class TrainingContext(Context, frozen=True, omit_defaults=True, tag="training"):
    """``start``: store hash of the training that this one continues; ``stranger``: the script on the other seat while
    the candidate is measured (empty: the game's own player); ``spare``: decisions that hunts may take to show its bugs
    again. Added by the answer: ``endless``, whether no episode ended in its training."""

    start: str = ""
    stranger: str = ""
    spare: int = 0
    endless: bool = False


class SelfPlayContext(TrainingContext, frozen=True, omit_defaults=True, tag="self-play"):
    """``opponents``: by name, the store hash of an opponent's weights (empty: one of the study's own players), its
    weight in training and its weight where candidates are measured. Added by the answer: ``faced``, by opponent the
    episodes of training and the wins in them; ``met``, by opponent the measured meetings, the sum of the shares of
    wins in them, and the sum of their squares."""

    opponents: Mapping[str, tuple[str, float, float]] = {}
    faced: Mapping[str, tuple[float, float]] = {}
    met: Mapping[str, tuple[float, float, float]] = {}


class IndividualContext(Context, frozen=True, omit_defaults=True, tag="individual"):
    """An individual beside a shared critic. ``role``: what is done with it (``engine.evorl.individuals``); ``critic``:
    store hash of the critics that it learns from, or that learn; ``minibatches``: how many of them. Added by the
    answer, among the artifacts: the transitions played, and what was learned."""

    role: str = ""
    critic: str = ""
    minibatches: int = 0


AnyContext = Context | LineupContext | PatchedContext | TrainingContext | SelfPlayContext | IndividualContext
PLAIN = Context()
C = TypeVar("C", bound=Context)
TRAINED, WEIGHTS = "trained", "weights"
"""Roles among a context's artifacts: a finished training; its weights alone."""


class Request(NamedTuple):
    """One question to an evaluator: play replicates ``first <= r < last`` of this genome. ``candidate``: id of the
    request whose candidate this measures further; -1: a new candidate. ``record``: not None asks for a record of each
    replicate, and holds those of the replicates before ``first`` (empty: none). With earlier ones, the answer covers
    all replicates < ``last`` as if they had been requested together; only its cost is that of the new ones."""

    id: int
    genome: Genome
    first: int
    last: int
    seed: int
    context: AnyContext = PLAIN
    candidate: int = -1
    record: Floats | None = None


class Evaluation(NamedTuple):
    """One answer. ``objectives``: float64[m] means; ``covariance``: float64[m, m] of those means; ``samples``: number
    of replicates; ``metrics``: float64[k] raw metrics in Problem order; ``violation``: >= 0 (0: feasible); ``cost``:
    battles or steps requested; ``cached``: how many of them came from memory; ``status``: ok, or failed with a
    ``reason``; ``context``: the request's, plus what the evaluation added; ``descriptor``: float64[k] behaviour of the
    candidate. Where replicates are recorded: ``values``: float64[samples, m] objectives of each, whose means the
    objectives are; ``descriptors``: float64[samples, k] behaviour in each, whose means the descriptor is; ``limits``:
    float64[2, m] bounds of the values (infinite: unknown); ``record``: float64[samples, k] data of each replicate for
    objectives that are no means of replicates (see Request); ``sums``: float64[samples, k] terms of each replicate from
    which those objectives are computed."""

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
    descriptors: Floats | None = None
    limits: Floats | None = None
    record: Floats | None = None
    sums: Floats | None = None


@runtime_checkable
class Evaluator(Protocol):
    """The bridge between search and games. Implementations hold no state on which a result depends."""

    def describe(self) -> Problem:
        """The problem this evaluator answers for."""
        ...

    def initialize(self, rng: np.random.Generator) -> Genome:
        """One random genome."""
        ...

    def evaluate(self, requests: Sequence[Request], should_stop: ShouldStop) -> Iterator[Evaluation | Streamed]:
        """Answer each request once, in any order; end early when ``should_stop()``. Streamed items go to the driver at
        once; a request that is restarted must stream the same items again. Raises EvaluationError only when nothing at
        all can be evaluated; a single bad request comes back as a failed Evaluation."""
        ...


def redrawn(rng: np.random.Generator, genome: Genome, fresh: Genome, factors: Sequence[float], chance: float) -> Genome:
    """``Capabilities.perturb`` for genomes without numbers: the genome itself or, with ``chance``, the fresh one."""
    return fresh if rng.random() < chance else genome


def of_kind(context: Context, kind: type[C]) -> C:
    """The context as one of this kind; a plain one has the kind's defaults. Raises EngineError for another kind."""
    if isinstance(context, kind):
        return context
    if type(context) is Context:
        return kind()
    raise EngineError(f"This evaluation needs a {kind.__name__}, and was given a {type(context).__name__}.")


UNCOUNTED = 1 << 40
"""The first id of requests that are none of a study's candidates, such as evaluations on fresh episodes: people are not
told these numbers."""
GIVEN_UP = "Three attempts in a row failed"
"""How the reason begins of a request that nobody could answer: whoever tried ended, or its game broke off. The game or
its machine may be why."""


def failed(request: Request, reason: str, objectives: int, metrics: int) -> Evaluation:
    """The answer to a request that cannot be evaluated: NaN everywhere, infinite violation."""
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
