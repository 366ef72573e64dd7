"""A hunt for bugs that the engine ran, as a job."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.utils import timezone

from engine.config.hunt import HuntConfig
from engine.events import AnyEvent, Finished, Progressed
from engine.studies import load
from engine.study import hunt
from webapp.accounts.models import User
from webapp.lib.storage import store
from webapp.projects.models import Project
from webapp.studies import actions
from webapp.studies.journal import Entry, append
from webapp.studies.models import Job, Status

LEARNER = {"kind": "ppo", "batch": 64, "fragment": 8, "network": {"policy": [8], "critic": [8]}}
TASK = {
    "game": {"name": "maze", "settings": {"size": 9, "layout": 22, "max_ticks": 100}},
    "learner": LEARNER,
    "steps": 4096,
}


@cache
def study() -> HuntConfig:
    """Random moves in a small maze, until bugs are found."""
    config = load({"kind": "hunt", "name": "Bugs in the maze", "seed": 1, "method": "random", "decisions": 20_000,
                   "task": TASK, "algorithm": {"population": 2}, "pool": {"kind": "local"}})  # fmt: skip
    assert isinstance(config, HuntConfig)
    return config


def hunted(project: Project, user: User) -> Job:
    """A hunt that has ended."""
    job = actions.submit(project, user, study(), title="Bugs in the maze")
    for event in hunt.hunt(study(), store(), "", lambda: ""):
        told(job, event)
    return Job.objects.get(pk=job.pk)


def told(job: Job, event: AnyEvent) -> None:
    """An event in the job's journal."""
    counters: dict[str, Any] = {"steps": event.counters.steps, "seconds": 1.0, "evaluations": 2}
    if isinstance(event, Progressed):
        body = {"counters": counters, "metrics": event.metrics, "artifacts": event.artifacts}
        append(job, {}, [Entry("progressed", body, event.tick)], tick=event.tick, counters=counters)
    if isinstance(event, Finished):
        entry, artifacts = Entry("finished", {"artifacts": event.artifacts}, event.tick), event.artifacts
        append(job, {}, [entry], status=Status.FINISHED, artifacts=artifacts, finished_at=timezone.now())
