"""Ranges and evidence that hold at every look, for any distribution within known bounds.

A 95 % interval of Student's t has its coverage for one look at data near normal. People look again and again, stop
when they like what they see, and measure things like rare wins, which are as far from normal as can be. What is here
holds all the same:

* ``log_evidence`` and ``bounds``: betting (Waudby-Smith and Ramdas 2021, "Estimating means of bounded random variables
  by betting"). Bets against "the mean is m" on independent values within [low, high] do not gain in expectation,
  whatever the distribution, if that is true; the probability that wealth ever reaches 20 is then at most 1 in 20
  (Ville 1939). Bets are fractions f of what may be lost. Departure 1: the paper adapts one bet to the values seen
  before; here wealth is averaged over a fixed grid of fractions, which needs no order, so batches can be pooled.
* ``bounds_once``: the same for one look at a number of values that was fixed beforehand. Each bet has the best size for
  that number, given the mean and spread of the values before it (the paper's "predictable plug-in", equation 26).
* ``count_bounds``: the same from mean and count alone, where single values were not kept. For a bettor on mean p
  against mean m, a value between the ends moves wealth no more, in expectation, than a win or a loss would (Hoeffding
  1963); averaged over p by Jeffreys's prior this is the beta-binomial mixture of Robbins (1970).
* ``seen``: departure 2. Bounds far wider than the noise make a range far wider than the noise, so values are bet on
  within a reach taken from the values themselves, and the far side of that reach is at least as far from the line as
  the observed mean is (as if the noise were symmetric: each value adds log 2 at most). ``unseen`` allows separately for
  events too rare for any battle to have shown, each as bad as the declared bounds permit, in the battles that have most
  to lose (``full``). The smaller evidence of the two counts.
* ``t_bounds`` and ``log_t_evidence``: where single values were not kept. The anytime-valid t test (right Haar prior on
  the spread, unit information on the effect: Wang and Ramdas 2024, "Anytime-valid t-tests and confidence sequences for
  Gaussian means with unknown variance"). Valid for normal values only.
* ``e_bh``: which of many findings may be reported together with a bounded expected share of false ones, however they
  depend on one another (Wang and Ramdas 2022, "False discovery rate control with e-values").
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

FRACTIONS = np.geomspace(0.02, 0.99, 8)
"""Bets, as fractions of what may be lost: from ones that suit thousands of values to ones that suit a handful."""
STAKES = (lambda ranks: ranks / ranks.sum())(1 / np.arange(len(FRACTIONS), 0.0, -1))
"""Initial wealth on each fraction: more on the large ones, which decide where the noise is small beside the range."""
REACH, OPEN_REACH = 0.5, 1.25
"""How far beyond the observed values others are assumed to lie, in units of the observed span: where bounds are
declared (``unseen`` then allows for rare events), and where they are not."""
FEW = 8.0
"""Number of unbounded values at which OPEN_REACH is doubled; the surplus shrinks as 1 / count."""
BOLDEST = 0.75
"""Largest bet of ``bounds_once``, as a fraction of what may be lost."""
_STEPS, _DOUBLINGS, _LOOKS = 32, 40, 16
"""Bisection steps to a bound, which leave 3e-10 of the interval; the most doublings that look for the interval, and the
most looks for what spares bisection its own."""


class Range(NamedTuple):
    """The ends of a confidence sequence; infinite where nothing is known."""

    low: float
    high: float


class Observed(NamedTuple):
    """What is asked of values again and again: the smallest, the largest, their mean."""

    least: float
    most: float
    mean: float

    @classmethod
    def of(cls, values: Floats) -> Observed:
        """Of at least one value."""
        return cls(float(values.min()), float(values.max()), float(values.mean()))


def log_evidence(values: Floats, low: float, high: float, line: float) -> float:
    """Log of the evidence that the mean of ``values`` [n], each within [low, high], is above ``line``. If it is not,
    the probability that this ever reaches 3.0 is at most 1 in 20. Values outside are clipped to the nearest end."""
    if line < low:
        return math.inf
    if line >= high or not len(values):
        return -math.inf if line >= high else 0.0
    return float(_log_wealth(_scaled(values, low, high), (line - low) / (high - low)))


def bounds(values: Floats, low: float, high: float, error: float = 0.05) -> Range:
    """Range of the mean of ``values`` [n], each within [low, high]: misses with probability ``error`` at most, over all
    looks together."""
    if not len(values):
        return Range(low, high)
    x, needed = _scaled(values, low, high), math.log(2 / error)
    least, most = _lowest(x, needed), 1 - _lowest(1 - x, needed)
    return Range(low + (high - low) * least, low + (high - low) * most)


def bounds_once(values: Floats, low: float, high: float, error: float = 0.05) -> Range:
    """As ``bounds``, but for one look: the number of ``values`` was fixed before the first of them, and their order
    carries no information. Narrower by a fifth or more."""
    if not len(values):
        return Range(low, high)
    x, needed = _scaled(values, low, high), math.log(2 / error)
    before = np.arange(1, len(x) + 1)
    mean = (0.5 + np.append(0.0, np.cumsum(x)[:-1])) / before
    spread = (0.25 + np.append(0.0, np.cumsum((x - mean) ** 2)[:-1])) / before
    bets = np.sqrt(2 * needed / (len(x) * spread))
    least, most = _lowest_once(x, bets, needed), 1 - _lowest_once(1 - x, bets, needed)
    return Range(low + (high - low) * least, low + (high - low) * most)


def count_bounds(mean: float, samples: int, low: float, high: float, error: float = 0.05) -> Range:
    """As ``bounds``, from the ``mean`` of ``samples`` values alone."""
    from scipy.special import betaln, xlogy  # not loaded by every process of the site

    n, x = samples, min(max((mean - low) / (high - low), 0.0), 1.0)
    mixed = float(betaln(n * x + 0.5, n * (1 - x) + 0.5) - betaln(0.5, 0.5)) + math.log(error)

    def outside(m: float) -> bool:
        return mixed - float(xlogy(n * x, m) + xlogy(n * (1 - x), 1 - m)) >= 0

    ends = []
    for end in (0.0, 1.0):
        inner, outer = x, end
        if outside(end):
            for _ in range(_STEPS):
                middle = 0.5 * (inner + outer)
                inner, outer = (inner, middle) if outside(middle) else (middle, outer)
        ends.append(low + (high - low) * outer)
    return Range(*ends)


def log_t_evidence(mean: float, error: float, samples: int, line: float) -> float:
    """As ``log_evidence``, for normal values without bounds, from their mean and its standard error."""
    if samples < 2 or not error > 0 or not math.isfinite(mean) or mean <= line:
        return -math.inf
    n, more = samples, 1 + samples
    squared = ((mean - line) / error) ** 2 / (n - 1)
    return 0.5 * (n * (math.log1p(squared) - math.log1p(squared / more)) - math.log(more))


def t_bounds(mean: float, error: float, samples: int, level: float = 0.05) -> Range:
    """As ``bounds``, for normal values without bounds, at error ``level``; infinite without spread."""
    half = t_half(error, samples, level)
    return Range(mean - half, mean + half)


def t_half(error: float, samples: int, level: float = 0.05) -> float:
    """Half the width of ``t_bounds``: ``error`` is the standard error of a mean of ``samples``."""
    if samples < 2 or not error > 0:
        return math.inf
    n, more = samples, 1 + samples
    odds = math.exp(math.log(more / level**2) / n)
    return error * math.sqrt((n - 1) * (odds - 1) / (1 - odds / more)) if odds < more else math.inf


def e_bh(log_evidence: Floats, weights: Floats, error: float = 0.05) -> Bools:
    """Which findings to report, bool[n]: the expected share of false ones among these is at most ``error``, however
    they depend on one another. ``weights`` [n], fixed before the data and with a sum of 1 at most, say how much of the
    error each may use; 1/n each is the plain procedure."""
    found = np.asarray(log_evidence, dtype=float) + np.log(weights)
    order = np.argsort(-found, kind="stable")
    needed = -np.log(error * np.arange(1, len(found) + 1))
    enough = np.flatnonzero(found[order] >= needed)
    reported = np.zeros(len(found), dtype=bool)
    reported[order[: enough[-1] + 1 if len(enough) else 0]] = True
    return reported


def lowest(evidence: Callable[[float], float], start: float, step: float, floor: float, error: float) -> float:
    """The lowest mean, at or below ``start``, that is not rejected: ``evidence(line)`` is the log evidence that the
    mean is above the line; it falls as the line rises. ``floor`` where it never suffices; ``error`` is one side's."""
    needed, low, there = -math.log(error), start, -math.inf
    for _ in range(_DOUBLINGS):
        low, step = max(low - step, floor), 2 * step
        there = evidence(low)
        if low <= floor or there >= needed:
            break
    return _halved(evidence, low, start, needed, there) if there >= needed else floor


def coarse(values: Floats) -> bool:
    """Whether at least two in five values are equal (but for rounding), so that their spread says little."""
    if len(values) < 2:
        return True
    ordered, k = np.sort(values), max(2, math.ceil(0.4 * len(values)))
    alike = 1e-9 * (ordered[-1] - ordered[0]) + 1e-13 * np.abs(ordered).max()
    return bool((ordered[k - 1 :] - ordered[: len(values) - k + 1] <= alike).any())


def seen(values: Floats, observed: Observed, line: float, open_: bool) -> float:
    """Log of the evidence that the mean of ``values`` [n], ``observed`` as they are, is above ``line``, within a reach
    taken from the values themselves; ``open_``: they have no declared lower bound."""
    reach = reach_of(observed, len(values), line, open_)
    return log_evidence(values, *reach, line) if reach else -math.inf


def growth(values: Floats, line: float, reach: Range | None) -> float:
    """Growth of the evidence within ``reach`` per further value, if these resemble those so far: that of the best
    single bet. 0 where it does not grow."""
    if reach is None or not values.mean() > line:
        return 0.0
    if line <= reach.low:
        return math.inf
    bets = 1 + FRACTIONS[:, None] * (np.maximum(values, reach.low) - line) / (line - reach.low)
    return float(np.log(bets).mean(axis=1).max(initial=0.0))


def reach_of(observed: Observed, count: int, line: float, open_: bool) -> Range | None:
    """The range within which values, so many of which were ``observed``, are assumed to lie if their mean were
    ``line``; None where their observed mean is not above it."""
    least, most, mean = observed
    if not mean > line or not math.isfinite(most - least):
        return None
    reach = OPEN_REACH * (1 + FEW / count) if open_ else REACH
    low = min(least - reach * (most - least), 2 * line - mean)
    return Range(low, max(most, 2 * mean - low))


def unseen(mean: float, low: float, battles: float, line: float) -> float:
    """Log of the evidence that the mean is above ``line`` despite rare events that none of the ``battles`` had: each
    would take a result down to ``low``. It is what bets within [low, ...] win when all battles end at ``mean``.
    Infinite where there is no lower bound: then nothing is allowed for."""
    if not math.isfinite(low):
        return math.inf
    if mean <= line:
        return -math.inf
    return math.inf if line < low else battles * math.log((mean - low) / (line - low)) if line > low else math.inf


def full(mean: float, low: float, high: float, battles: float) -> float:
    """The smallest number of a replicate's ``battles`` that can make up its ``mean``: these always end at ``high``, the
    others always at ``low`` with nothing to lose; at least one. Opponents differ, so a rare bad event may concern these
    few alone, and only they can have shown it. Without an upper bound it may be one."""
    if not math.isfinite(high) or not high > low:
        return 1.0
    return min(max(battles * (mean - low) / (high - low), 1.0), battles)


def _scaled(values: Floats, low: float, high: float) -> Floats:
    return np.minimum(np.maximum((np.asarray(values, dtype=np.float64) - low) / (high - low), 0.0), 1.0)


def _log_wealth(x: Floats, m: float) -> float:
    """Log of the wealth of bets that the mean of x [n] in [0, 1] is above m in [0, 1)."""
    if m <= 0:
        return math.inf if x.any() else float(len(x) * np.log1p(-FRACTIONS).min())
    logs = np.log(1 + FRACTIONS[:, None] * (x / m - 1)).sum(axis=1)
    most = logs.max()
    return float(most + np.log((np.exp(logs - most) * STAKES).sum()))


def _lowest(x: Floats, needed: float) -> float:
    """The lowest mean in [0, 1] that bets on a higher one have not rejected; wealth falls as that mean rises."""
    return _halved(lambda m: _log_wealth(x, m), 0.0, float(x.mean()), needed)


def _lowest_once(x: Floats, bets: Floats, needed: float) -> float:
    """As ``_lowest``, by one bet for each value."""
    if not x.any():
        return 0.0

    def evidence(m: float) -> float:
        return float(np.log1p(np.minimum(bets, BOLDEST / m) * (x - m)).sum())

    return _halved(evidence, 0.0, float(x.mean()), needed)


def _halved(
    evidence: Callable[[float], float], low: float, high: float, needed: float, there: float = math.inf
) -> float:
    """Where _STEPS halvings of [low, high] end, each keeping the half in which the evidence stops to suffice; ``there``
    is that at ``low``. It falls as the line rises, so only middles between ``near`` and ``far`` are open."""
    near, far = _nearest(evidence, low, high, needed, there)
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        enough = middle <= near or (middle < far and evidence(middle) >= needed)
        low, high = (middle, high) if enough else (low, middle)
    return low


def _nearest(
    evidence: Callable[[float], float], low: float, high: float, needed: float, there: float
) -> tuple[float, float]:
    """Two lines that lie about as close together as halvings end, with evidence that suffices at the first and not at
    the second. The root of the evidence is nearly linear in the line, so a straight line (Illinois: of an end that
    stays, half the height) finds them in a quarter of the looks."""
    near, far, goal, root = low, high, (high - low) * 0.5**_STEPS, math.sqrt(needed)
    above, below, stayed = math.sqrt(there) - root, -root, 0
    for _ in range(_LOOKS):
        if far - near <= goal:
            break
        share = above / (above - below) if below < above < math.inf else 0.5
        line = min(max(near + share * (far - near), near + 0.5 * goal), far - 0.5 * goal)
        found = evidence(line)
        height = math.sqrt(max(found, 0.0)) - root
        if found >= needed:
            near, above, below, stayed = line, height, below * (0.5 if stayed == 1 else 1.0), 1
        else:
            far, above, below, stayed = line, above * (0.5 if stayed == -1 else 1.0), height, -1
    return near, far
