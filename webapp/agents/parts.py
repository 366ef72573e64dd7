"""The pages of measurements and of recordings."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from webapp.agents.captions import Figures
from webapp.studies.kinds import Found, Parts
from webapp.studies.models import Job


class Measuring(Parts):
    """Measurements of agents."""

    intake = None  # it is made from an agent
    plays = "episode"
    waits = 2

    def found(self, job: Job) -> Found | None:
        """The agent's caption."""
        figures = Figures.of(job)
        return None if figures is None else Found(figures.caption)


class Recording(Parts):
    """Battles to watch."""

    intake = None
    trial: ClassVar[str] = "Battles to watch"
    trial_words: ClassVar[str] = "recorded battles to watch"

    def page(self, request: HttpRequest, job: Job, context: dict[str, Any]) -> HttpResponse:
        """They are watched on a page of their own."""
        return redirect("agents:battles", job.project.slug, job.pk)
