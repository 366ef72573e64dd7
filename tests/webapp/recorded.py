"""Studies that the engine ran once for all tests, as jobs whose events the relay has recorded."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from typing import Any

from django.utils import timezone

from engine.config import Study
from engine.events import AnyEvent, Finished, Progressed
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from tests.factories import Studio
from webapp.lib.storage import store
from webapp.studies import actions
from webapp.studies.journal import Entry, append
from webapp.studies.models import Job, Status


@cache
def _ran(study: str) -> tuple[tuple[AnyEvent, ...], dict[str, bytes]]:
    """The events of a study, and what it put into its store."""
    with tempfile.TemporaryDirectory() as folder:
        own = FolderStore(folder)
        events = tuple(run(load(json.loads(study)), own))
        return events, {digest: own.get(digest) for digest in own}


def recorded(team: Studio, study: Study, title: str, rounds: int | None = None) -> Job:
    """A job that has ended; of as many ``rounds`` under way, where they are said."""
    job = actions.submit(team.project, team.designer, study, title=title)
    events, artifacts = _ran(study.model_dump_json())
    for data in artifacts.values():
        store().put(data)
    for event in events:
        counted = event.counters
        counters = {"steps": counted.steps, "battles": counted.battles, "evaluations": counted.evaluations}
        told: dict[str, Any] = {"counters": {**counters, "seconds": 1.0 + event.tick}}
        if isinstance(event, Progressed) and (rounds is None or event.tick <= rounds):
            body = {**told, "metrics": event.metrics, "artifacts": event.artifacts}
            append(job, {}, [Entry("progressed", body, event.tick)], tick=event.tick, metrics=event.metrics, **told)
        if isinstance(event, Finished) and rounds is None:
            entry = Entry("finished", {"artifacts": event.artifacts}, event.tick)
            append(job, {}, [entry], status=Status.FINISHED, artifacts=event.artifacts, finished_at=timezone.now())
    return Job.objects.get(pk=job.pk)
