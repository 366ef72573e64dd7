"""What pairs may bring beyond their two pieces one by one: the furthest that an experiment does not rule out.

Most pairs are looked at on the screen only, where each is in few battles: what "nothing stands out" leaves open of them
is larger than of pieces. The range of a pair holds for it alone, as those of the table's rows do.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from engine.worth.analysis import WorthAnalysis
from engine.worth.changed_prices import OFFSET
from engine.worth.proof import ERROR, OFFSET_ERROR, possible
from engine.worth.screen import WIN
from engine.worth.stages import Chosen
from engine.worth.verdicts import NEEDED

WIDE, LOOKED_AT = 3.0, 16
"""Half a range in standard errors, about; and of how many pairs that may have the furthest end it is worked out."""
ALIKE = 5.0
"""Half a range of results that are all alike, times their number, about: without spread they are not without doubt."""


class Interplay(NamedTuple):
    """What a pair, by its trait, brings beyond its two pieces one by one, in random teams, and the range of that."""

    trait: int
    extra: float
    low: float
    high: float


def furthest(analysis: WorthAnalysis, but: Collection[int]) -> Interplay | None:
    """The pair with the furthest end of its range, of all that can be tested ``but`` these traits; None where there is
    none."""
    screen, first = analysis.screen, len(analysis.traits.single) + len(analysis.traits.amounts)
    pairs = np.array([i for i in np.flatnonzero(screen.tested).tolist() if i >= first and i not in but], np.int64)
    halves = analysis.halves(pairs)
    many = screen.pairs[WIN].many[halves[:, 0], halves[:, 1]]
    often = many >= NEEDED
    pairs, halves, many = pairs[often], halves[often], many[often]
    if not len(pairs):
        return None
    (outcome, variance), (_, _, line, spread) = screen.outcomes(halves), analysis.lines(pairs, WIN)
    wide = np.maximum(WIDE * np.sqrt(variance), ALIKE / many)
    left = screen.unfinished[1][halves[:, 0], halves[:, 1]]
    doubt = OFFSET * np.sqrt(spread) + analysis.hidden(pairs)[1]
    reach = np.abs(outcome - line) + wide + doubt + left / (left + many)
    order = np.argsort(-np.where(np.isfinite(reach), reach, -np.inf), kind="stable")[:LOOKED_AT]
    found = [_range(analysis, int(pairs[i]), halves[i], float(line[i]), float(spread[i])) for i in order]
    return max(found, key=lambda each: max(-each.low, each.high))


def _range(analysis: WorthAnalysis, pair: int, halves: Chosen, line: float, spread: float) -> Interplay:
    """``line``: what its two pieces bring one by one, with its variance ``spread``."""
    one, other = halves.tolist()
    outcome, ends, variance = analysis.screen.together(one, other, ERROR - OFFSET_ERROR)
    doubt = OFFSET * math.sqrt(variance + spread) + float(analysis.hidden(np.array([pair]))[1][0])
    found = np.array([outcome - line, ends.low - line - doubt, ends.high - line + doubt])
    return Interplay(pair, *possible(found).tolist())
