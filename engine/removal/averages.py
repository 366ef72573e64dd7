"""What an exchange does to several lineups: their average before and after it, on the same luck.

The average of a weighted sum of means has a value in each replicate, and replicates are independent, though lineups
need not be. So its range is that of a mean of replicates (``engine.means``), and a change is taken replicate by
replicate: before and after have common random numbers, and the luck that both share drops out.

A ratio has no value of a replicate. Averages of jackknife pseudo-values missed up to 8 % of true averages of 25 capped
ratios, because each carries a bias that does not average out. So a ratio is taken of the lineups' numbers together: the
average of the one over the average of the other (the combined ratio of Cochran 1977, "Sampling Techniques", 6.11,
which he advises where single ratios are of few or small numbers). It is one formula of averages that have a value in
each replicate, and its range is that of verdicts (``engine.verdicts``); a change lies between the two ranges
(``engine.differences``). As measured, that costs two thirds in the width of a change. The average of single ratios
would need a range for each lineup that holds together with the others', at a dozen times the width for 25 lineups.

That remains for formulas that such averages could turn into something else: of the absolute values of 5 and -5 the
average is 5, but that of the numbers is 0. There the ends of the lineups' own ranges are averaged, each at its share of
the error (Bonferroni).

Ranges say what luck leaves open of these lineups, which were picked for being far over the line; they say nothing of
lineups that nobody looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from engine.claims import Expression, Ratio, Rising, Sum
from engine.confidence import Range
from engine.differences import difference
from engine.formula_terms import Parts
from engine.verdicts import ERROR, Sample


class Level(NamedTuple):
    """A mean, and the ends of its 95 % range."""

    mean: float
    low: float
    high: float


class AveragedLineups(NamedTuple):
    """Fresh battles of lineups, all with the same replicates, and of how many different ``battles`` one replicate of
    their average is made, at least; ``at``: which of their objectives is meant."""

    samples: Sequence[Sample]
    battles: int
    at: int = 0


def level(lineups: AveragedLineups) -> Level:
    """The average over the lineups."""
    one = _together(lineups)
    if one is not None:
        return Level(float(one.mean[0]), *one.range(0))
    return Level(_mean(lineups), *_apart(lineups, ERROR))


def change(before: AveragedLineups, after: AveragedLineups) -> Level:
    """By how much the average changes from ``before`` to ``after``."""
    was, now = _together(before), _together(after)
    if was is not None and now is not None:
        return Level(float(now.mean[0] - was.mean[0]), *difference(was, now, 0))
    a, b = _apart(before, ERROR / 2), _apart(after, ERROR / 2)
    return Level(_mean(after) - _mean(before), b.low - a.high, b.high - a.low)


def _together(lineups: AveragedLineups) -> Sample | None:
    """All lineups as one sample of the objective; None where averages of its terms say nothing of it."""
    first, j = lineups.samples[0], lineups.at
    parts, mean = _averaged(lineups), _mean(lineups)
    if parts is not None:
        if parts.formula is None or not _smooth(parts.formula):
            return None
        mean = parts.value
    elif not (first.plain[j] or first.exact[j]):
        return None
    values = [s.values[:, j] for s in lineups.samples if s.values is not None]
    low, high = (np.array([np.mean([ends[j] for ends in side])])
                 for side in ([s.low for s in lineups.samples], [s.high for s in lineups.samples]))  # fmt: skip
    return Sample(
        np.array([mean]), np.array([np.nan]), first.samples, np.mean(values, axis=0)[:, None], low, high,
        first.exact[[j]], first.plain[[j]], np.array([lineups.battles]), 1.0, (parts,),
    )  # fmt: skip


def _averaged(lineups: AveragedLineups) -> Parts | None:
    """The terms of the objective, averaged over the lineups; None where it has none."""
    parts = [s.parts[lineups.at] for s in lineups.samples if s.parts]
    known = [each for each in parts if each is not None]
    if not known:
        return None
    each = zip(*((one.values, one.low, one.high) for one in known), strict=True)
    return Parts.make(known[0].apart, *(np.mean(side, axis=0) for side in each))


def _smooth(formula: Expression) -> bool:
    """Whether the formula of averages lies among the averaged ones: no choice is made between parts that luck moves."""
    if isinstance(formula, Sum):
        return True
    if isinstance(formula, Ratio):
        return _smooth(formula.over) and _smooth(formula.under)
    if isinstance(formula, Rising):
        return _smooth(formula.part)
    moved = [part for part in formula.parts if not (isinstance(part, Sum) and part.fixed)]
    return len(moved) <= 1 and all(map(_smooth, moved))


def _mean(lineups: AveragedLineups) -> float:
    return float(np.mean([s.mean[lineups.at] for s in lineups.samples]))


def _apart(lineups: AveragedLineups, error: float) -> Range:
    """The averages of the ends of the lineups' own ranges, all of which hold but for a chance of ``error``."""
    ends = [s.range(lineups.at, error / len(lineups.samples)) for s in lineups.samples]
    return Range(float(np.mean([e.low for e in ends])), float(np.mean([e.high for e in ends])))
