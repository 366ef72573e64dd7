"""Breeding styles of play as data: a search that trains its candidates (``engine.config.evolve``) with the settings of
EMOGI (``engine.evorl.emogi``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from engine.config.algorithms import NSGA2Config
from engine.config.base import Shown, newly_written, refuse
from engine.config.evolve import AimConfig, EvolveConfig, Measure, TaskConfig, too_few
from engine.config.genes import genes
from engine.config.whole_updates import too_many_together


class EmogiConfig(NSGA2Config):
    """NSGA-II as EMOGI sets it."""

    population: int = Field(30, ge=4, le=10_000, title="Agents in a round")
    crossover: float = Field(1.0, ge=0, le=1, title="Chance that two agents are combined")


class StylesConfig(EvolveConfig):
    """Breed agents with different styles of play: each learns from a reward of its own, and those stay that no other
    beats in every goal."""

    kind: Literal["style"] = "style"  # type: ignore[assignment]
    name: Shown = Field("styles", min_length=1, max_length=120, title="Name")
    objectives: tuple[AimConfig, ...] = Field(min_length=2, max_length=3, title="Goals")
    behaviour: tuple[Measure, ...] = Field(
        min_length=1, max_length=6, title="Behaviour", description="measures by which styles differ, such as moved"
    )
    networks: Literal["fresh", "best", "single_point"] = Field(
        "best", validate_default=True, title="Networks of new agents",
        description="best: a child goes on with the network of the parent that dominates the other, where neither does "
        "with either's; single_point: with the first layers of one and the rest of the other's; fresh: with a new one",
    )  # fmt: skip
    algorithm: EmogiConfig = Field(default_factory=EmogiConfig, validate_default=True, title="Algorithm")
    ticks: int = Field(8, ge=1, le=1_000_000, title="Rounds")
    episodes: int = Field(60, ge=2, le=100_000, title="Episodes that measure an agent")
    selection: bool = Field(
        True, title="Selection",
        description="off: the control, with the same trainings; parents and survivors are drawn at random and every "
        "child's weights are new",
    )  # fmt: skip
    kept: int = Field(
        1000, ge=1, le=100_000, title="Trained agents kept",
        description="of all that were trained; where there are more, those of every second, third … round, the last "
        "one included",
    )  # fmt: skip
    start: str = Field(
        "", max_length=64, pattern="^([0-9a-f]{64})?$", title="Trained policy to begin with",
        description="store hash of a training's policy_description; empty: new networks",
    )  # fmt: skip
    start_noise: float = Field(
        0.005, ge=0, le=10, title="Noise on the first networks",
        description="standard deviation of what is added to each weight of that policy",
    )  # fmt: skip

    @property
    def candidate(self) -> str:
        return "agent"

    @property
    def redraws(self) -> bool:
        return not self.selection

    @property
    def ranged(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(("score", *self.behaviour)))

    def keeps(self, tick: int) -> bool:
        """Whether the agents of a round are kept."""
        every = -(-self.algorithm.population * self.ticks // self.kept)
        return (self.ticks - tick) % every == 0

    @field_validator("task")
    @classmethod
    def _has_a_style(cls, task: TaskConfig, info: ValidationInfo) -> TaskConfig:
        refuse([*_misfits(task), *(too_many_together(task) if newly_written(info) else ())])
        return task

    @model_validator(mode="after")
    def _hands_on(self) -> Self:
        if self.start and self.networks == "fresh":
            raise ValueError("start says with which networks agents begin, and networks is fresh: set it to best")
        return self


def _misfits(task: TaskConfig) -> Iterator[tuple[str, str]]:
    if task.style is None:
        yield "style", "say what is learned from: winning, style, w1 and w2"
    found = {gene.place: gene for gene in genes(task)}
    steps, batch = task.steps, task.learner.least_batch
    known = not any(place.startswith("learner.batch") for place in found)
    least = found["steps"].low if "steps" in found else steps
    if known and 0 < least < batch:
        yield "steps", too_few(least, batch)
    if not least:
        yield "steps", "nobody learns a style in 0 decisions"
    if "steps" not in found:
        apart = {"environments", "learner.fragment"} & found.keys()
        together = 0 if apart else task.environments * task.learner.fragment
        yield from ((f"learner.{place}", why) for place, why in task.learner.misfits(steps, together, synchronous=True))
