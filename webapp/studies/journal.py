"""The one way a job's row and its history change: together, in one transaction, if the job still is as expected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from webapp.lib.text import writable
from webapp.lib.wake import wake
from webapp.projects.models import Project
from webapp.studies.models import Job, JobEvent

STATUS = "status"
"""Kind of the events that the site itself writes: a job changed hands. The others are the engine's."""

TIME_IS_UP = "The time for it was up."
"""Message of a sample that the clock ended: what it played counts, unlike that of one which was stopped by people."""


class Entry(NamedTuple):
    """An event that has no number yet. The site's own have the job's ``tick``."""

    kind: str
    body: Mapping[str, Any]
    tick: int = 0
    at: datetime | None = None


def status_entry(status: str, message: str = "", **more: Any) -> Entry:
    """The entry that tells readers a job's new state and, in a sentence, why."""
    return Entry(STATUS, {"status": status, "message": message, **more})


def note(message: str) -> Entry:
    """The entry that tells readers in a sentence how a job is another than the one that was asked for."""
    return Entry("logged", {"message": message, "note": True})


def append(job: Job, where: Mapping[str, Any], entries: Sequence[Entry], **changes: Any) -> bool:
    """Apply ``changes`` to the row if it matches ``where`` and number ``entries``; False, and nothing written, if not.

    The conditional UPDATE locks the row, so numbers have no gaps. Writers of one project queue at its row: that makes
    the order of event keys the order of commits, which the project's event stream relies on.
    """
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).filter(pk=job.project_id).first()
        rows = Job.objects.filter(pk=job.pk, **where)
        # A simulator's own words may be among them.
        clean = {name: writable(value) for name, value in changes.items()}
        if not rows.update(sequence=F("sequence") + len(entries), **clean):
            return False
        last, tick = Job.objects.values_list("sequence", "tick").get(pk=job.pk)
        first, now = last - len(entries) + 1, timezone.now()
        JobEvent.objects.bulk_create(
            JobEvent(
                job_id=job.pk,
                sequence=first + i,
                kind=e.kind,
                tick=tick if e.kind == STATUS else e.tick,
                at=e.at or now,
                body=writable(e.body),
            )
            for i, e in enumerate(entries)
        )
        transaction.on_commit(partial(wake, job.project_id))
    return True
