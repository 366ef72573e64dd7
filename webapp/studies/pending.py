"""Starting what a form describes: at once, or by itself when something is known that is still being found out.

Some searches need their random lineups first, for the line or for how far to look; some trainings need a trial. The job
exists from the moment somebody presses Start, so nothing depends on the browser from then on: it waits, with what was
typed, and gets the rest of its settings when the sample or the trial has ended.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from django.db import transaction
from django.utils import timezone

from engine.config import Study, study_hash
from webapp.lib.disk import require_room
from webapp.lib.once import Kept
from webapp.projects.models import Project
from webapp.studies import actions, journal, kinds, patterns, retired
from webapp.studies.journal import Entry, status_entry
from webapp.studies.models import Job, Status

if TYPE_CHECKING:
    from webapp.accounts.models import User

FORM_COMES_BACK = "“Run again with changes” opens the form as it was filled in."


class Start(Protocol):
    """A form that somebody wants to start. ``problems`` and ``waits`` are sentences, filled in by ``study``."""

    @property
    def problems(self) -> list[str]: ...

    @property
    def waits(self) -> list[str]: ...

    def known(self) -> Job | None:
        """The sample or trial that was played for this form, if there is one; None as well where it is to be played
        anew."""
        ...

    def study(self, found: Job | None) -> Study | None:
        """The complete study; None when something is wrong, or is still being found out."""
        ...

    def unfinished(self) -> Study:
        """The study as far as it is known."""
        ...

    def trial(self) -> tuple[Study, Mapping[str, Any]]:
        """What is played to find out the rest, and the rows it points at."""
        ...

    def asked(self) -> tuple[str, Mapping[str, Any]]:
        """What the job is called, and the rows that it points at."""
        ...


def begin(start: Start, project: Project, user: User, typed: Mapping[str, str], kept: Kept) -> Job | None:
    """The job that a form describes, on its way or waiting for what it still needs, with what is ``kept`` of the
    request; None when something is wrong. Raises NoRoom while the disk is full."""
    require_room()
    known = start.known()
    study = start.study(known)
    waiting: dict[str, Any] = {}
    if study is None:
        if start.problems or not start.waits:
            return None
        config, rows = start.trial()
        sample = actions.sample(project, user, config, again=known is None, **rows)
        study = start.unfinished()
        waiting = {"awaits": sample, "asked": {"typed": dict(typed), "why": " ".join(start.waits)}}
    title, refers = start.asked()
    return actions.submit(project, user, study, title=title, **refers, **waiting, **kept)


def settle_all() -> None:
    """Let every job go on that waited for something which is known by now."""
    waiting = Job.objects.filter(status__in=(Status.QUEUED, Status.WAITING)).exclude(asked={})
    for job in waiting.select_related("project", "created_by", "awaits").order_by("pk"):
        if job.awaits is None or not job.awaits.active:
            settle(job)


def settle(job: Job) -> None:
    """Complete the settings of a job that waits, and begin what comes with it, or say why that cannot be done. Does
    nothing while its sample plays; one that was put aside goes on, and one that failed is played anew when the job
    is tried again."""
    start: Start = kinds.of(job).start(job.project, job.created_by, job.asked["typed"])
    gone = [each.on for each in retired.typed_anew(job.asked["typed"])[1]]
    if gone or start.problems:
        _fail(job, gone or start.problems)
        return
    sample = _sample(job, start)
    if not sample.terminal:
        return
    study = start.study(sample)
    if study is None:
        _fail(job, start.problems)
        return
    study = patterns.pinned(study, job.project, job.game_version)
    changes: dict[str, Any] = {"config": study.model_dump(mode="json"), "config_hash": study_hash(study)}
    changes |= {"ticks": getattr(study, "ticks", 0), "asked": {}, "awaits": None, "enqueued_at": None, "message": ""}
    with transaction.atomic():
        settled = journal.append(job, _unchanged(job), [status_entry(Status.QUEUED)], status=Status.QUEUED, **changes)
        if settled and (beside := start.asked()[1].get("companion")):
            actions.accompany(job, job.created_by, beside)


def _sample(job: Job, start: Start) -> Job:
    """What the job waits for, as it is now."""
    if job.awaits is not None and job.awaits.status != Status.PAUSED:
        return job.awaits
    if job.awaits is not None:
        with contextlib.suppress(actions.Refused):  # somebody else let it go on
            actions.resume(job.awaits)
        return Job.objects.get(pk=job.awaits.pk)
    config, rows = start.trial()
    sample = actions.sample(job.project, job.created_by, config, again=True, **rows)
    Job.objects.filter(pk=job.pk).update(awaits=sample)
    return sample


def _unchanged(job: Job) -> dict[str, Any]:
    """What must still hold of the row: nobody settled it meanwhile, and nobody paused or stopped it."""
    return {"status": job.status, "attempt": job.attempt, "sequence": job.sequence}


def _fail(job: Job, problems: Sequence[str]) -> None:
    message = " ".join([*problems, FORM_COMES_BACK])
    entry = Entry("failed", {"error": "ConfigError", "message": message, "permanent": True}, job.tick)
    changes = {"status": Status.FAILED, "message": message, "error": "ConfigError", "finished_at": timezone.now()}
    journal.append(job, _unchanged(job), [entry], **changes)
