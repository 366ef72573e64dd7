"""Sensitivity as data: how often an experiment on what pieces are worth finds a break of a given size."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from engine.config.base import Shown, Study, refuse
from engine.config.lineups import LineupConfig
from engine.config.pool import PoolConfig
from engine.config.study import ScriptedGame
from engine.config.worth import WorthConfig

Kind = Literal["piece", "pair", "triple"]
HELD: dict[Kind, int] = {"piece": 1, "pair": 2, "triple": 3}
"""How many pieces a team must hold for a break of each kind."""
MOST_PLANTINGS = 2_400
"""Of all kinds and sizes, each an experiment: a hundred of every kind in as many sizes as there may be."""
TRIED = 12
"""Values of numbers that are tried for a planting, at most (``engine.sensitivity.tuning``)."""


class SensitivityConfig(Study):
    """Plant breaks of known size, one for each experiment, and count how many of them such experiments find."""

    no_ranges = "a sensitivity measures a game as it is; a search finds what is extreme in it"
    kind: Literal["sensitivity"] = "sensitivity"
    name: Shown = Field("How hard did we look?", min_length=1, max_length=120, title="Name")
    seed: int = Field(1, ge=0, lt=2**63, title="Seed")
    game: ScriptedGame
    lineups: LineupConfig = Field(
        default_factory=LineupConfig, title="Lineup rules", description="Two teams meet, whatever a lineup has."
    )
    battles: int = Field(
        400_000, ge=2_000, le=100_000_000, title="Battles of an experiment",
        description="As many as the experiment has whose sensitivity is measured.",
    )  # fmt: skip
    matters: float = Field(
        3.0, gt=0, le=40, title="Smallest effect that matters", description="In points; that of the same experiment."
    )
    pairs: bool = Field(
        True, title="Pairs too", description="Whether the experiment looks at pairs; as in the same experiment.",
        exclude_if=lambda pairs: pairs,  # a study that says nothing here stays the study it was
    )  # fmt: skip
    planted: tuple[Kind, ...] = Field(("piece",), min_length=1, max_length=3, title="What is planted")
    sizes: tuple[float, ...] = Field(
        (3.0, 5.0, 8.0), min_length=1, max_length=8, title="Sizes of the breaks",
        description="In points of the chance to win.",
    )  # fmt: skip
    side: Literal["either", "strong", "weak"] = Field(
        "either", title="Too strong or too weak", description="Either: by turns."
    )
    through: Literal["numbers", "outcomes"] = Field(
        "numbers", title="How pieces are planted",
        description="By the game’s numbers, or by turning lost battles into won ones. Pairs and triples are always "
        "planted in outcomes.",
    )  # fmt: skip
    plantings: int = Field(
        100, ge=4, le=2_000, title="Plantings",
        description=f"Of each kind and size; each is an experiment, {MOST_PLANTINGS:,} in all at most.",
    )  # fmt: skip
    pool: PoolConfig = Field(default_factory=PoolConfig)

    @field_validator("planted", "sizes")
    @classmethod
    def _once(cls, given: tuple[object, ...]) -> tuple[object, ...]:
        refuse((str(i), "stands here twice") for i, each in enumerate(given) if each in given[:i])
        return given

    @field_validator("sizes")
    @classmethod
    def _sized(cls, sizes: tuple[float, ...]) -> tuple[float, ...]:
        refuse((str(i), "must be between 0.5 and 40 points") for i, size in enumerate(sizes) if not 0.5 <= size <= 40)
        return sizes

    @field_validator("planted")
    @classmethod
    def _looked_for(cls, planted: tuple[Kind, ...], info: ValidationInfo) -> tuple[Kind, ...]:
        pairs = info.data.get("pairs", True)
        refuse((str(i), "the experiment looks at single pieces only") for i, kind in enumerate(planted)
               if kind == "pair" and not pairs)  # fmt: skip
        return planted

    @field_validator("plantings")
    @classmethod
    def _in_all(cls, plantings: int, info: ValidationInfo) -> int:
        kinds, sizes = (len(info.data.get(name, ())) for name in ("planted", "sizes"))
        many = kinds * sizes * plantings
        each = f"{plantings:,} of {kinds} kind{'s' * (kinds != 1)} in {sizes} size{'s' * (sizes != 1)}"
        if many > MOST_PLANTINGS:
            raise ValueError(f"{each} are {many:,} experiments, more than {MOST_PLANTINGS:,}")
        return plantings

    @property
    def pairings(self) -> LineupConfig:
        """The rules of the two teams that meet, as those of a lineup of two."""
        return self.lineups.model_copy(update={"teams": 2})

    @property
    def cells(self) -> list[tuple[Kind, float]]:
        """What is planted in which size; each so many times."""
        return [(kind, size) for kind in self.planted for size in self.sizes]

    @property
    def many(self) -> int:
        """Plantings in all."""
        return len(self.cells) * self.plantings

    @property
    def precise(self) -> int:
        """Pairings by which an effect is measured, of teams with the pattern and again of what it is compared with."""
        return max(self.battles // 20, 2_000)

    @property
    def step(self) -> int:
        """Pairings by which one value of a number is tried."""
        return max(self.battles // 80, 500)

    @property
    def most(self) -> int:
        """Battles in all at most: the experiments, and what it takes to plant each break and to measure it. What is
        confirmed beside the breaks is measured on top, on twice ``precise`` battles each."""
        return self.plantings * len(self.sizes) * sum(self._each(kind) for kind in self.planted)

    def _each(self, kind: Kind) -> int:
        """Battles of a planting at most: a pattern and its line are measured three times, values of numbers tried."""
        tried = TRIED * self.step if kind == "piece" and self.through == "numbers" else 0
        return self.battles + 3 * (1 + HELD[kind]) * self.precise + tried

    def experiment(self, seed: int) -> WorthConfig:
        """The experiment of a planting as a study of its own."""
        shared = {name: getattr(self, name) for name in ("game", "lineups", "battles", "matters", "pairs", "pool")}
        return WorthConfig(seed=seed, **shared)
