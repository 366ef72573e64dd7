"""The fresh battles of a search's lineups, read from the store: those at its end, and those of its re-checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle, unpack
from engine.config.lineups import ObjectiveConfig
from engine.errors import StoreError
from engine.formula_terms import Parts
from engine.lineups import schema
from engine.lineups.battle_counts import battles_each
from engine.lineups.parts import Sums
from engine.verdicts import Goals, Sample, weights
from webapp.lib.storage import store
from webapp.studies import explore_source as source
from webapp.studies.explore_source import signs, strength_index
from webapp.studies.models import Job
from webapp.studies.sample_ranges import Ranges

Floats = NDArray[np.float64]


class _Part(NamedTuple):
    """One batch of fresh battles of one lineup; ``values`` [samples, m] and ``sums`` [samples, k] of each replicate, or
    None where an earlier version kept none."""

    mean: Floats
    error: Floats
    samples: int
    values: Floats | None
    sums: Floats | None


class Examined:
    """Every lineup that was played again, by genome: in the batch ``first`` of those that examined it."""

    def __init__(self) -> None:
        self.parts: dict[bytes, list[_Part]] = {}
        self.first: dict[bytes, int] = {}
        self.costs: dict[bytes, Floats] = {}
        self.genomes: dict[bytes, NDArray[np.int32]] = {}
        self.sums: set[tuple[str, ...]] = set()
        self.baselines: NDArray[np.int32] = np.empty((0, 0), np.int32)

    def take(self, bundle: Bundle, batch: int) -> None:
        """Add the lineups of an artifact that could be measured, and that broke no rule and were not meant to be so
        when they were played."""
        columns = bundle.arrays
        if not len(columns["id"]):  # a re-check that was stopped before its first lineup
            return
        values, sums = columns.get("values"), columns.get("sums")
        self.sums.add(tuple(bundle.meta.get("sums", ())))
        met = [each["row"] for each in bundle.meta.get("baselines", ())]
        self.baselines = np.array(met, np.int32).reshape(len(met), columns["genome"].shape[2])
        for row, key in enumerate(genome_keys(columns["genome"])):
            n, mean = int(columns["samples"][row]), columns["objective"][row].astype(float)
            if n < 2 or not np.isfinite(mean).all() or columns["violation"][row] > 0:
                continue
            each, own = (_of_row(table, row, n) for table in (values, sums))
            self.parts.setdefault(key, []).append(_Part(mean, columns["error"][row].astype(float), n, each, own))
            self.first.setdefault(key, batch)
            self.costs[key] = columns["cost"][row].astype(float)
            self.genomes[key] = columns["genome"][row]


def _of_row(table: NDArray[Any] | None, row: int, n: int) -> Floats | None:
    """The first ``n`` of a row [samples, ...]; None where they were not kept."""
    found = None if table is None else table[row, :n].astype(float)
    return None if found is None or len(found) < n or not np.isfinite(found).all() else found


class Fought(NamedTuple):
    """What the end of a search played again, what re-checks did, what is judged, and the ranges known."""

    searched: Examined
    checked: Examined
    goals: Goals
    ranges: Ranges


def fought_of(job: Job) -> Fought:
    searched, checked = Examined(), Examined()
    meta: dict[str, Any] = {}
    for digest in source.searched_again(job):
        if bundle := _read(digest):
            searched.take(bundle, 0)
            meta = bundle.meta
    rechecks = source.rechecks(job) or [job]  # a re-check has none but itself
    for batch, child in enumerate(rechecks, start=1 if searched.parts else 0):
        if bundle := _read(child.artifacts.get("result", "")):
            checked.take(bundle, batch)
            meta = bundle.meta
    goals = _goals(source.objectives(job).objectives, meta.get("median_baseline"))
    return Fought(searched, checked, goals, Ranges(job))


def _read(digest: str) -> Bundle | None:
    """An artifact; None where it was lost: a lost re-check is one that was not made, and the list asks for it again."""
    try:
        return unpack(store().get(digest)) if digest else None
    except StoreError:
        return None


def _goals(objectives: Sequence[ObjectiveConfig], median: dict[str, Any] | None) -> Goals:
    lines = [o.threshold for o in objectives]
    return Goals(signs(tuple(objectives)), lines, strength_index(tuple(objectives)), baseline_of(median))


def baseline_of(median: Mapping[str, Any] | None) -> tuple[float, float | None, int] | None:
    return None if median is None else (float(median["value"]), median.get("error"), int(median.get("samples", 0)))


def samples_of(job: Job, examined: Examined) -> dict[bytes, Sample]:
    """Each lineup's batches together."""
    keys = list(examined.parts)
    if not keys:
        return {}
    spec, objectives = source.spec(job), source.objectives(job).objectives
    costs = np.stack([examined.costs[key] for key in keys])
    low, high, exact, plain = schema.spans(spec, objectives, costs)
    battles = battles_each(objectives, spec, np.stack([examined.genomes[key] for key in keys]), examined.baselines)
    shares = weights([examined.first[key] for key in keys])
    found = [_pooled(examined.parts[key]) for key in keys]
    sums = Sums(spec, objectives, costs.shape[1])
    same = examined.sums == {tuple(sums.names)}
    made = sums.parts([part.sums if same else None for part in found], costs)
    return {
        key: Sample(_means(found[i], made[i]), found[i].error, found[i].samples, found[i].values, low[i], high[i],
                    exact, plain, battles[i], float(shares[i]), made[i], {})
        for i, key in enumerate(keys)
    }  # fmt: skip


def _means(part: _Part, made: Sequence[Parts | None]) -> Floats:
    """The objectives by all batches together: of what is no weighted sum, not the average of what the batches say."""
    return np.array([mean if own is None else own.value for mean, own in zip(part.mean, made, strict=True)])


def _pooled(parts: list[_Part]) -> _Part:
    samples = sum(part.samples for part in parts)
    mean = sum(part.samples * part.mean for part in parts) / samples
    error = np.sqrt(sum((part.samples * part.error) ** 2 for part in parts)) / samples
    values, sums = _together([part.values for part in parts]), _together([part.sums for part in parts])
    return _Part(np.asarray(mean), error, samples, values, sums)


def _together(tables: Sequence[Any]) -> Floats | None:
    """One after the other; None where one was not kept."""
    return None if any(table is None for table in tables) else np.concatenate(tables)


def genome_key(genome: Any) -> bytes:
    """A lineup's genome as a dictionary key."""
    return np.asarray(genome, dtype=np.int32).tobytes()


def genome_keys(genome: NDArray[Any]) -> Iterable[bytes]:
    """``genome_key`` of each row."""
    everything = genome_key(genome)
    width = len(everything) // max(1, len(genome))
    return (everything[at : at + width] for at in range(0, len(everything), width))
