"""Players of a search for training settings as rows with plain names, for programs; and the same as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.arrays import Bundle, unpack
from engine.means import range_ends
from webapp.lib.storage import store
from webapp.studies.explore_export import safe
from webapp.studies.models import Job
from webapp.studies.result_rows import range_shown
from webapp.studies.table_rows import newest


class Players:
    """Players of a search for training settings: the settings they were trained with and what they reached."""

    def __init__(self, bundle: Bundle | None, goals: Sequence[str], fresh: bool) -> None:
        self.goals, self.fresh = goals, fresh
        self.arrays = bundle.arrays if bundle is not None else {}
        self.genes = [f"task.{gene['path']}" for gene in bundle.meta["genes"]] if bundle is not None else []
        good = self.arrays.get("status", np.ones(0)) == 0
        self.rows = np.flatnonzero(good)
        self.ends = np.stack(range_ends(self.arrays), axis=-1) if self.arrays else np.zeros((0, 0, 2))
        self.count = len(self.rows)

    def page(self, offset: int, limit: int) -> list[dict[str, Any]]:
        """Some of the rows."""
        return [self._row(int(row)) for row in self.rows[offset : offset + limit]]

    def _row(self, row: int) -> dict[str, Any]:
        arrays = self.arrays
        values = arrays["objective"][row].tolist()
        return {
            "player": int(arrays["id"][row]),
            "round": int(arrays["tick"][row]),
            "fresh": self.fresh,
            "episodes": int(arrays["samples"][row]),
            "settings": dict(zip(self.genes, arrays["genome"][row].tolist(), strict=True)),
            "goals": {
                name: range_shown(value, low, high)
                for name, value, (low, high) in zip(self.goals, values, self.ends[row].tolist(), strict=True)
            },
        }

    def csv(self) -> bytes:
        """A line for each player."""
        out = io.StringIO(newline="")
        writer = csv.writer(out)
        ends = [f"{goal}{end}" for goal in self.goals for end in ("", "_low", "_high")]
        writer.writerow([safe(title) for title in ("player", "round", "episodes", *self.genes, *ends)])
        for row in self.page(0, self.count):
            numbers = [goal[end] for goal in row["goals"].values() for end in ("mean", "low", "high")]
            writer.writerow([row["player"], row["round"], row["episodes"], *row["settings"].values(), *numbers])
        return out.getvalue().encode()


def players(job: Job, of: str) -> Players:
    """The players of the ``front``, measured on fresh episodes where the search has ended, or of the ``archive``: of
    the last round while the search runs. Raises StoreError."""
    fresh = of == "front" and "fresh" in job.artifacts
    digest = job.artifacts.get("fresh" if fresh else of) or newest(job, "front" if of == "front" else "chunk")
    goals = [goal["measure"] for goal in job.config["objectives"]]
    return Players(unpack(store().get(digest)) if digest else None, goals, fresh)
