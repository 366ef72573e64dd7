"""Evolution of trained players as data (Lamarckian, III-A and Fig. 1): the task of each candidate, which of its
settings are left to evolution, and how candidates are measured.

Any number below ``task`` that is written as a range ``[low, high]`` is a gene (``engine.config.genes``). Settings that
all candidates must share to be comparable (seeds, episodes, goals), and those of the search itself, cannot be ranges.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from engine.config import compatibility
from engine.config.algorithms import AlgorithmConfig, PBTConfig, SearchAlgorithm
from engine.config.base import Config, Shown, Study, newly_written, refuse
from engine.config.genes import Evolvable, Gene, genes
from engine.config.learners import Learner, without_weights
from engine.config.noise import NoiseConfig, StepsRule, StopRule
from engine.config.pool import PoolConfig
from engine.config.rl import PPOConfig
from engine.config.sound_goals import equal, idle, out_of_reach
from engine.config.style_reward import StyleReward
from engine.config.train import Game
from engine.formula import LONGEST
from engine.text import figures

Measure = Annotated[str, Field(min_length=1, max_length=80)]
_NETWORK_PATH, _REPLAY_PATH = ("learner", "network"), ("learner", "capacity")
Steps = Annotated[int, Evolvable(0, 10**12, whole=True)]


def measure_names(rewards: Sequence[str], signals: Sequence[str]) -> tuple[str, ...]:
    """Measures of an episode: ``return`` (the sum of the game's own rewards, without a candidate's weights), ``score``,
    ``win``, ``length``, ``reward.NAME``, and the game's signals (``signal.NAME`` where a name is taken)."""
    plain = ("return", "score", "win", "length", *(f"reward.{name}" for name in rewards))
    return (*plain, *(f"signal.{name}" if name in plain else name for name in signals))


def too_few(steps: float, batch: int) -> str:
    """What is wrong with so many steps of training where one update takes a ``batch`` of decisions."""
    why = f"one update takes {figures(batch)} decisions, so {figures(steps)} would train nobody"
    return f"{why}: give {figures(batch)} or more"


class TaskConfig(Config):
    """The training of every candidate. Any number in it may be a range: settings of the learner and layers of its
    network, the length of training and its number of battles, and settings of the game. If the game has ranges, each
    candidate is trained and measured in a game of its own, so goals must mean the same in all of them."""

    game: Game
    learner: Learner = Field(default_factory=PPOConfig, title="Learner")
    steps: Steps = Field(
        50_000,
        title="Decisions of a training",
        description="decisions that a candidate learns from; population based training: between two comparisons; "
        "0: nothing is trained, only networks are bred",
    )
    environments: Annotated[int, Evolvable(1, 100_000, whole=True)] = Field(
        16, title="Battles that a candidate plays together"
    )
    checkpoint_every: Steps = Field(
        0,
        title="Decisions between checkpoints of a candidate, at least",
        description="where one is taken all battles begin afresh, so it waits until every battle has ended three "
        "episodes on average; whoever takes over from a lost worker goes on from the last; 0: a tenth of a training",
    )
    style: StyleReward | None = Field(
        None,
        title="Style",
        description="what is learned from, instead of the game's own rewards",
        exclude_if=lambda style: style is None,  # keeps the hash of studies without it
    )

    @model_validator(mode="before")
    @classmethod
    def _weighed_by_style(cls, given: Any) -> Any:
        """A preset's weights are of the game's own rewards, in whose place a style is."""
        if not isinstance(given, Mapping) or given.get("style") is None or "learner" not in given:
            return given
        return {**given, "learner": without_weights(given["learner"])}

    @model_validator(mode="after")
    def _weighed_once(self) -> Self:
        if self.style is not None:
            why = "a style is one reward, whose weights are its w1 and w2: leave this out"
            refuse((f"learner.rewards.{name}", why) for name in self.learner.rewards)
        return self


KNOWN_ENDS = {"win": (0.0, 1.0), "length": (0.0, math.inf)}
"""Bounds of measures that hold in any game."""
RETURNS = ("return", "score")
"""Measures that equal the return in a game with one reward."""


class AimConfig(Config):
    """A measure that evolution maximises or minimises."""

    measure: Measure = Field(
        "return",
        title="What is measured",
        description="the mean of episodes that training did not see: return, score, win, length, reward.NAME of one "
        "named reward, or a signal of the game; the name of the goal where it has a formula",
    )
    formula: str = Field(
        "",
        max_length=LONGEST,
        title="Formula",
        description="over these measures of an episode, such as score + moved; empty: the measure alone",
        exclude_if=lambda formula: not formula,  # keeps the hash of studies without it
    )
    direction: Literal["max", "min"] = Field("max", title="Better", description="max: more; min: less")
    epsilon: float = Field(
        0.0,
        ge=0,
        le=1e12,
        title="Difference that does not matter",
        description="in the measure's own unit; for a short list of the edge; 0: a fiftieth of the first round's range",
    )
    low: float | None = Field(
        None,
        ge=-1e12,
        le=1e12,
        title="Floor",
        description="an episode below counts as this; with a cap, racing knows the limits of the goal",
        exclude_if=lambda low: low is None,  # keeps the hash of studies without it
    )
    high: float | None = Field(
        None,
        ge=-1e12,
        le=1e12,
        title="Cap",
        description="an episode above counts as this",
        exclude_if=lambda high: high is None,
    )

    @property
    def ends(self) -> tuple[float, float]:
        """Bounds of an episode's value, infinite where unknown: an episode is lost, drawn or won (0, 0.5, 1), and its
        length is not negative."""
        least, most = KNOWN_ENDS.get(self.measure, (-math.inf, math.inf))
        return least if self.low is None else self.low, most if self.high is None else self.high

    @property
    def limits(self) -> tuple[float, float] | None:
        """Its ``ends`` if both are known."""
        low, high = self.ends
        return (low, high) if math.isfinite(high - low) else None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ValueError(f"the floor ({figures(self.low)}) must be below the cap ({figures(self.high)})")
        if self.formula and self.measure in (*KNOWN_ENDS, *RETURNS):
            raise ValueError(f"{self.measure} is measured in every game: give the formula another name")
        return self


class EvolveConfig(Study):
    """Breed players: each candidate is trained, then measured on episodes that it did not learn from."""

    kind: Literal["evolve"] = "evolve"
    name: Shown = Field("evolution", min_length=1, max_length=120, title="Name")
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
        validate_default=True,
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
    algorithm: AlgorithmConfig = Field(default_factory=PBTConfig, validate_default=True, title="Algorithm")
    ticks: int = Field(20, ge=1, le=1_000_000, title="Rounds")
    episodes: int = Field(20, ge=2, le=100_000, title="Episodes that measure a candidate")
    fresh: int = Field(
        100,
        ge=0,
        le=100_000,
        title="Fresh episodes for the final edge",
        description="on seeds of its own; 0: none; MAP-Elites: also for the rest of its map, in all no more than the "
        "search itself took",
    )
    noise: NoiseConfig = Field(default_factory=NoiseConfig, title="Measuring again and racing")
    stop: Annotated[tuple[StopRule, ...], AfterValidator(compatibility.stops(StepsRule))] = Field(
        (), max_length=5, title="Stop early", description="At the first that holds."
    )
    pool: PoolConfig = Field(default_factory=PoolConfig)

    @property
    def repeats(self) -> bool:
        """As for every study, if its algorithm has rounds."""
        return super().repeats and not self.algorithm.without_rounds

    @property
    def candidate(self) -> str:
        """What pages call one of those that are bred."""
        return "player"

    @property
    def seats(self) -> int:
        """Seats of its game."""
        return 1

    @property
    def redraws(self) -> bool:
        """Whether every child has new settings, none of its parents'."""
        return False

    @property
    def ranged(self) -> tuple[str, ...]:
        """Measures that artifacts have with 95 % ranges, beside the goals."""
        return ()

    @field_validator("objectives")
    @classmethod
    def _each_its_own(cls, objectives: tuple[AimConfig, ...], info: ValidationInfo) -> tuple[AimConfig, ...]:
        measures = [aim.measure for aim in objectives]
        refuse((f"{i}.measure", "each goal needs a measure of its own") for i in _again(measures))
        if newly_written(info):
            refuse([*out_of_reach(objectives, KNOWN_ENDS), *equal(objectives, KNOWN_ENDS), *idle(objectives)])
        return objectives

    @field_validator("behaviour")
    @classmethod
    def _each_once(cls, behaviour: tuple[str, ...]) -> tuple[str, ...]:
        refuse((str(i), "this measure is named twice") for i in _again(behaviour))
        return behaviour

    @field_validator("networks")
    @classmethod
    def _something_varies(cls, networks: str, info: ValidationInfo) -> str:
        task = info.data.get("task")
        if task is not None and networks == "fresh":
            refuse(_nothing_left(task), beside=True)
        return networks

    @field_validator("algorithm")
    @classmethod
    def _breeds_players(cls, algorithm: SearchAlgorithm, info: ValidationInfo) -> SearchAlgorithm:
        refuse(_misfits(algorithm, info.data), beside=True)
        return algorithm

    @field_validator("noise")
    @classmethod
    def _fits(cls, noise: NoiseConfig, info: ValidationInfo) -> NoiseConfig:
        algorithm = info.data.get("algorithm")
        if algorithm is not None:
            goals, episodes = info.data.get("objectives", (AimConfig(),)), info.data.get("episodes", 1)
            unbounded = [goal.measure for goal in goals if goal.limits is None]
            refuse(compatibility.noise(noise, algorithm, len(goals), episodes, unbounded), beside=True)
        return noise


def _again(names: Sequence[str]) -> list[int]:
    """Indices of repeated names."""
    return [i for i, name in enumerate(names) if name in names[:i]]


def _nothing_left(task: TaskConfig) -> Iterator[compatibility.Misfit]:
    """Misfits where every candidate begins with a new network but nothing is left to evolve or to train."""
    found = {gene.place: gene for gene in genes(task)}
    if not found:
        why = (
            "there is nothing to evolve: write at least one number in here as a range [low, high], or hand networks on"
        )
        yield "task", f"{why} (networks: best)"
    least = found["steps"].low if "steps" in found else task.steps
    if not least:
        yield (
            "task.steps",
            "with 0 decisions of training the networks must be bred: set networks to best or single_point",
        )


def _misfits(algorithm: SearchAlgorithm, given: Mapping[str, Any]) -> Iterator[compatibility.Misfit]:
    """Misfits of an algorithm with the study; ``given``: the study's fields that are valid by themselves."""
    yield from compatibility.operators(algorithm, lineups=False)
    aims = [aim.measure for aim in given.get("objectives", ())]
    if aims and "behaviour" in given:
        yield from compatibility.method(algorithm, aims, len(given["behaviour"]) or len(aims) - 1)
    if "networks" not in given:
        return
    trains, bred = isinstance(algorithm, PBTConfig), given["networks"] != "fresh"
    if trains and bred:
        yield "networks", "population based training hands networks on by itself: set this to fresh"
    for gene in genes(given["task"]) if "task" in given else ():
        if _is_handed_on(gene, trains, bred):
            free = "choose another algorithm, with fresh networks" if trains else "set networks to fresh"
            why = f"candidates hand this on to one another, so it is one for all: give it a number, or {free}"
            yield f"task.{gene.place}", why


def _is_handed_on(gene: Gene, trains: bool, bred: bool) -> bool:
    """Whether the gene determines the shape of the weights that candidates pass on, which must be the same for all."""
    return (gene.path[:2] == _NETWORK_PATH and (bred or trains)) or (gene.path[:2] == _REPLAY_PATH and trains)
