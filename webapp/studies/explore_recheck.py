"""Lineups played again on fresh battles, and what that says about the search's verdict on them.

A search picks what looks extreme, so its own numbers flatter. Fresh battles are those at the end of the search (its
edge, replayed) and those of re-checks. Who re-checks a lineup has seen its replay at the end of the search and may have
picked it for that, so once it is re-checked its numbers are those of its re-checks alone, all of them together.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from engine.config.lineups import ObjectiveConfig
from engine.errors import ConfigError, StoreError
from engine.lineups import schema
from engine.verdicts import Finding, Goals, Sample, Verdict, judged, most_extreme
from webapp.lib.figures import telling, with_unit
from webapp.lib.first import first
from webapp.lib.words import number
from webapp.studies import explore_source as source
from webapp.studies import patterns
from webapp.studies.fresh import Fresh
from webapp.studies.fresh_battles import Fought, baseline_of, fought_of, genome_key, genome_keys, samples_of
from webapp.studies.models import Job, Status
from webapp.studies.reckoned import Form, reckoned


def findings(job: Job) -> dict[bytes, Fresh]:
    """What fresh battles say by now of every lineup of a search that was played again, by ``genome_key``; of a re-check
    whose search is gone, what its own say. Raises StoreError and ConfigError where the game is no longer described.
    Lists of jobs ask often: it is kept until more is played again."""
    slow = bool(source.replayed(job))
    return reckoned(job, "findings", source.key(job), lambda: _findings(job), _FINDINGS, slow=slow)


def fresh_numbers(job: Job, genome: NDArray[Any]) -> dict[int, Fresh]:
    """By row of ``genome`` [n, teams, slots], what fresh battles say of it."""
    found = findings(job)
    return {row: found[key] for row, key in enumerate(genome_keys(genome)) if key in found}


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
    state = hashlib.sha256(repr((source.key(job), lines, baseline)).encode()).hexdigest()
    kept: list[Finding] = reckoned(job, "by", state, lambda: _by(job, lines, baseline), Form(list, list))
    return None if not kept or "measured" in kept else Count(kept.count("confirmed"), len(kept))


def _by(job: Job, lines: Sequence[float | None], baseline: Mapping[str, Any] | None) -> list[Finding]:
    fought = fought_of(job)
    goals = fought.goals._replace(lines=list(lines), baseline=baseline_of(baseline))
    found = [verdict.finding for _, verdict in _judged(job, fought, goals).values()]
    fought.ranges.keep()
    return found


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
    return reckoned(job, "furthest", source.key(job), lambda: _furthest(job), Form(list, lambda ends: Furthest(*ends)))


def _furthest(job: Job) -> Furthest:
    fought = fought_of(job)
    goals, judged = fought.goals, _judged(job, fought, fought.goals).values()
    chosen = [sample for sample, verdict in judged if verdict.finding == "confirmed"]
    j = first(j for j, line in enumerate(goals.lines) if line is not None)
    at, ends = most_extreme(chosen, j, goals.signs[j], len(judged))
    fought.ranges.keep()
    return Furthest(float(chosen[at].mean[j]), ends.low, ends.high)


def marks_now(job: Job, arrays: Mapping[str, NDArray[Any]]) -> dict[int, int]:
    """The verdicts by now of the lineups of an artifact that were played again, by id; without a line there are none.
    Raises StoreError and ConfigError."""
    ids = arrays["id"].tolist()
    found = fresh_numbers(job, arrays["genome"])
    return {ids[row]: fresh.mark for row, fresh in found.items() if fresh.finding != "measured"}


def _findings(job: Job) -> dict[bytes, Fresh]:
    fought = fought_of(job)
    searched, checked, goals = fought.searched, fought.checked, fought.goals
    baselines = (checked if checked.parts else searched).baselines
    each = schema.battles_of_replicate(int(job.config["lineups"]["teams"]), len(baselines))
    judged = _judged(job, fought, goals)
    objectives = source.objectives(job).objectives
    found = {
        key: _fresh(sample, verdict, each, _gap(sample, verdict, goals, objectives), goals)._replace(
            rechecked=key in checked.parts
        )
        for key, (sample, verdict) in judged.items()
    }
    fought.ranges.keep()
    return found


def _read_findings(kept: Mapping[str, Any]) -> dict[bytes, Fresh]:
    return {bytes.fromhex(key): Fresh(tuple(mean), tuple(half), *more) for key, (mean, half, *more) in kept.items()}


_FINDINGS = Form(lambda found: {key.hex(): list(fresh) for key, fresh in found.items()}, _read_findings)


def _gap(sample: Sample, verdict: Verdict, goals: Goals, objectives: Sequence[ObjectiveConfig]) -> str:
    """ "it is at 2.2×, the line at 2.0×; it has 13.2 %, the median baseline team 14.1 % (10.6 to 17.6 %)": what is not
    told apart, in words."""
    if verdict.finding not in ("more", "close"):
        return ""
    lined = [j for j, line in enumerate(goals.lines) if line is not None]
    furthest = max(lined, key=lambda j: goals.signs[j] * (float(sample.mean[j]) - float(goals.lines[j] or 0.0)))
    of_line = [_from_line(sample, furthest, goals, objectives)] if verdict.both or verdict.open_ == "line" else []
    of_strength = [_from_baseline(sample, goals, objectives)] if verdict.both or verdict.open_ == "strength" else []
    return "; ".join([*of_line, *of_strength])


def _from_line(sample: Sample, j: int, goals: Goals, objectives: Sequence[ObjectiveConfig]) -> str:
    value, line = float(sample.mean[j]), goals.lines[j]
    assert line is not None
    digits = telling(value, None, 1, [line])
    here, there = (with_unit(each, objectives[j].unit, digits) for each in (round(value, digits), line))
    return f"it is at {here}, the line at {there}"


def _from_baseline(sample: Sample, goals: Goals, objectives: Sequence[ObjectiveConfig]) -> str:
    assert goals.strong is not None
    assert goals.baseline is not None
    value, objective = float(sample.mean[goals.strong]), objectives[goals.strong]
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


def _judged(job: Job, fought: Fought, goals: Goals) -> dict[bytes, tuple[Sample, Verdict]]:
    """Every lineup that was played again, by genome: the battles that count for it, and the verdict. Of two stages the
    later one counts; of those that are meant to be so nothing is told."""
    stages = [samples_of(job, fought.searched), samples_of(job, fought.checked)]
    for stage in stages:
        fought.ranges.give(stage.values())
    lineups = {key: [stage[key] for stage in stages if key in stage] for key in {**stages[0], **stages[1]}}
    verdicts, meant = judged(list(lineups.values()), goals), _meant(job)
    return {
        key: (own[-1], verdict._replace(finding="meant") if key in meant else verdict)
        for (key, own), verdict in zip(lineups.items(), verdicts, strict=True)
    }


def _meant(job: Job) -> set[bytes]:
    """Lineups of a search that somebody means to be so, by genome."""
    found = source.evaluated(job) if patterns.meant_by_now(job) else None
    return set() if found is None else set(genome_keys(found.columns["genome"][found.meant]))


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
