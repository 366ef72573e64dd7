"""The warnings of a job that stand above its results, not in its history alone."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Count, Max, Q
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce

from webapp.studies.models import Job
from webapp.studies.wire import SHORT

GRAVE = ("short-trainings",)
"""What makes results worth little, so that it stands first."""
DEALT_WITH = ("lost-worker", "redis", "redis-cut-off")
"""What changes no result: of a job that has ended it stays in the history."""
WELL = "redis-well"
"""What says that what came before is over, also of a job that runs."""
OVER_BY = ("redis", "redis-cut-off")
HISTORY = (WELL, "redis-restarted", "lost-experience")
"""What stands in the history alone; how much was lost a page says in a sentence of its own."""
MOST = 3
"""Warnings that a page shows, at most."""


class Warned(NamedTuple):
    """The latest warning of its sort: ``at`` in seconds since 1970, and how ``many`` there were."""

    at: float
    words: str
    many: int


def of(job: Job) -> list[Warned]:
    """What somebody who looks at a job's results should know: the gravest first, then the latest."""
    past = (SHORT, *HISTORY, *(DEALT_WITH if job.terminal else ()))
    warnings = job.events.filter(Q(kind="incident") | Q(kind="logged", body__note=True)).order_by()
    sort = Coalesce(KT("body__what"), KT("body__message"))  # a note is of no sort
    sorts = warnings.annotate(what=sort).exclude(what__in=past).values_list("what")
    latest = {last: (what, many) for what, last, many in sorts.annotate(Max("sequence"), Count("pk"))}
    well = warnings.filter(body__what=WELL).aggregate(last=Max("sequence"))["last"] or -1
    latest = {last: found for last, found in latest.items() if not (found[0] in OVER_BY and last < well)}
    events = sorted(job.events.filter(sequence__in=latest), key=lambda e: (latest[e.sequence][0] in GRAVE, e.sequence))
    found = [Warned(e.at.timestamp(), e.body["message"], latest[e.sequence][1]) for e in reversed(events)]
    return found[:MOST]
