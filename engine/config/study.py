"""Every study the engine can run, as data: YAML, the job form, the API and the CLI all build one of these."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationInfo, field_validator, model_validator

from engine.config import compatibility
from engine.config.algorithms import AlgorithmConfig, NSGA2Config, SearchAlgorithm
from engine.config.base import Config, Shown, Study, refuse
from engine.config.commander import CommanderConfig, Leader, ScriptCommander
from engine.config.lineups import FAIRNESS, LineupConfig, ObjectiveSetConfig, TeamRow
from engine.config.noise import BattlesRule, NoiseConfig, StopRule
from engine.config.patterns import Intended
from engine.config.pool import PoolConfig
from engine.simulators.contract import content_hash


class GameConfig(Config):
    """The simulator, and the patch that turns its data into the project's version."""

    simulator: str = Field(min_length=1, max_length=500, title="Simulator", description="Such as builtin:herobattle.")
    patch: dict[str, float] = Field(default_factory=dict, title="Changes to the game's data")
    spec: str = Field("", max_length=64, title="Expected spec hash", description="Empty: any.")
    fidelity: str = Field("full", max_length=40, title="How battles are played")
    commander: CommanderConfig | None = Field(
        None, title="Commander", description="a trained agent that leads both sides; none: they fight by themselves",
        exclude_if=lambda commander: commander is None,  # keeps the hash of studies without one
    )  # fmt: skip


def _by_script(game: GameConfig) -> GameConfig:
    if game.commander is not None:
        refuse([("commander", "only searches, re-checks, random samples and replays can be led by an agent")])
    return game


ScriptedGame = Annotated[GameConfig, AfterValidator(_by_script)]
"""The game of a study in which nobody else than the game's own script commands."""


class BalanceStudy(Study):
    """Settings of all studies about lineups. ``judges``: it looks for lineups over a line, which must be within
    reach."""

    judges: ClassVar[bool] = False
    name: Shown = Field("study", min_length=1, max_length=120, title="Name")
    seed: int = Field(1, ge=0, lt=2**63, title="Seed")
    game: GameConfig
    lineups: LineupConfig = Field(default_factory=LineupConfig)
    objectives: ObjectiveSetConfig = Field(default=FAIRNESS)
    intended: Intended = ()
    pool: PoolConfig = Field(default_factory=PoolConfig)


FEWEST_MEASURING = 2_000
"""Battles of an experiment on what pieces are worth, at least: fewer tell nothing."""
FIRST_LOOK = 8
"""Fresh replicates after which a change is first judged; each later look has twice as many."""
MOST_REPLICATES = 100_000
"""Of all lineups of a change together."""
PARTS_OF_A_LOOK = 8
"""Into so many the lineups of a look are divided: the page shows what is there after each."""
FURTHER = 8
"""Lineups that the first fresh replicates leave undecided get this many times as many."""


class SearchConfig(BalanceStudy):
    """Search for lineups that are extreme in the objectives."""

    judges: ClassVar[bool] = True
    asks_what_is_meant: ClassVar[bool] = True
    kind: Literal["search"] = "search"
    algorithm: AlgorithmConfig = Field(default_factory=NSGA2Config)
    ticks: int = Field(100, ge=1, le=1_000_000, title="Rounds")
    replicates: int = Field(4, ge=2, le=1024, title="Times each pairing is played", description="from both seats")
    fresh: int = Field(
        16,
        ge=0,
        le=4096,
        title="Fresh replicates for the final front",
        description=f"{FURTHER} times as many for those that they leave open, where so many may tell; 0: none;"
        " MAP-Elites: also for the rest of its map, in all no more than the search itself took",
    )
    cache: bool = Field(True, title="Answer battles already played from memory")
    experiment: int | None = Field(
        None, ge=0, le=100_000_000, title="Battles of the experiment after it",
        description="what each piece is worth, with a seed of its own; the search does not depend on it; 0: none; not "
        "said: half as many as the search plays, at most 400,000",
        exclude_if=lambda battles: battles is None,  # keeps a search that says nothing here the search it was
    )  # fmt: skip
    noise: NoiseConfig = Field(default_factory=NoiseConfig, title="Measuring again and racing")
    stop: Annotated[tuple[StopRule, ...], AfterValidator(compatibility.stops(BattlesRule))] = Field(
        (), max_length=5, title="Stop early", description="At the first that holds."
    )

    @property
    def repeats(self) -> bool:
        """As for every study, if its algorithm has rounds."""
        return super().repeats and not self.algorithm.without_rounds

    @field_validator("algorithm")
    @classmethod
    def _searches_lineups(cls, algorithm: SearchAlgorithm, info: ValidationInfo) -> SearchAlgorithm:
        misfits = list(compatibility.operators(algorithm, lineups=True))
        if (goals := info.data.get("objectives")) is not None:
            aims = [objective.name for objective in goals.objectives]
            misfits += compatibility.method(algorithm, aims, len(aims) - 1)
        refuse(misfits, beside=True)
        return algorithm

    @field_validator("experiment")
    @classmethod
    def _tells(cls, battles: int | None) -> int | None:
        if battles and battles < FEWEST_MEASURING:
            raise ValueError(f"must be {FEWEST_MEASURING} or more, or 0 for none")
        return battles

    @field_validator("noise")
    @classmethod
    def _fits(cls, noise: NoiseConfig, info: ValidationInfo) -> NoiseConfig:
        algorithm, goals = info.data.get("algorithm"), info.data.get("objectives")
        if algorithm is not None:
            aims, replicates = len(goals.objectives) if goals else 1, info.data.get("replicates", 1)
            refuse(compatibility.noise(noise, algorithm, aims, replicates), beside=True)
        return noise


class RecheckConfig(BalanceStudy):
    """Re-evaluate chosen lineups on fresh seeds; the strongest and the weakest team stay those that the search
    chose."""

    kind: Literal["recheck"] = "recheck"
    genomes: tuple[tuple[tuple[int, ...], ...], ...] = Field(min_length=1, max_length=10_000, title="Lineups")
    anchors: tuple[tuple[int, ...], ...] = Field(max_length=10_000, title="Strongest and weakest team of each")
    replicates: int = Field(32, ge=2, le=4096, title="Times each pairing is played", description="from both seats")
    times: tuple[int, ...] = Field(
        (), max_length=10_000, title="Times of each lineup",
        description="Where some are played more often than others; none: all alike.",
    )  # fmt: skip
    first: int = Field(1_000_000, ge=0, title="First replicate", description="Those used before are never reused.")

    @model_validator(mode="after")
    def _matched(self) -> Self:
        if len(self.anchors) != len(self.genomes):
            raise ValueError("each lineup needs its strongest and weakest team")
        if self.times and len(self.times) != len(self.genomes):
            raise ValueError("times needs one number for each lineup, or none at all")
        if any(not 2 <= each <= self.replicates for each in self.times):
            raise ValueError("a lineup is played twice at least, and no more often than replicates says")
        return self

    @property
    def plays(self) -> tuple[int, ...]:
        """Replicates of each lineup."""
        return self.times or (self.replicates,) * len(self.genomes)


class SampleConfig(BalanceStudy):
    """Play random valid lineups: where the line falls, and how fast battles are here."""

    kind: Literal["sample"] = "sample"
    count: int = Field(200, ge=10, le=5000, title="Random lineups")
    replicates: int = Field(4, ge=2, le=1024, title="Times each pairing is played", description="from both seats")


class ReplayedLineup(Config):
    """A lineup that is played on both versions, its teams by the ids of their pieces."""

    name: Shown = Field("", max_length=200, title="Name")
    teams: tuple[TeamRow, ...] = Field(min_length=1, max_length=8, title="Teams")
    anchors: tuple[int, ...] = Field(
        (), title="Strongest and weakest team",
        description="By their places from 0, as a search chose them; none: the first battles choose.",
    )  # fmt: skip

    @field_validator("anchors")
    @classmethod
    def _of_its_teams(cls, anchors: tuple[int, ...], info: ValidationInfo) -> tuple[int, ...]:
        teams = len(info.data.get("teams", ()))
        if anchors and (len(anchors) != 2 or not all(0 <= a < teams for a in anchors)):
            raise ValueError("must be two of its teams by their places from 0, the strongest and the weakest, or none")
        return anchors


class ChangeConfig(BalanceStudy):
    """Replay lineups on the game as it is and with some of its numbers changed, or under another commander: what does
    that do to them?"""

    no_ranges: ClassVar[str] = "a change sets numbers; start one for each and compare them"
    kind: Literal["change"] = "change"
    name: Shown = Field("Try a change", min_length=1, max_length=120, title="Name")
    change: dict[str, float] = Field(
        default_factory=dict, max_length=10_000, title="Changed numbers",
        description="On top of the game’s own changes.",
    )  # fmt: skip
    under: Leader | None = Field(
        None, title="Under whom",
        description="who leads both sides on the other version: an agent, or script, the game’s own; none: as on the "
        "first",
        exclude_if=lambda commander: commander is None,  # keeps the hash of studies without one
    )  # fmt: skip
    replayed: tuple[ReplayedLineup, ...] = Field(min_length=1, max_length=200, title="Lineups")
    replicates: int = Field(
        128, ge=2, le=4096, title="Fresh replicates, at most",
        description="Times that each pairing is played from both seats, on each version; fewer where that tells.",
    )  # fmt: skip
    tried: int = Field(
        0, ge=0, le=1_000_000, title="Changes tried before",
        description="On these lineups: each later one has a smaller share of the 5 % that all share.",
    )  # fmt: skip

    @model_validator(mode="after")
    def _in_bounds(self) -> Self:
        if not self.change and self.under is None:
            refuse([("change", "must have at least 1 entry, unless somebody else commands")])
        if (many := len(self.replayed) * self.replicates) > MOST_REPLICATES:
            each = f"{len(self.replayed)} lineups of {self.replicates} replicates"
            raise ValueError(f"{each} are {many:,}, more than {MOST_REPLICATES:,}")
        return self

    @property
    def looks(self) -> tuple[int, ...]:
        """After how many fresh replicates verdicts are looked at: 8, 16, 32, …, at least twice as many each time."""
        doubled = [FIRST_LOOK << k for k in range(12) if FIRST_LOOK << k <= self.replicates // 2]
        return (*doubled, self.replicates)

    @property
    def parts(self) -> int:
        """Into how many each look is divided, at most."""
        return min(PARTS_OF_A_LOOK, len(self.replayed))

    @property
    def ticks(self) -> int:
        """Parts of all looks, the one before the fresh battles counted; where verdicts come early there are fewer."""
        return self.parts * (1 + len(self.looks))

    @property
    def changed(self) -> GameConfig:
        """The game with the change, under whoever commands it then."""
        patch = {**self.game.patch, **self.change}
        commander = None if isinstance(self.under, ScriptCommander) else self.under or self.game.commander
        return self.game.model_copy(update={"patch": patch, "commander": commander})


StudyConfig = Annotated[SearchConfig | RecheckConfig | SampleConfig | ChangeConfig, Field(discriminator="kind")]
STUDY: TypeAdapter[SearchConfig | RecheckConfig | SampleConfig | ChangeConfig] = TypeAdapter(
    StudyConfig, config=ConfigDict(defer_build=True)
)
"""Studies about lineups."""


def study_hash(config: Study) -> str:
    """Hash of everything that a study's result depends on: all fields but its name, its pool, its log, the experiment
    after it, and what ``Study.without_places`` leaves out."""
    data = config.model_dump(mode="json", exclude={"name", "pool", "tensorboard", "experiment"})
    return content_hash(config.without_places(data))
