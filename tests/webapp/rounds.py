"""A search in the middle of its life, with rounds whose artifacts are drawn from random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.arrays import pack
from tests.factories import archive, bundle, search_job
from webapp.lib.storage import store
from webapp.projects.models import Project
from webapp.studies import journal
from webapp.studies.journal import Entry
from webapp.studies.models import Job, Status


def played(project: Project, ticks: int, **row: Any) -> Job:
    """A running search with some rounds in its history."""
    blank: dict[str, Any] = {"artifacts": {}, "metrics": {}, "counters": {}, "finished_at": None}
    job = search_job(project, **{"status": Status.RUNNING, "tick": 0, **blank, **row})
    for tick in range(1, ticks + 1):
        play(job, tick)
    return Job.objects.get(pk=job.pk)


def play(job: Job, tick: int) -> None:
    """One more round, as the relay would record it."""
    columns = archive(30, seed=tick)
    artifacts = {"chunk": store().put(bundle(columns)), "front": store().put(bundle(columns))}
    counters = {"seconds": 2.0 * tick, "battles": 100 * tick, "cached": tick, "evaluations": 30 * tick}
    metrics = {"over": 3.0, "strong": float(tick > 2), "evaluated": 30.0 * tick, "hypervolume": 0.1 * tick}
    if tick > 2:
        metrics |= {"worst": 2.0 + tick / 50, "worst_low": 1.9 + tick / 50, "worst_high": 2.2 + tick / 50}
    body = {"artifacts": artifacts, "counters": counters, "metrics": metrics}
    changes = {"tick": tick, "counters": counters, "metrics": metrics}
    assert journal.append(job, {}, [Entry("progressed", body, tick)], **changes)


def grid_artifact(cells: int = 12) -> str:
    """A map of MAP-Elites with 4 cells each way, over the second and third objective, as a study would store it."""
    where = np.array([(i // 4, i % 4) for i in range(cells)], dtype=np.int64)
    bounds = {"low": np.array([0.0, 10.0]), "high": np.array([40.0, 30.0])}
    columns = {"cell": where, "quality": 1.0 + 0.1 * np.arange(cells), "id": np.arange(cells), **bounds}
    return store().put(pack({"bins": 4, "quality": 0}, columns))


def lineage_artifact() -> str:
    """Three members of two steps each, of whom the last copied the first before its second step."""
    columns = {"id": range(6), "member": (0, 1, 2) * 2, "step": (0, 0, 0, 1, 1, 1), "copied": (-1, -1, -1, -1, -1, 0)}
    return store().put(pack({}, {name: np.array(values, dtype=np.int64) for name, values in columns.items()}))
