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
