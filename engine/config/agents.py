"""Saved agents as data: one measured on fresh episodes, and battles recorded to be watched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from engine.config.base import Config, Shown, Study, refuse
from engine.config.evaluate import SavedConfig, ScriptConfig, Title
from engine.config.evolve import Measure
from engine.config.hunt import LONGEST
from engine.config.limits import LimitsConfig
from engine.config.train import Game

PART = 50
"""Episodes of a measurement that are played at once: one of its rounds."""


class AgentConfig(SavedConfig):
    """A policy of the store, and how it chooses its actions."""

    kind: Literal["frozen"] = "frozen"
    sampled: bool = Field(
        False, title="Chance", description="true: it draws its actions by their odds; false: it takes the likeliest one"
    )
    limits: LimitsConfig | None = Field(
        None, title="Limits", description="those that it learned with; they hold wherever it plays",
        exclude_if=lambda limits: limits is None,  # keeps the hash of studies without them
    )  # fmt: skip


PlayerConfig = Annotated[AgentConfig | ScriptConfig, Field(discriminator="kind")]


class OriginConfig(Config):
    """Where an agent comes from, as its model card tells it."""

    job: Title = ""
    data: Title = Field("", title="Version of the game data")
    steps: int = Field(0, ge=0, title="Decisions learned from")
    seed: int = Field(0, ge=0, lt=2**63, title="Seed of its training")
    learner: Annotated[str, StringConstraints(max_length=40)] = ""
    agent: int | None = Field(
        None, ge=0, title="Its number in the search that bred it", exclude_if=lambda agent: agent is None
    )
    member: Title = Field("", exclude_if=lambda member: not member, title="Who it was in its population")
    strength: Title = Field("", exclude_if=lambda strength: not strength, title="How strong it was there")
    spans: dict[Measure, float] = Field(
        default_factory=dict, max_length=6, exclude_if=lambda spans: not spans, title="Span of its style",
        description="by measure, how far apart the agents lie that the same search bred",
    )  # fmt: skip
    spans_episodes: int = Field(
        0, ge=0, title="Episodes behind the span", exclude_if=lambda episodes: not episodes,
        description="of each agent, that the search measured spans by; 0: not recorded",
    )  # fmt: skip


class MeasureConfig(Study):
    """Measure one agent on fresh episodes, and write everything that somebody takes home of it. It meets each of the
    ``strangers``, opponents that it never learned against, on as many episodes with the same seeds."""

    no_ranges = "a measurement tells what an agent is; a study of kind evolve searches settings of trainings"
    kind: Literal["measure"] = "measure"
    name: Shown = Field("Measurement", min_length=1, max_length=120, title="Name")
    seed: int = Field(1, ge=0, lt=2**63, title="Seed")
    game: Game
    agent: AgentConfig
    seat: int = Field(0, ge=0, le=1000, title="Seat")
    opponent: PlayerConfig | None = Field(
        None, title="Opponent", description="on all other seats; none: the game has no other seats"
    )
    episodes: int = Field(200, ge=PART, le=10_000, multiple_of=PART, title="Fresh episodes")
    strangers: tuple[PlayerConfig, ...] = Field(
        (), max_length=4, title="Opponents it never learned against",
        description="scripts or saved agents, each on the other seat of this built-in game’s form for two",
    )  # fmt: skip
    style: tuple[Measure, ...] = Field(
        (), max_length=6, title="Style", description="measures that say how it plays; empty: no style was asked for"
    )
    origin: OriginConfig = OriginConfig()
    data: Title = Field(
        "", title="Version of the game data that it is measured on", exclude_if=lambda data: not data,
        description="as the model card tells it; empty: the one that it learned on",
    )  # fmt: skip

    @property
    def ticks(self) -> int:
        """Number of rounds."""
        return self.episodes // PART * (1 + len(self.strangers))


class MovesConfig(Config):
    """Actions that were noted, taken again in the episode that they were taken in: a bug that a hunt found. The
    recording ends with the last of them."""

    policy: ClassVar[str] = ""
    sampled: ClassVar[bool] = False
    limits: ClassVar[LimitsConfig | None] = None

    kind: Literal["moves"]
    episode: int = Field(ge=0, lt=2**64, title="Seed of the episode")
    moves: tuple[int | tuple[int | float, ...] | float, ...] = Field(
        min_length=1, max_length=LONGEST, title="Actions", description="in their order, as the game takes them"
    )
    title: Title = Field("", title="What people call it")
    shows: Annotated[Shown, StringConstraints(max_length=1000)] = Field("", title="What the last one shows")


class BesideConfig(Config):
    """A player on seats of its own, in a battle to be watched whose sides have several players."""

    player: PlayerConfig
    seats: tuple[Annotated[int, Field(ge=1, le=1000)], ...] = Field(
        min_length=1, max_length=1000, title="Seats", description="from 1: the agent sits on seat 0"
    )


Watched = Annotated[AgentConfig | ScriptConfig | MovesConfig, Field(discriminator="kind")]


class RecordConfig(Study):
    """Record a battle of each agent on the same seed, to be watched side by side."""

    no_ranges = "a recording shows agents as they are; a study of kind evolve searches settings of trainings"
    kind: Literal["record"] = "record"
    name: Shown = Field("Battles to watch", min_length=1, max_length=120, title="Name")
    seed: int = Field(1, ge=0, lt=2**63, title="Seed")
    game: Game
    agents: tuple[Watched, ...] = Field(min_length=1, max_length=4, title="Agents", description="on seat 0")
    opponent: PlayerConfig | None = Field(
        None, title="Opponent", description="on all other seats; none: the game has no other seats"
    )
    beside: tuple[BesideConfig, ...] = Field(
        (), max_length=1000, title="Others", description="each on seats of its own, where neither of these sits",
        exclude_if=lambda beside: not beside,  # keeps the hash of studies without others
    )  # fmt: skip

    @model_validator(mode="after")
    def _apart(self) -> Self:
        taken: dict[int, int] = {}
        for i, other in enumerate(self.beside):
            for seat in other.seats:
                if taken.setdefault(seat, i) != i or other.seats.count(seat) > 1:
                    refuse([(f"beside.{i}.seats", f"somebody sits on seat {seat} already")])
        return self

    def sits(self, seats: int, squad: int) -> Mapping[str, list[int]]:
        """Who sits where in a game of so many seats, sides of ``squad``: seats by place (``agents``, ``opponent``,
        ``beside.0``, …)."""
        named = {seat: f"beside.{i}" for i, other in enumerate(self.beside) for seat in other.seats}
        found: dict[str, list[int]] = {}
        for seat in range(seats):
            found.setdefault(named.get(seat, "agents" if seat < squad else "opponent"), []).append(seat)
        return found

    @property
    def ticks(self) -> int:
        """Number of rounds: one for each battle."""
        return len(self.agents)
