"""How fast a player may be, as data: the limits of a person's hands."""

from __future__ import annotations

from pydantic import Field

from engine.config.base import Config

SLOWEST = 200
"""Decisions: a player that reacts later, or acts less often, plays another game."""


class LimitsConfig(Config):
    """Limits of a player, in decisions of its game (``engine.mdp.limits``)."""

    delay: int = Field(
        0, ge=0, le=SLOWEST, title="Reaction delay", description="decisions between what it sees and what it does"
    )
    apart: int = Field(
        1, ge=1, le=SLOWEST, title="Decisions between two actions",
        description="it does something else at most once in so many decisions; 1: whenever it likes",
    )  # fmt: skip

    @property
    def any(self) -> bool:
        """Whether they limit anything."""
        return self.delay > 0 or self.apart > 1

    def beyond(self, held: LimitsConfig) -> LimitsConfig:
        """What is left to hold where these are held already."""
        return LimitsConfig(delay=max(0, self.delay - held.delay), apart=self.apart if self.apart > held.apart else 1)


class OwnWaysConfig(Config):
    """How a saved agent plays wherever it is seated; what is not said is as usual there."""

    limits: LimitsConfig | None = Field(
        None, title="Limits", description="those that it learned with; they hold here, too, and for nobody else",
        exclude_if=lambda limits: limits is None,  # keeps the hash of studies without them
    )  # fmt: skip
    sampled: bool | None = Field(
        None, title="Chance",
        description="true: it draws its actions by their odds; false: it takes the likeliest one; empty: as is usual "
        "here",
        exclude_if=lambda sampled: sampled is None,
    )  # fmt: skip
