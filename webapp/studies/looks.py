"""Who has looked at what an ended job found: its page or its explorer. Home tells only of what waits for a look."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from django.db import DatabaseError, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from webapp.accounts.models import User
from webapp.studies.models import Job, Look


def looked(person: User, jobs: Iterable[Job]) -> None:
    """Keep that this person has looked at those of the jobs that have ended. A page is shown all the same where that
    cannot be written down."""
    ended = [job for job in jobs if job.terminal and not seen_since(person, job)]
    with contextlib.suppress(DatabaseError), transaction.atomic():
        for job in ended:
            Look.objects.update_or_create(job=job, person=person, defaults={"at": timezone.now()})


def seen_since(person: User, job: Job) -> bool:
    """Whether this person has looked since the job ended last."""
    return bool(job.finished_at) and job.looks.filter(person=person, at__gte=job.finished_at).exists()


def seen_by(person: User) -> Exists:
    """The same of each job of a query."""
    return Exists(Look.objects.filter(job=OuterRef("pk"), person=person, at__gte=OuterRef("finished_at")))
