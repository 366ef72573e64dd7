"""The proof of an experiment: what battles say of the finalists that had no part in selecting them.

A finding is evidence that the effect exceeds what matters, above or below (``confidence.log_evidence``: any
distribution, any look), in one list of which at most 5 % is expected to be false (e-BH), and on which a finding stays
once it is ``reported``. One of the five percentage points, for all findings together, pays for the error of what
effects are compared with, which is measured, too. Battles that the game did not finish may have ended in any way:
ranges and findings hold whichever that was (``hidden``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import confidence
from engine.confidence import Range
from engine.worth.evidence import reported_by_now
from engine.worth.hidden import Ways, ways
from engine.worth.screen import SIDES, Screen
from engine.worth.stages import PlayedStage

Floats = NDArray[np.float64]
HOPELESS = 1e12
"""Battles needed where an effect does not seem to exceed what matters; a little more where it falls short by more, so
that the nearest comes first."""
ERROR, OFFSET_ERROR = 0.05, 0.01


class Finalist(NamedTuple):
    """A trait to be proved: its ``effect`` so far and the variance of that. ``expected``: the mean forecast of teams
    with it. Claims about its outcome: beyond ``line`` by what matters, and in the same direction beyond ``other``
    (NaN: no such claim) by ``margin``; each line is known up to its doubt, a distance, of which ``stays`` is left
    whatever is played, and so is what battles that were not finished have ``hidden``."""

    trait: int
    effect: float
    variance: float
    expected: float
    line: float
    doubt: float
    other: float = math.nan
    other_doubt: float = 0.0
    margin: float = 0.0
    stays: float = 0.0
    hidden: float = 0.0


class Finding(NamedTuple):
    """The result of proof: number of battles, worth beyond its line, ``variance`` of one battle, range of the worth,
    log of the evidence that it matters, and whether it is ``reported`` as proved: once reported, whatever later battles
    say. ``hidden``: how far its battles that were not finished may move the worth, a distance."""

    trait: int
    battles: int
    worth: float
    variance: float
    range: Range
    evidence: float
    reported: bool = False
    hidden: float = 0.0


def possible(effects: Floats) -> Floats:
    """Effects, or ends of their ranges, none of which is beyond 1: a chance to win changes by no more, whatever there
    is to doubt in what it is compared with."""
    return np.asarray(np.clip(effects, SIDES.low, SIDES.high))


def proved(
    screen: Screen, finalists: Sequence[Finalist], proofs: Sequence[PlayedStage], matters: float
) -> list[Finding]:
    """What the stages of the proof say of the finalists, one for each."""
    every = [ways(screen.left, p.rows, p.ahead) for p in proofs]
    found, logs = list[Finding](), np.zeros((max(len(proofs), 1), len(finalists)))
    for i, finalist in enumerate(finalists):
        own = [each.at(p.dealt == finalist.trait) for p, each in zip(proofs, every, strict=True)]
        until = [Ways.together(own[:many]) for many in range(1, len(own) + 1)] or [Ways.together([])]
        logs[:, i] = [_evidence(finalist, each, matters) for each in until]
        found.append(_finding(finalist, until[-1], float(logs[-1, i])))
    reported = reported_by_now(logs, ERROR - OFFSET_ERROR)
    return [f._replace(reported=bool(t)) for f, t in zip(found, reported, strict=True)]


def _finding(f: Finalist, ways: Ways, evidence: float) -> Finding:
    values, low, high = ways.rest + f.expected, SIDES.low + f.expected, SIDES.high + f.expected
    ends = Ways(values, ways.lost + f.expected, ways.won + f.expected).range(low, high, ERROR - OFFSET_ERROR)
    worth = float(values.mean()) - f.line if len(values) else math.nan
    reach = Range(ends.low - f.line - f.doubt, ends.high - f.line + f.doubt)
    spread = float(values.var()) if len(values) else math.nan
    return Finding(f.trait, len(values), worth, spread, reach, evidence, hidden=ways.hidden)


def _evidence(f: Finalist, ways: Ways, matters: float) -> float:
    low, high = SIDES.low + f.expected, SIDES.high + f.expected
    over = [(f.line + matters + f.doubt), (f.other + f.margin + f.other_doubt)]
    under = [(f.line - matters - f.doubt), (f.other - f.margin - f.other_doubt)]
    above = min(
        confidence.log_evidence(rest + f.expected, low, high, line)
        for rest in ways.least for line in over if not math.isnan(line)
    )  # fmt: skip
    below = min(
        confidence.log_evidence(-(rest + f.expected), -high, -low, -line)
        for rest in ways.most for line in under if not math.isnan(line)
    )  # fmt: skip
    return float(np.logaddexp(above, below)) - math.log(2)


def is_open(finding: Finding, many: int, matters: float) -> bool:
    """Whether more battles can still change the verdict on a finalist, one of so ``many``."""
    sure = finding.evidence >= math.log(many / (ERROR - OFFSET_ERROR))
    fine = -matters < finding.range.low and finding.range.high < matters
    return not sure and not fine


def needed(f: Finalist, finding: Finding, many: int, matters: float) -> float:
    """The battles that may prove a finalist, one of so ``many``, from the precision-weighted mean of prior estimate and
    proof."""
    prior, weight = 1 / f.variance, finding.battles / finding.variance if finding.battles > 1 else 0.0
    effect = (prior * f.effect + weight * finding.worth) / (prior + weight) if weight else f.effect
    gap = abs(effect) - matters - f.doubt - finding.hidden
    spread = finding.variance if finding.battles > 1 else 0.25
    missing = math.log(many / (ERROR - OFFSET_ERROR)) + math.log(4) - max(finding.evidence, -1.0)
    return missing * 2 * spread / gap**2 if gap > 0 else HOPELESS * (1 - gap)
