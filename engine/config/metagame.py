"""Round robins as data: who beats whom among given teams."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from engine.config.base import Shown, Study
from engine.config.lineups import LineupConfig, TeamRow
from engine.config.pool import PoolConfig
from engine.config.study import ScriptedGame

MOST = 64
"""Teams of one round robin."""
PARTS = 10
"""Number of parts, if a pair has so many meetings."""


class MetagameConfig(Study):
    """Every team plays every other one, as often from one seat as from the other: who beats whom, what is a ladder of
    strength, and what goes in rings."""

    no_ranges = "a round robin measures a game as it is; a search finds what is extreme in it"
    kind: Literal["metagame"] = "metagame"
    name: Shown = Field("Who beats whom?", min_length=1, max_length=120, title="Name")
    seed: int = Field(1, ge=0, lt=2**63, title="Seed")
    game: ScriptedGame
    teams: tuple[TeamRow, ...] = Field(min_length=2, max_length=MOST, title="Teams")
    battles: int = Field(
        200, ge=2, le=100_000, title="Battles of each pair", description="Half of them from either seat."
    )
    pool: PoolConfig = Field(default_factory=PoolConfig)

    @property
    def pairings(self) -> LineupConfig:
        """The rules of two teams that meet, whatever they cost."""
        return LineupConfig(teams=2, cost_tolerance=None)

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return len(self.teams) * (len(self.teams) - 1) // 2

    @property
    def ticks(self) -> int:
        """Number of parts in which the pairs are played."""
        return min(PARTS, self.meetings)

    @property
    def meetings(self) -> int:
        """Meetings of each pair; a meeting is two battles, one from each seat."""
        return self.battles // 2
