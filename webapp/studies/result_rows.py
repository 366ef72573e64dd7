"""What a job found as rows with plain names, for programs; and the same as CSV. Lineups are here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.lineups import schema
from webapp.accounts.models import User
from webapp.studies import explore_build as build
from webapp.studies import explore_source as source
from webapp.studies.explore_export import Taken, to_machine_csv
from webapp.studies.explore_filter import SHOWN
from webapp.studies.explore_shortlist import Shortlist
from webapp.studies.models import Job

Range = dict[str, float | None]


def ranged(mean: float, half: float, floor: float | None = None, cap: float | None = None) -> Range:
    """A mean and its 95 % range by half of it, which stops at floor and cap."""
    low = max(mean - half, -np.inf if floor is None else floor)
    high = min(mean + half, np.inf if cap is None else cap)
    return range_shown(mean, low, high) if np.isfinite(half) else range_shown(mean, -np.inf, np.inf)


def range_shown(mean: float, low: float, high: float) -> Range:
    """A mean and the ends of its 95 % range, in six figures; null where they are not known."""
    ends = {"mean": mean, "low": low, "high": high} if np.isfinite(high - low) else {"mean": mean}
    return {"low": None, "high": None} | {name: float(f"{value:.6g}") for name, value in ends.items()}


class LineupRows:
    """Lineups of a search, a re-check or a sample."""

    def __init__(self, job: Job, of: str, user: User) -> None:
        self.explored, self.spec = build.explored(job), source.spec(job)
        self.job, self.of, self.user = job, of, user
        self.fresh = self.explored.fresh
        self.rows: NDArray[np.int64] = np.flatnonzero(self._chosen())
        self.count = len(self.rows)

    def _chosen(self) -> NDArray[np.bool_]:
        """Of each lineup, whether it is asked for."""
        core = self.explored.core
        ids = core.get("id", np.zeros(0, np.uint32))
        if self.of == "shortlist":
            listed = Shortlist(self.job, self.explored, self.spec).on
            return np.isin(ids, [lineup.lineup for lineup in listed])
        return core["best"] > 0 if core and self.of == "front" else np.ones(len(ids), np.bool_)

    def page(self, offset: int, limit: int) -> list[dict[str, Any]]:
        """Some of the rows; what fresh battles say stands in the place of what the search said."""
        genome = self.explored.genome if self.explored.core else np.zeros(0)
        return [self._row(int(row), genome[row]) for row in self.rows[offset : offset + limit]]

    def _row(self, row: int, genome: NDArray[np.int32]) -> dict[str, Any]:
        core, meta, teams = self.explored.core, self.explored.meta, self.explored.teams
        lineup = int(core["id"][row])
        values = {
            o["name"]: ranged(float(core["value"][j, row]), float(core["half"][j, row]), o["low"], o["high"])
            for j, o in enumerate(meta["objectives"])
        }
        return {
            "lineup": lineup,
            "verdict": SHOWN[core["verdict"][row]] if self.explored.lined else None,
            "sure": self.explored.how_sure(row) or None,
            "front": bool(core["best"][row]),
            "fresh": lineup in self.fresh,
            "finding": self.fresh[lineup].finding if lineup in self.fresh else None,
            "battles": round(float(core["samples"][row]) * meta["battles_of_replicate"]),
            "objectives": values,
            "teams": [
                {"slots": schema.team_slots(self.spec, team), "cost": float(cost)}
                for team, cost in zip(genome.tolist(), teams["cost"][row], strict=True)
            ],
        }

    def csv(self) -> bytes:
        """The columns of the explorer’s own export, by machine names."""
        listed, spec = Shortlist(self.job, self.explored, self.spec), self.spec
        return to_machine_csv(
            Taken(self.job, self.explored, self._genome(), spec, listed, self.rows, self.user, self.of)
        )

    def _genome(self) -> NDArray[np.int32]:
        return self.explored.genome if self.explored.core else np.zeros((0, 1, 1), np.int32)
