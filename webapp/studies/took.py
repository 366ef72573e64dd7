"""How long a job took: one meaning on every page, in files and for scripts.

From the moment that its turn came to its end: the start of its program and of its workers, its work, and what it did at
its end. The times at which it was put aside, or waited to go on, are left out.
"""

from __future__ import annotations

from datetime import datetime

from webapp.lib.words import duration
from webapp.studies.journal import STATUS
from webapp.studies.models import Job, Status

ENDS = ("paused", "stopped", "finished", "failed")
"""Events of a study after which nothing of its job runs."""


def took(job: Job) -> float | None:
    """Seconds; None for a job that has not ended, or that never ran."""
    if not job.terminal or job.started_at is None or job.finished_at is None:
        return None
    if job.attempt <= 1:
        return (job.finished_at - job.started_at).total_seconds()
    return _running(job, job.finished_at)


def took_words(job: Job) -> str:
    """The same in words, also for a job that goes on."""
    seconds = took(job)
    return duration(seconds) if seconds is not None else "" if job.terminal else "not over yet"


def _running(job: Job, end: datetime) -> float:
    """Seconds for which somebody ran a job that was begun more than once."""
    events = job.events.filter(kind__in=(STATUS, *ENDS)).order_by("sequence").values_list("kind", "at", "body")
    total, since = 0.0, None
    for kind, at, body in events:
        runs = kind == STATUS and body.get("status") == Status.RUNNING
        if runs and "command" in body:
            continue  # a command for a job that runs
        if since is not None:
            total += (at - since).total_seconds()
        since = at if runs else None
    return total + ((end - since).total_seconds() if since is not None else 0.0)
