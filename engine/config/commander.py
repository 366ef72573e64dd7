"""Who commands the battles of lineups, where it is not the game's own script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from engine.config.agents import AgentConfig
from engine.config.base import Config


class CommanderConfig(AgentConfig):
    """A trained agent that leads both sides of each battle. It is named by the hash of its policy, so that what it
    played stays what it played; ``title``: what people call it."""

    every: int = Field(4, ge=1, le=100, title="Ticks between two orders", description="those that it was trained with")


class ScriptCommander(Config):
    """The game's own script, where an agent led before."""

    kind: Literal["script"] = "script"


def _named(commander: Any) -> Any:
    """The script may be called by its name alone, and an agent needs no kind."""
    if commander == "script":
        return {"kind": "script"}
    return {"kind": "frozen", **commander} if isinstance(commander, Mapping) else commander


Leader = Annotated[CommanderConfig | ScriptCommander, Field(discriminator="kind"), BeforeValidator(_named)]
"""Who leads both sides: an agent, or ``script``."""


def led(commander: Mapping[str, Any] | None) -> str:
    """Who leads both sides of battles, as JSON, for the end of a sentence; empty where nobody is named."""
    if not commander:
        return ""
    who = "the game’s own script" if commander.get("kind") == "script" else commander.get("title") or "an agent"
    return f" led by {who}"
