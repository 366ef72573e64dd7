"""Designed experiments as data: what each piece of a game is worth."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from engine.config.base import Shown, Study
from engine.config.lineups import LineupConfig
from engine.config.patterns import Intended
from engine.config.pool import PoolConfig
from engine.config.study import FEWEST_MEASURING, ScriptedGame


class WorthConfig(Study):
    """Play random teams of equal cost against each other, and measure what each piece brings the team that holds it."""

    no_ranges = "an experiment measures a game as it is; a search finds what is extreme in it"
    asks_what_is_meant = True
    kind: Literal["worth"] = "worth"
    name: Shown = Field("What is each piece worth?", min_length=1, max_length=120, title="Name")
    seed: int = Field(1, ge=0, lt=2**63, title="Seed")
    game: ScriptedGame
    lineups: LineupConfig = Field(
        default_factory=LineupConfig, title="Lineup rules", description="Two teams meet, whatever a lineup has."
    )
    battles: int = Field(400_000, ge=FEWEST_MEASURING, le=100_000_000, title="Battles", description="In all.")
    matters: float = Field(
        3.0, gt=0, le=40, title="Smallest effect that matters",
        description="In points of the chance to win: what is closer to even is fine.",
    )  # fmt: skip
    pairs: bool = Field(
        True, title="Pairs too",
        description="Off: single pieces and amounts only; a fifth of the battles is theirs then.",
        exclude_if=lambda pairs: pairs,  # a study that says nothing here stays the study it was
    )  # fmt: skip
    intended: Intended = ()
    pool: PoolConfig = Field(default_factory=PoolConfig)

    @property
    def pairings(self) -> LineupConfig:
        """The rules of the two teams that meet, as those of a lineup of two."""
        return self.lineups.model_copy(update={"teams": 2})
