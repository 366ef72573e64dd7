"""The pages of searches for styles of play, and of sample episodes."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.studies.kinds import Parts
from webapp.studies.models import Job
from webapp.styles import map_page


class StyleSearches(Parts):
    """Searches for styles of play."""

    intake = None
    own_page = True
    plays = "episode"
    moves: ClassVar[str] = "moves, measuring included"

    def page(self, request: HttpRequest, job: Job, context: dict[str, Any]) -> HttpResponse:
        """How far it is, and the map of styles as it grows."""
        return render(request, "styles/job.html", context | map_page.context(job, request.GET))


class SampleEpisodes(Parts):
    """Sample episodes, on which formulas are tried before anything is trained."""

    intake = None
    own_page = True
    plays = "episode"
    trial = "Sample episodes"
    trial_words = "played sample episodes, for the form of styles"
