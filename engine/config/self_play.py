"""Population based training by self-play as data: a search that trains its members step by step (``engine.config.
evolve``) in a game for two, against one another and against what they once were (``engine.evorl.self_play``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from engine.config.algorithms import PBTConfig
from engine.config.base import Config, Shown, newly_written, refuse
from engine.config.evaluate import Rival, ScriptConfig
from engine.config.evolve import AimConfig, EvolveConfig, Steps, TaskConfig, too_few
from engine.config.genes import Evolvable
from engine.config.policies import AGENT, PolicyName, misnamed
from engine.config.whole_updates import too_many_together

Choice = Literal["latest", "uniform", "mostly-latest", "hardest"]
FOUNDER = "random"
"""Name of the script that everybody plays against as long as there is nobody else."""


class OpponentsConfig(Config):
    """Against whom members train. The pool holds members as they were after earlier rounds."""

    choice: Choice = Field(
        "hardest",
        title="Opponents",
        description="latest: all members as they are now, equally often; uniform: they and the pool, equally often; "
        "mostly-latest: as they are now, but for a share of the pool; hardest: they and the pool, the more often the "
        "less they are beaten (prioritised fictitious self-play)",
    )
    past_share: float = Field(
        0.2, ge=0, le=1, title="Share of the past", description="of battles; where the choice is mostly-latest"
    )
    capacity: int = Field(
        100, ge=1, le=500, title="Earlier members kept", description="of every round; beyond that, the oldest leave"
    )
    others: dict[PolicyName, Rival] = Field(
        default_factory=dict, max_length=12, title="Saved agents and scripts", description="by name; they do not learn"
    )
    others_share: float = Field(
        0.2, gt=0, le=1, title="Share of saved agents and scripts", description="of battles, where there are any"
    )

    @field_validator("others")
    @classmethod
    def _names(cls, others: Mapping[str, Rival]) -> Mapping[str, Rival]:
        taken = [(name, "members are called so: choose another name") for name in others if name == AGENT]
        refuse([*((place.removeprefix("policies."), why) for place, why in misnamed(others)), *taken])
        return others

    @property
    def outside(self) -> dict[str, Rival]:
        """Players that are not members, by name: at least one, for somebody must be played against at the outset."""
        return dict(self.others) or {FOUNDER: ScriptConfig(kind="scripted", player="random")}


class SelfPlayTask(TaskConfig):
    """The training of every member in a round. Members that play alike play long: its few battles end even so."""

    steps: Steps = Field(
        150_000, title="Steps of a training", description="decisions that a member learns from, each round"
    )
    environments: Annotated[int, Evolvable(1, 100_000, whole=True)] = Field(
        8, title="Battles that a member plays together"
    )


class SelfPlayConfig(EvolveConfig):
    """Train a population against itself: members that lag behind go on from better ones."""

    kind: Literal["self-play"] = "self-play"  # type: ignore[assignment]
    name: Shown = Field("self-play", min_length=1, max_length=120, title="Name")
    task: SelfPlayTask
    opponents: OpponentsConfig = Field(default_factory=OpponentsConfig, title="Opponents")
    objectives: tuple[AimConfig, ...] = Field(
        (AimConfig(measure="win"),), min_length=1, max_length=1, title="Goal", description="win or score"
    )
    algorithm: PBTConfig = Field(default_factory=PBTConfig, validate_default=True, title="Algorithm")
    networks: Literal["fresh"] = Field("fresh", validate_default=True, title="Networks of new members")
    episodes: int = Field(
        30, ge=2, le=100_000, title="Meetings that measure a member",
        description="with the latest members, saved agents and scripts; each is two episodes of one seed, from both "
        "seats",
    )  # fmt: skip
    fresh: int = Field(100, ge=0, le=100_000, title="Fresh meetings of the best at the end", description="0: none")

    @property
    def seats(self) -> int:
        return 2

    @field_validator("task")
    @classmethod
    def _of_the_game(cls, task: SelfPlayTask, info: ValidationInfo) -> SelfPlayTask:
        refuse([*_misfits(task), *(too_many_together(task) if newly_written(info) else ())])
        return task

    @field_validator("objectives")
    @classmethod
    def _of_two(cls, objectives: tuple[AimConfig, ...]) -> tuple[AimConfig, ...]:
        why = "members are compared by what they win: win or score"
        refuse((f"{i}.measure", why) for i, aim in enumerate(objectives) if aim.measure not in ("win", "score"))
        return objectives


def _misfits(task: TaskConfig) -> Iterator[tuple[str, str]]:
    if task.style is not None:
        yield "style", "self-play learns from the game's own rewards: leave this out"
    batch = task.learner.least_batch
    if not isinstance(task.steps, int) or not task.steps:
        yield "steps", "all members train for the same number of decisions: give one number above 0"
    elif isinstance(batch, int) and task.steps < batch:
        yield "steps", too_few(task.steps, batch)
    if ranged := [name for name, value in task.game.settings.items() if isinstance(value, tuple | list)]:
        yield from ((f"game.settings.{name}", "members meet in one game: give it one value") for name in ranged)
