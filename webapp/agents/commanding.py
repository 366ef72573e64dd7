"""Saved agents that can command battles of lineups."""

from __future__ import annotations

from django.urls import reverse

from engine.catalog import GAMES, built_in
from engine.config.commander import CommanderConfig
from webapp.agents.models import Agent
from webapp.projects.models import Project
from webapp.studies.commanders import Commander

COMMANDED = GAMES["commanders"].path
MOST = 100
"""Agents that are offered, the latest."""


def offered(project: Project) -> list[Commander]:
    """The project's agents that learned to command herobattle, the latest first."""
    kept = project.agents.kept().filter(game__name__in=_NAMES).order_by("-pk")[:MOST]
    return [Commander(str(each.pk), commander(each), _address(project, each)) for each in kept]


def commander(agent: Agent) -> CommanderConfig:
    """An agent as studies of lineups have it, with the pace of orders that it was trained with."""
    config = agent.config.model_dump(mode="json")
    usual = CommanderConfig.model_fields["every"].default
    return CommanderConfig.model_validate({**config, "every": (agent.game.get("settings") or {}).get("every", usual)})


def leads(agent: Agent) -> bool:
    """Whether it commands herobattle."""
    known = built_in(str(agent.game["name"]))
    return known is not None and known.path == COMMANDED


def _address(project: Project, agent: Agent) -> str:
    return reverse("agents:agent", args=[project.slug, agent.pk])


_NAMES = [f"{prefix}{name}" for name, game in GAMES.items() if game.path == COMMANDED for prefix in ("", "builtin:")]
