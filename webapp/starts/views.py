"""The page that puts trainings from easier starts side by side. What is compared stands in the address."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from webapp.lib.queries import choice
from webapp.projects.access import project_for
from webapp.starts.comparison import DECISIONS, StartsComparison
from webapp.studies.compare.trainings import MOST
from webapp.studies.compare.views import asked


@require_safe
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    """``?job=3&job=5``: those trainings, over learning steps or, with ``along=decisions``, over decisions; without any,
    the choice of them."""
    project = project_for(request, slug)
    found = StartsComparison(project, asked(request.GET), choice(request, "along", ["", DECISIONS]))
    return render(request, "starts/compare.html", {"project": project, "found": found, "most": MOST})
