"""Tournaments of a course's policies as data."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field

from engine.config.base import Config


class TournamentConfig(Config):
    """Who meets whom once all lessons are over, and how often."""

    kind: Literal["round-robin", "swiss"] = Field(
        "round-robin", title="Form",
        description="round-robin: everybody meets everybody; swiss: in each turn those meet who stand alike",
    )  # fmt: skip
    turns: int = Field(0, ge=0, le=100, title="Turns", description="of a Swiss tournament; 0: as many as decide it")
    episodes: int = Field(
        100, ge=2, le=10_000, multiple_of=2, title="Episodes of each pair", description="half of them on either side"
    )
    rungs: bool = Field(
        False, title="With earlier selves", description="policies as they were after each lesson play, too"
    )

    @property
    def meetings(self) -> int:
        """Of a pair: two battles of the same seed, with exchanged sides."""
        return self.episodes // 2

    def held(self, entrants: int) -> int:
        """Turns of a Swiss tournament of so many."""
        return self.turns or max(1, math.ceil(math.log2(max(2, entrants))))

    def pairs(self, entrants: int) -> int:
        """Pairs that meet among so many, over all turns."""
        if self.kind == "round-robin":
            return entrants * (entrants - 1) // 2
        return self.held(entrants) * (entrants // 2)
