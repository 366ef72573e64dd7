"""One agent that learns a hard task from easier ones (DPCER: Li & Ji 2021, ``engine.rl.dpcer``), as data. A task is the
same game with other settings for where an episode begins."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError, PydanticKnownError

from engine.config import agent_games
from engine.config.base import Config, Shown
from engine.config.learners import preset
from engine.config.policies import AGENT
from engine.config.rl import (
    PRESETS,
    AnyLearner,
    DQNConfig,
    MPDQNConfig,
    PADDPGConfig,
    PDQNConfig,
    ReplayedConfig,
    SACConfig,
    TD3Config,
)
from engine.config.train import OneTraining, RarelyMinutes, TrainConfig, TrainGame, TrainPool

MOST = 12
"""Tasks of one study: a page draws each in a colour of its own, or as one of the others."""
MASTERED = 0.9
"""The success from which on a task counts as mastered."""
LEAST, LARGEST = "least_score", "largest_score"
"""Metrics of an evaluation in which success is told from scores: between what they lie."""
LARGEST_VALUE = "max_q"
"""Metric of a round: the largest value of an action, by task."""
_Replayed = MPDQNConfig | PDQNConfig | PADDPGConfig | DQNConfig | TD3Config | SACConfig
REPLAYED: tuple[type[ReplayedConfig], ...] = get_args(_Replayed)
"""Learners that keep what they played and learn from it again."""
SCALED = "normalise_observations"


def _preset(given: Any) -> Any:
    """A preset does without a scale of what is seen, which actors cannot share, unless somebody asks for it."""
    found = preset(given, [name for name, learner in PRESETS.items() if type(learner) in REPLAYED])
    asked = found is given or (isinstance(given, Mapping) and SCALED in given)
    return found if asked else {**found, SCALED: False}


ReplayedLearner = Annotated[_Replayed, Field(discriminator="kind"), BeforeValidator(_preset)]


def _value(given: Any) -> Any:
    """Of what no setting can be, one sentence, not one for each kind of value that it is not."""
    if isinstance(given, float) and not math.isfinite(given):
        raise PydanticKnownError("finite_number")
    texts = isinstance(given, list | tuple) and all(isinstance(each, str) for each in given)
    if not texts and not isinstance(given, bool | int | float | str):
        raise PydanticCustomError("setting", "must be a number, true or false, a text or a list of texts")
    return given


Setting = Annotated[bool | int | float | str | tuple[str, ...], BeforeValidator(_value)]


class StartTask(Config):
    """Where episodes begin."""

    name: Shown = Field(min_length=1, max_length=60, title="Name")
    settings: dict[str, Setting] = Field(
        default_factory=dict, max_length=40, title="Settings of the game", description="beside those of all tasks"
    )
    hard: bool = Field(False, title="The hard one", description="what is to be learned; the others make it easier")


class SchedulerConfig(Config):
    """From which task the learner learns next. ``kind``: the two of DPCER, then the paper's baselines."""

    kind: Literal["exp3", "uniform", "db", "dbc", "drc"] = Field(
        "exp3",
        title="Which task next",
        description="exp3: as each pays; uniform: all equally often; db: the hard one alone; dbc: one after the other, "
        "the easiest first; drc: the same, each with all easier ones",
    )
    signal: Literal["progress", "return", "td"] = Field(
        "progress",
        title="What pays",
        description="of exp3: progress, how surely success changes; return, how high it is, as in the paper, which "
        "stays with the easiest task; td, how wrong the learner is",
    )
    gamma: float = Field(0.1, gt=0, le=1, title="Share that is spread evenly", description="γ of exp3")
    bar: float = Field(
        0.9, gt=0, le=1, title="Success from which the next task begins", description="of dbc and drc, from 0 to 1"
    )
    episodes: int = Field(
        20, ge=1, le=100_000, title="Episodes that a success is the mean of",
        description="of one task: the change between single episodes is chance, not progress",
    )  # fmt: skip
    low: float | None = Field(
        None, ge=-1e12, le=1e12, title="Least score of an episode",
        description="as the game tells scores; with the largest one; left out: as the game declares them",
    )  # fmt: skip
    high: float | None = Field(
        None, ge=-1e12, le=1e12, title="Largest score of an episode", description="with the least one"
    )

    @property
    def ends(self) -> tuple[float, float] | None:
        """The least and the largest score of an episode; None where they are left out."""
        return None if self.low is None or self.high is None else (self.low, self.high)


class ReplayConfig(Config):
    """Where decisions wait for the learner on their way from actors."""

    where: Literal["memory", "redis"] = Field(
        "memory",
        title="On the way to the learner",
        description="memory: from process to process; redis: through a Redis, where each task has a list of its own",
    )
    address: str = Field(
        "", max_length=500, title="Address of a Redis",
        description="such as redis://host:6379/0; empty: one of its own, in memory only",
    )  # fmt: skip
    megabytes: int = Field(256, ge=16, le=65_536, title="Memory of its own Redis", description="MB")


class StartsConfig(OneTraining):
    """Train one policy for one hard task, with easier tasks at the same time."""

    kind: Literal["starts"] = "starts"
    name: Shown = Field("easier starts", min_length=1, max_length=120, title="Name")
    seed: int = Field(1, ge=0, lt=2**63, title="Seed")
    tasks: tuple[StartTask, ...] = Field(
        min_length=1, max_length=MOST, title="Tasks", description="the easiest first; one of them is the hard one"
    )
    scheduler: SchedulerConfig = Field(default_factory=SchedulerConfig)
    learner: ReplayedLearner = Field(default_factory=MPDQNConfig, title="Learner")
    replay: ReplayConfig = Field(default_factory=ReplayConfig)
    iterations: int = Field(100_000, ge=1, le=10**12, title="Minibatches to learn from", description="of all tasks")
    minutes: RarelyMinutes = 0
    actors: int = Field(1, ge=1, le=1024, title="Actors of each task", description="each on a processor of its own")
    environments: int = Field(8, ge=1, le=100_000, title="Battles that each actor plays together")
    sampling: Literal["synchronous", "asynchronous"] = Field(
        "synchronous",
        title="Sampling",
        description="synchronous: actors wait for each update, reproducible; asynchronous: nobody waits, faster.",
    )
    ahead: int = Field(
        8, ge=1, le=10**6, title="Fragments that an actor plays with the same network at most",
        description="asynchronous: then it waits for a newer one",
    )  # fmt: skip
    checkpoint_every: int = Field(
        0, ge=0, le=10**12, title="Minibatches in a round",
        description="0: a fortieth of all, longer if need be; in step all battles begin afresh at its end",
    )  # fmt: skip
    evaluate_every: int = Field(
        2, ge=0, le=10**6, title="Rounds between evaluations", description="of each task; 0: at the end only"
    )
    episodes: int = Field(100, ge=2, le=100_000, title="Fresh episodes of an evaluation", description="of each task")
    threads: int = Field(1, ge=1, le=256, title="Processor threads of the learner")
    pool: TrainPool = Field(default_factory=TrainPool)

    def _misfits(self) -> Iterator[tuple[str, str]]:
        yield from self._ill_tasks()
        yield from self._ill_places()
        yield from self._ill_ends()
        yield from self._unused()
        if self.learner.normalise_observations:
            yield "learner.normalise_observations", "actors send transitions, and share no scale: switch this off"
        together = self.learner.fragment * self.environments
        found = self.learner.misfits(self.steps, together, synchronous=self.sampling == "synchronous")
        yield from ((f"learner.{place}", why) for place, why in found)

    def _ill_tasks(self) -> Iterator[tuple[str, str]]:
        hard = [i for i, task in enumerate(self.tasks) if task.hard]
        if not hard:
            yield "tasks", "none of them is the hard one: mark the one that is to be learned"
        yield from ((f"tasks.{i}.hard", "there is a hard one already: mark one of them only") for i in hard[1:])
        seen: dict[str, int] = {}
        for i, task in enumerate(self.tasks):
            if seen.setdefault(task.name, i) != i:
                yield f"tasks.{i}.name", "another task has this name"
            for name, why in agent_games.problems(self.game.name, {**self.game.settings, **task.settings}):
                yield f"tasks.{i}.settings.{name}", why

    def wrong_if_new(self) -> Iterator[tuple[str, str]]:
        """Tasks whose episodes begin as another one's: they teach nothing that it does not."""
        whole = [agent_games.whole(self.game.name, self.game.settings | task.settings) for task in self.tasks]
        for i, own in enumerate(whole):
            if (first := whole.index(own)) != i:
                why = f"episodes begin as in “{self.tasks[first].name}”: change a setting, or leave one of them out"
                yield f"tasks.{i}.settings", why

    def without_places(self, data: dict[str, Any]) -> dict[str, Any]:
        """Without which Redis decisions go through, and how much room is there."""
        usual = ReplayConfig().model_dump(mode="json", exclude={"where"})
        return {**data, "replay": {**data["replay"], **usual}}

    def _ill_ends(self) -> Iterator[tuple[str, str]]:
        low, high = self.scheduler.low, self.scheduler.high
        if low is not None and high is None:
            yield "scheduler.high", "say the largest score, too, or leave out the least"
        elif high is not None and low is None:
            yield "scheduler.low", "say the least score, too, or leave out the largest"
        elif low is not None and high is not None and high <= low:
            yield "scheduler.high", "must be more than the least score"

    def _unused(self) -> Iterator[tuple[str, str]]:
        """Settings that were given and have no effect beside the others."""
        chosen, replay = self.scheduler, self.replay
        without = {
            "scheduler.signal": chosen.kind != "exp3", "scheduler.gamma": chosen.kind != "exp3",
            "scheduler.bar": chosen.kind not in ("dbc", "drc"), "ahead": self.sampling == "synchronous",
            "replay.megabytes": replay.where != "redis" or bool(replay.address),
        }  # fmt: skip
        why = {
            "scheduler.signal": "only exp3 looks at what pays", "scheduler.gamma": "only exp3 has a share to spread",
            "scheduler.bar": "only dbc and drc go from one task to the next",
            "ahead": "in step an actor plays one fragment with each network",
            "replay.megabytes": "there is no Redis of its own here",
        }  # fmt: skip
        for place, unused in without.items():
            *ahead, name = place.split(".")
            owner: Config = getattr(self, ahead[0]) if ahead else self
            if unused and getattr(owner, name) != type(owner).model_fields[name].default:
                yield place, f"{why[place]}: leave this out"

    def _ill_places(self) -> Iterator[tuple[str, str]]:
        if self.replay.where == "redis" and self.sampling == "synchronous":
            yield (
                "replay.where",
                "a Redis may lose what is sent, and in step the learner would wait for it: choose memory, or let "
                "actors not wait",
            )
        if self.replay.address and self.replay.where != "redis":
            yield "replay.address", "nothing is sent there from memory: choose redis, or leave this empty"

    @property
    def repeats(self) -> bool:
        """As for every study, if actors wait for each update."""
        return super().repeats and self.sampling == "synchronous"

    @property
    def ordered(self) -> tuple[StartTask, ...]:
        """The tasks from the easiest to the hard one, which is last."""
        return tuple(sorted(self.tasks, key=lambda task: task.hard))

    @property
    def groups(self) -> tuple[int, ...]:
        """The tasks, by their place among ``ordered``, that are ever played."""
        last = len(self.tasks) - 1
        return (last,) if self.scheduler.kind == "db" else tuple(range(last + 1))

    @property
    def samplers(self) -> int:
        """Actors of all tasks."""
        return self.actors * len(self.groups)

    def task_of(self, actor: int) -> int:
        """The task that an actor plays, by its place among ``ordered``."""
        return self.groups[actor // self.actors]

    def game_of(self, task: int) -> TrainGame:
        """The game as it is in one of ``ordered``."""
        settings = {**self.game.settings, **self.ordered[task].settings}
        return self.game.model_copy(update={"settings": settings})

    @property
    def learners(self) -> dict[str, AnyLearner]:
        """The one that learns."""
        return {AGENT: self.learner}

    @property
    def fragments(self) -> int:
        """Fragments of an actor for each network, where actors wait."""
        return 1

    @property
    def steps(self) -> int:
        """Decisions of the whole training, about: those before learning begins, and as many as minibatches need."""
        warmup, updates = int(self.learner.warmup), float(self.learner.updates)
        return warmup + math.ceil(self.iterations / updates)

    @property
    def every(self) -> int:
        """Minibatches in a round."""
        return max(1, self.checkpoint_every or self.iterations // 40)

    @property
    def ticks(self) -> int:
        """Rounds."""
        return -(-self.iterations // self.every)

    @property
    def evaluations(self) -> int:
        """Evaluations of each task, at most."""
        return 1 + (self.ticks // self.evaluate_every if self.evaluate_every else 0)

    def training(self, task: int) -> TrainConfig:
        """The training in one task alone: its game, learner and evaluations."""
        return TrainConfig.model_construct(
            name=self.name, seed=self.seed, game=self.game_of(task), learner=self.learner, start=self.start,
            policies={}, steps=self.steps, samplers=self.samplers, environments=self.environments,
            episodes=self.episodes, evaluate_every=self.evaluate_every, pool=self.pool, sampling=self.sampling,
        )  # fmt: skip


def name_of(task: int) -> str:
    """The name of one of ``StartsConfig.ordered`` in metrics and checkpoints."""
    return f"task-{task + 1}"
