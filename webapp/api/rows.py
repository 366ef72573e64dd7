"""A job's lineups or players as rows with plain names, for programs; and the same as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle, unpack
from engine.lineups import schema
from engine.means import range_ends
from webapp.accounts.models import User
from webapp.lib.storage import store
from webapp.studies import explore_build as build
from webapp.studies import explore_source as source
from webapp.studies.explore_export import Taken, safe, to_csv
from webapp.studies.explore_filter import SHOWN
from webapp.studies.explore_shortlist import Shortlist
from webapp.studies.models import Job

Range = dict[str, float | None]


class Rows(Protocol):
    """Rows that can be paged through, or taken away whole."""

    count: int

    def page(self, offset: int, limit: int) -> list[dict[str, Any]]:
        """Some of the rows."""
        ...

    def csv(self) -> bytes:
        """All of them, a line each."""
        ...


def _ranged(mean: float, half: float, floor: float | None = None, cap: float | None = None) -> Range:
    """A mean and its 95 % range by half of it, which stops at floor and cap."""
    low = max(mean - half, -np.inf if floor is None else floor)
    high = min(mean + half, np.inf if cap is None else cap)
    return _told(mean, low, high) if np.isfinite(half) else _told(mean, -np.inf, np.inf)


def _told(mean: float, low: float, high: float) -> Range:
    """A mean and the ends of its 95 % range, in six figures; null where they are not known."""
    ends = {"mean": mean, "low": low, "high": high} if np.isfinite(high - low) else {"mean": mean}
    return {"low": None, "high": None} | {name: float(f"{value:.6g}") for name, value in ends.items()}


class Lineups:
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
            o["name"]: _ranged(float(core["value"][j, row]), float(core["half"][j, row]), o["low"], o["high"])
            for j, o in enumerate(meta["objectives"])
        }
        return {
            "lineup": lineup,
            "verdict": SHOWN[core["verdict"][row]],
            "sure": build.SURE[core["sure"][row]],
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
        """As the explorer's own export."""
        listed, spec = Shortlist(self.job, self.explored, self.spec), self.spec
        return to_csv(Taken(self.job, self.explored, self._genome(), spec, listed, self.rows, self.user, self.of))

    def _genome(self) -> NDArray[np.int32]:
        return self.explored.genome if self.explored.core else np.zeros((0, 1, 1), np.int32)


def lineups(job: Job, of: str, user: User) -> Rows:
    """The lineups of the ``front``, all of the ``archive``, or those on the ``shortlist``. Raises StoreError and
    ConfigError."""
    return Lineups(job, of, user)


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
                name: _told(value, low, high)
                for name, value, (low, high) in zip(self.goals, values, self.ends[row].tolist(), strict=True)
            },
        }

    def csv(self) -> bytes:
        """A line for each player."""
        out = io.StringIO(newline="")
        writer = csv.writer(out)
        ends = [f"{goal}{end}" for goal in self.goals for end in ("", ", 95 % from", ", 95 % to")]
        writer.writerow([safe(title) for title in ("player", "round", "episodes", *self.genes, *ends)])
        for row in self.page(0, self.count):
            numbers = [goal[end] for goal in row["goals"].values() for end in ("mean", "low", "high")]
            writer.writerow([row["player"], row["round"], row["episodes"], *row["settings"].values(), *numbers])
        return out.getvalue().encode()


def players(job: Job, of: str) -> Rows:
    """The players of the ``front``, measured on fresh episodes where the search has ended, or of the ``archive``: of
    the last round while the search runs. Raises StoreError."""
    fresh = of == "front" and "fresh" in job.artifacts
    digest = job.artifacts.get("fresh" if fresh else of) or _newest(job, "front" if of == "front" else "chunk")
    goals = [goal["measure"] for goal in job.config["objectives"]]
    return Players(unpack(store().get(digest)) if digest else None, goals, fresh)


def _newest(job: Job, role: str) -> str:
    """The artifact of the last round that left one."""
    found = job.events.filter(kind="progressed").order_by("-tick").values_list("body", flat=True).first() or {}
    return str(found.get("artifacts", {}).get(role, ""))
