"""What fresh battles say of lineups before and after a change, and of the difference.

Still over the line and strong (confirmed) is a list as everywhere (``engine.verdicts``). "Under the line" is another,
made in the same way: evidence that a lineup is under each of its lines, and e-BH over all lineups that were replayed.
So of what either list holds at most 5 % is expected to be false. To be called under the line a lineup must stand in
that list, and its own range must end below the line as well. Evidence holds at every look, so verdicts may be looked at
while battles are played, and a lineup left alone once its verdict is there.

The difference of a weighted sum of means is taken replicate by replicate, for each has a value of its own on both
versions: what luck does to both is not in its range. Another formula (a ratio, a maximum) has no value of a replicate.
Its jackknife pseudo-values are neither independent nor between the formula's bounds, and ranges of them missed up to
two of three true differences of capped ratios. So there the range is that of all differences between the two values'
own ranges, each at half the error (Bonferroni). It is wider, and holds at every look wherever those do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import confidence
from engine.claims import Sum
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
    have the same replicates. Paired where each replicate has a value of its own; see above."""
    if before.exact[j] and after.exact[j]:
        change = float(after.mean[j] - before.mean[j])
        return Range(change, change)
    was, now = _each(before, j), _each(after, j)
    if was is None or now is None:
        a, b = before.range(j, ERROR / 2), after.range(j, ERROR / 2)
        return Range(b.low - a.high, b.high - a.low)
    battles = float(min(before.battles[j], after.battles[j]))
    return range_by_battles(now.values - was.values, now.low - was.high, now.high - was.low, battles, ERROR)


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


class _Values(NamedTuple):
    """The ``values`` [samples] of replicates, between ``low`` and ``high``, whose mean is the objective."""

    values: Floats
    low: float
    high: float


def _each(sample: Sample, j: int) -> _Values | None:
    """What each replicate says of objective j; None where the objective is no mean of such values."""
    parts = sample.parts[j] if sample.parts else None
    if parts is not None and isinstance(parts.formula, Sum):
        return _Values(parts.of(parts.formula), *parts.ends(parts.formula))
    if sample.plain[j] and sample.values is not None:
        return _Values(sample.values[:, j], float(sample.low[j]), float(sample.high[j]))
    return None
