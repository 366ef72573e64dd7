"""The files a job is explored with, built once for each state of the job and kept on disk.

``core`` is what charts, filters, counts and the order of the table need; ``lineups`` is what names and details need;
``teams`` is what only exports need, and stays on the server. All are engine.arrays containers; every column is
contiguous, so a filter is a walk over one typed array.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from engine.arrays import pack, unpack
from engine.config.lineups import ObjectiveConfig
from engine.errors import StoreError
from engine.indicators import STRONG, UNDER, UNSURE, Family, families, half_width, verdicts
from engine.lineups import schema
from engine.simulators.contract import GameSpec
from webapp.studies import explore_source as source
from webapp.studies.explore_recheck import Fresh, Searched, fresh_numbers
from webapp.studies.explore_source import signs, strength_index
from webapp.studies.models import Job

PARTS = ("core", "lineups")
"""What browsers fetch."""

KEPT = 6
"""Builds kept for one job: a running one makes a new build whenever somebody looks."""

NO_FAMILY = 0

SURE = ("Under the line", "Under the line", "Over, weak", "Over, weak", "Not sure yet", "Needs more",
        "Very likely", "Confirmed")  # fmt: skip
"""How sure each lineup is, from surely no problem to surely one; column ``sure`` holds places in it. What fresh battles
say stands further out than what the search says: 0, 2, 5 and 7 are theirs."""
_BY_SEARCH = (1, 4, 6)
_FAINT = 3
_BY_FRESH = {"refuted": 0, "weak": 2, "more": 5, "close": 5, "confirmed": 7}
EXPECTED_FROM = 20_000
"""Lineups under the line that say how usual a piece is; more of them change nothing but the time it takes."""


class Explored(NamedTuple):
    """A job's evaluated lineups as the pages know them: by fresh battles where there were any, else by the search's.
    Arrays by name, one row for each lineup; ``core`` objectives are float32[m, n], one contiguous row for each."""

    meta: dict[str, Any]
    core: dict[str, NDArray[Any]]
    lineups: dict[str, NDArray[Any]]
    teams: dict[str, NDArray[Any]]

    @property
    def genome(self) -> NDArray[np.int32]:
        """int32[n, teams, slots] as the engine has them: -1 is an empty slot. Files hold one more, without a sign."""
        return self.lineups["genome"].astype(np.int32) - 1

    @property
    def fresh(self) -> dict[int, Fresh]:
        """What fresh battles say, by lineup id."""
        return {int(i): Fresh(**found["now"]) for i, found in self.meta["fresh"].items()}

    @property
    def searched(self) -> dict[int, Searched]:
        """What the search had said of the same lineups."""
        return {int(i): Searched(**found["before"]) for i, found in self.meta["fresh"].items()}


def build(job: Job) -> Explored:
    """Everything the explorer shows of ``job``; no rows while nothing was evaluated. Raises StoreError."""
    spec, objectives = source.spec(job), source.objectives(job).objectives
    found = source.evaluated(job)
    if found is None:
        return Explored(_meta(job, spec, objectives, None, [], 0.0, {}), {}, {}, {})
    columns = found.columns
    half = half_width(columns["error"], columns["samples"])
    verdict = verdicts(
        columns["objective"],
        half,
        signs(objectives),
        [o.threshold for o in objectives],
        strength_index(objectives),
        _median(found.meta),
    )
    sure = _sure(columns["objective"], half, verdict, objectives, _median(found.meta))
    each = _battles_of_replicate(found.meta, columns)
    known = _take_fresh(fresh_numbers(job, columns["genome"], each), columns, half, verdict, sure)
    shared, member = _families(spec, columns, verdict)
    core = {
        "id": columns["id"].astype(np.uint32),
        "value": np.ascontiguousarray(columns["objective"].T, dtype=np.float32),
        "half": np.ascontiguousarray(half.T, dtype=np.float32),
        "verdict": verdict,
        "sure": sure,
        "family": member,
        "best": found.best.astype(np.uint8),
        "samples": np.minimum(columns["samples"], 65535).astype(np.uint16),
    }
    genome = columns["genome"] + 1
    lineups = {
        "genome": genome.astype(np.uint8 if genome.max(initial=0) < 256 else np.uint16),
        "anchor": columns["anchor"].astype(np.int8),
    }
    teams = {"cost": columns["cost"].astype(np.float32), "strength": columns["team_strength"].astype(np.float32)}
    return Explored(_meta(job, spec, objectives, found, shared, each, known), core, lineups, teams)


def _sure(
    value: NDArray[np.float64],
    half: NDArray[np.float64],
    verdict: NDArray[np.uint8],
    objectives: tuple[ObjectiveConfig, ...],
    median: float | None,
) -> NDArray[np.uint8]:
    """Places in SURE by the search's numbers: what is over the line is weak when its whole range says so."""
    sure = np.array(_BY_SEARCH, dtype=np.uint8)[verdict]
    j = strength_index(objectives)
    if j is not None and median is not None:
        faint = signs(objectives)[j] * (value[:, j] - median) < -half[:, j]
        sure[(verdict == UNSURE) & faint] = _FAINT
    return sure


def _take_fresh(
    fresh: dict[int, Fresh],
    columns: dict[str, NDArray[Any]],
    half: NDArray[np.float64],
    verdict: NDArray[np.uint8],
    sure: NDArray[np.uint8],
) -> dict[int, dict[str, Any]]:
    """Put what fresh battles say in the place of the search's numbers, which flatter; both are told by lineup id."""
    known = {}
    for row, now in fresh.items():
        before = _searched(columns, half, verdict, row)
        columns["objective"][row], half[row], columns["samples"][row] = now.mean, now.half, now.samples
        verdict[row], sure[row] = _settled(now, before), _BY_FRESH.get(now.finding, sure[row])
        both = {"now": now._asdict(), "before": before._asdict(), "words": now.words, "short": now.short}
        known[int(columns["id"][row])] = both
    return known


def _searched(
    columns: dict[str, NDArray[Any]], half: NDArray[np.float64], verdict: NDArray[np.uint8], row: int
) -> Searched:
    halves = tuple(float(h) if np.isfinite(h) else None for h in half[row])
    mean = tuple(map(float, columns["objective"][row]))
    return Searched(mean, halves, int(columns["samples"][row]), int(verdict[row]))


def _settled(now: Fresh, before: Searched) -> int:
    """The verdict after fresh battles. What they leave open is not taken from the list of what is over the line."""
    if now.finding == "measured":
        return before.verdict
    if now.finding in ("confirmed", "refuted"):
        return STRONG if now.finding == "confirmed" else UNDER
    return UNSURE if now.beyond or before.verdict != UNDER else UNDER


def _median(meta: dict[str, Any]) -> float | None:
    median = meta.get("median_baseline")
    return None if median is None else float(median["value"])


def _families(
    spec: GameSpec, columns: dict[str, NDArray[Any]], verdict: NDArray[np.uint8]
) -> tuple[list[Family], NDArray[np.uint8]]:
    """What the strongest teams of unfair lineups share, and to which of these families each lineup belongs."""
    strongest = columns["genome"][np.arange(len(verdict)), np.maximum(columns["anchor"][:, 0], 0)]
    presence = schema.presence(spec, strongest)
    wanted = verdict == 2 if (verdict == 2).sum() >= 3 else verdict >= 1
    under = np.flatnonzero(~wanted)
    usual = under[:: max(1, len(under) // EXPECTED_FROM)]
    rows = np.concatenate([np.flatnonzero(wanted), usual])
    shared = families(presence[rows], wanted[rows])
    shared.sort(key=lambda family: -len(family.rows))
    member = np.full(len(verdict), NO_FAMILY, dtype=np.uint8)
    for number, family in reversed(list(enumerate(shared, start=1))):
        member[presence[:, family.pieces].all(axis=1)] = number
    return shared, member


def _meta(
    job: Job,
    spec: GameSpec,
    objectives: tuple[ObjectiveConfig, ...],
    found: source.Evaluated | None,
    shared: list[Family],
    each: float,
    known: dict[int, dict[str, Any]],
) -> dict[str, Any]:
    columns, meta = (found.columns, found.meta) if found else ({}, {})
    return {
        "job": job.pk,
        "rows": len(columns["id"]) if found else 0,
        "left_out": found.left_out if found else 0,
        "teams": int(columns["genome"].shape[1]) if found else 0,
        "battles_each": meta.get("battles_each", 0),
        "battles_of_replicate": each,
        "median": meta.get("median_baseline"),
        "sure": SURE,
        "fresh": {str(lineup): what for lineup, what in known.items()},
        "baselines": [{"name": b["name"], "drawn": b["drawn"]} for b in meta.get("baselines", [])],
        "objectives": [_objective(o, columns["objective"][:, j] if found else None) for j, o in enumerate(objectives)],
        "families": [{"pieces": list(family.pieces), "name": schema.names(spec, family.pieces)} for family in shared],
        "pieces": [{"id": p.id, "name": p.name, "category": p.category, "cost": p.cost} for p in spec.pieces],
        "slots": _slots(spec),
        "categories": {c.id: c.title for c in spec.categories},
    }


def _battles_of_replicate(meta: dict[str, Any], columns: dict[str, NDArray[Any]]) -> float:
    """Battles that one replicate of a lineup costs: every pairing, both seats. The first evaluation says so."""
    samples = columns.get("samples", np.zeros(0))
    return float(meta.get("battles_each", 0)) / max(1, int(samples[0]) if len(samples) else 1)


def _objective(objective: ObjectiveConfig, values: NDArray[np.float64] | None) -> dict[str, Any]:
    wanted = ("name", "title", "unit", "toward", "direction", "threshold", "strength", "low", "high", "formula")
    plain = objective.model_dump(include=set(wanted))
    return {**plain, "digits": 1 if values is None or not len(values) else _digits(values)}


def _digits(values: NDArray[np.float64]) -> int:
    """Decimals that tell lineups apart without pretending to more: by the spread of the values."""
    low, high = np.percentile(values, [1, 99])
    spread = high - low
    return 0 if spread >= 20 else 1 if spread >= 1.5 else 2 if spread >= 0.15 else 3


def _slots(spec: GameSpec) -> list[dict[str, Any]]:
    at = {slot.id: s for s, slot in enumerate(spec.slots)}
    counted_by = {slot.of: s for s, slot in enumerate(spec.slots) if slot.kind == "count"}
    return [
        {"title": slot.title, "kind": slot.kind, "count": counted_by.get(slot.id, -1), "of": at.get(slot.of, -1)}
        for slot in spec.slots
    ]


def folder(job: Job, state: str) -> Path:
    """Where the files of one state of a job lie."""
    return Path(settings.VAR, "cache", "explore", str(job.pk), state)


def file(job: Job, state: str, part: str) -> Path | None:
    """The file of ``part``, built now if it belongs to the job's present state; None for a state long gone.

    Raises StoreError when an artifact is missing or damaged.
    """
    path = folder(job, state) / f"{part}.arrays"
    if not path.exists() and state == source.key(job):
        _write(job, state)
    return path if path.exists() else None


def explored(job: Job) -> Explored:
    """What browsers have of the job, read from the same files. Raises StoreError."""
    state = source.key(job)
    paths = [file(job, state, part) for part in ("core", "lineups", "teams")]
    bundles = [unpack(path.read_bytes()) for path in paths if path is not None]
    if len(bundles) < len(paths):
        raise StoreError("The lineups of this job could not be read. Try again in a moment.")
    return Explored(bundles[0].meta, *(bundle.arrays for bundle in bundles))


def _write(job: Job, state: str) -> None:
    target = folder(job, state)
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(target.parent / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two readers who come at once wait for one build
        if target.exists():
            return
        explored = build(job)
        draft = target.with_name(f".{secrets.token_hex(8)}")
        draft.mkdir()
        (draft / "core.arrays").write_bytes(pack(explored.meta, explored.core))
        (draft / "lineups.arrays").write_bytes(pack({}, explored.lineups))
        (draft / "teams.arrays").write_bytes(pack({}, explored.teams))
        os.replace(draft, target)
        _forget_old(target.parent)


def _forget_old(parent: Path) -> None:
    builds = sorted((p for p in parent.iterdir() if p.is_dir()), key=lambda p: p.stat().st_mtime, reverse=True)
    for old in builds[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
