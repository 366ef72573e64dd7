"""The line that a project has accepted for a question: later searches begin with it, and new data never moves it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from engine.config import ObjectiveSetConfig
from webapp.balance import lines
from webapp.balance.models import ObjectiveSet
from webapp.balance.saving import newest, objective_config
from webapp.projects.models import Project
from webapp.studies.line_origin import KEPT, STARTED
from webapp.studies.models import Job

LOOKED_AT = 20
"""Newest searches among which one of the same measure is looked for: those of another game are passed over."""


class Accepted(NamedTuple):
    """A line on an objective, and where it is from as ``line_origin`` writes it."""

    objective: str
    line: float
    origin: str


def accepted(
    project: Project, question: str, objectives: ObjectiveSetConfig, since: datetime | None = None
) -> Accepted | None:
    """The line with which the newest search of ``question`` was started, or the one that was kept later than that.
    Only what was accepted after ``since`` counts."""
    kept = lines.kept(project, question)
    found = None
    if kept is not None and kept.objective in [o.name for o in objectives.objectives]:
        found, since = Accepted(kept.objective, kept.line, KEPT), max(kept.kept_at, since or kept.kept_at)
    return _started(project, question, objectives, since) or found


def later(job: Job, objectives: ObjectiveSetConfig) -> dict[str, float]:
    """The lines, by objective, with which a search that asks ``job``'s question begins from now on."""
    own = newest(job.objective_set) if job.objective_set else None
    found = accepted(job.project, job.template, objectives, own.created_at if own else None)
    if found is not None:
        return {found.objective: found.line}
    theirs = objective_config(own).objectives if own else ()
    return {o.name: o.threshold for o in theirs if o.threshold is not None}


def of_own(row: ObjectiveSet) -> dict[str, float]:
    """The line that was accepted since a project's own objectives were saved, by its objective; empty for none."""
    found = accepted(row.project, "own", objective_config(row), row.created_at)
    return {found.objective: found.line} if found else {}


def _started(
    project: Project, question: str, objectives: ObjectiveSetConfig, since: datetime | None
) -> Accepted | None:
    searches = project.jobs.filter(kind="search", template=question)
    if since is not None:
        searches = searches.filter(created_at__gt=since)
    measured = {o.name: _measured(o.model_dump()) for o in objectives.objectives}
    for job in searches.order_by("-pk")[:LOOKED_AT]:
        for searched in job.config.get("objectives", {}).get("objectives", ()):
            line = searched.get("threshold")
            if line is not None and measured.get(searched["name"]) == _measured(searched):
                return Accepted(searched["name"], float(line), f"{STARTED}:{job.pk}")
    return None


def _measured(objective: Mapping[str, Any]) -> tuple[Any, ...]:
    """What has to be the same for a line to mean the same; the names of pieces and numbers may change."""
    return tuple(objective[part] for part in ("formula", "unit", "direction"))
