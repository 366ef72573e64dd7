"""Training studies as data: a game, a learner, samplers, how far and how it is examined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from engine.config.base import Config, refuse
from engine.config.genes import OpenSetting, genes
from engine.config.rl import PRESETS, AnyLearner, DQNConfig, PPOConfig

Setting = Annotated[bool | int | float | str | tuple[str, ...], OpenSetting(-1e15, 1e15)]


class TrainGame(Config):
    """Which game: ``pong``, ``image-pong``, ``cartpole``, ``pendulum``, or any reference: ``gym:ID``, ``ale:NAME``,
    ``python:module:factory``, ``command:program …``."""

    name: str = Field(min_length=1, max_length=500, title="Game", description="Such as pong or gym:Pendulum-v1.")
    settings: dict[str, Setting] = Field(default_factory=dict, title="Settings of the game")


def _named(given: Any) -> Any:
    """A game by its name alone."""
    return {"name": given} if isinstance(given, str) else given


def merged(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """``base`` with the settings of ``own`` in their places, tables in tables included."""
    found = dict(base)
    for key, value in own.items():
        inner = found.get(key)
        found[key] = merged(inner, value) if isinstance(inner, Mapping) and isinstance(value, Mapping) else value
    return found


def _preset(given: Any) -> Any:
    """A preset's name, or settings with a preset to begin from."""
    name = given if isinstance(given, str) else given.get("preset") if isinstance(given, Mapping) else None
    if name is None:
        return given
    if not isinstance(name, str) or name not in PRESETS:
        raise ValueError(f"there is no preset {name!r}; there are {', '.join(PRESETS)}")
    own = {} if isinstance(given, str) else {key: value for key, value in given.items() if key != "preset"}
    return merged(PRESETS[name].model_dump(), own)


Game = Annotated[TrainGame, BeforeValidator(_named)]
Learner = Annotated[AnyLearner, Field(discriminator="kind"), BeforeValidator(_preset)]


class TrainPool(Config):
    """Where samplers run."""

    kind: Literal["ray", "local"] = Field("ray", title="Samplers", description="ray: Ray actors; local: this process.")
    address: str = Field(
        "", max_length=200, title="Ray address", description="Empty: EQUIPOISE_RAY_ADDRESS, or a Ray of its own."
    )
    layout: Literal["tree", "flat"] = Field(
        "tree", title="How weights travel between hosts", description="flat: the learner sends to every host itself."
    )


class TrainConfig(Config):
    """Train one policy."""

    kind: Literal["train"] = "train"
    name: str = Field("training", min_length=1, max_length=120, title="Name")
    seed: int = Field(1, ge=0, lt=2**63, title="Seed")
    game: Game
    learner: Learner = Field(default_factory=PPOConfig, title="Learner")
    steps: int = Field(1_000_000, ge=1, le=10**12, title="Steps", description="decisions to learn from")
    minutes: float = Field(
        0,
        ge=0,
        le=525_600,
        title="Minutes",
        description="of training, whichever is over first; 0: no limit; where the clock ends it is not reproducible",
    )
    samplers: int = Field(2, ge=1, le=4096, title="Samplers", description="each plays on a processor of its own")
    environments: int = Field(16, ge=1, le=100_000, title="Battles that each sampler plays together")
    sampling: Literal["synchronous", "asynchronous"] = Field(
        "synchronous",
        title="Sampling",
        description="synchronous: samplers wait for each update, reproducible; asynchronous: nobody waits, faster.",
    )
    max_staleness: int = Field(
        8, ge=0, le=10**6, title="Oldest data learned from", description="updates behind; 0: any; synchronous: 1"
    )
    checkpoint_every: int = Field(
        0,
        ge=0,
        le=10**12,
        title="Steps in a round",
        description="0: a fortieth of all, longer if need be; in step all battles begin afresh at its end, and "
        "episodes under way are cut off, uncounted: make it several episodes of every battle",
    )
    evaluate_every: int = Field(
        10, ge=0, le=10**6, title="Rounds between evaluations", description="0: at the end only"
    )
    episodes: int = Field(100, ge=2, le=100_000, title="Fresh episodes of an evaluation")
    threads: int = Field(1, ge=1, le=256, title="Processor threads of the learner")
    pool: TrainPool = Field(default_factory=TrainPool)

    @field_validator("game", "learner")
    @classmethod
    def _settled(cls, given: Config) -> Config:
        why = "this is a range, and a training has one number for each setting: a study of kind evolve searches them"
        refuse((gene.place, why) for gene in genes(given))
        return given

    @model_validator(mode="after")
    def _fits(self) -> Self:
        refuse(self._misfits())
        return self

    def _misfits(self) -> Iterator[tuple[str, str]]:
        if self.each > 2 * 10**9:
            yield "environments", "samplers × environments × fragment is more than two thousand million steps an update"
        if self.gradients and self.learner.normalise_observations:
            why = "samplers that learn on the spot (A3C, asynchronous) share no scale; train in step"
            yield "learner.normalise_observations", why
        if isinstance(self.learner, DQNConfig):
            yield from self._memory(self.learner)

    def _memory(self, learner: DQNConfig) -> Iterator[tuple[str, str]]:
        """What of a replay does not fit the training; a range is refused elsewhere."""
        warmup, capacity = learner.warmup, learner.capacity
        if isinstance(warmup, int) and warmup >= self.steps:
            yield "learner.warmup", f"learning would begin after the {self.steps:,} steps of the training: give fewer"
        together = self.each if self.sampling == "synchronous" else self.environments * learner.fragment
        if isinstance(capacity, int) and capacity < together:
            yield "learner.capacity", f"{together:,} steps arrive together, and all must be kept: give as many at least"

    @property
    def gradients(self) -> bool:
        """Whether samplers send gradients instead of trajectories: A3C as its paper has it."""
        return self.sampling == "asynchronous" and self.learner.kind == "a3c"

    @property
    def each(self) -> int:
        """Decisions in one fragment of every battle of every sampler."""
        return self.samplers * self.environments * self.learner.fragment

    @property
    def update(self) -> int:
        """Decisions in the batch of one update, when samplers wait for each other."""
        return self.fragments * self.each

    @property
    def fragments(self) -> int:
        """Fragments of each sampler that make a batch."""
        return max(1, -(-getattr(self.learner, "batch", 0) // self.each))

    @property
    def every(self) -> int:
        """Steps in a round, one update at least."""
        return max(self.checkpoint_every or self.steps // 40, self.update)

    @property
    def ticks(self) -> int:
        """Rounds of the whole training."""
        return -(-self.steps // self.every)
