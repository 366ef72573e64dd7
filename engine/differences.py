"""The range of a difference of two values of an objective that have the same replicates.

The difference of a weighted sum of means is taken replicate by replicate, for each has a value of its own on both
sides: what luck does to both is not in its range. Another formula (a ratio, a maximum) has no value of a replicate.
Its jackknife pseudo-values are neither independent nor between the formula's bounds, and ranges of them missed up to
two of three true differences of capped ratios. So there the range is that of all differences between the two values'
own ranges, each at half the error (Bonferroni). It is wider, and holds at every look wherever those do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.claims import Sum
from engine.confidence import Range
from engine.means import range_by_battles
from engine.verdicts import ERROR, Sample

Floats = NDArray[np.float64]


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
