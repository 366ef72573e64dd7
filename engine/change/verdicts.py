"""What fresh battles say of lineups before and after a change, and of the difference.

Still over the line and strong (confirmed) is a list as everywhere (``engine.verdicts``). "Under the line" is another,
made in the same way: evidence that a lineup is under each of its lines, and e-BH over all lineups that were replayed.
So of what either list holds at most 5 % is expected to be false. To be called under the line a lineup must stand in
that list, and its own range must end below the line as well. Evidence holds at every look, so verdicts may be looked at
while battles are played, and a lineup left alone once its verdict is there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine import confidence
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
