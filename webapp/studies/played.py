"""What objectives came to on random lineups that were played, for the page where they are written."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.arrays import unpack
from engine.config import ObjectiveConfig
from engine.errors import StoreError
from webapp.lib.storage import store
from webapp.projects.models import Project
from webapp.studies.models import Status


def values(project: Project, objective: ObjectiveConfig) -> NDArray[np.float64] | None:
    """What an objective came to on the random lineups last played with this very formula; None where there are none."""
    jobs = project.jobs.for_forms().filter(status=Status.FINISHED)
    for job in jobs.order_by("-pk")[:3]:
        column = _column(job.config, objective)
        digest = (job.artifacts or {}).get("sample", "")
        if column is None or not digest:
            continue
        try:
            found = unpack(store().get(digest)).arrays["objective"][:, column]
        except (StoreError, KeyError, IndexError):
            continue
        return np.asarray(found, dtype=np.float64)
    return None


def _column(config: dict[str, Any], objective: ObjectiveConfig) -> int | None:
    """Where a study measured just this: same formula, same floor and cap."""
    wanted = (objective.formula, objective.low, objective.high)
    objectives = (config.get("objectives") or {}).get("objectives") or []
    for i, other in enumerate(objectives):
        if (other.get("formula"), other.get("low"), other.get("high")) == wanted:
            return i
    return None
