"""Hunts for bugs as data: agents play a game, by whatever method, while oracles watch (``engine.evorl.wuji``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from engine.config.algorithms import NSGA2Config
from engine.config.base import Config, Shown, newly_written, refuse
from engine.config.evolve import AimConfig, EvolveConfig, Measure, Steps, TaskConfig, too_few
from engine.config.genes import Evolvable, genes
from engine.config.whole_updates import highest_battles, most_learned, too_many_together
from engine.text import figures

COVERED = AimConfig(measure="places", low=0)
"""The second goal of every hunt: different places of an episode."""

BUG_FORMAT = "equipoise-bug-1"
"""The field ``format`` of a file that holds one bug (``engine.bug_command``)."""
LONGEST = 20_000
"""Decisions up to a bug, at most: in a longer episode none is reported, and none is played again or watched."""
LEARNING = ("wuji", "learning")
"""Methods by which agents learn."""
BREEDING = ("wuji", "evolution")
"""Methods by which agents are bred."""
MOST_MESSAGES = 5
"""Messages of crashes that are repeated, at most."""


class WujiConfig(NSGA2Config):
    """NSGA-II as Wuji sets it."""

    population: int = Field(30, ge=1, le=10_000, title="Agents in a round")
    crossover: float = Field(1.0, ge=0, le=1, title="Chance that two agents are combined")


class OraclesConfig(Config):
    """What counts as a bug, beside crashes and what the game itself says must hold."""

    stuck_after: int = Field(
        30, ge=2, le=10_000, title="Stuck after so many decisions",
        description="in the same place; it counts only where random actions do not lead away either",
    )  # fmt: skip
    soonest: int | None = Field(
        None, ge=0, le=10**9, title="Decisions that a win takes at least",
        description="fewer are an imbalance; empty: as the game says, 0: any win is fine",
    )  # fmt: skip
    most: float | None = Field(
        None,
        ge=-1e12,
        le=1e12,
        title="Highest score",
        description="a higher one is an imbalance; empty: as the game says",
    )


class HuntTask(TaskConfig):
    """What every agent learns in a round."""

    steps: Steps = Field(
        8192, title="Steps of a training", description="decisions that an agent learns from, each round"
    )
    environments: Annotated[int, Evolvable(1, 100_000, whole=True)] = Field(
        8, title="Battles that an agent plays together"
    )


class HuntConfig(EvolveConfig):
    """Hunt for bugs: agents learn to win the game and to get everywhere in it, and everything they do is watched."""

    kind: Literal["hunt"] = "hunt"  # type: ignore[assignment]
    name: Shown = Field("hunt for bugs", min_length=1, max_length=120, title="Name")
    task: HuntTask
    method: Literal["wuji", "learning", "evolution", "random"] = Field(
        "wuji", title="Method",
        description="wuji: agents are bred, and each learns; learning: agents learn, none is bred; evolution: agents "
        "are bred, none learns; random: random actions",
    )  # fmt: skip
    decisions: int = Field(
        5_000_000, ge=1, le=10**12, title="Decisions in all",
        description="at most; of all agents, those of measuring and of showing bugs again included: no round begins "
        "that might go beyond them",
    )  # fmt: skip
    oracles: OraclesConfig = Field(default_factory=OraclesConfig, title="What counts as a bug")
    objectives: tuple[AimConfig, ...] = Field(
        (AimConfig(measure="score"), COVERED), min_length=2, max_length=2, title="Goals",
        description="what is accomplished, and the places that are covered",
    )  # fmt: skip
    behaviour: tuple[Measure, ...] = Field((), max_length=6, title="Behaviour")
    networks: Literal["fresh", "best", "single_point"] = Field(
        "single_point", validate_default=True, title="Networks of new agents"
    )
    network_noise: float = Field(0.1, ge=0, le=10, title="Noise on handed-on networks")
    algorithm: WujiConfig = Field(default_factory=WujiConfig, validate_default=True, title="Algorithm")
    ticks: int = Field(100_000, ge=1, le=1_000_000, title="Rounds, at most")
    episodes: int = Field(4, ge=2, le=100_000, title="Episodes that measure an agent")
    fresh: Literal[0] = Field(0, title="Fresh episodes")

    @property
    def bred(self) -> bool:
        """Whether agents are bred."""
        return self.method in BREEDING

    @property
    def learns(self) -> bool:
        """Whether agents learn."""
        return self.method in LEARNING

    def cost(self, longest: int) -> int:
        """Decisions that an agent takes in a round at most, without those of showing bugs again. ``longest``: decisions
        in the longest episode, 0 where that is not known."""
        episode, battles = max(1, longest), highest_battles(self.task)
        if self.method == "random":
            each = max(-(-self.task.steps // battles), -(-self.episodes // battles) * episode)
            return each * battles
        return (0 if self.method == "evolution" else most_learned(self.task)) + self.episodes * episode

    def round(self, longest: int) -> int:
        """Decisions that a round takes at most, if every agent may show one episode again; further ones are shown as
        long as the budget lasts."""
        return self.algorithm.population * (self.cost(longest) + max(1, longest))

    def buys(self, longest: int) -> int:
        """Rounds that the budget buys; fewer where bugs take long to show again, more where episodes are short."""
        return min(self.ticks, self.decisions // self.round(longest))

    def too_small(self, longest: int) -> Iterator[tuple[str, str]]:
        """What is wrong with a budget that does not buy a round."""
        if self.buys(longest):
            return
        agents, whole = self.algorithm.population, self.round(longest)
        fit = self.decisions // (whole // agents)
        fewer = f", have {many(fit, 'agent')} in a round" if fit > 1 else ""
        why = f"{many(agents, 'agent')} take up to {figures(whole)} in a round, more than {figures(self.decisions)}"
        yield "decisions", f"{why}: give {figures(whole)} or more{fewer}, or let each learn from fewer"

    @field_validator("task")
    @classmethod
    def _is_watched(cls, task: HuntTask, info: ValidationInfo) -> HuntTask:
        refuse([*_misfits(task), *(too_many_together(task) if newly_written(info) else ())])
        return task

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if not self.bred and self.algorithm.without_rounds:
            raise ValueError("agents that are not bred go on round by round: set algorithm.steady to false")
        if self.objectives[1].measure != COVERED.measure:
            raise ValueError("the second goal of a hunt is places, the different places of an episode")
        return self


def place_words(place: int, columns: int) -> str:
    """A place as people read it: a cell of a map with so many columns; 0: the game has no map."""
    if not columns:
        return f"place {place & 0xFFFFFF:06x}"
    row, column = divmod(place, columns)
    return f"row {row}, column {column}"


def lost_crashes(lost: Mapping[str, int], partial: Mapping[str, int]) -> list[str]:
    """Sentences on each message of crashes that no replay showed, the most frequent first; on all beyond
    ``MOST_MESSAGES`` together. ``lost``: how many, by message; ``partial``: after how many of these some battles were
    not replayed."""
    common = sorted(lost.items(), key=lambda said: -said[1])
    sentences = [
        f"The game crashed {_times(count)} with the message “{message}”, {_no_replay(count, partial.get(message, 0))}"
        for message, count in common[:MOST_MESSAGES]
    ]
    rare = common[MOST_MESSAGES:]
    if others := sum(count for _, count in rare):
        some = sum(partial.get(message, 0) for message, _ in rare)
        sentences.append(f"With other messages it crashed {_times(others)}, {_no_replay(others, some)}")
    return sentences


def _no_replay(count: int, partial: int) -> str:
    """The end of a sentence on so many crashes, and a sentence on those after which some battles were not replayed."""
    these = "that crash" if count == 1 else "those crashes"
    said = f"and no replay showed {these} again."
    if not partial:
        return said
    which = "it" if count == 1 else f"{partial:,} of them"
    return f"{said} After {which}, not every battle was replayed."


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def many(count: int, noun: str) -> str:
    """A count with its noun."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _misfits(task: TaskConfig) -> Iterator[tuple[str, str]]:
    if task.style is not None:
        yield "style", "a hunt learns from the rewards of the game itself: leave this out"
    found, batch = {gene.place: gene for gene in genes(task)}, task.learner.least_batch
    if any(place.startswith("game.") for place in found):
        yield "game.settings", "bugs are those of one game: give its settings numbers, not ranges"
    if "steps" in found:
        yield "steps", "every agent makes as many decisions: give one number"
    elif isinstance(batch, int) and task.steps < batch:
        yield "steps", too_few(task.steps, batch)
