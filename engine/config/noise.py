"""How a search deals with chance: what it measures again, and when it stops before its last round."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from engine.config.base import Config


class NoiseConfig(Config):
    """Measuring again what is best so far, and giving battles to the candidates whose place is still open."""

    reevaluate: int = Field(
        0, ge=0, le=10_000, title="Best ones measured again each round", description="Those measured least. 0: none."
    )
    again: int = Field(4, ge=1, le=1024, title="Replicates of such a measurement")
    racing: Literal["off", "bounds", "tests", "halving"] = Field(
        "off",
        title="Racing",
        description="bounds: a candidate stops playing when it cannot stay any more; the error below holds for any "
        "noise, where goals are means of numbers between known limits, such as wins. tests: when t-tests show that "
        "enough others beat it, for one goal; the error below holds for noise near normal, not for rare wins or long "
        "tails. halving: the same share leaves at each rung, with no stated error. Needs rounds.",
    )
    most: int = Field(32, ge=2, le=4096, title="Replicates of a candidate, at most", description="With racing.")
    error: float = Field(
        0.05,
        gt=0,
        lt=1,
        title="Chance that racing changes who stays",
        description="In a round, compared with playing every candidate to the end.",
    )

    @property
    def used(self) -> bool:
        """Whether anything differs from plain search."""
        return self.reevaluate > 0 or self.racing != "off"


class PlateauRule(Config):
    """Stop when the volume that the front dominates does not grow any more."""

    kind: Literal["plateau"] = "plateau"
    window: int = Field(
        20, ge=4, le=10_000, title="Rounds without growth", description="Of the volume that the edge dominates."
    )
    tolerance: float = Field(
        0.005, ge=0, le=1, title="Growth that counts", description="As a share of that volume, and beyond its noise."
    )


class EvaluationsRule(Config):
    """Stop after so many evaluations."""

    kind: Literal["evaluations"] = "evaluations"
    most: int = Field(10_000, ge=1, le=10**12, title="Evaluations, at most")


class BattlesRule(Config):
    """Stop after so many requested battles."""

    kind: Literal["battles"] = "battles"
    most: int = Field(1_000_000, ge=1, le=10**15, title="Battles, at most")


class StepsRule(Config):
    """Stop after so many environment steps."""

    kind: Literal["steps"] = "steps"
    most: int = Field(1_000_000, ge=1, le=10**15, title="Decisions, at most")


class MinutesRule(Config):
    """Stop after so much time. Not reproducible: another machine stops elsewhere."""

    kind: Literal["minutes"] = "minutes"
    most: float = Field(
        10.0, gt=0, le=1_000_000, title="Minutes, at most", description="Not reproducible: it depends on the machine."
    )


StopRule = Annotated[PlateauRule | EvaluationsRule | BattlesRule | StepsRule | MinutesRule, Field(discriminator="kind")]
"""A rule is looked at when a round ends; the first that holds ends the search."""
