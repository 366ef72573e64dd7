"""Evolution of trained players as data (Lamarckian, III-A and Fig. 1): what each candidate is trained for, which of its
settings are left to evolution, and how candidates are measured.

Any number of ``task`` that is written as a range ``[low, high]`` is a gene (``engine.config.genes``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from engine.config.algorithms import AlgorithmConfig, PBTConfig
from engine.config.base import Config, misplaced
from engine.config.genes import genes
from engine.config.noise import NoiseConfig, StopRule
from engine.config.pool import PoolConfig
from engine.config.rl import PPOConfig
from engine.config.train import Game, Learner
from engine.simulators.contract import content_hash

Measure = Annotated[str, Field(min_length=1, max_length=80)]
NETWORK_PATH, _REPLAY_PATH = ("learner", "network"), ("learner", "capacity")


def measure_names(rewards: Sequence[str], signals: Sequence[str]) -> tuple[str, ...]:
    """What can be measured of an episode: ``return`` (the sum of the game's own rewards, whatever a candidate weighs
    them with), ``score``, ``win``, ``length``, ``reward.NAME``, and the game's signals (``signal.NAME`` where a name is
    taken)."""
    plain = ("return", "score", "win", "length", *(f"reward.{name}" for name in rewards))
    return (*plain, *(f"signal.{name}" if name in plain else name for name in signals))


class TaskConfig(Config):
    """What every candidate is trained for. Any number of the learner may be a range, layers of its network included."""

    game: Game
    learner: Learner = Field(default_factory=PPOConfig, title="Learner")
    steps: int = Field(
        50_000,
        ge=0,
        le=10**12,
        title="Steps of a training",
        description="decisions that a candidate learns from; population based training: between two comparisons; "
        "0: nothing is trained, only networks are bred",
    )
    environments: int = Field(16, ge=1, le=100_000, title="Battles that a candidate plays together")
    checkpoint_every: int = Field(
        0,
        ge=0,
        le=10**12,
        title="Steps between checkpoints of a candidate",
        description="what a lost worker costs at most; 0: a tenth of a training",
    )


class AimConfig(Config):
    """One number that evolution pushes up or down."""

    measure: Measure = Field(
        "return",
        title="What is measured",
        description="the mean over fresh episodes of: return, score, win, length, reward.NAME of one named reward, or "
        "a signal of the game",
    )
    direction: Literal["max", "min"] = Field("max", title="Better", description="max: more; min: less")
    epsilon: float = Field(
        0.0,
        ge=0,
        le=1e12,
        title="Difference that does not matter",
        description="in the measure's own unit; for a short list of the edge; 0: a fiftieth of the first round's range",
    )


class EvolveConfig(Config):
    """Breed players: each candidate is trained, then measured on fresh episodes."""

    kind: Literal["evolve"] = "evolve"
    name: str = Field("evolution", min_length=1, max_length=120, title="Name")
    seed: int = Field(1, ge=0, lt=2**63, title="Seed")
    task: TaskConfig
    objectives: tuple[AimConfig, ...] = Field((AimConfig(),), min_length=1, max_length=8, title="Goals")
    behaviour: tuple[Measure, ...] = Field(
        (),
        max_length=6,
        title="Behaviour",
        description="measures that say how a candidate plays; MAP-Elites keeps the best of each kind of behaviour",
    )
    networks: Literal["fresh", "best", "single_point"] = Field(
        "fresh",
        title="Networks of new candidates",
        description="fresh: each is trained from nothing (population based training hands networks on by itself); "
        "best: a child goes on with the better parent's network; single_point: with the first layers of one parent "
        "and the rest of the other's",
    )
    network_noise: float = Field(
        0.0,
        ge=0,
        le=10,
        title="Noise on handed-on networks",
        description="in standard deviations of fresh weights; 0: training alone changes them",
    )
    learnt_is_inherited: bool = Field(
        True,
        title="What was learnt is inherited",
        description="Lamarckian: children go on with the parent's trained network; otherwise with the one it began "
        "with. Where networks are handed on.",
    )
    algorithm: AlgorithmConfig = Field(default_factory=PBTConfig, title="Algorithm")
    ticks: int = Field(20, ge=1, le=1_000_000, title="Rounds")
    episodes: int = Field(20, ge=2, le=100_000, title="Fresh episodes that measure a candidate")
    fresh: int = Field(
        100, ge=0, le=100_000, title="Fresh episodes for the final edge", description="on seeds of its own; 0: none"
    )
    noise: NoiseConfig = Field(default_factory=NoiseConfig, title="Measuring again and racing")
    stop: tuple[StopRule, ...] = Field((), max_length=5, title="Stop early", description="At the first that holds.")
    pool: PoolConfig = Field(default_factory=PoolConfig)

    @property
    def workshop(self) -> str:
        """The name of the folder in which its candidates are kept while it lasts: that of what a result depends on, so
        equal studies share it."""
        return content_hash(self.model_dump(mode="json", exclude={"name", "pool"}))[:32]

    @model_validator(mode="after")
    def _evolves(self) -> Self:
        bred = self.networks != "fresh"
        if not genes(self.task) and not bred:
            raise ValueError(
                "there is nothing to evolve: write at least one number of task.learner as a range [low, high], or hand "
                "networks on (networks: best)"
            )
        if self.algorithm.kind == "pbt" and bred:
            raise ValueError("population based training hands networks on by itself: set networks to fresh")
        self._of_one_shape(bred)
        if not self.task.steps and not bred:
            raise ValueError("with 0 steps of training the networks must be bred: set networks to best or single_point")
        if len({aim.measure for aim in self.objectives}) < len(self.objectives):
            raise ValueError("each goal needs a measure of its own")
        if len(set(self.behaviour)) < len(self.behaviour):
            raise ValueError("behaviour names a measure twice")
        if self.algorithm.kind == "map-elites" and not self.behaviour and len(self.objectives) == 1:
            raise ValueError("MAP-Elites needs behaviour (measures that say how a candidate plays), or a second goal")
        return self

    def _of_one_shape(self, bred: bool) -> None:
        """What candidates hand on to one another has one shape, so its settings cannot be genes."""
        trains = self.algorithm.kind == "pbt"
        handed = [NETWORK_PATH] * (bred or trains) + [_REPLAY_PATH] * trains
        for gene in genes(self.task):
            if gene.path[:2] in handed:
                free = "choose another algorithm, with fresh networks" if trains else "set networks to fresh"
                why = f"candidates hand this on to one another, so it is one for all: give it a number, or {free}"
                raise misplaced(f"task.{gene.place}", why)
