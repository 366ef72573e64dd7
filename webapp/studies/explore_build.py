"""The files a job is explored with, built once for each state of the job and kept on disk.

``core`` is what charts, filters, counts and the order of the table need; ``lineups`` is what names and details need;
``teams`` is what only exports need, and stays on the server. All are engine.arrays containers; every column is
contiguous, so a filter is a walk over one typed array.
"""

from __future__ import annotations

import os
import secrets
import shutil
from math import ceil, log10
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from engine.arrays import pack, unpack
from engine.config.lineups import ObjectiveConfig
from engine.errors import DiskFull, StoreError
from engine.indicators import STRONG, UNDER, UNSURE, Family, families
from engine.lineups import schema
from engine.lineups.patterns import Patterns
from engine.simulators.contract import GameSpec
from engine.store import FULL
from webapp.lib.figures import worth_one_more
from webapp.lib.locks import only_one
from webapp.lib.page_json import finite
from webapp.studies import explore_source as source
from webapp.studies import patterns
from webapp.studies.explore_recheck import fresh_numbers
from webapp.studies.explore_source import signs, strength_index
from webapp.studies.fresh import WHY_ACROSS, Fresh, Searched
from webapp.studies.models import Job
from webapp.studies.patterns import Named

PARTS = ("core", "lineups")
"""What browsers fetch."""

LONGEST_WAIT = 20.0
"""Seconds a reader waits for another one who prepares the same files."""

KEPT = 6
"""Builds kept for one job: a running one makes a new build whenever somebody looks."""

NO_FAMILY = 0
FAMILIES = 8
"""As many have a shape and a colour of their own."""

_BY_SEARCH = (1, 4, 6)
_FAINT = 3
_BY_FRESH = {"refuted": 0, "weak": 2, "more": 5, "close": 5, "confirmed": 7}
"""Column ``sure`` holds places in ``Words.sure``."""
EXPECTED_FROM = 20_000
"""Lineups under the line that say how usual a piece is; more of them change nothing but the time it takes."""


class Shared(NamedTuple):
    """What lineups of a family share; ``explains``: it was proved to be why they are unfair."""

    pieces: tuple[int, ...]
    name: str
    explains: bool = False


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
    def lined(self) -> bool:
        """Whether there is a line that lineups can be over."""
        return any(o["threshold"] is not None for o in self.meta["objectives"])

    def how_sure(self, row: int) -> str:
        """How sure a lineup is, in the words of the question; empty where nothing judges it."""
        if self.core["meant"][row]:
            return patterns.MEANT
        fresh = self.meta["fresh"].get(str(self.core["id"][row]))
        if fresh and not self.meta.get("moved"):
            return str(fresh["short"])
        words = self.meta["words"]
        said = str(self.meta["sure"][self.core["sure"][row]]) if self.lined else ""
        return str(words["near"]) if said == words["weak"] and not self._wholly_over(row) else said

    def _wholly_over(self, row: int) -> bool:
        """Whether the whole 95 % range is over a line."""
        lines = [(j, o) for j, o in enumerate(self.meta["objectives"]) if o["threshold"] is not None]
        value, half = (self.core[name][:, row].astype(np.float64) for name in ("value", "half"))
        signed = {j: 1 if o["direction"] == "max" else -1 for j, o in lines}
        return any(signed[j] * (value[j] - float(np.float32(o["threshold"]))) >= half[j] for j, o in lines)

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
        return Explored(_meta(job, spec, objectives, None, np.zeros((0, 0)), [], 0.0, {}), {}, {}, {})
    columns = found.columns
    half = source.halves(job, columns)
    median = source.median(found.meta)
    verdict = source.verdicts_of(job, columns, found.meta)
    sure = _sure(columns["objective"], half, verdict, objectives, median)
    baselines = len(found.meta.get("baselines", ()))
    each = float(schema.battles_of_replicate(columns["genome"].shape[1], baselines))
    named = patterns.explaining(job)[:FAMILIES]
    shared, member = _explained(spec, columns, named) if named else _families(spec, columns, verdict)
    known = _take_fresh(job, fresh_numbers(job, columns["genome"]), columns, half, verdict, sure)
    verdict[found.meant], sure[found.meant] = UNDER, 0  # whatever battles say: nothing counts it
    core = {
        "id": columns["id"].astype(np.uint32),
        "value": np.ascontiguousarray(columns["objective"].T, dtype=np.float32),
        "half": np.ascontiguousarray(half.T, dtype=np.float32),
        "verdict": verdict,
        "sure": sure,
        "family": member,
        "best": found.best.astype(np.uint8),
        "random": source.drawn_at_random(job, columns).astype(np.uint8),
        "samples": np.minimum(columns["samples"], 65535).astype(np.uint16),
        "meant": found.meant.astype(np.uint8),
    }
    genome = columns["genome"] + 1
    lineups = {
        "genome": genome.astype(np.uint8 if genome.max(initial=0) < 256 else np.uint16),
        "anchor": columns["anchor"].astype(np.int8),
    }
    teams = {"cost": columns["cost"].astype(np.float32), "strength": columns["team_strength"].astype(np.float32)}
    meta = _meta(job, spec, objectives, found, half, shared, each, known)
    return Explored({**meta, "strong": int((verdict == STRONG).sum())}, core, lineups, teams)


def _sure(
    value: NDArray[np.float64],
    half: NDArray[np.float64],
    verdict: NDArray[np.uint8],
    objectives: tuple[ObjectiveConfig, ...],
    median: source.Median,
) -> NDArray[np.uint8]:
    """Places in ``Words.sure`` by the search's numbers: what is over the line is weak when its whole range says so."""
    sure = np.array(_BY_SEARCH, dtype=np.uint8)[verdict]
    j = strength_index(objectives)
    if j is not None and median.value is not None:
        faint = signs(objectives)[j] * (value[:, j] - median.value) < -np.hypot(half[:, j], median.half)
        sure[(verdict == UNSURE) & faint] = _FAINT
    return sure


def _take_fresh(
    job: Job,
    fresh: dict[int, Fresh],
    columns: dict[str, NDArray[Any]],
    half: NDArray[np.float64],
    verdict: NDArray[np.uint8],
    sure: NDArray[np.uint8],
) -> dict[int, dict[str, Any]]:
    """Put what fresh battles say in the place of the search's numbers, which flatter; both are told by lineup id."""
    known, words = {}, source.words(job)
    for row, now in fresh.items():
        before = _searched(columns, half, verdict, row)
        columns["objective"][row], columns["samples"][row] = now.mean, now.samples
        half[row] = [np.inf if own is None else own for own in now.half]
        if now.finding != "measured":
            verdict[row] = now.mark
        sure[row] = _BY_FRESH.get(now.finding, sure[row])
        said = {"words": now.sentence(words), "short": now.short(words), "why": now.why}
        known[int(columns["id"][row])] = {"now": now._asdict(), "before": before._asdict(), **said}
    return known


def _searched(
    columns: dict[str, NDArray[Any]], half: NDArray[np.float64], verdict: NDArray[np.uint8], row: int
) -> Searched:
    halves = tuple(float(h) if np.isfinite(h) else None for h in half[row])
    mean = tuple(map(float, columns["objective"][row]))
    return Searched(mean, halves, int(columns["samples"][row]), int(verdict[row]))


def _families(
    spec: GameSpec, columns: dict[str, NDArray[Any]], verdict: NDArray[np.uint8]
) -> tuple[list[Shared], NDArray[np.uint8]]:
    """What the strongest teams of unfair lineups share, and to which of these families each lineup belongs: to the
    largest of those it fits. No family is without a lineup; those with most unfair ones come first.

    ``verdict`` is the search's own: pieces are shared by what it found, whatever fresh battles say of some of it later.
    """
    strongest = columns["genome"][np.arange(len(verdict)), np.maximum(columns["anchor"][:, 0], 0)]
    presence = schema.presence(spec, strongest)
    wanted = verdict == 2 if (verdict == 2).sum() >= 3 else verdict >= 1
    under = np.flatnonzero(~wanted)
    usual = under[:: max(1, len(under) // EXPECTED_FROM)]
    rows = np.concatenate([np.flatnonzero(wanted), usual])
    shared = families(presence[rows], wanted[rows])
    shared.sort(key=lambda family: -len(family.rows))
    holds = [presence[:, family.pieces].all(axis=1) for family in shared]
    free = np.ones(len(verdict), dtype=bool)
    member, kept = np.full(len(verdict), NO_FAMILY, dtype=np.uint8), list[Family]()
    for family, has in zip(shared, holds, strict=True):
        if not (has & free).any():
            continue  # all of its lineups belong to larger families
        kept.append(family)
        member[has & free] = len(kept)
        free &= ~has
    many = np.bincount(member[wanted], minlength=len(kept) + 1)[1:]
    order = np.argsort(-many, kind="stable")
    place = np.full(len(kept) + 1, NO_FAMILY, dtype=np.uint8)
    place[order + 1] = np.arange(1, len(kept) + 1)
    ordered = [kept[i].pieces for i in order]
    return [Shared(pieces, schema.names(spec, pieces)) for pieces in ordered], place[member]


def _explained(
    spec: GameSpec, columns: dict[str, NDArray[Any]], named: list[Named]
) -> tuple[list[Shared], NDArray[np.uint8]]:
    """The same by what was proved to make lineups unfair, and never by what just stands beside it: each lineup belongs
    to the first that explains it."""
    held = Patterns(spec, [each.pattern for each in named]).explained(columns["genome"], columns["anchor"])
    first = np.where(held.any(axis=1), held.argmax(axis=1) + 1, NO_FAMILY)
    index = spec.piece_index()
    shared = [Shared(tuple(index[piece] for piece in each.pattern.pieces), each.name, explains=True) for each in named]
    return shared, first.astype(np.uint8)


def _meta(
    job: Job,
    spec: GameSpec,
    objectives: tuple[ObjectiveConfig, ...],
    found: source.Evaluated | None,
    half: NDArray[np.float64],
    shared: list[Shared],
    each: float,
    known: dict[int, dict[str, Any]],
) -> dict[str, Any]:
    columns, meta = (found.columns, found.meta) if found else ({}, {})
    words = source.words(job)
    return {
        "job": job.pk,
        "rows": len(columns["id"]) if found else 0,
        "strong": 0,
        "left_out": found.left_out if found else 0,
        "meant": int(found.meant.sum()) if found else 0,
        "meant_words": patterns.MEANT,
        "teams": int(columns["genome"].shape[1]) if found else 0,
        "battles_each": meta.get("battles_each", 0),
        "battles_of_replicate": each,
        "median": _median(meta),
        "sure": words.sure,
        "words": words.plain(),
        "moved_sure": words.moved_sure,
        "fresh": {str(lineup): what for lineup, what in known.items()},
        "why_across": WHY_ACROSS,
        "baselines": [{"name": b["name"], "drawn": b["drawn"]} for b in meta.get("baselines", [])],
        "objectives": _objectives(job, objectives, columns, half),
        "families": [{"pieces": list(family.pieces), "name": family.name} for family in shared],
        "explained": bool(shared) and shared[0].explains,
        "pieces": [{"id": p.id, "name": p.name, "category": p.category, "cost": p.cost} for p in spec.pieces],
        "slots": source.slots(spec),
        "categories": {c.id: c.title for c in spec.categories},
    }


def _median(meta: dict[str, Any]) -> dict[str, Any] | None:
    """The median baseline team, with half of its 95 % range; a half that is not known is left out."""
    baseline, half = meta.get("median_baseline"), source.median(meta).half
    return baseline and {**baseline, **({"half": half} if np.isfinite(half) else {})}


def _objectives(
    job: Job, objectives: tuple[ObjectiveConfig, ...], columns: dict[str, NDArray[Any]], half: NDArray[np.float64]
) -> list[dict[str, Any]]:
    """Each as plain values; where it has no floor or cap of its own, those that the game's numbers set."""
    if not columns or not len(columns["id"]):
        return [_objective(o) for o in objectives]
    found = zip(objectives, columns["objective"].T, half.T, source.ends(job, columns), strict=True)
    return [{**_objective(o, values, own), "low": low, "high": high} for o, values, own, (low, high) in found]


def _objective(
    objective: ObjectiveConfig, values: NDArray[np.float64] | None = None, half: NDArray[np.float64] | None = None
) -> dict[str, Any]:
    wanted = ("name", "title", "unit", "toward", "direction", "threshold", "strength", "low", "high", "formula")
    plain = objective.model_dump(include=set(wanted))
    if values is None or half is None or not len(values):
        return {**plain, "digits": 1, "worth": 1}
    digits = max(_digits(values), _beside(objective.threshold))
    return {**plain, "digits": digits, "worth": digits + worth_one_more(half.ravel().tolist(), digits)}


def _digits(values: NDArray[np.float64]) -> int:
    """Decimals that tell lineups apart without pretending to more: by the spread of the values, where they have one."""
    low, high = np.percentile(values, [1, 99])
    spread = high - low or 1.5
    return 0 if spread >= 20 else 1 if spread >= 1.5 else 2 if spread >= 0.15 else 3


def _beside(line: float | None) -> int:
    """Decimals by which lineups differ beside a line: a tenth of it can be told, up to a thousandth."""
    return 0 if not line else max(0, min(3, ceil(1 - log10(abs(line)))))


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
    try:
        with only_one(target.parent / ".lock", LONGEST_WAIT):  # two readers who come at once wait for one build
            if not target.exists():
                _keep(build(job), target)
    except TimeoutError as error:
        raise StoreError("The lineups of this job are still being prepared. Try again in a moment.") from error


def _keep(explored: Explored, target: Path) -> None:
    draft = target.with_name(f".{secrets.token_hex(8)}")
    try:
        draft.mkdir()
        (draft / "core.arrays").write_bytes(pack(finite(explored.meta), explored.core))
        (draft / "lineups.arrays").write_bytes(pack({}, explored.lineups))
        (draft / "teams.arrays").write_bytes(pack({}, explored.teams))
        os.replace(draft, target)
    except OSError as error:
        shutil.rmtree(draft, ignore_errors=True)
        kind = DiskFull if error.errno in FULL else StoreError
        raise kind(f"The lineups of this job could not be written down: {error.strerror}.") from error
    _forget_old(target.parent)


def _forget_old(parent: Path) -> None:
    builds = sorted((p for p in parent.iterdir() if p.is_dir()), key=lambda p: p.stat().st_mtime, reverse=True)
    for old in builds[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
