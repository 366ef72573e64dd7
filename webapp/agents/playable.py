"""Whether somebody can play against a saved agent in the page."""

from __future__ import annotations

import json
from typing import Any

from engine.catalog import GAMES, built_in
from engine.errors import StoreError
from webapp.agents.models import Agent
from webapp.lib.storage import store

PLAYED = GAMES["pong"].path
"""The game whose rules ``static/js/watch/pong_rules.js`` has."""
OTHER_GAME = "In the page you can play Pong only, against agents that are told where things are."
TOO_MUCH = "This agent’s network is of a kind that the page cannot run: it has a memory, or sees pictures."


def obstacle(agent: Agent) -> str:
    """Why nobody can play against an agent in the page; empty where one can."""
    known = built_in(agent.game["name"])
    if known is None or known.path != PLAYED:
        return OTHER_GAME
    try:
        network = described(agent)["network"]
    except (StoreError, KeyError, TypeError, ValueError):
        return "This agent’s numbers are not in the store any more."
    return TOO_MUCH if network.get("lstm") or network.get("conv") else ""


def described(agent: Agent) -> dict[str, Any]:
    """The description of its policy. Raises StoreError and ValueError."""
    found: dict[str, Any] = json.loads(store().get(agent.policy))
    return found
