"""Playing against a saved agent, in the reader's own browser."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from engine.config.limits import LimitsConfig
from engine.errors import StoreError
from webapp.agents.playable import FOUR, described, game_of, obstacle
from webapp.agents.views import agent_for
from webapp.lib.storage import store
from webapp.studies.pictures import FOR_GOOD

USUAL_POINTS = 11
COLUMNS, ROWS = 7, 6
CELLS = [[column * ROWS + row for row in reversed(range(ROWS))] for column in range(COLUMNS)]
"""Of Connect Four's board, each column from the top."""


@require_safe
def play(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The page on which somebody plays against the agent."""
    agent = agent_for(request, slug, pk)
    why = obstacle(agent)
    settings = agent.game["settings"]
    told = {} if why else {
        "weights": reverse("agents:weights", args=[slug, pk]), "name": agent.name, "sampled": agent.sampled,
        "activation": described(agent)["network"]["activation"],
        "input": described(agent)["seat"]["observations"][0]["name"],
        "skip": settings.get("frame_skip", 1), "points": settings.get("points", USUAL_POINTS),
        **LimitsConfig(**(agent.game.get("limits") or {})).model_dump(),
    }  # fmt: skip
    context = {"project": agent.project, "agent": agent, "why": why, "told": told, "columns": CELLS}
    page = "play_four" if not why and game_of(agent) == FOUR else "play"
    return render(request, f"agents/{page}.html", context)


@require_safe
def weights(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The numbers of the agent's network."""
    agent = agent_for(request, slug, pk)
    try:
        data = store().get(agent.tensors)
    except StoreError as error:
        raise Http404(str(error)) from error
    return HttpResponse(data, content_type="application/octet-stream", headers={"Cache-Control": FOR_GOOD})
