"""The way from new game data to a search of it."""

from __future__ import annotations

from django import template

from webapp.games.models import GameVersion
from webapp.studies.asked import last_search
from webapp.studies.models import Job

register = template.Library()


@register.simple_tag
def last_question(version: GameVersion) -> Job | None:
    """The search that can be asked again of this version: see ``last_search``."""
    return last_search(version)
