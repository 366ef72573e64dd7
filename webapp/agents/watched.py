"""Where those whose battles are watched can be gone on with: their pages, their cards on a map of styles, or
the jobs that have left them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from django.urls import reverse
from django.utils.text import slugify

from webapp.agents.left import everybody_left
from webapp.agents.models import Agent
from webapp.agents.playable import breeds, obstacle
from webapp.studies.models import Job

OF_A_MAP = re.compile(r"Agent (\d+)")
"""How agents are called that are watched from a map of styles."""
OF_MANY_JOBS = "arena"
"""Jobs of this kind have saved agents of other jobs among those that are watched from their pages."""


class Watched(NamedTuple):
    """``page``: where somebody who plays is described, empty where nowhere; ``kept``: the saved agent that it is;
    ``playable``, ``breeds``: whether people can play against it, and breed on from it."""

    page: str
    kept: Agent | None = None
    playable: bool = False
    breeds: bool = False


def kept_players(job: Job, players: Iterable[Mapping[str, Any]]) -> list[Agent | None]:
    """The saved agent that each of these who play is, whichever job has left it; None where it is none. Jobs may leave
    the same policy: then it is the one of the job that it was watched from, or else the one of the player's name, if
    there are such."""
    players = list(players)
    kept = Agent.objects.kept().filter(project=job.project, policy__in=[each.get("policy", "") for each in players])
    return [_kept_player(kept, player, job.parent) for player in players]


def _kept_player(kept: Iterable[Agent], player: Mapping[str, Any], parent: Job | None) -> Agent | None:
    key = player.get("policy", ""), player.get("sampled", False)
    same = [agent for agent in kept if (agent.policy, agent.sampled) == key]

    def likely(agent: Agent) -> tuple[bool, bool]:
        return parent is not None and agent.job_id == parent.pk, agent.name == player.get("title")

    return max(same, key=likely, default=None)


def kept_agents(job: Job) -> list[Agent | None]:
    """The saved agents among those whose battles a recording shows. Where they were watched from the job that has left
    them, another job's is none of them, though its policy may be the same."""
    found, parent = kept_players(job, job.config["agents"]), job.parent
    if parent is None or parent.kind == OF_MANY_JOBS:
        return found
    return [agent if agent is not None and agent.job_id == parent.pk else None for agent in found]


def everybody(job: Job) -> list[Watched]:
    """Those of a recording who play, in its order."""
    slug = job.project.slug
    found = zip(kept_agents(job), job.config["agents"], strict=True)
    return [_unkept(job, player) if agent is None else _kept(agent, slug) for agent, player in found]


def _kept(agent: Agent, slug: str) -> Watched:
    return Watched(reverse("agents:agent", args=[slug, agent.pk]), agent, not obstacle(agent), breeds(agent))


def _unkept(job: Job, player: Mapping[str, Any]) -> Watched:
    """Its card on the map that it was watched from, where it can be kept and bred on from; or where it can be kept on
    the page of the job that has left it, or that has it on its ladder; nowhere without one."""
    if job.parent is None:
        return Watched("")
    slug, number = job.project.slug, OF_A_MAP.fullmatch(player.get("title", ""))
    if number is not None and job.parent.kind == "style":
        return Watched(reverse("styles:map-agent", args=[slug, job.parent.pk, number[1]]), breeds=True)
    if player.get("policy") in {left.policy for left in everybody_left(job.parent)}:
        return Watched(left_of(job.parent))
    return Watched(member_of(job.parent, player.get("title", "")) if job.parent.kind == "self-play" else "")


def ladder_of(job: Job) -> str:
    """The address of the ladder of a population that trains against itself, where each member can be watched."""
    return f"{reverse('studies:job', args=[job.project.slug, job.pk])}#ladder-title"


def member_of(job: Job, title: str) -> str:
    """The address where a member of such a population can be kept, by what it is called on the ladder."""
    return f"{reverse('studies:job', args=[job.project.slug, job.pk])}#{slugify(title)}"


def left_of(job: Job) -> str:
    """The address where what a job has left is kept."""
    return f"{reverse('studies:job', args=[job.project.slug, job.pk])}#keep"
