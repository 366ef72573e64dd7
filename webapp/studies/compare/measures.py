"""The same measures for several searches: what they share, the volume of their edges beyond one fixed corner, and
their verdicts by one reference.

The corner and the units of the volume are the box that the first round of the project's oldest such search spans: they
stay as they are whatever is compared, so volumes of different days can be compared as well.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import unpack
from engine.errors import StoreError
from engine.indicators import STRONG, UNDER, hypervolume, standard_errors, verdicts
from webapp.lib.storage import store
from webapp.studies import explore_source as source
from webapp.studies import front, kinds
from webapp.studies.compare.reference import Reference
from webapp.studies.comparing import Comparing
from webapp.studies.explore_source import Ends
from webapp.studies.models import Job

MOST_ROUNDS = 40
DRAWS, MOST_DRAWN = 60, 4
"""With more objectives the volume takes too long to be measured for every draw."""
NORMAL = 1.959964
Floats = NDArray[np.float64]


class Box(NamedTuple):
    """Corners of the fixed box, by objective, and the job whose first round spans it."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    job: int


class Volume(NamedTuple):
    """A volume in units of the box, and half of its 95 % range (0: not known)."""

    value: float
    half: float


class Verdicts(NamedTuple):
    """Lineups of an edge, by its own numbers: all, over the line and strong, over but weak or unsure."""

    lineups: int
    strong: int
    unsure: int


def of(job: Job) -> Comparing:
    """How searches of this job's kind are compared."""
    comparing = kinds.of(job).comparing
    if comparing is None:
        raise LookupError(f"jobs of kind {job.kind} are not compared")
    return comparing


def question(job: Job) -> tuple[Any, ...]:
    """What two searches must share so that their edges are measured alike: the game, and what is pushed where."""
    pushed = [(o.name, o.formula, o.direction, o.low, o.high) for o in front.of_job(job).objectives]
    return (job.kind, *of(job).game(job), *pushed)


def asks(job: Job) -> str:
    """The same as one short word, for scripts."""
    return hashlib.sha256(repr(question(job)).encode()).hexdigest()[:12]


def effort(job: Job) -> str:
    """How much a search did, where one chooses it."""
    return of(job).effort(job)


def signs(job: Job) -> tuple[float, ...]:
    """+1 for each objective to push up, -1 for each to push down."""
    return tuple(1.0 if o.direction == "max" else -1.0 for o in front.of_job(job).objectives)


def stops(job: Job) -> tuple[Ends, ...]:
    """The floor and the cap of each objective."""
    return tuple((o.low, o.high) for o in front.of_job(job).objectives)


def box_of(job: Job) -> Box | None:
    """The fixed box for a search's question; None before any such search has a round."""
    wanted = question(job)
    searches = Job.objects.filter(project=job.project_id, kind=job.kind, tick__gt=0).order_by("pk")
    for other in searches.only("pk", "config", "artifacts"):
        if question(other) == wanted and (box := _box(other)) is not None:
            return box
    return None


def _box(job: Job) -> Box | None:
    try:
        arrays = unpack(store().get(_first_round(job))).arrays
    except StoreError:
        return None
    first = (arrays["tick"] <= arrays["tick"].min(initial=1)) & (arrays["status"] == 0)
    good = arrays["objective"][first]
    good = good[np.isfinite(good).all(axis=1)]
    if not len(good):
        return None
    return Box(tuple(good.min(axis=0).tolist()), tuple(good.max(axis=0).tolist()), job.pk)


def _first_round(job: Job) -> str:
    """What was evaluated in the first round, as its own artifact or as part of the archive."""
    return front.artifact(job, "chunk", 1) or str(job.artifacts.get("archive", ""))


def volume_at(job: Job, digest: str, box: Box) -> tuple[float, None] | None:
    """The volume of one edge, of which no range is known; None where its artifact is lost."""
    try:
        return _volume(digest, box, signs(job)), None
    except StoreError:
        return None


@lru_cache(maxsize=4096)
def _volume(digest: str, box: Box, directions: tuple[float, ...]) -> float:
    return _measured(usable(digest)["objective"], box, directions)


def usable(digest: str) -> dict[str, NDArray[Any]]:
    """Lineups of an artifact that could be played and keep the constraints. Raises StoreError."""
    arrays = unpack(store().get(digest)).arrays
    good = (arrays["status"] == 0) & np.isfinite(arrays["objective"]).all(axis=1) & ~(arrays["violation"] > 0)
    return {name: column[good] for name, column in arrays.items()}


def _measured(points: Floats, box: Box, directions: tuple[float, ...]) -> float:
    low, high = np.array(box.low), np.array(box.high)
    corner = [0.0 if sign > 0 else 1.0 for sign in directions]
    return hypervolume((points - low) / np.where(high > low, high - low, 1.0), directions, corner)


def spread_is_known(covariance: Floats, means: Floats) -> bool:
    """Whether every lineup has one in each objective that luck has a part in: equal values say nothing of luck."""
    if not len(covariance) or not np.isfinite(covariance).all():
        return False
    spread = standard_errors(covariance, means) > 0
    return bool(spread.any() and spread[:, spread.any(axis=0)].all())


@lru_cache(maxsize=256)
def volume_with_range(digest: str, box: Box, directions: tuple[float, ...], stops: tuple[Ends, ...]) -> Volume:
    """The volume of one edge and how far luck may have moved it: draws of every lineup from its mean and covariance, of
    which none is beyond where an objective ``stops``. Raises StoreError."""
    arrays = usable(digest)
    value = _measured(arrays["objective"], box, directions)
    covariance = arrays["covariance"]
    if len(directions) > MOST_DRAWN or not spread_is_known(covariance, arrays["objective"]):
        return Volume(value, 0.0)
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    shaken = np.random.default_rng(0).standard_normal((DRAWS, *arrays["objective"].shape))
    low, high = (np.array([s * np.inf if e[i] is None else e[i] for e in stops], float) for i, s in ((0, -1), (1, 1)))
    moved = np.clip(arrays["objective"] + np.einsum("nij,dnj->dni", root, shaken), low, high)
    return Volume(value, float(NORMAL * np.std([_measured(draw, box, directions) for draw in moved])))


def rounds_of(job: Job, measure: Callable[[str], tuple[float, float | None] | None]) -> dict[str, list[float | None]]:
    """What ``measure`` finds in the edge, as a value and half of its 95 % range, after rounds that are evenly spread
    over the search, with the lineups compared by then."""
    step = max(1, -(-job.tick // MOST_ROUNDS))
    wanted = sorted({1, *range(step, job.tick + 1, step), job.tick} - {0})
    events = job.events.filter(kind="progressed", tick__in=wanted).order_by("tick").values_list("tick", "body")
    columns: dict[str, list[float | None]] = {"tick": [], "lineups": [], "value": [], "half": []}
    for tick, body in events:
        found = measure(body.get("artifacts", {}).get("front", ""))
        if found is not None:
            columns["tick"].append(tick)
            columns["lineups"].append(body.get("counters", {}).get("evaluations", 0))
            for name, number in zip(("value", "half"), found, strict=True):
                columns[name].append(None if number is None else float(f"{number:.6g}"))
    return columns


def verdicts_of(job: Job, digest: str, by: Reference) -> Verdicts:
    """How many lineups of an edge are over the lines of ``by``, and stronger than its median baseline team. Raises
    StoreError."""
    arrays, objectives = usable(digest), front.of_job(job).objectives
    strength = next((i for i, o in enumerate(objectives) if o.strength), None)
    half = source.halves(job, arrays)
    found = verdicts(
        arrays["objective"], half, signs(job), by.lines, strength, by.median, np.inf if by.half is None else by.half
    )
    strong = int((found == STRONG).sum())
    return Verdicts(len(found), strong, int((found > UNDER).sum()) - strong)
