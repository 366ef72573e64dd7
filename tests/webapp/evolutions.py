"""Searches for training settings: a tiny one, as a row, and with what the real engine leaves of it."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from engine.config import EvolveConfig, study_hash
from engine.events import Finished, Progressed
from engine.studies import load
from engine.study import run
from webapp.lib.storage import store
from webapp.projects.models import Project
from webapp.studies import journal
from webapp.studies.journal import Entry
from webapp.studies.models import Job, Status


def config(kind: str = "pbt", **more: Any) -> EvolveConfig:
    """Three rounds of four players of a very short Pong."""
    learner = {"kind": "ppo", "batch": 32, "fragment": 8, "minibatch": 16, "rate": [1e-4, 1e-1],
               "entropy_weight": [0.0, 0.1], "network": {"policy": [8], "critic": [8]}}  # fmt: skip
    task = {"game": {"name": "pong", "settings": {"points": 1, "max_ticks": 30}}, "learner": learner, "steps": 64}
    usual = {"name": "Settings for Pong", "seed": 3, "ticks": 3, "episodes": 4, "fresh": 4, "pool": {"kind": "local"}}
    goals = [{"measure": "return"}, {"measure": "length", "direction": "min"}]
    algorithm = {"kind": kind, "population": 4}
    found = load({"kind": "evolve", "task": {**task, "environments": 4}, "objectives": goals, "algorithm": algorithm,
                  **usual, **more})  # fmt: skip
    assert isinstance(found, EvolveConfig)
    return found


def evolution(project: Project, study: EvolveConfig | None = None, **row: Any) -> Job:
    """A row of a search for settings; running unless ``row`` says otherwise."""
    plain = study or config()
    usual = {"status": Status.RUNNING, "ticks": plain.ticks, "started_at": timezone.now(), "template": "pong-ppo",
             "title": "Settings for Pong"}  # fmt: skip
    return Job.objects.create(
        project=project, kind="evolve", config=plain.model_dump(mode="json"),
        config_hash=study_hash(plain), created_by=project.members.first(), **{**usual, **row},
    )  # fmt: skip


def evolved(project: Project, study: EvolveConfig | None = None) -> Job:
    """A search that the real engine has run to its end, as the relay would have recorded it."""
    plain = study or config()
    job = evolution(project, plain)
    for event in run(plain, store()):
        if isinstance(event, Progressed):
            body = {"artifacts": event.artifacts, "counters": _counters(event), "metrics": event.metrics}
            changes = {"tick": event.tick, "counters": _counters(event), "metrics": event.metrics}
            assert journal.append(job, {}, [Entry("progressed", body, event.tick)], **changes)
        if isinstance(event, Finished):
            body = {"artifacts": event.artifacts, "summary": event.summary, "counters": _counters(event)}
            ended = {"status": Status.FINISHED, "artifacts": event.artifacts, "summary": event.summary,
                     "finished_at": timezone.now()}  # fmt: skip
            assert journal.append(job, {}, [Entry("finished", body, job.ticks)], **ended)
    return Job.objects.get(pk=job.pk)


def _counters(event: Progressed | Finished) -> dict[str, float]:
    counters = event.counters
    return {"steps": counters.steps, "seconds": counters.seconds, "evaluations": counters.evaluations}
