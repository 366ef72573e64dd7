"""What stands above compared searches. An app that has something to say there puts its part here when the site starts
(``AppConfig.ready``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webapp.projects.models import Project

Part = Callable[[Project], dict[str, Any]]
"""What an app adds to the template's context for a project."""

PARTS: dict[str, Part] = {}


def register(app: str, part: Part) -> None:
    """Give the page the part of an app."""
    PARTS[app] = part


def shown(project: Project) -> dict[str, Any]:
    """What all apps show for a project."""
    context: dict[str, Any] = {}
    for part in PARTS.values():
        context |= part(project)
    return context
