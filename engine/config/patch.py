"""The search for the smallest change that works, as data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Self

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


FIRST, FURTHER = 400_000, 300_000
"""Battles of a search for changes that mends one piece, and for each further worth that it watches. A proof deals its
share of the battles out evenly over all that is watched, and the range of a worth narrows with the root of its part. On
herobattle with five planted causes seven worths are watched; their ranges go 1.6 points to either side with 1,000,000
battles, 1.4 with 1,300,000 and 1.3 with 1,600,000, where 3 matter and a change is to leave 1.5 at most. The experiment
finds others than those that are named, so each brings more than it needs itself."""


def usual_battles(watched: int) -> int:
    """How many battles a search for changes plays where nobody says it, by how many worths it watches."""
    return FIRST + FURTHER * max(watched - 1, 0)


def watched_of(suspects: Iterable[Suspect]) -> int:
    """How many worths a search watches that mends these: theirs, and of each of their pieces alone."""
    named = {(frozenset(each.pieces), each.least) for each in suspects}
    return len(named | {(frozenset((piece,)), 1) for pieces, _ in named for piece in pieces})


def _usual(before: Mapping[str, Any]) -> int:
    return usual_battles(watched_of(before.get("suspects", ())))


FEWEST_CHANGES, MOST_CHANGES, BESIDE = 3, 8, 2
"""Changes that a search may make where nobody says it, at least and at most, and how many more than suspects are named:
the experiment names others on the way, and where these have no change left nothing can be proved. Fewer changes that
work are preferred anyway."""


def _changes(before: Mapping[str, Any]) -> int:
    return min(max(len(before.get("suspects", ())) + BESIDE, FEWEST_CHANGES), MOST_CHANGES)


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
    matters: float = Field(
        3.0, gt=0, le=40, title="Smallest effect that matters",
        description="In points of the chance to win: what is closer to even is fine.",
    )  # fmt: skip
    suspects: tuple[Suspect, ...] = Field(
        (), max_length=12, title="Suspects", description="To be mended beside what the experiment names."
    )
    battles: int = Field(
        default_factory=_usual, ge=25_000, le=100_000_000, title="Battles",
        description=f"In all, at most; {FIRST:,} if nothing is said here, and {FURTHER:,} more for each further "
        "suspect and for each piece of a pair.",
    )  # fmt: skip
    intended: tuple[Suspect, ...] = Field(
        (), max_length=200, title="Meant to be so", description="Left alone, however unfair they are."
    )
    may: tuple[Changeable, ...] = Field(("cost", "attributes"), min_length=1, max_length=2, title="What may change")
    categories: tuple[str, ...] = Field(
        (), max_length=100, title="Kinds of pieces that may change", description="Empty: all."
    )
    fixed: tuple[PieceId, ...] = Field((), max_length=5000, title="Pieces that stay as they are")
    rules: bool = Field(True, title="A rule may keep two pieces apart")
    most: int = Field(
        default_factory=_changes, ge=1, le=MOST_CHANGES, title="Changes at most",
        description=f"{BESIDE} more than suspects are named, and {FEWEST_CHANGES} at least, if nothing is said here.",
    )  # fmt: skip
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
