"""Evolution with a shared critic as data: AES-RL (Lee et al. 2020), and the methods beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from engine.config.aes_rules import (
    SMALLEST,
    AbsoluteConfig,
    AdaptiveConfig,
    ElitesConfig,
    FullMoveConfig,
    MeanRule,
    OldestConfig,
    RelativeConfig,
    VarianceRule,
    compared,
)
from engine.config.base import Config, Shown
from engine.config.pool import PoolConfig
from engine.config.rl import ApartConfig, NetworkConfig, TD3Config
from engine.config.train import OneTraining, RarelyMinutes

LEAST_LESSONS = 0.5
PART = 6.0
"""A rule's range, where it is not given, is the spread of scores divided by this (the paper's appendix C)."""


class _Method(Config):
    """``population``: individuals in a round, or those that rules by rank look at. ``noisy``: the roles of individuals
    whose actions are noisy."""

    noisy: ClassVar[tuple[str, ...]] = ("es", "rl")

    population: int = Field(10, ge=2, le=1000, title="Individuals", description="in a round, or looked at together")

    @property
    def learns(self) -> bool:
        """Whether critics learn beside the individuals that play."""
        return True

    @property
    def in_rounds(self) -> bool:
        """Whether individuals wait for one another."""
        return True


class _Drawn(_Method):
    variance_at_first: float = Field(
        1e-3, gt=0, le=100, title="First variance", description="of each weight around the centre"
    )


class _Together(_Drawn):
    """Individuals that evolve and individuals that learn, each as often as ``learning_share`` says."""

    learning_share: float = Field(
        0.5, ge=0, le=1, title="Share that learns", description="p_desired; 0: all evolve, without a critic"
    )
    gain: float = Field(50.0, gt=0, le=1e6, title="Gain", description="K_rl, of what keeps that share")
    waiting: bool = Field(
        False,
        title="Wait for one another",
        description="rounds of so many individuals: reproducible; otherwise each counts as soon as it is back",
    )
    least_lessons: float = Field(
        LEAST_LESSONS, ge=0, le=100, title="Least lessons for a decision",
        description="minibatches of the critic, not in rounds: until it has caught up, nobody begins to play; 0: nobody"
        " ever waits for it, as in the paper",
        exclude_if=lambda least: least == LEAST_LESSONS,  # keeps the hash of studies without it
    )  # fmt: skip
    centre: Literal["running", "episodes"] = Field(
        "running",
        title="Score of the centre",
        description="running: estimated, with one in five individuals the centre itself; episodes: five of the centre "
        "after each individual, as in the paper: six times the decisions; of those that wait for one another, after "
        "each round",
    )

    @property
    def learns(self) -> bool:
        """As ``_Method.learns``."""
        return self.learning_share > 0

    @property
    def in_rounds(self) -> bool:
        """As ``_Method.in_rounds``."""
        return self.waiting


class AESRLMethod(_Together):
    """Asynchronous evolution strategy and reinforcement learning (Lee et al. 2020)."""

    kind: Literal["aes-rl"] = "aes-rl"
    mean: MeanRule = Field(default_factory=RelativeConfig, title="How the centre moves")
    variance: VarianceRule = Field(default_factory=AdaptiveConfig, title="How the spread follows")

    @model_validator(mode="before")
    @classmethod
    def _after_full_moves(cls, given: Any) -> Any:
        """With the rule full-move the spread follows successes, where nothing else is said."""
        mean = given.get("mean") if isinstance(given, dict) else None
        jumps = (isinstance(mean, dict) and mean.get("kind") == "full-move") or isinstance(mean, FullMoveConfig)
        return {"variance": {"kind": "success"}, **given} if jumps else given


class ACEMRLMethod(_Together):
    """CEM-RL's update by rank, without waiting (the same paper, appendix E)."""

    kind: Literal["acem-rl"] = "acem-rl"
    mean: MeanRule = Field(default_factory=OldestConfig, title="How the centre moves")
    variance: VarianceRule = Field(default_factory=ElitesConfig, title="How the spread follows")


class CEMRLMethod(_Drawn):
    """CEM-RL (Pourchot & Sigaud 2019)."""

    noisy: ClassVar[tuple[str, ...]] = ()

    kind: Literal["cem-rl"] = "cem-rl"
    parallel: bool = Field(
        True, title="Side by side", description="individuals of a round; otherwise one after the other: the same end"
    )
    noise: float = Field(1e-3, ge=0, le=100, title="First variance added", description="ε, in each round")
    noise_end: float = Field(1e-5, ge=0, le=100, title="Last variance added")
    tau: float = Field(0.95, ge=0, le=1, title="How slowly it falls", description="share kept in each round")
    narrow: bool = Field(
        True, title="Divide the variance by the elites",
        description="by how many there are, as CEM-RL’s released code does; the paper’s equation does not",
        exclude_if=lambda narrow: narrow,  # keeps the hash of studies without it
    )  # fmt: skip


class CEMMethod(CEMRLMethod):
    """The same without learning: the cross-entropy method."""

    kind: Literal["cem"] = "cem"  # type: ignore[assignment]

    @property
    def learns(self) -> bool:
        """Nobody does."""
        return False


class ERLMethod(_Method):
    """Evolutionary reinforcement learning (Khadka & Tumer 2018): a genetic algorithm beside one agent that learns."""

    noisy: ClassVar[tuple[str, ...]] = ("rl",)

    kind: Literal["erl"] = "erl"
    elites: float = Field(0.2, gt=0, lt=1, title="Share of elites", description="that stay as they are")
    crossover: float = Field(0.15, ge=0, le=1, title="Chance of crossover")
    mutation: float = Field(0.9, ge=0, le=1, title="Chance of mutation")
    strength: float = Field(0.1, gt=0, le=100, title="Strength of mutation", description="as a share of a weight")
    every: int = Field(10, ge=1, le=10_000, title="Rounds between visits", description="of the agent that learns")


def _of_a_kind(given: Any) -> Any:
    """A method by its name alone, or settings of the usual one."""
    return (
        {"kind": given} if isinstance(given, str) else {"kind": "aes-rl", **given} if isinstance(given, dict) else given
    )


Method = Annotated[
    AESRLMethod | ACEMRLMethod | CEMRLMethod | CEMMethod | ERLMethod,
    Field(discriminator="kind"),
    BeforeValidator(_of_a_kind),
]


class LayersConfig(ApartConfig):
    """Layers of policies, all with tanh, and of the critics."""

    activation: Literal["leaky_relu", "relu", "tanh"] = Field("leaky_relu", title="Activation of the critics")


class SharedTD3Config(TD3Config):
    """Twin delayed deep deterministic policy gradient, for critics that many policies learn from."""

    network: LayersConfig = Field(default_factory=LayersConfig)

    @property
    def policy_network(self) -> NetworkConfig:
        """Policies have tanh between their layers, whatever the critics have (AES-RL's table 4)."""
        return super().policy_network.model_copy(update={"activation": "tanh"})


class AESRLConfig(OneTraining):
    """Individuals that evolve and individuals that learn, around one critic that learns from what all of them do."""

    kind: Literal["aes-rl"] = "aes-rl"
    name: Shown = Field("evolution and learning", min_length=1, max_length=120, title="Name")
    seed: int = Field(1, ge=0, lt=2**63, title="Seed")
    learner: SharedTD3Config = Field(default_factory=SharedTD3Config, title="Learner")
    method: Method = Field(default_factory=AESRLMethod, title="Method")
    spread: float | None = Field(
        None,
        gt=SMALLEST,
        le=1e12,
        title="Spread of scores",
        description="from acting by chance to the best that is hoped for",
    )
    steps: int = Field(
        1_000_000,
        ge=1,
        le=10**12,
        title="Decisions",
        description="all that are played: those that measure the centre, too",
    )
    minutes: RarelyMinutes = 0
    chunk: int = Field(
        1000,
        ge=1,
        le=1_000_000,
        title="Updates of the critic at a time",
        description="of AES-RL and ACEM-RL; never more than decisions came",
    )
    longest: int = Field(10_000, ge=1, le=10**9, title="Longest episode", description="decisions; there it is cut off")
    checkpoint_every: int = Field(0, ge=0, le=10**12, title="Decisions in a round", description="0: a fortieth of all")
    evaluate_every: int = Field(
        4, ge=0, le=10**6, title="Rounds between evaluations", description="of the centre; 0: at the end only"
    )
    episodes: int = Field(
        50, ge=1, le=100_000, title="Fresh episodes of an evaluation", description="nobody learns from them"
    )
    pool: PoolConfig = Field(default_factory=PoolConfig)

    def _misfits(self) -> Iterator[tuple[str, str]]:
        yield from _unlearnt(self)
        yield from _unranged(self)
        yield from _unused(self)

    @property
    def repeats(self) -> bool:
        """As for every study, if individuals wait for one another."""
        return super().repeats and self.method.in_rounds

    @property
    def every(self) -> int:
        """Decisions in a round."""
        return self.checkpoint_every or max(1, self.steps // 40)

    @property
    def ticks(self) -> int:
        """Rounds of the whole training."""
        return -(-self.steps // self.every)

    @property
    def by_chance(self) -> int:
        """Decisions by chance at least: none where nobody learns from them, and no baseline must lie below them."""
        fixed = isinstance(getattr(self.method, "mean", None), AbsoluteConfig)
        return self.learner.warmup if self.method.learns or fixed else 0

    @property
    def side_by_side(self) -> int:
        """Workers that play at the same time: one where each individual waits for the one before it."""
        return self.pool.processes if getattr(self.method, "parallel", True) else 1

    def mean_rule(self, rule: MeanRule) -> MeanRule:
        """A rule of the mean with its range or baseline, where it leaves that to the spread of scores."""
        if (name := _RANGES.get(rule.kind)) and getattr(rule, name) is None:
            assert self.spread is not None
            return rule.model_copy(update={name: self.spread / PART})
        return rule


_RANGES = {"linear": "range", "sigmoid": "range", "relative": "baseline"}


def _unlearnt(config: AESRLConfig) -> Iterator[tuple[str, str]]:
    learner = config.learner
    if learner.normalise_observations:
        yield "learner.normalise_observations", "individuals are compared by their weights alone: leave this out"
    if learner.schedule != "constant":
        yield "learner.schedule", "each individual learns from the beginning: leave this constant"
    if config.by_chance >= config.steps:
        yield "steps", f"the first {config.by_chance:,} decisions are played by chance: give more than that"
    if learner.capacity < learner.minibatch:
        yield "learner.capacity", f"it must hold at least one minibatch: {learner.minibatch:,} decisions"


def _unused(config: AESRLConfig) -> Iterator[tuple[str, str]]:
    """Settings that were given and have no effect with the method."""
    kind, learner, usual = config.method.kind, config.learner, SharedTD3Config()
    if learner.delay != usual.delay and kind != "erl":
        yield "learner.delay", "only ERL’s agent learns in turns with its critic: leave this out"
    if learner.updates != usual.updates and kind in ("cem", "cem-rl"):
        yield "learner.updates", f"in {kind} as many minibatches follow as the last round had decisions: leave this out"
    if learner.explore != usual.explore and not config.method.noisy:
        yield "learner.explore", f"in {kind} all play without noise: leave this out"
    method = config.method
    if isinstance(method, AESRLMethod | ACEMRLMethod):
        if method.centre != "running" and not compared(method.mean, method.variance):
            yield "method.centre", "with this rule individuals are compared with one another only: leave this out"
        if method.waiting and method.least_lessons != LEAST_LESSONS:
            yield "method.least_lessons", "in rounds the critic always catches up: leave this out"
        if method.gain != type(method).model_fields["gain"].default and not method.learning_share:
            yield "method.gain", "nobody learns, so no share is kept: leave this out"


def _unranged(config: AESRLConfig) -> Iterator[tuple[str, str]]:
    method = config.method
    if not isinstance(method, AESRLMethod | ACEMRLMethod):
        return
    name = _RANGES.get(method.mean.kind)
    if name and getattr(method.mean, name) is None and config.spread is None:
        yield f"method.mean.{name}", "give this, or 'spread', that of scores, of which it is then a sixth"
    floor = getattr(method.variance, "floor", 0.0)
    if method.variance_at_first < floor:
        yield "method.variance_at_first", f"it lies below the least variance, {floor:g}"
    if isinstance(method.variance, ElitesConfig) and not isinstance(method.mean, OldestConfig):
        yield "method.variance.kind", "elites are those of the centre's rule oldest: choose that, or another variance"
