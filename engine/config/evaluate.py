"""Evaluations as data: policies that play each other in a game for agents."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints, field_validator

from engine.config.base import Config, Shown, Study, refuse
from engine.config.limits import LimitsConfig, OwnWaysConfig
from engine.config.policies import PolicyName, misnamed
from engine.config.train import Game

Title = Annotated[Shown, StringConstraints(max_length=120)]


class SavedConfig(Config):
    """A policy of the store, such as the last one of a training. ``one_by_one``: the members of a group take the seats
    of a side."""

    one_by_one: ClassVar[bool] = True

    kind: Literal["frozen"]
    policy: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")] = Field(
        title="Policy", description="store hash of its description (policy_description of a training)"
    )
    title: Title = Field("", title="What people call it")


class ScriptConfig(Config):
    """A script of the catalogue, such as ``random``: nothing of it is stored, and its hands have no limits."""

    policy: ClassVar[str] = ""
    sampled: ClassVar[bool] = False
    limits: ClassVar[LimitsConfig | None] = None

    kind: Literal["scripted"]
    player: str = Field(min_length=1, max_length=100, title="Script")
    title: Title = Field("", title="What people call it")


class RivalConfig(SavedConfig, OwnWaysConfig):
    """A policy of the store that plays as its agent does."""


Rival = Annotated[RivalConfig | ScriptConfig, Field(discriminator="kind")]


class EvaluateConfig(Study):
    """Let every policy play every other one, on both seats."""

    no_ranges = "an evaluation measures policies as they are; a study of kind evolve searches settings of trainings"
    kind: Literal["evaluate"] = "evaluate"
    name: Shown = Field("Evaluation", min_length=1, max_length=120, title="Name")
    seed: int = Field(1, ge=0, lt=2**63, title="Seed")
    game: Game
    policies: dict[PolicyName, Rival] = Field(min_length=2, max_length=12, title="Policies", description="by name")
    episodes: int = Field(
        100, ge=2, le=10_000, multiple_of=2, title="Episodes of each pair", description="half of them on either seat"
    )

    @field_validator("policies")
    @classmethod
    def _names(cls, policies: Mapping[str, Rival]) -> Mapping[str, Rival]:
        refuse(misnamed(policies), beside=True)
        return policies

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of policies that play each other, in order."""
        return tuple(combinations(self.policies, 2))

    @property
    def ticks(self) -> int:
        """Number of rounds: one for each pair."""
        return len(self.pairs)
