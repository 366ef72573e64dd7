"""Removal tests as data: what is left of what is unfair without a suspect."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from engine.config.base import Config, Shown
from engine.config.lineups import LineupConfig
from engine.config.patterns import Pattern
from engine.config.study import BalanceStudy, SampleConfig, ScriptedGame

MOST_SUSPECTS, MOST_LINEUPS = 12, 25
REPLAYED = 16
"""Lineups at most that are played again at the end of each short search."""
SEARCHED = 4
"""Times that a short search plays each pairing, from both seats."""


class SuspectConfig(Config):
    """One suspect, and the lineups it is exchanged in: they hold it in the team that it explains."""

    pattern: Pattern
    genomes: tuple[tuple[tuple[int, ...], ...], ...] = Field((), max_length=MOST_LINEUPS, title="Lineups that hold it")
    anchors: tuple[tuple[int, int], ...] = Field(
        (), max_length=MOST_LINEUPS, title="Strongest and weakest team of each"
    )

    @model_validator(mode="after")
    def _matched(self) -> Self:
        if len(self.anchors) != len(self.genomes):
            raise ValueError("each lineup needs its strongest and weakest team")
        for lineup, pair in zip(self.genomes, self.anchors, strict=True):
            if not all(0 <= team < len(lineup) for team in pair):
                raise ValueError("the strongest and the weakest team are numbers of teams of the lineup, from 0 on")
        return self


class RemovalConfig(BalanceStudy):
    """Take suspects away, and see what is left: exchange each for neighbours of equal cost in the lineups that hold it,
    and search once more where nobody may field it."""

    judges: ClassVar[bool] = True
    no_ranges = "a removal test measures a game as it is; a search finds what is extreme in it"
    kind: Literal["removal"] = "removal"
    game: ScriptedGame
    name: Shown = Field("What is left without it?", min_length=1, max_length=120, title="Name")
    suspects: tuple[SuspectConfig, ...] = Field(min_length=1, max_length=MOST_SUSPECTS, title="Suspects")
    replicates: int = Field(
        32, ge=8, le=4096, title="Times each pairing is played after an exchange", description="from both seats"
    )
    population: int = Field(24, ge=8, le=1000, title="Lineups in a round of a short search")
    rounds: int = Field(
        12, ge=0, le=1000, title="Rounds of a short search",
        description="One with everything allowed, and one without each suspect; 0: none.",
    )  # fmt: skip
    fresh: int = Field(32, ge=8, le=4096, title="Fresh replicates of what a short search finds")

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        keys = [suspect.pattern.key for suspect in self.suspects]
        if len(set(keys)) < len(keys):
            raise ValueError("each suspect is tested once")
        return self

    @property
    def yardstick(self) -> SampleConfig:
        """What lineups are measured by, as evaluators are told."""
        shared = ("name", "seed", "game", "lineups", "objectives", "intended", "pool")
        return SampleConfig(**{name: getattr(self, name) for name in shared})

    def without(self, pattern: Pattern) -> LineupConfig:
        """The rules where nobody may field a single piece; what is more than that no rule can say."""
        if len(pattern.pieces) > 1 or pattern.least > 1:
            return self.lineups
        return self.lineups.model_copy(update={"banned": (*self.lineups.banned, *pattern.pieces)})
