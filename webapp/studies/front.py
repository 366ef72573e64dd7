"""The pictures of a search: its edge at a round and the lineups (or players) around it, small enough to fetch while it
runs.

What is drawn never changes once the round is over, so browsers keep it: the entity tag is the artifact's hash.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle, unpack
from engine.config import ObjectiveConfig, ObjectiveSetConfig
from engine.indicators import non_dominated
from webapp.lib.page_json import written
from webapp.lib.storage import store
from webapp.studies import explore_source as source
from webapp.studies import kinds
from webapp.studies.models import Job

PICTURE = 4
"""Raise it when the same artifact is drawn in another way: it is part of the entity tag."""
MOST_MARKS, MOST_DOTS = 300, 150

Floats = NDArray[np.float64]


class FrontAxis(NamedTuple):
    """A column of a picture: an objective, or (``column`` -1) what a team costs on average."""

    column: int
    title: str
    unit: str
    toward: str
    direction: str
    line: float | None
    cap: float | None = None


def axes(objectives: Sequence[ObjectiveConfig]) -> tuple[FrontAxis, FrontAxis]:
    """(x, y) of the job's chart. Up: the first objective with a line; right: strength, or the next there is."""
    up = next((i for i, o in enumerate(objectives) if o.threshold is not None), 0)
    others = [i for i in range(len(objectives)) if i != up]
    right = next((i for i in others if objectives[i].strength), others[0] if others else -1)
    if right < 0:
        return FrontAxis(-1, "Cost of a team", "", "cheaper", "min", None), axis(objectives, up)
    return axis(objectives, right), axis(objectives, up)


def axis(objectives: Sequence[ObjectiveConfig], i: int) -> FrontAxis:
    """The objective in column i."""
    o = objectives[i]
    return FrontAxis(i, o.title, o.unit, o.toward, o.direction, o.threshold, o.high if o.direction == "max" else o.low)


def of_job(job: Job) -> ObjectiveSetConfig:
    """What the job's candidates are measured by: what it was told "imbalanced" means, or what makes a player good."""
    return kinds.of(job).objectives(job)


def artifact(job: Job, role: str, tick: int | None) -> str:
    """The hash of what a round has in a role (``front``, ``chunk``, ``grid``), or without one the end of the job
    (``front``, ``fresh``, ``fresh_grid``); or nothing."""
    if tick is None:
        return str(job.artifacts.get(role, ""))
    bodies = job.events.filter(kind="progressed", tick=tick).values_list("body", flat=True)
    body = bodies.first()
    return str((body or {}).get("artifacts", {}).get(role, ""))


def tag(digest: str, pair: tuple[FrontAxis, FrontAxis] | None = None) -> str:
    """The entity tag of the picture of one artifact, drawn along a pair of axes."""
    along = "".join(f"-{one.column}" for one in pair or ())
    return f'"{digest[:40]}-{PICTURE}{along}"'


def picture(job: Job, digest: str, pair: tuple[FrontAxis, FrontAxis], *, dots: bool) -> bytes:
    """The artifact as JSON columns for the chart: all of a front, or a sample of a round's lineups (``dots``).

    Raises StoreError when it is missing or damaged.
    """
    bundle, objectives = unpack(store().get(digest)), of_job(job).objectives
    usable = (bundle.arrays["status"] == 0) & np.isfinite(bundle.arrays["objective"]).all(axis=1)
    x, y = pair
    columns = _columns(job, bundle, usable, objectives, x, y)
    rows = _sample(columns, MOST_DOTS if dots else MOST_MARKS)
    found: dict[str, Any] = {name: _plain(column[rows]) for name, column in columns.items()}
    median = source.median(bundle.meta)
    half = median.half if median.value is not None and np.isfinite(median.half) else None
    ends = _ends(job, {name: column[usable] for name, column in bundle.arrays.items()}, x, y)
    told = {"count": int(usable.sum()), "median": median.value, "median_half": half, "ends": ends}
    return written({**found, **told}).encode()


def _ends(job: Job, arrays: dict[str, NDArray[Any]], x: FrontAxis, y: FrontAxis) -> dict[str, source.Ends]:
    """How far each axis can go: where ranges stop."""
    known = source.ends(job, arrays)
    return {name: known[axis.column] if axis.column >= 0 else (0.0, None) for name, axis in (("x", x), ("y", y))}


def _columns(
    job: Job,
    bundle: Bundle,
    usable: NDArray[np.bool_],
    objectives: Sequence[ObjectiveConfig],
    x: FrontAxis,
    y: FrontAxis,
) -> dict[str, NDArray[Any]]:
    arrays = {name: column[usable] for name, column in bundle.arrays.items()}
    objective, half = arrays["objective"], source.halves(job, arrays)
    verdict = arrays["verdict"] if "verdict" in arrays else source.verdicts_of(job, arrays, bundle.meta)
    values, halves = {}, {}
    for name, axis in (("x", x), ("y", y)):
        told = axis.column >= 0
        values[name] = objective[:, axis.column] if told else arrays["cost"].mean(axis=1)
        halves[f"{name}h"] = half[:, axis.column] if told else 0 * values[name]
    edge = non_dominated(np.column_stack([values["x"], values["y"]]), [_sign(x), _sign(y)])
    return {"id": arrays["id"], **values, **halves, "verdict": verdict, "edge": edge}


def _sign(axis: FrontAxis) -> float:
    return 1.0 if axis.direction == "max" else -1.0


def _sample(columns: dict[str, NDArray[Any]], most: int) -> NDArray[np.int64]:
    """Rows to draw: the whole edge, and of the rest an even share, by rising x."""
    edge, rest = np.flatnonzero(columns["edge"]), np.flatnonzero(~columns["edge"])
    room = max(0, most - len(edge))
    if len(rest) > room:
        rest = rest[np.linspace(0, len(rest) - 1, room).astype(int)] if room else rest[:0]
    rows = np.concatenate([edge, rest])
    return rows[np.argsort(columns["x"][rows], kind="stable")]


def _plain(column: NDArray[Any]) -> list[Any]:
    """Numbers as short as their 32 bits; an interval that is not known is null."""
    if column.dtype.kind != "f":
        return column.astype(int).tolist()
    return [float(f"{v:.7g}") if np.isfinite(v) else None for v in column.tolist()]
