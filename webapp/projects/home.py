"""What Home shows beside a person's projects and invitations.

An app that has something to show there puts its part here when the site starts (``AppConfig.ready``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webapp.accounts.models import User

Part = Callable[[User], dict[str, Any]]
"""What an app adds to the template's context for a person."""

PARTS: dict[str, Part] = {}


def register(app: str, part: Part) -> None:
    """Give Home the part of an app."""
    PARTS[app] = part


def shown(person: User) -> dict[str, Any]:
    """What all apps show to a person."""
    context: dict[str, Any] = {}
    for part in PARTS.values():
        context |= part(person)
    return context
