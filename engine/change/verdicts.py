"""What fresh battles say of lineups before and after a change, and of the difference.

Still over the line and strong (confirmed) is a list as everywhere (``engine.verdicts``). "Under the line" is another,
made in the same way: evidence that a lineup is under each of its lines, and e-BH over all lineups that were replayed.
So of what either list holds at most 5 % is expected to be false. To be called under the line a lineup must stand in
that list, and its own range must end below the line as well. Evidence holds at every look, so verdicts may be looked at
while battles are played, and a lineup left alone once its verdict is there.

The difference is of the same replicates on both versions, replicate by replicate: what luck does to both is not in it.
Of a weighted sum of means each replicate has a value of its own. Of another formula (a ratio, a maximum) it has its
pseudo-value, R f - (R - 1) f without it, whose mean is the formula's but for terms of 1/R (Quenouille 1956); so there
the range is promised to first order only. Tests replay lineups whose true difference is known by many more battles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine import confidence
from engine.confidence import Range
from engine.means import range_by_battles
from engine.verdicts import ERROR, HOPELESS, Goals, Sample, Verdict, confirmed, judge

Floats = NDArray[np.float64]


def found(samples: Sequence[Sample], goals: Goals) -> list[Verdict]:
    """The verdict on each lineup of a list."""
    if not samples:
        return []
    told, under = confirmed([[s] for s in samples], goals), cleared(samples, goals)
    return [
        _sure(judge(s, goals, bool(t), int(told.sum())), s, goals, bool(u), int(under.sum()))
        for s, t, u in zip(samples, told, under, strict=True)
    ]


def cleared(samples: Sequence[Sample], goals: Goals) -> NDArray[np.bool_]:
    """Which lineups (bool[n]) are under all of their lines."""
    logs = np.array([_evidence_under(s, goals) for s in samples])
    return confidence.e_bh(logs, np.array([s.weight for s in samples]), ERROR)


def difference(before: Sample, after: Sample, j: int) -> Range:
    """Where the true difference of objective j is, after less before, but for a chance of 5 % over all looks. Both
    have the same replicates."""
    if before.exact[j] and after.exact[j]:
        change = float(after.mean[j] - before.mean[j])
        return Range(change, change)
    each = _each(after, j) - _each(before, j)
    low = float(after.low[j] - before.high[j])
    high = float(after.high[j] - before.low[j])
    battles = float(min(before.battles[j], after.battles[j]))
    return range_by_battles(each, low, high, battles, ERROR)


def _sure(verdict: Verdict, sample: Sample, goals: Goals, under: bool, others: int) -> Verdict:
    """A verdict "under the line" only where the list has it, too; otherwise how many more battles it takes."""
    if verdict.finding != "refuted" or under:
        return verdict
    needed = -math.log(ERROR * sample.weight * (others + 1)) - _evidence_under(sample, goals)
    lined = [(j, line) for j, line in enumerate(goals.lines) if line is not None]
    rate, j = min((sample.growth(j, line, -goals.signs[j]), j) for j, line in lined)
    more = needed / (rate * sample.samples) if rate > 0 else math.inf
    factor = 1 + max(more, 1 / sample.samples)
    return Verdict("close" if factor > HOPELESS else "more", factor, "line", False, j)


def _evidence_under(sample: Sample, goals: Goals) -> float:
    """Log of the evidence that a lineup is under each of its lines: as weak as for the one it is nearest to."""
    lined = [(j, line) for j, line in enumerate(goals.lines) if line is not None]
    return min((sample.evidence(j, line, -goals.signs[j]) for j, line in lined), default=-math.inf)


def _each(sample: Sample, j: int) -> Floats:
    """The share of each replicate in objective j, [samples]; see above."""
    assert sample.values is not None
    parts = sample.parts[j] if sample.parts else None
    if sample.exact[j] or parts is None:
        return np.asarray(sample.values[:, j])
    total, n = parts.values.sum(axis=0), len(parts.values)
    without = np.array([parts.apart.value((total - row) / (n - 1)) for row in parts.values])
    return np.asarray(n * parts.value - (n - 1) * without)
