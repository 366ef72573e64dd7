"""Who commands the battles of lineups, where it is not the game's own script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from engine.config.agents import AgentConfig


class CommanderConfig(AgentConfig):
    """A trained agent that leads both sides of each battle. It is named by the hash of its policy, so that what it
    played stays what it played; ``title``: what people call it."""

    every: int = Field(4, ge=1, le=100, title="Ticks between two orders", description="those that it was trained with")


def led(commander: Mapping[str, Any] | None) -> str:
    """Who leads both sides of battles, as JSON, for the end of a sentence; empty for the game's own script."""
    return f" led by {commander.get('title') or 'an agent'}" if commander else ""
