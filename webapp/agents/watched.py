"""Where those whose battles are watched can be gone on with: their pages, or their cards on a map of styles."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from django.urls import reverse

from webapp.agents.models import Agent
from webapp.agents.playable import breeds, obstacle
from webapp.projects.models import Project
from webapp.studies.models import Job

OF_A_MAP = re.compile(r"Agent (\d+)")
"""How agents are called that are watched from a map of styles."""


class Watched(NamedTuple):
    """``page``: where somebody who plays is described, empty where nowhere; ``kept``: the saved agent that it is;
    ``playable``, ``breeds``: whether people can play against that one, and breed on from it."""

    page: str
    kept: Agent | None = None
    playable: bool = False
    breeds: bool = False


def kept_players(project: Project) -> dict[tuple[str, bool], Agent]:
    """A project's agents by what recordings know of them."""
    return {(agent.policy, agent.sampled): agent for agent in project.agents.kept()}


def player_key(player: Mapping[str, Any]) -> tuple[str, bool]:
    """What a recording knows of somebody who plays."""
    return player.get("policy", ""), player.get("sampled", False)


def everybody(job: Job) -> list[Watched]:
    """Those of a recording who play, in its order."""
    kept, slug = kept_players(job.project), job.project.slug
    return [_watched(kept.get(player_key(player)), slug, _card(job, player)) for player in job.config["agents"]]


def _watched(agent: Agent | None, slug: str, card: str) -> Watched:
    if agent is None:
        return Watched(card)
    return Watched(reverse("agents:agent", args=[slug, agent.pk]), agent, not obstacle(agent), breeds(agent))


def _card(job: Job, player: Mapping[str, Any]) -> str:
    """Its card on the map that it was watched from, where it can be kept and bred on from; empty without one."""
    number = OF_A_MAP.fullmatch(player.get("title", ""))
    if number is None or job.parent is None or job.parent.kind != "style":
        return ""
    return reverse("styles:map-agent", args=[job.project.slug, job.parent.pk, number[1]])
