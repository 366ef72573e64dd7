"""Whether somebody can play against a saved agent in the page."""

from __future__ import annotations

import json
from typing import Any

from engine.catalog import GAMES, built_in
from engine.errors import StoreError
from webapp.agents.models import Agent
from webapp.lib.storage import store

PONG, FOUR = GAMES["pong"].path, GAMES["connect-four"].path
"""The games whose rules ``static/js/watch/pong_rules.js`` and ``four_rules.js`` have."""
OTHER_GAME = "In the page you can play Pong, against agents that are told where things are, and Connect Four."
TOO_MUCH = "This agent’s network is of a kind that the page cannot run: it has a memory, or sees pictures."


def obstacle(agent: Agent) -> str:
    """Why nobody can play against an agent in the page; empty where one can."""
    if game_of(agent) not in (PONG, FOUR):
        return OTHER_GAME
    try:
        network = described(agent)["network"]
    except (StoreError, KeyError, TypeError, ValueError):
        return "This agent’s numbers are not in the store any more."
    return TOO_MUCH if network.get("lstm") or network.get("conv") else ""


def game_of(agent: Agent) -> str:
    """What makes its game; empty for one that is not built in."""
    known = built_in(agent.game["name"])
    return "" if known is None else known.path


def described(agent: Agent) -> dict[str, Any]:
    """The description of its policy. Raises StoreError and ValueError."""
    found: dict[str, Any] = json.loads(store().get(agent.policy))
    return found
