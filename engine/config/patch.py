"""The search for the smallest change that works, as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field, model_validator

from engine.config.base import Config, Shown, Study
from engine.config.lineups import LineupConfig, PieceId
from engine.config.patterns import Pattern
from engine.config.pool import PoolConfig
from engine.config.study import ScriptedGame

Changeable = Literal["cost", "attributes"]
"""Numbers of a piece that may change: what it costs, and what it does in battle."""


class Suspect(Config):
    """A piece, so many of a piece, or two together: to be mended, or meant to be so."""

    pieces: tuple[PieceId, ...] = Field(min_length=1, max_length=2, title="Pieces")
    least: int = Field(
        1, ge=1, le=1_000_000, title="So many or more", description="Of a single piece.",
        exclude_if=lambda least: least == 1,  # a study that says nothing here stays the study it was
    )  # fmt: skip

    @model_validator(mode="after")
    def _amount_of_one(self) -> Self:
        if self.least > 1 and len(self.pieces) > 1:
            raise ValueError("an amount is of a single piece")
        return self


class PatchConfig(Study):
    """Find out which pieces are unfair, change as few of their numbers as little as possible, and prove that it works
    on battles and by an adversary that had no part in finding the change."""

    no_ranges = "what may change is searched anyway; the rest says how"
    asks_what_is_meant = True
    kind: Literal["patch"] = "patch"
    name: Shown = Field("What is the smallest change?", min_length=1, max_length=120, title="Name")
    seed: int = Field(1, ge=0, lt=2**63, title="Seed")
    game: ScriptedGame
    lineups: LineupConfig = Field(
        default_factory=LineupConfig, title="Lineup rules", description="Two teams meet, whatever a lineup has."
    )
    battles: int = Field(400_000, ge=25_000, le=100_000_000, title="Battles", description="In all, at most.")
    matters: float = Field(
        3.0, gt=0, le=40, title="Smallest effect that matters",
        description="In points of the chance to win: what is closer to even is fine.",
    )  # fmt: skip
    suspects: tuple[Suspect, ...] = Field(
        (), max_length=12, title="Suspects", description="To be mended beside what the experiment names."
    )
    intended: tuple[Suspect, ...] = Field(
        (), max_length=200, title="Meant to be so", description="Left alone, however unfair they are."
    )
    may: tuple[Changeable, ...] = Field(("cost", "attributes"), min_length=1, max_length=2, title="What may change")
    categories: tuple[str, ...] = Field(
        (), max_length=100, title="Kinds of pieces that may change", description="Empty: all."
    )
    fixed: tuple[PieceId, ...] = Field((), max_length=5000, title="Pieces that stay as they are")
    rules: bool = Field(True, title="A rule may keep two pieces apart")
    most: int = Field(3, ge=1, le=8, title="Changes at most")
    largest: float = Field(
        0.5, gt=0, le=1, title="Largest change",
        description="As a share of the range; but for prices also of what the number is now.",
    )  # fmt: skip
    pool: PoolConfig = Field(default_factory=PoolConfig)

    def meant(self, patterns: Sequence[Pattern]) -> tuple[Suspect, ...]:
        """It leaves all of them alone but what somebody wants mended."""
        mended = {(frozenset(each.pieces), each.least) for each in self.suspects}
        alone = (each for each in patterns if (frozenset(each.pieces), each.least) not in mended)
        return tuple(Suspect(pieces=each.pieces, least=each.least) for each in alone)

    @property
    def pairings(self) -> LineupConfig:
        """The rules of a lineup of the two teams that meet."""
        return self.lineups.model_copy(update={"teams": 2})
