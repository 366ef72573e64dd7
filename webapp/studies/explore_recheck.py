"""Lineups played again on fresh battles, and what that says about the search's verdict on them.

A search picks what looks extreme, so its own numbers flatter. Fresh battles are those at the end of the search (its
edge, replayed) and those of re-checks. Who re-checks a lineup has seen its replay at the end of the search and may have
picked it for that, so once it is re-checked its numbers are those of its re-checks alone, all of them together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from django.core.cache import cache
from numpy.typing import NDArray

from engine.arrays import Bundle, unpack
from engine.config.lineups import ObjectiveConfig
from engine.errors import ConfigError, StoreError
from engine.formula_terms import Parts
from engine.lineups import schema
from engine.lineups.battle_counts import battles_each
from engine.lineups.parts import Sums
from engine.verdicts import Finding, Goals, Sample, Verdict, judged, most_extreme, weights
from webapp.lib.figures import telling, with_unit
from webapp.lib.first import first
from webapp.lib.storage import store
from webapp.lib.words import number
from webapp.studies import explore_source as source
from webapp.studies import patterns
from webapp.studies.explore_source import signs, strength_index
from webapp.studies.fresh import Fresh
from webapp.studies.models import Job, Status

Floats = NDArray[np.float64]
KEPT_S = 3600
"""Seconds for which what fresh battles say is kept."""


class _Part(NamedTuple):
    """One batch of fresh battles of one lineup; ``values`` [samples, m] and ``sums`` [samples, k] of each replicate, or
    None where an earlier version kept none."""

    mean: Floats
    error: Floats
    samples: int
    values: Floats | None
    sums: Floats | None


class _Examined:
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
        for row, key in enumerate(_keys(columns["genome"])):
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


def findings(job: Job) -> dict[bytes, Fresh]:
    """What fresh battles say by now of every lineup of a search that was played again, by ``genome_key``; of a re-check
    whose search is gone, what its own say. Raises StoreError and ConfigError where the game is no longer described.
    Lists of jobs ask often: it is kept until more is played again."""
    key = f"findings-{job.pk}-{source.key(job)}"
    kept: dict[bytes, Fresh] | None = cache.get(key)
    if kept is None:
        kept = _findings(job)
        cache.set(key, kept, KEPT_S)
    return kept


def fresh_numbers(job: Job, genome: NDArray[Any]) -> dict[int, Fresh]:
    """By row of ``genome`` [n, teams, slots], what fresh battles say of it."""
    found = findings(job)
    return {row: found[key] for row, key in enumerate(_keys(genome)) if key in found}


def confirmed_count(job: Job) -> int | None:
    """How many lineups of a search fresh battles confirm by now; None where none was played again, where there is no
    line, or where the game is no longer described."""
    try:
        found = [fresh.finding for fresh in findings(job).values()]
    except (StoreError, ConfigError):
        return None
    return None if not found or "measured" in found else found.count("confirmed")


class Count(NamedTuple):
    """How many lineups fresh battles confirm, of how many that were played again."""

    confirmed: int
    played: int


def confirmed_by(job: Job, lines: Sequence[float | None], baseline: Mapping[str, Any] | None) -> Count | None:
    """How many lineups of a search fresh battles confirm by other lines than its own, and beside another median
    baseline team (as artifacts have it); None where none was played again, or where there is no line. Raises StoreError
    and ConfigError as ``findings`` does."""
    key = f"by-{job.pk}-{source.key(job)}-{hash(repr((lines, baseline)))}"
    kept: list[Finding] | None = cache.get(key)
    if kept is None:
        searched, checked, goals = _examined(job)
        other = goals._replace(lines=list(lines), baseline=_baseline(baseline))
        kept = [verdict.finding for _, verdict in _judged(job, searched, checked, other).values()]
        cache.set(key, kept, KEPT_S)
    return None if not kept or "measured" in kept else Count(kept.count("confirmed"), len(kept))


class Furthest(NamedTuple):
    """The confirmed lineup that is furthest over the line, by the mean of its fresh battles, and where its true value
    is: the range holds although it was picked from all that were played again."""

    value: float
    low: float
    high: float


def furthest(job: Job) -> Furthest | None:
    """Which of a search's confirmed lineups is the furthest in the first objective with a line; None where none is
    confirmed. Raises StoreError and ConfigError as ``findings`` does."""
    if not confirmed_count(job):
        return None
    key = f"furthest-{job.pk}-{source.key(job)}"
    kept: Furthest | None = cache.get(key)
    if kept is None:
        searched, checked, goals = _examined(job)
        judged = _judged(job, searched, checked, goals).values()
        chosen = [sample for sample, verdict in judged if verdict.finding == "confirmed"]
        j = first(j for j, line in enumerate(goals.lines) if line is not None)
        at, ends = most_extreme(chosen, j, goals.signs[j], len(judged))
        kept = Furthest(float(chosen[at].mean[j]), ends.low, ends.high)
        cache.set(key, kept, KEPT_S)
    return kept


def marks_now(job: Job, arrays: Mapping[str, NDArray[Any]]) -> dict[int, int]:
    """The verdicts by now of the lineups of an artifact that were played again, by id; without a line there are none.
    Raises StoreError and ConfigError."""
    ids = arrays["id"].tolist()
    found = fresh_numbers(job, arrays["genome"])
    return {ids[row]: fresh.mark for row, fresh in found.items() if fresh.finding != "measured"}


def _findings(job: Job) -> dict[bytes, Fresh]:
    searched, checked, goals = _examined(job)
    baselines = (checked if checked.parts else searched).baselines
    each = schema.battles_of_replicate(int(job.config["lineups"]["teams"]), len(baselines))
    judged = _judged(job, searched, checked, goals)
    told = source.objectives(job).objectives
    return {
        key: _fresh(sample, verdict, each, _gap(sample, verdict, goals, told), goals)._replace(
            rechecked=key in checked.parts
        )
        for key, (sample, verdict) in judged.items()
    }


def _gap(sample: Sample, verdict: Verdict, goals: Goals, told: Sequence[ObjectiveConfig]) -> str:
    """ "it is at 2.2×, the line at 2.0×; it has 13.2 %, the median baseline team 14.1 % (10.6 to 17.6 %)": what is not
    told apart, in words."""
    if verdict.finding not in ("more", "close"):
        return ""
    lined = [j for j, line in enumerate(goals.lines) if line is not None]
    furthest = max(lined, key=lambda j: goals.signs[j] * (float(sample.mean[j]) - float(goals.lines[j] or 0.0)))
    of_line = [_from_line(sample, furthest, goals, told)] if verdict.both or verdict.open_ == "line" else []
    of_strength = [_from_baseline(sample, goals, told)] if verdict.both or verdict.open_ == "strength" else []
    return "; ".join([*of_line, *of_strength])


def _from_line(sample: Sample, j: int, goals: Goals, told: Sequence[ObjectiveConfig]) -> str:
    value, line = float(sample.mean[j]), goals.lines[j]
    assert line is not None
    digits = telling(value, None, 1, [line])
    here, there = (with_unit(each, told[j].unit, digits) for each in (round(value, digits), line))
    return f"it is at {here}, the line at {there}"


def _from_baseline(sample: Sample, goals: Goals, told: Sequence[ObjectiveConfig]) -> str:
    assert goals.strong is not None
    assert goals.baseline is not None
    value, objective = float(sample.mean[goals.strong]), told[goals.strong]
    here, there = _apart(value, goals.baseline[0], objective.unit)
    low, high = sorted((goals.bar(-1.0), goals.bar(1.0)))
    said = f"it has {here}, the median baseline team {there}"
    if not math.isfinite(low):
        return said
    digits = telling(goals.baseline[0], (low, high), 1)
    return f"{said} ({number(low, digits)} to {with_unit(round(high, digits), objective.unit, digits)})"


def _apart(one: float, other: float, unit: str) -> tuple[str, str]:
    """Two values with so many digits that they read as two, where they are."""
    digits = telling(one, (min(one, other), max(one, other)), 1)
    return with_unit(round(one, digits), unit, digits), with_unit(round(other, digits), unit, digits)


def _judged(
    job: Job, searched: _Examined, checked: _Examined, goals: Goals
) -> dict[bytes, tuple[Sample, Verdict]]:  # fmt: skip
    """Every lineup that was played again, by genome: the battles that count for it, and the verdict. Of two stages the
    later one counts; of those that are meant to be so nothing is told."""
    stages = [_samples(job, searched), _samples(job, checked)]
    lineups = {key: [stage[key] for stage in stages if key in stage] for key in {**stages[0], **stages[1]}}
    verdicts, meant = judged(list(lineups.values()), goals), _meant(job)
    return {
        key: (own[-1], told._replace(finding="meant") if key in meant else told)
        for (key, own), told in zip(lineups.items(), verdicts, strict=True)
    }


def _meant(job: Job) -> set[bytes]:
    """Lineups of a search that somebody means to be so, by genome."""
    found = source.evaluated(job) if patterns.meant_by_now(job) else None
    return set() if found is None else set(_keys(found.columns["genome"][found.meant]))


def _examined(job: Job) -> tuple[_Examined, _Examined, Goals]:
    """What the end of the search played again, what re-checks did, and what is judged."""
    searched, checked = _Examined(), _Examined()
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
    return searched, checked, _goals(source.objectives(job).objectives, meta.get("median_baseline"))


def _read(digest: str) -> Bundle | None:
    """An artifact; None where it was lost: a lost re-check is one that was not made, and the list asks for it again."""
    try:
        return unpack(store().get(digest)) if digest else None
    except StoreError:
        return None


def _goals(objectives: Sequence[ObjectiveConfig], median: dict[str, Any] | None) -> Goals:
    lines = [o.threshold for o in objectives]
    return Goals(signs(tuple(objectives)), lines, strength_index(tuple(objectives)), _baseline(median))


def _baseline(median: Mapping[str, Any] | None) -> tuple[float, float | None, int] | None:
    return None if median is None else (float(median["value"]), median.get("error"), int(median.get("samples", 0)))


def _samples(job: Job, examined: _Examined) -> dict[bytes, Sample]:
    """Each lineup's batches together."""
    keys = list(examined.parts)
    if not keys:
        return {}
    spec, told = source.spec(job), source.objectives(job).objectives
    costs = np.stack([examined.costs[key] for key in keys])
    low, high, exact, plain = schema.spans(spec, told, costs)
    battles = battles_each(told, spec, np.stack([examined.genomes[key] for key in keys]), examined.baselines)
    shares = weights([examined.first[key] for key in keys])
    found = [_pooled(examined.parts[key]) for key in keys]
    sums = Sums(spec, told, costs.shape[1])
    same = examined.sums == {tuple(sums.names)}
    made = sums.parts([part.sums if same else None for part in found], costs)
    return {
        key: Sample(_means(found[i], made[i]), found[i].error, found[i].samples, found[i].values, low[i], high[i],
                    exact, plain, battles[i], float(shares[i]), made[i])
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


def _across(mean: Sequence[float], half: Sequence[float], goals: Goals) -> str:
    """What the ranges of a confirmed lineup, as pages draw them, still reach across."""
    lined = [j for j, line in enumerate(goals.lines) if line is not None]
    if all(goals.signs[j] * (mean[j] - (goals.lines[j] or 0.0)) < half[j] for j in lined):
        return "the line"
    if (j := goals.strong) is None or goals.baseline is None:
        return ""
    return "the median baseline team" if goals.signs[j] * (mean[j] - goals.baseline[0]) < half[j] else ""


def _fresh(sample: Sample, verdict: Verdict, each: float, gap: str, goals: Goals) -> Fresh:
    ends = [sample.range(j) for j in range(len(sample.mean))]
    mean = tuple(map(float, sample.mean))
    reach = [max(end.high - m, m - end.low, 0.0) for end, m in zip(ends, mean, strict=True)]
    needs = 0
    if verdict.finding == "more":
        needs = _round_up((math.ceil(sample.samples * verdict.factor) - sample.samples) * each)
    battles = round(sample.samples * each)
    open_ = verdict.open_ if verdict.finding in ("more", "close") else ""
    across = _across(mean, reach, goals) if verdict.finding == "confirmed" else ""
    half = tuple(own if math.isfinite(own) else None for own in reach)
    return Fresh(
        mean, half, sample.samples, battles, verdict.finding, needs, verdict.over, open_, gap, across, verdict.endless,
        verdict.both,
    )  # fmt: skip


def genome_key(genome: Any) -> bytes:
    """A lineup's genome as a dictionary key."""
    return np.asarray(genome, dtype=np.int32).tobytes()


def _keys(genome: NDArray[Any]) -> Iterable[bytes]:
    """``genome_key`` of each row."""
    everything = genome_key(genome)
    width = len(everything) // max(1, len(genome))
    return (everything[at : at + width] for at in range(0, len(everything), width))


def _round_up(battles: float) -> int:
    """To two leading digits: an estimate should not look like a count."""
    if battles < 1:
        return 10
    step = 10 ** max(1, math.floor(math.log10(battles)) - 1)
    return int(math.ceil(battles / step) * step)


def checking(job: Job) -> set[bytes]:
    """Genomes that a re-check still plays or waits to play."""
    running = job.children.filter(kind="recheck").exclude(status__in=[Status.FINISHED, Status.STOPPED, Status.FAILED])
    return {genome_key(genome) for child in running for genome in child.config["genomes"]}
