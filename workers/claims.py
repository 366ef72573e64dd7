"""Who may run a job. A claim is a conditional UPDATE that raises ``Job.attempt``; every later write is conditional on
that number, on the row still being RUNNING and on the lease not being over, so of two holders one can only leave.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from django.db import OperationalError, connection, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from webapp.lib import ray_starts
from webapp.projects.models import Project
from webapp.studies import checks, journal, playable, retired
from webapp.studies.explore_source import CUT_OFF
from webapp.studies.journal import Entry, status_entry
from webapp.studies.models import Job, Status
from webapp.studies.queue import hold, room_obstacle
from webapp.training.cut_off import NETWORKS
from workers import process, ray

T = TypeVar("T")
LEASE = timedelta(seconds=30)
RENEW_EVERY = 5.0
MOST_STALLED_ATTEMPTS = 3
ORDINAL = {3: "third", 4: "fourth", 5: "fifth"}
"""Attempts in a row that may end without a new checkpoint; then the job has failed."""


class Superseded(Exception):
    """The claim is over: its lease ran out, or somebody else has the job now. Leave without a trace."""


def _patiently(ask: Callable[[], T]) -> T:
    """Ask the database again while it is away or locked, as long as a lease lasts."""
    deadline = time.monotonic() + LEASE.total_seconds()
    while True:
        try:
            return ask()
        except OperationalError:
            if time.monotonic() > deadline:
                raise
            connection.close()
            time.sleep(0.5)


@dataclass(frozen=True)
class Claim:
    """The right to run ``job`` (the row as it was claimed) under the fencing token ``attempt``."""

    job: Job
    attempt: int

    def valid(self) -> dict[str, Any]:
        """What must hold of the row for this claim to write."""
        return {"attempt": self.attempt, "status": Status.RUNNING, "lease_until__gt": timezone.now()}

    def _row(self) -> QuerySet[Job]:
        return Job.objects.filter(pk=self.job.pk, **self.valid())

    def write(self, entries: Sequence[Entry], **changes: Any) -> None:
        """Record ``entries`` and ``changes`` and renew the lease. Raises Superseded when the claim is over."""
        changes.setdefault("lease_until", timezone.now() + LEASE)
        if not _patiently(lambda: journal.append(self.job, self.valid(), entries, **changes)):
            raise Superseded

    def renew(self) -> None:
        """Prolong the lease. Raises Superseded when the claim is over."""
        if not _patiently(lambda: self._row().update(lease_until=timezone.now() + LEASE)):
            raise Superseded

    def command(self) -> str:
        """What people want of the job now. Raises Superseded when the claim is over."""
        found = _patiently(lambda: self._row().values_list("command", flat=True).first())
        if found is None:
            raise Superseded
        return found

    def give_back(self, entries: Sequence[Entry], **changes: Any) -> None:
        """End the claim: the row goes to the state in ``changes`` and nobody holds it."""
        self.write(entries, worker="", lease_until=None, **changes)


def take(job_id: int, worker: str) -> Claim | None:
    """Claim a queued job; None when somebody has it, when it has ended, when it must wait, or when its game cannot be
    played now and it has failed (it then says why)."""
    job = Job.objects.filter(pk=job_id, status__in=(Status.QUEUED, Status.WAITING)).first()
    if job is None:
        return None
    no_pool = pool_obstacle(job)
    with transaction.atomic():
        # Claims queue at one row, so that two of them never see the same free place.
        Project.objects.select_for_update(no_key=True).order_by("pk").first()
        if obstacle := no_pool or room_obstacle(job):
            hold(job, obstacle)
            return None
        if reason := retired.obstacle(job.config) or playable.obstacle(job):
            _refuse(job, reason)
            return None
        return _take(job, worker)


def _refuse(job: Job, reason: str) -> None:
    """The job fails before anything of it is started."""
    entry = Entry("failed", {"error": "SimulatorError", "message": reason, "permanent": True}, job.tick)
    where = {"status": job.status, "attempt": job.attempt}
    failed = {"status": Status.FAILED, "message": reason, "error": "SimulatorError", "command": ""}
    journal.append(job, where, [entry], **failed, finished_at=timezone.now())


def _take(job: Job, worker: str) -> Claim | None:
    now, attempt = timezone.now(), job.attempt + 1
    taken = journal.append(
        job,
        {"status": job.status, "attempt": job.attempt},
        [status_entry(Status.RUNNING, attempt=attempt)],
        status=Status.RUNNING,
        attempt=attempt,
        # Counted when an attempt begins and cleared by its first checkpoint: a death of any kind is counted so.
        stalled_attempts=F("stalled_attempts") + 1,
        worker=worker,
        lease_until=now + LEASE,
        started_at=job.started_at or now,
        message="",
    )
    return Claim(Job.objects.get(pk=job.pk), attempt) if taken else None


def pool_obstacle(job: Job) -> str:
    """Why the job cannot start for want of Ray; empty when it can."""
    if job.config.get("pool", {}).get("kind") == "ray" and not ray.answers():
        return f"Waits for the {job.study.hands} to come up. {ray_starts.sentences()}"
    return ""


def expire(job: Job) -> bool:
    """Take a running job from a holder that died or fell silent: on from its checkpoint, or as commanded."""
    where: Mapping[str, Any] = {"status": Status.RUNNING, "attempt": job.attempt, "lease_until": job.lease_until}
    silent = job.worker and not process.gone(job.worker)
    gone = "The part of the site that ran this job stopped."
    slept = f"This job gave no sign of life for {LEASE.seconds} s: the machine may have slept, or was very busy."
    entries, changes = after_death(job, slept if silent else gone)
    return journal.append(job, where, entries, worker="", lease_until=None, **changes)


def after_death(job: Job, what: str, *, blameless: bool = False) -> tuple[list[Entry], dict[str, Any]]:
    """Events and row changes when an attempt ended without saying how; ``what`` says what happened, in a sentence.

    ``blameless``: the attempt is not counted (Ray went away, or the site was shut down).
    """
    now = timezone.now()
    if job.command == Job.Command.STOP:
        message = job.stopped_words(job.tick)
        changes = {
            "status": Status.STOPPED,
            "command": "",
            "message": message,
            "finished_at": now,
            "stalled_attempts": 0,
            "artifacts": _with_networks(job),
        }
        return [Entry("stopped", {"reason": message, "artifacts": {}, "summary": {}}, job.tick)], changes
    if job.command == Job.Command.PAUSE:
        changes = {"status": Status.PAUSED, "command": "", "message": "", "stalled_attempts": 0}
        changes["artifacts"] = _with_networks(job)
        return [Entry("paused", {"artifacts": {}}, job.tick)], changes
    if job.stalled_attempts >= MOST_STALLED_ATTEMPTS and not blameless:
        which = ORDINAL.get(job.stalled_attempts, f"{job.stalled_attempts}th")
        message = (
            f"{what} It was the {which} attempt in a row that ended before another round was complete, so the job was "
            f"not started again. “Try again” starts it once more; the log of job {job.pk} says more to an engineer."
        )
        changes = {"status": Status.FAILED, "message": message, "error": "died", "finished_at": now}
        return [Entry("failed", {"error": "died", "message": message, "permanent": True}, job.tick)], changes
    message = f"{what} {go_on(job)}{_same(job)}"
    changes = {"status": Status.QUEUED, "message": "", "enqueued_at": None}
    if blameless:
        changes["stalled_attempts"] = max(0, job.stalled_attempts - 1)
    incident = Entry("incident", {"what": "lost-worker", "message": message}, job.tick)
    return [incident, status_entry(Status.QUEUED)], changes


def _with_networks(job: Job) -> dict[str, str]:
    """What the job has left, without players of a round under way whose networks its attempt died before it wrote."""
    lost = "task" in job.config and NETWORKS not in job.artifacts
    return {role: digest for role, digest in job.artifacts.items() if not (lost and role == CUT_OFF)}


def _same(job: Job) -> str:
    """That a death changes no result, where that is so: where nobody waits, a job goes on with other data."""
    return " No result changed." if checks.repeats(job.config) else ""


def go_on(job: Job) -> str:
    """Where a job goes on."""
    return f"The job goes on from round {job.tick:,}." if job.checkpoint else "The job starts again."
