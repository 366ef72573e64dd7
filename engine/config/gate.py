"""Gates as data: whether a build of a game may go out, by what was found before, a short screen and a short search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from engine.config import compatibility
from engine.config.algorithms import AlgorithmConfig, NSGA2Config
from engine.config.base import Config, Shown, refuse
from engine.config.lineups import LineupConfig, PastedBaselines, TeamRow
from engine.config.study import BalanceStudy, ScriptedGame, SearchConfig
from engine.config.worth import WorthConfig

MOST = 200
"""Exploits of one gate."""


class MetConfig(Config):
    """The baseline teams that a search met: what it found strong is judged against them again. They stay the teams that
    they were, whatever the build changes."""

    name: Shown = Field(min_length=1, max_length=120, title="Name", description="Such as that of the search.")
    teams: tuple[TeamRow, ...] = Field(min_length=1, max_length=64, title="Teams")

    def rules(self, lineups: LineupConfig) -> LineupConfig:
        """Rules by which lineups meet these teams."""
        return lineups.model_copy(update={"baselines": PastedBaselines(teams=self.teams)})


class ExploitConfig(Config):
    """A lineup that was over the line once, as whoever found it saw its teams."""

    name: Shown = Field("", max_length=200, title="Name")
    met: Shown = Field(
        "", max_length=120, title="Baseline teams that it met",
        description="A name in met; empty: the gate’s own, by which another lineup may count as strong.",
        exclude_if=lambda met: not met,  # keeps the hash of studies without it
    )  # fmt: skip
    teams: tuple[TeamRow, ...] = Field(
        min_length=1, max_length=8, title="Teams", description="The strongest first, the weakest last."
    )


class ScreenConfig(Config):
    """A short experiment on what each piece is worth."""

    battles: int = Field(100_000, ge=2_000, le=100_000_000, title="Battles of the screen")
    matters: float = Field(
        3.0, gt=0, le=40, title="Smallest effect that matters",
        description="In points of the chance to win: a piece that is proved to be further from even is over the line.",
    )  # fmt: skip
    leaves_open: float = Field(
        6.0, gt=0, le=50, title="Largest effect that may stay open",
        description="In points: a game is under the line only where battles leave no larger effect of a piece open.",
    )  # fmt: skip

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.leaves_open < self.matters:
            refuse([("leaves_open", "must be as large as the smallest effect that matters, or larger")])
        return self


class HuntConfig(Config):
    """A short search for lineups over the line; those that it ends with are played again on fresh battles."""

    algorithm: AlgorithmConfig = Field(default_factory=lambda: NSGA2Config(population=60))
    ticks: int = Field(20, ge=1, le=1_000_000, title="Rounds")
    replicates: int = Field(4, ge=2, le=1024, title="Times each pairing is played", description="from both seats")
    fresh: int = Field(32, ge=2, le=4096, title="Fresh replicates for what it ends with")

    @field_validator("algorithm", mode="before")
    @classmethod
    def _usual(cls, given: Any) -> Any:
        """The usual kind where a table says none."""
        return {"kind": "nsga2", **given} if isinstance(given, Mapping) else given


def _other_size(here: int, there: int) -> str:
    """Why a lineup of so many teams cannot be judged where lineups have another number of them."""
    here_said, there_said = (f"{many} team{'' if many == 1 else 's'}" for many in (here, there))
    return (
        f"a lineup is {here_said} here, not {there_said}, and objectives measure a whole lineup; put lineups of "
        f"{there_said} into a gate of their own, with lineups.teams {there} and objectives for these"
    )


class GateConfig(BalanceStudy):
    """May this build go out? Plays earlier exploits again, screens the pieces and searches, each for a short while."""

    no_ranges: ClassVar[str] = "a gate measures a build as it is; a search finds what is extreme in it"
    judges: ClassVar[bool] = True
    asks_what_is_meant: ClassVar[bool] = True
    of_a_build: ClassVar[bool] = True
    kind: Literal["gate"] = "gate"
    game: ScriptedGame
    name: Shown = Field("Gate", min_length=1, max_length=120, title="Name")
    met: tuple[MetConfig, ...] = Field(
        (), max_length=MOST, title="Baseline teams of the searches that found exploits", exclude_if=lambda met: not met
    )
    exploits: tuple[ExploitConfig, ...] = Field((), max_length=MOST, title="Exploits that are played again")
    replicates: int = Field(
        64, ge=2, le=4096, title="Times each pairing of an exploit is played", description="from both seats"
    )
    screen: ScreenConfig | None = Field(default_factory=ScreenConfig, title="Screen", description="null: none.")
    search: HuntConfig | None = Field(default_factory=HuntConfig, title="Search", description="null: none.")

    @field_validator("met")
    @classmethod
    def _distinct(cls, met: tuple[MetConfig, ...]) -> tuple[MetConfig, ...]:
        names = [each.name for each in met]
        refuse(
            (f"{i}.name", f"“{name}” is there already; give one another name")
            for i, name in enumerate(names)
            if name in names[:i]
        )
        return met

    @field_validator("exploits")
    @classmethod
    def _whole(cls, exploits: tuple[ExploitConfig, ...], info: ValidationInfo) -> tuple[ExploitConfig, ...]:
        if (met := info.data.get("met")) is not None:
            known = {"", *(each.name for each in met)}
            refuse(
                (f"{i}.met", f"“{exploit.met}” is no name in met")
                for i, exploit in enumerate(exploits)
                if exploit.met not in known
            )
        if (rules := info.data.get("lineups")) is not None:
            refuse(
                (f"{i}.teams", _other_size(rules.teams, len(exploit.teams)))
                for i, exploit in enumerate(exploits)
                if len(exploit.teams) != rules.teams
            )
        return exploits

    @field_validator("search")
    @classmethod
    def _searches_lineups(cls, search: HuntConfig | None, info: ValidationInfo) -> HuntConfig | None:
        if search is not None:
            misfits = list(compatibility.operators(search.algorithm, lineups=True))
            if (goals := info.data.get("objectives")) is not None:
                aims = [objective.name for objective in goals.objectives]
                misfits += compatibility.method(search.algorithm, aims, len(aims) - 1)
            refuse(misfits)
        return search

    @model_validator(mode="after")
    def _looks_at_something(self) -> Self:
        if not (self.exploits or self.screen or self.search):
            refuse([("search", "a gate plays exploits again, screens, or searches: give one of them")])
        lined = any(objective.threshold is not None for objective in self.objectives.objectives)
        if not lined and (self.exploits or self.search):
            refuse([("objectives.objectives.0.threshold", "a gate needs a line: give one objective a threshold")])
        return self

    @property
    def parts(self) -> tuple[str, ...]:
        """What it looks at: of ``replay``, ``screen`` and ``search`` those that it has, in this order."""
        has = {"replay": self.exploits, "screen": self.screen, "search": self.search}
        return tuple(name for name, part in has.items() if part)

    def screening(self, seed: int) -> WorthConfig:
        """Its screen as a study of its own."""
        assert self.screen is not None
        shared = {name: getattr(self, name) for name in ("game", "lineups", "intended", "pool")}
        return WorthConfig(seed=seed, battles=self.screen.battles, matters=self.screen.matters, **shared)

    def searching(self, seed: int) -> SearchConfig:
        """Its search as a study of its own."""
        assert self.search is not None
        shared = {name: getattr(self, name) for name in ("game", "lineups", "objectives", "intended", "pool")}
        own = {name: getattr(self.search, name) for name in ("algorithm", "ticks", "replicates", "fresh")}
        return SearchConfig(seed=seed, **shared, **own)
