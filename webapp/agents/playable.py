"""Whether somebody can play against a saved agent in the page."""

from __future__ import annotations

import json
from typing import Any

from engine.catalog import GAMES, built_in
from engine.errors import StoreError
from engine.simulators.contract import GameSpec
from webapp.agents.models import Agent
from webapp.games.models import Simulator
from webapp.games.specs import spec_of
from webapp.lib.storage import store
from webapp.training import games

PONG, FOUR, COMMANDERS = (GAMES[name].path for name in ("pong", "connect-four", "commanders"))
"""The games whose rules ``static/js/watch`` has: ``pong_rules.js``, ``four_rules.js`` and ``herobattle/``."""
OTHER_GAME = (
    "In the page you can play Pong, against agents that are told where things are, Connect Four, and Herobattle, "
    "against agents that command a team."
)
TOO_MUCH = "Nobody can play against it in the page: its network is of a kind that the page cannot run."
GONE = "Nobody can play against it in the page: its numbers are not in the store any more."
UNTESTED = (
    "Nobody can play against it in the page yet: the page has the game’s numbers once a worker has tested Herobattle."
)
KINDS = ("actor-critic", "q")
"""Policies that choose by a number for each choice (``engine.rl.heads``)."""


def obstacle(agent: Agent) -> str:
    """Why nobody can play against an agent in the page; empty where one can."""
    game = game_of(agent)
    if game not in (PONG, FOUR, COMMANDERS):
        return OTHER_GAME
    try:
        found = described(agent)
        runs = found["kind"] in KINDS and not found["network"].get("conv")
    except (StoreError, KeyError, TypeError, ValueError):
        return GONE
    if not runs:
        return TOO_MUCH
    return UNTESTED if game == COMMANDERS and herobattle() is None else ""


def breeds(agent: Agent) -> bool:
    """Whether a search for styles of play can go on from an agent."""
    return games.named(agent.game["name"], agent.project)[0] in games.ALONE


def herobattle() -> GameSpec | None:
    """The game as it described itself to this site, with the numbers of its own data; None before it did."""
    row = Simulator.objects.filter(reference="builtin:herobattle").first()
    return None if row is None else spec_of(row)


def game_of(agent: Agent) -> str:
    """What makes its game; empty for one that is not built in."""
    known = built_in(agent.game["name"])
    return "" if known is None else known.path


def described(agent: Agent) -> dict[str, Any]:
    """The description of its policy. Raises StoreError and ValueError."""
    found: dict[str, Any] = json.loads(store().get(agent.policy))
    return found
