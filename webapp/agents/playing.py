"""Playing against a saved agent, in the reader's own browser."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from engine.catalog import GAMES
from engine.config.agent_games import CommanderSettings
from engine.config.limits import LimitsConfig
from engine.errors import StoreError
from engine.simulators.contract import GameSpec
from engine.text import written
from webapp.agents.battle_tables import tables
from webapp.agents.models import Agent
from webapp.agents.playable import COMMANDERS, FOUR, PONG, described, game_of, herobattle, obstacle
from webapp.agents.views import agent_for
from webapp.lib.storage import store
from webapp.studies.pictures import FOR_GOOD
from webapp.training import hands

USUAL_POINTS = 11
COLUMNS, ROWS = 7, 6
CELLS = [[column * ROWS + row for row in reversed(range(ROWS))] for column in range(COLUMNS)]
"""Of Connect Four's board, each column from the top."""
TEMPLATES = {PONG: "play", FOUR: "play_four", COMMANDERS: "play_commanders"}
KEYS = ("1234567", "qwert", "asdfg", "zxcvb", "890")
"""Of each choice of each part of an order to a team of herobattle: the parts by rows of a keyboard."""


class OrderChoice(NamedTuple):
    """A choice of a part of an order, and the key that gives it."""

    words: str
    key: str


@require_safe
def play(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The page on which somebody plays against the agent."""
    agent = agent_for(request, slug, pk)
    why, game = obstacle(agent), game_of(agent)
    context: dict[str, Any] = {"project": agent.project, "agent": agent, "why": why}
    if not why:
        more = _commanded(agent) if game == COMMANDERS else {}
        context |= {"setup": _setup(agent, slug) | more, "columns": CELLS, "orders": orders(),
                    "often": how_often(hands.decisions_a_second(agent.game) or 1.0)}  # fmt: skip
    return render(request, f"agents/{'play' if why else TEMPLATES[game]}.html", context)


def _setup(agent: Agent, slug: str) -> dict[str, Any]:
    """What the page has to know of the agent."""
    settings, policy = agent.game["settings"], described(agent)
    return {
        "weights": reverse("agents:weights", args=[slug, agent.pk]), "name": agent.name, "sampled": agent.sampled,
        "activation": policy["network"]["activation"], "input": policy["seat"]["observations"][0]["name"],
        "skip": settings.get("frame_skip", 1), "points": settings.get("points", USUAL_POINTS),
        **LimitsConfig(**(agent.game.get("limits") or {})).model_dump(),
    }  # fmt: skip


def _commanded(agent: Agent) -> dict[str, Any]:
    """What the page has to know of herobattle, as the agent learned it."""
    game, settings, spec = GAMES["commanders"], CommanderSettings(**agent.game["settings"]), _spec(agent)
    clock = game.clock
    assert clock is not None
    return {
        "every": settings.every, "same": settings.same_teams, "pace": clock.moments,
        "words": list(game.orders.values()),
        "texts": [piece.text for piece in spec.pieces], "tables": tables(spec),
    }  # fmt: skip


def _spec(agent: Agent) -> GameSpec:
    """The game with the numbers that the agent learned with."""
    spec = herobattle()
    assert spec is not None, "obstacle says so"
    pairs = (change.partition("=") for change in CommanderSettings(**agent.game["settings"]).changes)
    return spec.patched({path: float(value) for path, _, value in pairs})


def how_often(second: float) -> str:
    """So many decisions a second in words: "3 times a second" or "every 2.5 seconds"."""
    if second > 1:
        return f"{written(second, '.2g')} times a second"
    return "once a second" if second == 1 else f"every {written(1 / second, '.2g')} seconds"


def orders() -> list[list[OrderChoice]]:
    """The choices of each part of an order, for whoever gives it."""
    named = zip(GAMES["commanders"].orders.values(), KEYS, strict=True)
    return [
        [OrderChoice(words.replace("its team", "your team"), key) for words, key in zip(names, keys, strict=True)]
        for names, keys in named
    ]


@require_safe
def weights(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The numbers of the agent's network."""
    agent = agent_for(request, slug, pk)
    try:
        data = store().get(agent.tensors)
    except StoreError as error:
        raise Http404(str(error)) from error
    return HttpResponse(data, content_type="application/octet-stream", headers={"Cache-Control": FOR_GOOD})
