"""Searches for styles of play: a tiny one, as a row and with what the real engine leaves of it; and sample episodes."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.utils import timezone

from engine.config import parse, study_hash
from engine.config.episodes import EpisodesConfig
from engine.config.styles import StylesConfig
from engine.events import Finished, Progressed
from engine.studies import load
from engine.study import run
from webapp.lib.storage import store
from webapp.projects.models import Project
from webapp.studies import journal
from webapp.studies.journal import Entry
from webapp.studies.models import FOR_A_FORM, Job, Status

GAME = {"name": "pong", "settings": {"points": 1, "max_ticks": 120}}
SHORT = "points 1\nmax_ticks 120"
"""The same settings as they are typed."""


def config(**more: Any) -> StylesConfig:
    """Two rounds of four agents of a very short Pong."""
    learner = {"kind": "ppo", "batch": 32, "fragment": 8, "minibatch": 16, "network": {"policy": [8], "critic": [8]}}
    style = {"winning": "score", "style": "2 * moved - 1", "w1": 1.0, "w2": [-0.01, 0.01]}
    goals = [{"measure": "busy", "formula": "score + moved", "low": 0.0, "high": 2.0},
             {"measure": "calm", "formula": "score + (1 - moved)", "low": 0.0, "high": 2.0}]  # fmt: skip
    task = {"game": GAME, "learner": learner, "steps": 64, "environments": 4, "style": style}
    usual = {"name": "Styles of Pong", "seed": 3, "ticks": 2, "episodes": 4, "fresh": 4, "pool": {"kind": "local"}}
    found = load({"kind": "style", "task": task, "objectives": goals, "behaviour": ["moved"],
                  "algorithm": {"kind": "nsga2", "population": 4}, **usual, **more})  # fmt: skip
    assert isinstance(found, StylesConfig)
    return found


def breeding(project: Project, study: StylesConfig | None = None, **row: Any) -> Job:
    """A row of a search for styles; running unless ``row`` says otherwise."""
    plain = study or config()
    usual = {"status": Status.RUNNING, "ticks": plain.ticks, "started_at": timezone.now(), "template": "pong-ppo",
             "title": "Styles of Pong"}  # fmt: skip
    return Job.objects.create(
        project=project, kind="style", config=plain.model_dump(mode="json"), config_hash=study_hash(plain),
        created_by=project.members.first(), **{**usual, **row},
    )  # fmt: skip


def bred(project: Project, study: StylesConfig | None = None, **row: Any) -> Job:
    """A search that the real engine has run to its end, as the relay would have recorded it."""
    plain = study or config()
    job = breeding(project, plain, **row)
    for event in run(plain, store()):
        if isinstance(event, Progressed | Finished):
            told = event.counters
            counters = {"steps": told.steps, "seconds": told.seconds, "evaluations": told.evaluations}
            _recorded(job, event, counters)
    return Job.objects.get(pk=job.pk)


def _recorded(job: Job, event: Progressed | Finished, counters: dict[str, float]) -> None:
    if isinstance(event, Progressed):
        body = {"artifacts": event.artifacts, "counters": counters, "metrics": event.metrics}
        changes: dict[str, Any] = {"tick": event.tick, "counters": counters, "metrics": event.metrics}
        entry = Entry("progressed", body, event.tick)
    else:
        body = {"artifacts": event.artifacts, "summary": event.summary, "counters": counters}
        changes = {"status": Status.FINISHED, "artifacts": event.artifacts, "summary": event.summary,
                   "counters": counters, "finished_at": timezone.now()}  # fmt: skip
        entry = Entry("finished", body, job.ticks)
    assert journal.append(job, {}, [entry], **changes)


@cache
def _samples(settings: tuple[tuple[str, Any], ...]) -> bytes:
    """Sample episodes of Pong with these settings, played once for all tests."""
    game = {"name": "pong", "settings": dict(settings)}
    made = list(run(parse(EpisodesConfig, {"kind": "episodes", "game": game}), store()))[-1]
    assert isinstance(made, Finished)
    return store().get(made.artifacts["samples"])


def sampled(project: Project, **settings: Any) -> Job:
    """The job that has played sample episodes of Pong for a form."""
    told = settings or GAME["settings"]
    plain = parse(EpisodesConfig, {"kind": "episodes", "game": {"name": "pong", "settings": told}})
    kept = store().put(_samples(tuple(sorted(told.items()))))
    return Job.objects.create(
        project=project, kind=FOR_A_FORM, title="Sample episodes", config=plain.model_dump(mode="json"),
        config_hash=study_hash(plain), status=Status.FINISHED, artifacts={"samples": kept},
        created_by=project.members.first(),
    )  # fmt: skip
