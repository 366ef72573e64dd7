"""A project's definition of a lineup, and of "imbalanced"."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from engine.config.base import Config, Ordinary, Shown
from engine.formula import LONGEST, MOST_TEAMS
from engine.text import figures

Name = Annotated[str, Field(min_length=1, max_length=80)]
PieceId = Annotated[str, Field(min_length=1, max_length=80)]
Pair = tuple[PieceId, PieceId]


class TeamRow(Config):
    """One team by piece ids: slot id to piece id (piece slots) or to a number (count slots); empty slots left out."""

    name: Shown = Field("", max_length=120, title="Name")
    slots: dict[str, str | int] = Field(title="What stands in each slot")


class DrawnBaselines(Config):
    """Mid-strength teams drawn from the game's own valid teams, and labelled as drawn."""

    kind: Literal["drawn"] = "drawn"
    count: int = Field(3, ge=1, le=32, title="How many teams to draw")
    seed: int | None = Field(
        None,
        ge=0,
        lt=2**63,
        title="Seed of the draw",
        description="Searches with the same one meet the same teams, whatever their own seed. Empty: the search's own.",
        exclude_if=lambda seed: seed is None,  # keeps the hash of studies without it
    )


class PastedBaselines(Config):
    """The studio's own teams, such as its most-played ones."""

    kind: Literal["pasted"] = "pasted"
    teams: tuple[TeamRow, ...] = Field(min_length=1, max_length=64, title="Teams")


Baselines = Annotated[DrawnBaselines | PastedBaselines, Field(discriminator="kind")]


class LineupConfig(Config):
    """The project's lineup rules: they narrow the game's own."""

    teams: int = Field(
        3, ge=1, le=MOST_TEAMS, title="Teams compared together", description="One lineup is this many teams."
    )
    budget_low: float | None = Field(None, ge=0, title="Team cost, at least", description="Cost of one team.")
    budget_high: float | None = Field(None, ge=0, title="Team cost, at most", description="Cost of one team.")
    cost_tolerance: float | None = Field(
        0.05,
        ge=0,
        le=10,
        title="Costs within",
        description="Largest cost difference between teams of a lineup, as a share of the cheapest. "
        "Empty: prices may differ.",
    )
    units_low: int | None = Field(None, ge=0, le=1000, title="Units in a team, at least")
    units_high: int | None = Field(None, ge=0, le=1000, title="Units in a team, at most")
    required: tuple[PieceId, ...] = Field(
        (), max_length=50, title="Required pieces", description="Each lineup contains them."
    )
    banned: tuple[PieceId, ...] = Field((), max_length=5000, title="Banned pieces")
    apart: tuple[Pair, ...] = Field(
        (),
        max_length=200,
        title="Not together",
        description="Two pieces that no team has both of.",
        exclude_if=lambda pairs: not pairs,  # rules that say nothing here stay the rules they were
    )
    repeat: tuple[str, ...] = Field(
        (),
        title="Categories that may repeat",
        description="Lifts the game's no-repeat rule for these categories across the teams of a lineup.",
    )
    baselines: Baselines = Field(default_factory=DrawnBaselines, title="Baseline teams")

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        for low, high, what in (("budget_low", "budget_high", "cost"), ("units_low", "units_high", "number of units")):
            a, b = getattr(self, low), getattr(self, high)
            if a is not None and b is not None and a > b:
                raise ValueError(f"the lowest {what} ({figures(a)}) is above the highest ({figures(b)})")
        both = sorted(set(self.required) & set(self.banned))
        if both:
            raise ValueError(f"{both[0]} is both required and banned; take it out of one list")
        if same := [one for one, other in self.apart if one == other]:
            raise ValueError(f"{same[0]} is to be kept from itself; name two pieces")
        return self


class ObjectiveConfig(Config):
    """One number to push, written as a formula over the battle's metrics (``engine.formula``)."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$", title="Short name")
    title: Shown = Field(min_length=1, max_length=60, title="Title")
    formula: str = Field(min_length=1, max_length=LONGEST, title="Formula")
    direction: Literal["max", "min"] = Field("max", title="Direction")
    unit: str = Field("", max_length=16, title="Unit")
    toward: str = Field("", max_length=40, title="Further along means", description="Such as: more unfair, stronger.")
    low: Ordinary | None = Field(None, title="Floor", description="Values below are shown and used as this.")
    high: Ordinary | None = Field(None, title="Cap", description="Values above are shown and used as this.")
    threshold: Ordinary | None = Field(None, title="The line", description="At or beyond it a lineup is over the line.")
    strength: bool = Field(
        False, title="Says how strong the weakest team is", description="Compared with the median baseline team."
    )

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ValueError(f"the floor ({figures(self.low)}) must be below the cap ({figures(self.high)})")
        return self


class ObjectiveSetConfig(Config):
    """What "imbalanced" means: one to six objectives, and constraints a lineup must meet (formula >= 0)."""

    objectives: tuple[ObjectiveConfig, ...] = Field(min_length=1, max_length=6, title="Objectives")
    constraints: tuple[str, ...] = Field((), max_length=6, title="Must hold (formula at least 0)")

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = [o.name for o in self.objectives]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two objectives are called {name!r}; give one another short name")
        if sum(o.strength for o in self.objectives) > 1:
            raise ValueError("only one objective can be the one that says how strong the weakest team is")
        return self


FAIRNESS = ObjectiveSetConfig(
    objectives=(
        ObjectiveConfig(
            name="advantage",
            title="Resource advantage",
            formula="strongest(resources) / max(weakest(resources), 0.05 * mean(cost))",
            unit="×",
            toward="more unfair",
            low=0.0,
            high=4.0,
            threshold=2.0,
        ),
        ObjectiveConfig(
            name="gap",
            title="Strength gap",
            formula="strongest(strength) - weakest(strength)",
            unit="points",
            toward="wider",
        ),
        ObjectiveConfig(
            name="weakest",
            title="Weakest team’s strength left",
            formula="weakest(strength_vs_baselines)",
            unit="%",
            toward="stronger",
            strength=True,
        ),
    )
)
"""Lamarckian V-B: f2, f1 and f3, all maximised, with the paper's line f2 > 2. The divisor's floor is 5 % of a team's
cost (losers end near 0) and the ratio is capped at 4."""
