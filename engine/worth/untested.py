"""Why pieces, amounts and pairs are not tested: which are too rare for so many battles, and which no battles tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.worth.analysis import RARE as FEW
from engine.worth.analysis import WorthAnalysis
from engine.worth.screen import WIN, Screen
from engine.worth.verdicts import ALONE, ALWAYS, NEEDED, RARE, REASONS, TOGETHER, UNFINISHED

Floats = NDArray[np.float64]
Reasons = NDArray[np.uint8]


def of_singles(screen: Screen) -> Reasons:
    """By piece and amount (``verdicts.REASONS``), 0 where it is tested."""
    many, (left, _) = screen.rest[WIN].many, screen.unfinished
    never = np.where(many < 2 * screen.battles, np.where(screen.separable, ALONE, TOGETHER), ALWAYS)
    return np.where(many < NEEDED, _seldom(many, left, NEEDED), np.where(screen.tested[: len(many)], 0, never)).astype(
        np.uint8
    )


def of_pairs(analysis: WorthAnalysis) -> Reasons:
    """By pair that the rules allow; 0 where its battles on the screen were looked at."""
    screen, first = analysis.screen, len(analysis.screen.rest[WIN].many)
    halves = analysis.halves(np.arange(first, len(analysis.traits.all)))
    many, left = (each[halves[:, 0], halves[:, 1]] for each in (screen.pairs[WIN].many, screen.unfinished[1]))
    own = of_singles(screen)[halves]
    never = np.where(np.isin(own, (ALWAYS, TOGETHER)), own, 0).max(axis=1, initial=0)
    never = np.where(never > 0, never, ALONE)
    return np.where(many < FEW, _seldom(many, left, FEW), np.where(screen.tested[first:], 0, never)).astype(np.uint8)


def counted(reasons: Reasons) -> list[int]:
    """How many have each reason, by its number."""
    return [int(many) for many in np.bincount(reasons, minlength=max(REASONS) + 1)]


def _seldom(many: Floats, left: Floats, needed: int) -> NDArray[np.int64]:
    """Of what met less often than is needed: whether that is for the battles that were not finished."""
    return np.where(many + left < needed, RARE, UNFINISHED)
