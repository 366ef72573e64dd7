"""From a row to a worker: is there a place for a job, and the message that carries its id."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.utils import timezone

from webapp.lib import disk
from webapp.lib.words import plural
from webapp.studies import journal
from webapp.studies.journal import status_entry
from webapp.studies.models import Job, Status
from workers.app import enqueue

BEHIND = "Waits for the search that it came with to end."


def room_obstacle(job: Job, admitted: Sequence[Job] = ()) -> str:
    """Why there is no place for the job beside those that run and those ``admitted`` a moment ago; empty if there is.

    Samples and other quick work have a queue of their own and always find one. A job whose settings are not complete
    waits for them, an experiment for the search that it came with, and every job while the disk is full.
    """
    if job.asked:
        return str(job.asked["why"])
    if disk.shortage():
        return disk.WAITS
    if job.for_form:
        return ""
    if job.accompanies is not None and job.accompanies.status not in (Status.FINISHED, Status.STOPPED):
        return BEHIND
    placed = Job.objects.filter(status=Status.RUNNING).placed()
    running = [*placed.values_list("project_id", flat=True), *(other.project_id for other in admitted)]
    if len(running) >= settings.JOB_SLOTS:
        return f"Waits for a free place: this site runs {plural(settings.JOB_SLOTS, 'job')} at one time."
    quota = job.project.job_quota
    if running.count(job.project_id) >= quota:
        return f"Waits for another job of this project to end: {quota} may run at one time."
    return ""


def hold(job: Job, obstacle: str) -> None:
    """The job waits, and says for what."""
    if job.status == Status.WAITING and job.message == obstacle:
        return
    where = {"status": job.status, "attempt": job.attempt}
    entry = status_entry(Status.WAITING, obstacle)
    journal.append(job, where, [entry], status=Status.WAITING, message=obstacle, enqueued_at=None)


def send(job: Job) -> None:
    """Hand a free job to the workers; the row remembers when, so that a lost message is sent again."""
    if job.status == Status.WAITING:
        where = {"status": job.status, "attempt": job.attempt}
        if not journal.append(job, where, [status_entry(Status.QUEUED)], status=Status.QUEUED, message=""):
            return
    now = timezone.now()
    if not Job.objects.filter(pk=job.pk, status=Status.QUEUED).update(enqueued_at=now):
        return
    if not enqueue("run_sample" if job.for_form else "run_job", job.pk):
        Job.objects.filter(pk=job.pk, enqueued_at=now).update(enqueued_at=None)
