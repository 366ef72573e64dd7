"""What searches and re-checks found, on pages that list jobs."""

from __future__ import annotations

from typing import Any

from django import template
from django.urls import reverse

from webapp.studies import companion, kinds, onward, opening, patterns, verdict_words
from webapp.studies.kinds import Found
from webapp.studies.models import Job, Status
from webapp.studies.reckoned import NotYet, left_to_workers

register = template.Library()


register.filter("opening", opening.opening)
register.filter("explained", opening.explained)
register.filter("onward", onward.onward)
register.simple_tag(verdict_words.false_alarms)


@register.simple_tag
def look(job: Job) -> str:
    """Where one looks at what a job found: the page that its kind opens on, the explorer where it has lineups to
    explore, else its own page."""
    if address := opening.opening(job):
        return address
    explored = kinds.of(job).explored and job.status != Status.FAILED
    return reverse("studies:explore" if explored else "studies:job", args=[job.project.slug, job.pk])


@register.inclusion_tag("studies/partials/found.html")
def found(job: Job) -> dict[str, Any]:
    """What an ended search or re-check found, with its mark; nothing where it played nothing, or asks another thing.
    ``suspects``: how many the experiment beside it confirmed. ``counting``: a worker is still at it, and the list asks
    again a little later."""
    played = job.status in (Status.FINISHED, Status.STOPPED) and job.tick > 0
    words: Found | None = None
    try:
        with left_to_workers():
            words = kinds.of(job).found(job) if played else None
    except NotYet:
        return {"counting": True}
    return {"found": words, "suspects": _suspects(job) if words else 0}


def _suspects(job: Job) -> int:
    """But for those that were decided to be intended since it was played; it did not count those of before."""
    experiment = companion.of(job) if job.kind in opening.OPENINGS else None
    if experiment is None or not experiment.terminal:
        return 0
    since = {each.key for each in patterns.meant_by_now(job)} - {each.key for each in patterns.intended(job)}
    return max(0, int(experiment.summary.get("told", 0)) - len(since))
