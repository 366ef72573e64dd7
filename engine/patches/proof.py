"""What fresh battles say of a patch: an independent screen of every piece, and closer looks at what was to be mended.

These battles had no part in finding the patch. A piece is *named* where it is beyond what matters with evidence that
holds for all pieces together (e-BH, 4 %; 1 % pays for what worths are compared with); what is watched has ranges that
hold together. Forecasts are those of the experiment: fitted to battles that are none of these.
"""

from __future__ import annotations

import math
from collections.abc import Set
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import confidence
from engine.confidence import Range
from engine.patches.adversary import Best
from engine.patches.candidates import Candidate
from engine.patches.response import Watched
from engine.patches.trials import Trials
from engine.worth.reading import ERROR, OFFSET, OFFSET_ERROR
from engine.worth.screen import SIDES, WIN

Floats = NDArray[np.float64]
WORKS, FAILS, OPEN = "works", "fails", "open"
"""Verdicts: nothing is beyond what matters; something surely is; more battles would tell."""
FEWEST = 30


class Strongest(NamedTuple):
    """The strongest team that an adversary found, its share of wins against fresh opponents, and its range."""

    best: Best
    share: float
    low: float
    high: float


class Proof(NamedTuple):
    """``worths`` of what is watched with their ranges (not a number: there is no such team any more), pieces by their
    trait that are ``named``, and the ``largest`` effect of another piece that is not excluded; all in chances to
    win."""

    verdict: str
    worths: list[tuple[float, float, float]]
    named: list[int]
    largest: float
    battles: int
    strongest: Strongest | None = None


def judged(
    candidate: Candidate, watched: list[Watched], trials: Trials, matters: float, any_team: Floats,
    closer: dict[int, Floats], at_random: int, purpose: int, intended: Set[int] = frozenset(),
) -> Proof:  # fmt: skip
    """By the outcomes of random pairings and, by the place of what is watched, of pairings that hold it. ``at_random``
    and ``purpose`` say which pairings these are (``Trials.draw``); traits that are ``intended`` are not named."""
    rows = trials.draw(candidate.patch, -1, len(any_team), at_random).rows
    rest = trials.screen.left(rows, any_team)[:, WIN]
    held = trials.traits.held(np.concatenate([rows[:, 0], rows[:, 1]])).tocsc()
    both, expected = np.concatenate([rest, -rest]), trials.reference(candidate.patch)
    logs, ends = [], []
    for trait in range(len(trials.traits.single)):
        own = both[held.indices[held.indptr[trait] : held.indptr[trait + 1]]]
        own = own[np.isfinite(own)]
        line = float(trials.screen.base[trait]) - float(expected.mean[trait])
        doubt = OFFSET * math.sqrt(float(expected.variance[trait] + trials.screen.base_variance[trait]))
        tested = trait not in intended and len(own) >= FEWEST and math.isfinite(doubt)
        logs.append(_evidence(own, line, matters + doubt) if tested else -math.inf)
        ends.append(_within(own, line, doubt, ERROR - OFFSET_ERROR) if tested else Range(0.0, 0.0))
    told = confidence.e_bh(np.array(logs), np.full(len(logs), 1 / len(logs)), ERROR - OFFSET_ERROR)
    worths = [_watched(candidate, w, trials, closer.get(i), purpose, len(watched)) for i, w in enumerate(watched)]
    named = np.flatnonzero(told).tolist()
    seen = {w.trait for w in watched}
    others = [max(abs(e.low), abs(e.high)) for i, e in enumerate(ends) if i not in seen]
    battles = len(any_team) + sum(map(len, closer.values()))
    return Proof(_verdict(worths, named, matters), worths, named, max(others, default=0.0), battles)


def _watched(
    candidate: Candidate, watched: Watched, trials: Trials, ahead: Floats | None, purpose: int, many: int
) -> tuple[float, float, float]:
    """The worth of something that is watched, and a range that holds for all of these together."""
    if ahead is None:
        return math.nan, math.nan, math.nan
    rows = trials.draw(candidate.patch, watched.trait, len(ahead), purpose).rows
    rest = trials.screen.left(rows, ahead)[:, WIN]
    rest = rest[np.isfinite(rest)]
    mean, variance = trials.expectation(candidate.patch, watched.trait)
    base, own = line_of(trials, watched)
    doubt = OFFSET * math.sqrt(variance + own)
    ends = _within(rest, base - mean, doubt, (ERROR - OFFSET_ERROR) / many)
    return float(rest.mean()) + mean - base if len(rest) else math.nan, ends.low, ends.high


def line_of(trials: Trials, watched: Watched) -> tuple[float, float]:
    """What the outcome of something that is watched is compared with, and the variance of that: the average piece of
    its category in that amount, and of a pair an even one."""
    screen = trials.screen
    if watched.trait >= len(screen.base):
        return 0.0, 0.0
    return float(screen.base[watched.trait]), float(screen.base_variance[watched.trait])


def share_of(best: Best, wins: Floats) -> Strongest:
    """A team's share of wins by outcomes beyond even, against opponents drawn for this alone."""
    good = wins[np.isfinite(wins)] + 0.5
    ends = confidence.bounds_once(good, 0.0, 1.0, ERROR)
    return Strongest(best, float(good.mean()) if len(good) else math.nan, ends.low, ends.high)


def _evidence(values: Floats, line: float, matters: float) -> float:
    """Log of the evidence that a mean is further than ``matters`` from a line, above or below."""
    low, high = SIDES
    above = confidence.log_evidence(values, low, high, line + matters)
    below = confidence.log_evidence(-values, -high, -low, matters - line)
    return float(np.logaddexp(above, below)) - math.log(2)


def _within(values: Floats, line: float, doubt: float, error: float) -> Range:
    ends = confidence.bounds_once(values, *SIDES, error)
    return Range(ends.low - line - doubt, ends.high - line + doubt)


def _verdict(worths: list[tuple[float, float, float]], named: list[int], matters: float) -> str:
    known = [each for each in worths if not math.isnan(each[0])]
    if named or any(low > matters or high < -matters for _, low, high in known):
        return FAILS
    return WORKS if all(-matters < low and high < matters for _, low, high in known) else OPEN
