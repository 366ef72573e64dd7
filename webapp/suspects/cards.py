"""What the page of a suspect shows below it. An app that has a card there puts it here when the site starts
(``AppConfig.ready``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest

from webapp.studies.models import Job
from webapp.suspects.reading import Suspect

Card = Callable[[HttpRequest, Job, Suspect], dict[str, Any]]
"""What an app adds to the template's context for a suspect of a search."""

CARDS: dict[str, Card] = {}


def register(app: str, card: Card) -> None:
    """Give the page the card of an app."""
    CARDS[app] = card


def shown(request: HttpRequest, search: Job, suspect: Suspect) -> dict[str, Any]:
    """What all apps show for a suspect."""
    context: dict[str, Any] = {}
    for card in CARDS.values():
        context |= card(request, search, suspect)
    return context
