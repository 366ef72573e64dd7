"""Every few seconds: what the database says should run and nobody runs is sent again. So Redis may lose everything."""

from __future__ import annotations

from datetime import timedelta

import structlog
from django.db.models import F
from django.utils import timezone

from webapp.games import handshake
from webapp.reports import paper
from webapp.studies import afterwards, pending, queue
from webapp.studies.models import Job, Status
from workers import claims, process

log = structlog.get_logger(__name__)

SENT_AND_LOST = timedelta(seconds=30)


def reconcile() -> None:
    """Free what dead or silent workers hold, then send what is free."""
    release()
    admit()
    handshake.send_waiting(timezone.now() - SENT_AND_LOST)
    paper.send_next()


def release() -> None:
    """Take running jobs from holders whose lease is over, or whose process is seen to be gone."""
    now = timezone.now()
    for job in Job.objects.filter(status=Status.RUNNING).order_by("pk"):
        over = job.lease_until is None or job.lease_until <= now
        if (over or process.gone(job.worker)) and claims.expire(job):
            log.warning("job taken from its worker", job=job.pk, attempt=job.attempt, silent=over)


def admit() -> None:
    """Send the jobs nobody holds, oldest first, as far as there are places; the others wait and say for what. What
    people asked for goes before the experiments that came with it."""
    pending.settle_all()
    afterwards.begin()
    lost = timezone.now() - SENT_AND_LOST
    admitted: list[Job] = []
    waiting = Job.objects.filter(status__in=(Status.QUEUED, Status.WAITING)).select_related("project", "accompanies")
    for job in waiting.order_by(F("accompanies").asc(nulls_first=True), "pk"):
        sent = job.status == Status.QUEUED and job.enqueued_at is not None and job.enqueued_at > lost
        if not sent:
            if obstacle := claims.pool_obstacle(job) or queue.room_obstacle(job, admitted):
                queue.hold(job, obstacle)
                continue
            queue.send(job)
        if not job.for_form:
            admitted.append(job)
