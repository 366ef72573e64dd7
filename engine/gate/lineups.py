"""What fresh battles say of lineups that a gate plays: exploits of earlier builds, and what its search ended with."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import verdicts
from engine.arrays import Bundle
from engine.config.lineups import ObjectiveConfig
from engine.config.patterns import Pattern
from engine.gate.report import GateFinding, Part, rounded
from engine.lineups import schema
from engine.lineups.battle_counts import battles_each
from engine.lineups.distinct_names import distinct_names
from engine.lineups.parts import Sums
from engine.lineups.patterns import Patterns
from engine.simulators.contract import GameSpec
from engine.text import written
from engine.verdicts import Goals, InLists, Many, Sample, Verdict

MEANT = "not counted: what makes it so is intended"
OTHERWISE = " Against other baseline teams the same lineup has other numbers, and may be strong or weak."
Floats = NDArray[np.float64]


class JudgedLineups(NamedTuple):
    """Lineups of a ``part`` and what is judged of them: ``samples``, of each that could be measured, ``rows`` int32[n,
    teams, slots], their ``names``, ``each``, the battles of one replicate, and ``of`` how many of its part these are
    some; ``met``: the name of the baseline teams that tell whether they are strong (empty: the gate's own). ``meant``
    bool[n]: those that something explains which is intended (empty: none)."""

    part: Part
    goals: Goals
    samples: list[Sample | None]
    rows: NDArray[np.int32]
    names: list[str]
    each: int
    of: int
    met: str = ""
    meant: Sequence[bool] = ()

    @property
    def evidence(self) -> list[float]:
        """Log of the evidence that each is over a line and strong; none where that is intended."""
        return [-math.inf if s is None else verdicts.evidence(s, self.goals) for s in self.counted]

    @property
    def counted(self) -> list[Sample | None]:
        """The samples of those that are not intended."""
        meant = self.meant or (False,) * len(self.samples)
        return [None if so else sample for sample, so in zip(self.samples, meant, strict=True)]


def lineups_of(
    part: Part, bundle: Bundle, spec: GameSpec, objectives: Sequence[ObjectiveConfig], of: int, share: float,
    medians: int = 1, names: Sequence[str] = (), met: str = "", intended: Sequence[Pattern] = (),
) -> JudgedLineups:  # fmt: skip
    """The lineups of an artifact of fresh battles, some ``of`` so many, which have this ``share`` of the evidence that
    may be wrong; they are called by their ``names`` or, without any, so that no two are called alike. ``medians``: as
    ``Goals`` has it; ``intended``: what is meant to be so."""
    meta, columns = bundle
    rows, teams = columns["genome"], columns["genome"].shape[1]
    signs = [1.0 if o.direction == "max" else -1.0 for o in objectives]
    strong = next((i for i, o in enumerate(objectives) if o.strength), None)
    b = meta["median_baseline"]
    goals = Goals(signs, [o.threshold for o in objectives], strong, (b["value"], b["error"], b["samples"]), medians)
    teams_met = np.array([each["row"] for each in meta["baselines"]], np.int32).reshape(-1, rows.shape[2])
    samples = _samples(columns, spec, objectives, teams_met, share / max(of, 1))
    parts = [[schema.team_parts(spec, row) or [schema.EMPTY_TEAM] for row in lineup] for lineup in rows]
    meant = [bool(held.any()) for held in Patterns(spec, intended).explained(rows, columns["anchor"])]
    own, each = list(names) or distinct_names(parts), schema.battles_of_replicate(teams, len(teams_met))
    return JudgedLineups(part, goals, samples, rows, own, each, of, met, meant)


def _samples(
    columns: Mapping[str, NDArray[Any]], spec: GameSpec, objectives: Sequence[ObjectiveConfig],
    baselines: NDArray[np.int32], share: float,
) -> list[Sample | None]:  # fmt: skip
    costs, counts = columns["cost"].astype(float), columns["samples"].tolist()
    if not len(costs):
        return []
    low, high, exact, plain = schema.spans(spec, objectives, costs)
    battles = battles_each(objectives, spec, columns["genome"], baselines)
    values, sums = (
        [_kept(table, i, n) for i, n in enumerate(counts)] for table in (columns["values"], columns["sums"])
    )
    made = Sums(spec, objectives, costs.shape[1]).parts(sums, costs)
    good = (columns["status"] == 0) & (columns["samples"] > 1) & np.isfinite(columns["objective"]).all(axis=1)
    return [
        Sample(columns["objective"][i], columns["error"][i], counts[i], values[i], low[i], high[i], exact, plain,
               battles[i], share, made[i]) if good[i] else None
        for i in range(len(costs))
    ]  # fmt: skip


def _kept(table: NDArray[Any], i: int, samples: int) -> Floats | None:
    """What each replicate of a row has; None where it was not kept."""
    found = table[i, :samples].astype(float)
    return found if len(found) == samples and np.isfinite(found).all() else None


def rows_of(
    lineups: JudgedLineups, confirmed: Sequence[bool], spec: GameSpec, objectives: Sequence[ObjectiveConfig]
) -> list[GateFinding]:
    """A row for each. ``confirmed``: which of them are."""
    rows = []
    under = verdicts.cleared([[sample] for sample in lineups.counted if sample is not None], lineups.goals)
    many, cleared = Many(sum(confirmed), int(under.sum())), iter(under.tolist())
    for i, (sample, sure) in enumerate(zip(lineups.counted, confirmed, strict=True)):
        if lineups.meant and lineups.meant[i]:
            rows.append(
                GateFinding(lineups.part, lineups.names[i], "meant", MEANT, pieces=_pieces(lineups.rows[i], spec))
            )
        elif sample is None:
            rows.append(_unmeasured(lineups, i, spec))
        else:
            verdict = verdicts.judge(sample, lineups.goals, InLists(bool(sure), next(cleared)), many)
            rows.append(_row(lineups, i, sample, verdict, spec, objectives))
    return rows


def _unmeasured(lineups: JudgedLineups, i: int, spec: GameSpec) -> GateFinding:
    words = "its battles could not be played to an end"
    return GateFinding(
        lineups.part, lineups.names[i], "open", words, missing=None, pieces=_pieces(lineups.rows[i], spec)
    )


def _row(
    lineups: JudgedLineups, i: int, sample: Sample, verdict: Verdict, spec: GameSpec,
    objectives: Sequence[ObjectiveConfig],
) -> GateFinding:  # fmt: skip
    j = _about(sample, lineups.goals, verdict)
    ends, battles, objective = sample.range(j), sample.samples * lineups.each, objectives[j]
    missing = _missing(sample, verdict, lineups.each)
    kind = {"confirmed": "over", "refuted": "under", "weak": "weak"}.get(verdict.finding, "open")
    low, high = (end if math.isfinite(end) else None for end in ends)
    value, line = float(sample.mean[j]), objective.threshold
    at = f"{_measured(sample, j, objective)}, the line at {written(line, 'g')}{_unit(objective)}"
    k = lineups.goals.strong
    if k is not None and (verdict.finding == "weak" or verdict.open_ == "strength"):
        at += (
            f"; {_measured(sample, k, objectives[k])}, of the baseline teams {_yardstick(lineups.goals, objectives[k])}"
        )
    return GateFinding(
        lineups.part, lineups.names[i], kind,  # type: ignore[arg-type]
        f"{_said(verdict, missing)}: {at}, on {battles:,} fresh battles",
        value, low, high, line, objective.unit, battles, missing, _pieces(lineups.rows[i], spec),
    )  # fmt: skip


def _measured(sample: Sample, j: int, objective: ObjectiveConfig) -> str:
    """Such as "Win gap 2.25× (2.22 to 2.29)"."""
    low, high = sample.range(j)
    between = (
        f" ({written(low, '.2f')} to {written(high, '.2f')})" if math.isfinite(low) and math.isfinite(high) else ""
    )
    return f"{objective.title} {written(float(sample.mean[j]), '.2f')}{_unit(objective)}{between}"


def _unit(objective: ObjectiveConfig) -> str:
    """With a space, but for the sign that stands at its number."""
    return objective.unit if objective.unit == "×" else f" {objective.unit}".rstrip()


def _yardstick(goals: Goals, objective: ObjectiveConfig) -> str:
    assert goals.baseline is not None
    return f"their median at {written(goals.baseline[0], '.2f')}{_unit(objective)}"


def met_by(lineups: JudgedLineups, drawn: bool, objectives: Sequence[ObjectiveConfig]) -> str:
    """Which baseline teams these lineups meet, in a sentence or two. ``drawn``: the gate drew its own."""
    what = "Earlier exploits meet" if lineups.part == "replay" else "What the search found met"
    whose = f"that {lineups.met} met" if lineups.met else "that this gate drew" if drawn else "that its rules name"
    k, strong = lineups.goals.strong, ""
    if k is not None and lineups.goals.judged:
        strong = f"; strong is told by {_yardstick(lineups.goals, objectives[k])}"
    own = OTHERWISE if drawn and not lineups.met else ""
    return f"{what} the baseline teams {whose}{strong}.{own}"


def _about(sample: Sample, goals: Goals, verdict: Verdict) -> int:
    """The objective with a line in which it is furthest."""
    if verdict.open_ == "line":
        return verdict.about
    lined = [j for j, line in enumerate(goals.lines) if line is not None]
    return max(lined, key=lambda j: goals.signs[j] * (float(sample.mean[j]) - (goals.lines[j] or 0.0)))


def _missing(sample: Sample, verdict: Verdict, each: int) -> int | None:
    """Battles more that would tell, as a rule; None where hardly any number of them would."""
    if verdict.finding == "close":
        return None
    if verdict.finding != "more":
        return 0
    return rounded((math.ceil(sample.samples * verdict.factor) - sample.samples) * each)


def _said(verdict: Verdict, missing: int | None) -> str:
    of = "strong" if verdict.open_ == "strength" else "over the line"
    if verdict.finding == "close":
        return f"too close to tell whether it is {of}"
    if verdict.finding == "more":
        return f"needs about {missing:,} more battles to tell whether it is {of}"
    weak = "over the line but weak" if verdict.over else "near the line but weak"
    return {"confirmed": "confirmed", "refuted": "under the line", "weak": weak}[verdict.finding]


def _pieces(lineup: NDArray[np.int32], spec: GameSpec) -> tuple[str, ...]:
    """The pieces of a lineup, by id, each once."""
    kinds = [s for s, slot in enumerate(spec.slots) if slot.kind == "piece"]
    return tuple(spec.pieces[p].id for p in dict.fromkeys(lineup[:, kinds].ravel().tolist()) if p >= 0)
