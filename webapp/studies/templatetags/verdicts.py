"""What searches and re-checks found, on pages that list jobs."""

from __future__ import annotations

from django import template
from django.urls import reverse

from webapp.lib.words import number
from webapp.studies import kinds, rechecked
from webapp.studies.explore_source import objectives
from webapp.studies.found_counts import found_by
from webapp.studies.models import Job, Status
from webapp.studies.rechecked import Found

register = template.Library()


@register.simple_tag
def look(job: Job) -> str:
    """Where one looks at what a job found: the explorer where it has lineups to explore, else its own page."""
    explored = kinds.of(job).explored and job.status != Status.FAILED
    return reverse("studies:explore" if explored else "studies:job", args=[job.project.slug, job.pk])


@register.inclusion_tag("studies/partials/found.html")
def found(job: Job) -> dict[str, Found | None]:
    """What an ended search or re-check found, with its mark; nothing where it played nothing, or asks another thing."""
    played = job.status in (Status.FINISHED, Status.STOPPED) and job.tick > 0
    told = {str(Job.Kind.SEARCH): _search, str(Job.Kind.RECHECK): rechecked.found}.get(job.kind)
    return {"found": told(job) if told is not None and played else None}


def _search(job: Job) -> Found:
    """ "11 confirmed on fresh battles, 30 found by the search": the latter by its own battles alone, which flatter."""
    if all(objective.threshold is None for objective in objectives(job).objectives):
        return Found("no line was set")
    found = found_by(job)
    by_search = f"{number(found.by_search)} found by the search"
    if found.confirmed is None:
        return Found(by_search, "strong" if found.by_search else "")
    mark = "strong" if found.confirmed else "unsure" if found.by_search else ""
    return Found(f"{number(found.confirmed)} confirmed on fresh battles, {by_search}", mark)
