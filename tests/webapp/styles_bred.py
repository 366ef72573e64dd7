"""A tiny search for styles of play, as a row and with what the real engine leaves of it."""

from __future__ import annotations

import tempfile
from functools import cache
from typing import Any

from django.utils import timezone

from engine.config import StylesConfig, study_hash
from engine.events import AnyEvent, Finished, Progressed
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from webapp.lib.storage import store
from webapp.projects.models import Project
from webapp.studies import journal
from webapp.studies.journal import Entry
from webapp.studies.models import Job, Status

GOALS = [
    {"measure": "busy", "formula": "score + moved", "low": 0, "high": 2},
    {"measure": "calm", "formula": "score + (1 - moved)", "low": 0, "high": 2},
]
STYLE = {"winning": "score", "style": "2 * moved - 1", "w1": 1, "w2": [-0.5, 0.5]}


def config(**more: Any) -> StylesConfig:
    """Three rounds of six agents of a very short Pong."""
    learner = {"kind": "ppo", "batch": 32, "fragment": 8, "minibatch": 16, "network": {"policy": [8], "critic": [8]}}
    task = {"game": {"name": "pong", "settings": {"points": 1, "max_ticks": 40}}, "learner": learner, "steps": 64,
            "environments": 4, "style": STYLE}  # fmt: skip
    usual = {"kind": "style", "name": "Busy and calm", "seed": 3, "task": task, "objectives": GOALS, "ticks": 3,
             "behaviour": ["moved"], "algorithm": {"population": 6}, "episodes": 6, "fresh": 6,
             "pool": {"kind": "local"}}  # fmt: skip
    found = load({**usual, **more})
    assert isinstance(found, StylesConfig)
    return found


def search(project: Project, study: StylesConfig | None = None, **row: Any) -> Job:
    """A row of a search for styles; running unless ``row`` says otherwise."""
    plain = study or config()
    usual = {"status": Status.RUNNING, "ticks": plain.ticks, "started_at": timezone.now(), "title": "Busy and calm"}
    return Job.objects.create(
        project=project, kind="style", config=plain.model_dump(mode="json"), config_hash=study_hash(plain),
        created_by=project.members.first(), **{**usual, **row},
    )  # fmt: skip


@cache
def _ran(selection: bool) -> tuple[tuple[AnyEvent, ...], dict[str, bytes]]:
    """The events of the usual search, run once for all tests, and what it put into its store."""
    with tempfile.TemporaryDirectory() as folder:
        kept = FolderStore(folder)
        events = tuple(run(config(selection=selection), kept))
        return events, {digest: kept.get(digest) for digest in kept}


def bred(project: Project, rounds: int | None = None, *, selection: bool = True, **row: Any) -> Job:
    """A search that the real engine has run, as the relay would have recorded it; ``rounds``: as far as that."""
    job = search(project, config(selection=selection), **row)
    events, artifacts = _ran(selection)
    for data in artifacts.values():
        store().put(data)
    for tick in range(1, (rounds or job.ticks) + 1):
        complete(job, tick)
    if rounds is None:
        (last,) = (event for event in events if isinstance(event, Finished))
        ended = {"status": Status.FINISHED, "artifacts": last.artifacts, "finished_at": timezone.now()}
        assert journal.append(job, {}, [Entry("finished", {"artifacts": last.artifacts}, job.ticks)], **ended)
    return Job.objects.get(pk=job.pk)


def complete(job: Job, tick: int) -> None:
    """One more round of ``bred``."""
    events, _ = _ran(job.config["selection"])
    (event,) = (each for each in events if isinstance(each, Progressed) and each.tick == tick)
    body = {"artifacts": event.artifacts, "metrics": event.metrics}
    assert journal.append(job, {}, [Entry("progressed", body, tick)], tick=tick)
