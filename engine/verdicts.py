"""Verdicts on lineups from fresh battles: confirmed, under the line, or undecided.

A lineup selected for an extreme result looks more extreme than it is, so only battles played after the selection count.
There are two selections and so two *stages*: a search selects its front, which is replayed at its end; people select
from what they then see, and re-check. A lineup has one ``Sample`` for each stage that examined it.

The guarantee is for two lists, of the confirmed lineups and of those under the line: at most 5 % of either is expected
to be false, however often somebody looks and however many lineups were examined (e-values and weighted e-BH:
``engine.confidence``). A lineup's share of that error is fixed when it is first examined, so later lineups take nothing
from it. One of the five percentage points of the first list pays for the baseline: "strong" means above the baseline's
upper 99 % bound.

Each lineup's range has 95 % coverage over all looks; ``most_extreme`` corrects for picking the extreme one of many.
"Under the line" is said of a lineup that stands in its list, and whose own range ends below the line as well.

Noise: replicates with few distinct values (wins, rare events, ties, all equal) get ranges that hold for any noise
within the bounds that the game declares; without declared bounds they get none. Other replicates get ranges from their
own spread (``confidence.seen``), but never surer than rare events that no battle has shown allow, each as bad as the
declared bounds permit (``confidence.unseen``). Where no bounds are declared, such events are not covered.

Formulas: all are supported. A formula that is no weighted sum can mostly be reduced to claims about a few weighted
sums, at the same strength (a ratio, abs, the larger of two: ``engine.claims``). The range of any other (products,
powers, counts) spans its values while every term stays in a range of its own, all ranges holding together; that costs
battles. ``engine.bench trust`` measures all of this.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import claims, confidence
from engine.claims import Sum
from engine.confidence import FRACTIONS, Range
from engine.formula_terms import Parts
from engine.indicators import FLAT, STRONG, UNDER, UNSURE
from engine.means import Mean, range_by_battles

Floats = NDArray[np.float64]
Finding = Literal["confirmed", "weak", "refuted", "more", "close", "measured", "meant"]
"""``meant``: whatever battles say, somebody means it to be so, which no battles tell: ``judge`` never finds it."""

ERROR = 0.05
BASELINE_ERROR = 0.01
LEVELS = tuple(range(2, 26, 2))
"""Levels of log evidence at which the terms' ranges are computed for formulas that weighted sums cannot express; the
first has a share of a half, the second a sixth, the third a twelfth, …"""
HOPELESS = 200
"""A lineup that would need more than this many times its battles is too close to the line to decide."""
ALONE = math.log(2 / ERROR)
"""Log of the evidence at which a range ends on one side of a value."""
UNDER_IT = 1e-6
"""Fraction of the way from a line to the mean by which the line moves, to test for strictly under it."""
MAYBE = (-1.593, -0.967, -0.589, -0.282, 0.0, 0.282, 0.589, 0.967, 1.593)
"""Plausible true values, in standard errors from the observed mean: the medians of nine equally likely parts."""


class Sample(NamedTuple):
    """Fresh battles of one lineup: ``mean`` and standard ``error`` [m] of ``samples`` replicates; ``values`` [samples,
    m] of each replicate (None: not kept), each from at least ``battles`` [m] battles of a team. ``low``, ``high`` [m]:
    bounds of the objectives (infinite: not declared). ``exact`` [m]: chance has no part in it. ``plain`` [m]: a
    weighted sum, so its values lie within the bounds, too. ``weight``: share of the error, see ``weights``; ``parts``:
    the terms of the objectives that are not plain, where known. ``known``: ranges computed so far, by objective and
    error (None: they are not remembered)."""

    mean: Floats
    error: Floats
    samples: int
    values: Floats | None
    low: Floats
    high: Floats
    exact: NDArray[np.bool_]
    plain: NDArray[np.bool_]
    battles: NDArray[np.int64]
    weight: float = 1.0
    parts: tuple[Parts | None, ...] = ()
    known: dict[tuple[int, float], Range] | None = None

    def range(self, j: int, error: float = ERROR) -> Range:
        """Confidence range of objective j: misses its true value with probability ``error`` at most, over all looks."""
        if self.known is None:
            return self._range(j, error)
        if (j, error) not in self.known:
            self.known[j, error] = self._range(j, error)
        return self.known[j, error]

    def _range(self, j: int, error: float) -> Range:
        low, high, mean = float(self.low[j]), float(self.high[j]), float(self.mean[j])
        if self.exact[j]:
            return Range(mean, mean)
        if not self._replicates_known(j):
            ends = confidence.t_bounds(mean, self._spread(j), self.samples, error)
            return Range(max(ends.low, low), min(ends.high, high))
        if (parts := self._made(j)) and parts.formula is None:
            return Range(*self._within(j, parts, error))
        assert self.values is not None
        if parts is None:
            return range_by_battles(self.values[:, j], low, high, float(self.battles[j]), error)
        step = max(float(np.ptp(self.values[:, j])), 1e-9 * max(1.0, abs(mean)))

        def end(sign: float, floor: float) -> float:
            def evidence(line: float) -> float:
                return self.evidence(j, sign * line, sign)

            return sign * confidence.lowest(evidence, sign * mean, step, floor, error / 2)

        return Range(end(1.0, low), end(-1.0, -high))

    def evidence(self, j: int, line: float, sign: float) -> float:
        """Log of the evidence that objective j is beyond ``line``: above it if ``sign`` is 1, below it if -1."""
        if self.exact[j]:
            return math.inf if sign * (float(self.mean[j]) - line) >= 0 else -math.inf
        if not self._replicates_known(j):
            return confidence.log_t_evidence(sign * float(self.mean[j]), self._spread(j), self.samples, sign * line)
        parts = self._made(j)
        if parts is None:
            return self._of_values(j, sign).evidence(sign * line)
        if parts.formula is None:
            return self._evidence_within(j, parts, line, sign)
        claim = claims.beyond(parts.formula, line, sign)
        return claims.weigh(claim, lambda sum_: self._of_sum(j, parts, sum_).evidence(0.0))

    def growth(self, j: int, line: float, sign: float) -> float:
        """Growth of that evidence per further replicate, if these resemble those so far; 0 if it does not grow."""
        gap = sign * (float(self.mean[j]) - line)
        if gap <= 0:
            return 0.0
        if not self._replicates_known(j):
            variance = self.samples * self._spread(j) ** 2
            return 0.5 * math.log1p(gap**2 / variance) if variance > 0 else 0.0
        parts = self._made(j)
        if parts is None or parts.formula is None:
            return self._of_values(j, sign).growth(sign * line) / (1 if parts is None else len(parts.open_))
        claim = claims.beyond(parts.formula, line, sign)
        return claims.growth(claim, lambda sum_: self._of_sum(j, parts, sum_).growth(0.0))

    def endless(self, j: int) -> bool:
        """Whether equal replicates are no evidence about objective j, because it, or one of its terms, has no declared
        bounds."""
        parts = self._made(j)
        ends = (self.low[j], self.high[j]) if parts is None else (*parts.low[parts.open_], *parts.high[parts.open_])
        return self.values is not None and not np.isfinite(ends).all()

    def _replicates_known(self, j: int) -> bool:
        """Whether the value of each replicate is known."""
        return self.values is not None and bool(self.plain[j] or self._made(j))

    def _made(self, j: int) -> Parts | None:
        """The terms of objective j, if they are known."""
        return self.parts[j] if self.parts else None

    def _of_sum(self, j: int, parts: Parts, sum_: Sum) -> Mean:
        return Mean(parts.of(sum_), *parts.ends(sum_), float(self.battles[j]))

    def _of_values(self, j: int, sign: float) -> Mean:
        assert self.values is not None
        low, high = sorted((sign * float(self.low[j]), sign * float(self.high[j])))
        return Mean(sign * self.values[:, j], low, high, float(self.battles[j]))

    def _within(self, j: int, parts: Parts, error: float) -> tuple[float, float]:
        """Range of objective j while each of its terms is within that term's own range; one of those misses with
        probability ``error`` at most, over all looks."""
        if error not in parts.boxes:
            low, high, battles = parts.low.copy(), parts.high.copy(), float(self.battles[j])
            for i in parts.open_:
                own = error / len(parts.open_)
                low[i], high[i] = range_by_battles(parts.values[:, i], float(low[i]), float(high[i]), battles, own)
            parts.boxes[error] = parts.apart.ends(low, high)
        return parts.boxes[error]

    def _evidence_within(self, j: int, parts: Parts, line: float, sign: float) -> float:
        """Log of the evidence for a formula that weighted sums cannot express: a range with error e that lies wholly
        beyond the line is worth 1 / e, and the LEVELS are added up by their shares."""
        reached, level = 0, 1 << (len(LEVELS).bit_length() - 1)
        while level:
            if reached + level <= len(LEVELS):
                low, high = self._within(j, parts, math.exp(-LEVELS[reached + level - 1]))
                reached += level if sign * ((low if sign > 0 else high) - line) >= 0 else 0
            level //= 2
        order = np.arange(1, reached + 1)
        shares = np.array(LEVELS[:reached]) - np.log(order * (order + 1.0))
        return float(np.logaddexp.reduce(shares)) if reached else -math.inf

    def _spread(self, j: int) -> float:
        """The standard error of objective j; 0 where it is only rounding."""
        return float(self.error[j]) if self.error[j] > FLAT else 0.0


class Goals(NamedTuple):
    """``signs``: 1 to push up, -1 to push down. ``lines``: each objective's threshold (None: none). ``strong``: index
    of the objective that measures the weakest team's strength. ``baseline``: what strength is compared with, as value,
    standard error (None: unknown) and samples. ``medians``: how many baselines share the error that one would have."""

    signs: Sequence[float]
    lines: Sequence[float | None]
    strong: int | None
    baseline: tuple[float, float | None, int] | None
    medians: int = 1

    def bar(self, side: float) -> float:
        """The baseline's upper (1) or lower (-1) bound of 99 % (more where several share it), in the direction of
        strength."""
        assert self.strong is not None
        assert self.baseline is not None
        value, error, samples = self.baseline
        return value + side * self.signs[self.strong] * baseline_reach(error, samples, self.medians)

    @property
    def judged(self) -> bool:
        """Whether strength counts."""
        return self.strong is not None and self.baseline is not None


def baseline_reach(error: float | None, samples: int, medians: int = 1) -> float:
    """Distance of the baseline's 99 % bounds from its value, in its unit: Student's t with the standard ``error``
    (``lineups.baselines.median_error``) of ``samples``; infinite where the error is unknown. ``medians`` that are used
    side by side share the 1 % (Bonferroni)."""
    from scipy.special import stdtrit  # not loaded by every process of the site

    spread = math.inf if error is None or samples < 2 else error
    return float(stdtrit(max(samples - 1, 1), 1 - BASELINE_ERROR / medians)) * spread


class InLists(NamedTuple):
    """Whether a lineup stands in the list of the ``confirmed`` ones, and in that of those ``under`` the line."""

    confirmed: bool = False
    under: bool = False


class Many(NamedTuple):
    """How many lineups stand in each list."""

    confirmed: int = 0
    under: int = 0


class Verdict(NamedTuple):
    """``finding``; about how many times its battles would (``factor``) tell where they do not, and of what
    (``open_``: the line, or its strength; ``about``: by which objective); whether its whole range is
    ``over`` a line. ``endless``: none would, as too many came out alike and nobody says how far others can go.
    ``both``: the other question is open as well, for which fewer battles would do."""

    finding: Finding
    factor: float
    open_: Literal["", "line", "strength"]
    over: bool
    about: int = -1
    endless: bool = False
    both: bool = False


def mark(finding: Finding) -> int:
    """The chart mark of a finding. An undecided lineup is UNSURE wherever its mean is."""
    return {"confirmed": STRONG, "refuted": UNDER, "meant": UNDER}.get(finding, UNSURE)


def weights(batches: Sequence[int]) -> Floats:
    """Error shares [n] of lineups that were first examined in batches 0, 1, 2, …: a half goes to the first batch, a
    sixth to the second, a twelfth to the third, each split evenly among its lineups. They add up to 1 at most."""
    order = np.asarray(batches, dtype=np.int64)
    count = np.bincount(order) if len(order) else np.zeros(0, dtype=np.int64)
    return np.asarray(1.0 / ((order + 1.0) * (order + 2.0) * count[order])) if len(order) else np.zeros(0)


def confirmed(lineups: Sequence[Sequence[Sample]], goals: Goals) -> NDArray[np.bool_]:
    """Which lineups of a search are confirmed, bool[n]: over a line, and strong where that counts. Each has a sample
    for each stage that examined it; their evidence is averaged by their shares of the error."""
    if not lineups:
        return np.zeros(0, dtype=bool)
    shares = [np.array([s.weight for s in samples]) for samples in lineups]
    logs = [_together([evidence(s, goals) for s in own], w) for own, w in zip(lineups, shares, strict=True)]
    total = np.array([w.sum() for w in shares])
    return confidence.e_bh(np.array(logs), total, ERROR - BASELINE_ERROR if goals.judged else ERROR)


def _together(logs: Sequence[float], shares: Floats) -> float:
    return float(np.logaddexp.reduce(np.array(logs) + np.log(shares / shares.sum())))


def cleared(lineups: Sequence[Sequence[Sample]], goals: Goals) -> NDArray[np.bool_]:
    """Which lineups of a search are under all of their lines, bool[n]; as ``confirmed``."""
    if not lineups:
        return np.zeros(0, dtype=bool)
    shares = [np.array([s.weight for s in samples]) for samples in lineups]
    logs = [_together([evidence_under(s, goals) for s in own], w) for own, w in zip(lineups, shares, strict=True)]
    return confidence.e_bh(np.array(logs), np.array([w.sum() for w in shares]), ERROR)


def judged(lineups: Sequence[Sequence[Sample]], goals: Goals) -> list[Verdict]:
    """The verdict on each lineup of a list, by the last stage that examined it."""
    sure, under = confirmed(lineups, goals), cleared(lineups, goals)
    many = Many(int(sure.sum()), int(under.sum()))
    return [
        judge(samples[-1], goals, InLists(bool(t), bool(u)), many)
        for samples, t, u in zip(lineups, sure, under, strict=True)
    ]


def judge(sample: Sample, goals: Goals, listed: InLists, many: Many) -> Verdict:
    """The verdict on one lineup: in which lists it stands, and how many stand in each."""
    lined = [j for j, line in enumerate(goals.lines) if line is not None]
    if not lined:
        return Verdict("measured", 1.0, "", False)
    if not sample.samples:  # it failed: nothing is known of it, and no battles to multiply
        return Verdict("more", 1.0, "line", False, lined[0])
    ends = {j: _beyond(sample.range(j), goals.signs[j], goals.lines[j]) for j in lined}
    over = any(near >= 0 for near, _ in ends.values())
    if listed.under and all(far < 0 for _, far in ends.values()):
        return Verdict("refuted", 1.0, "", over)
    if goals.strong is not None and goals.judged and _weak(sample, goals, goals.strong):
        return Verdict("weak", 1.0, "", over)
    if listed.confirmed:
        return Verdict("confirmed", 1.0, "", over)
    return _undecided(sample, goals, lined, many, over)


def most_extreme(samples: Sequence[Sample], j: int, sign: float, of: int) -> tuple[int, Range]:
    """Index of the sample that is furthest in objective j, and the range of its true value. The range holds although
    the sample was picked as the furthest of ``of`` examined ones."""
    at = max(range(len(samples)), key=lambda i: sign * float(samples[i].mean[j]))
    return at, samples[at].range(j, ERROR / of)


def _beyond(ends: Range, sign: float, line: float | None) -> tuple[float, float]:
    """How far the near and the far end of a range are beyond a line."""
    assert line is not None
    a, b = sign * (ends.low - line), sign * (ends.high - line)
    return min(a, b), max(a, b)


def _weak(sample: Sample, goals: Goals, j: int) -> bool:
    """Whether the whole range of its strength is below the baseline's lower bound."""
    return _beyond(sample.range(j), goals.signs[j], goals.bar(-1.0))[1] < 0


def evidence(sample: Sample, goals: Goals) -> float:
    """That it is over one line or another (the average over them), and strong: as weak as the weaker of the two."""
    lines = [(j, line) for j, line in enumerate(goals.lines) if line is not None]
    if not lines:
        return -math.inf
    logs = np.array([sample.evidence(j, line, goals.signs[j]) for j, line in lines])
    over = float(np.logaddexp.reduce(logs) - math.log(len(lines)))
    if goals.strong is None or not goals.judged:
        return over
    return min(over, sample.evidence(goals.strong, goals.bar(1.0), goals.signs[goals.strong]))


def evidence_under(sample: Sample, goals: Goals) -> float:
    """Log of the evidence that it is under each of its lines: as weak as for the one it is nearest to."""
    lined = [(j, line) for j, line in enumerate(goals.lines) if line is not None]
    return min((sample.evidence(j, line, -goals.signs[j]) for j, line in lined), default=-math.inf)


def _undecided(sample: Sample, goals: Goals, lined: Sequence[int], many: Many, over: bool) -> Verdict:
    """The verdict on an undecided lineup: which question takes longest, and how many times its battles settle it."""
    needed = -math.log((ERROR - BASELINE_ERROR) * sample.weight * (many.confirmed + 1))
    under = max(ALONE, -math.log(ERROR * sample.weight * (many.under + 1)))
    j = max(lined, key=lambda k: goals.signs[k] * (float(sample.mean[k]) - float(goals.lines[k] or 0.0)))
    line = goals.lines[j]
    assert line is not None
    beyond = goals.signs[j] * (float(sample.mean[j]) - line) >= 0
    times = {"line": _usual(sample, j, lambda by: _times(sample, j, line - by, goals.signs[j], (needed, under)))}
    if (k := goals.strong) is not None and goals.judged and beyond:
        times["strength"] = _usual(sample, k, lambda by: _times_of_strength(sample, goals, k, by, needed))
    what = max(times, key=lambda name: times[name])
    factor = max(times[what], 1 + 1 / sample.samples)
    about = k if k is not None and what == "strength" else j
    finding: Finding = "close" if factor > HOPELESS else "more"
    endless = (
        math.isinf(factor) and sample.endless(about) and (what == "line" or not _within_bars(sample, goals, about))
    )
    both = len(times) > 1 and min(times.values()) > 0
    return Verdict(finding, factor, what, over, about, endless, both)  # type: ignore[arg-type]


def _within_bars(sample: Sample, goals: Goals, j: int) -> bool:
    """Whether its mean strength is between the baseline's own bounds."""
    return sorted((goals.bar(-1.0), float(sample.mean[j]), goals.bar(1.0)))[1] == float(sample.mean[j])


def _usual(sample: Sample, j: int, times: Callable[[float], float]) -> float:
    """The median of ``times`` over the plausible true values (MAYBE). As measured, that was enough in 43 (wins) to 78
    (normal noise) of 100 cases, but in 18 of 100 where 16 replicates of a single battle were won or lost; the median
    case of these needed 4.6 times as many. In lists of 60, one lineup at a time: in 59 to 84 of 100 cases with normal
    noise, in 64 to 93 where a replicate is ten battles, and 2.3 times as many were enough in 80; where one is a single
    battle, in 35 to 40 of 16 replicates and 57 of 64. A mean seen near the line is hardly ever as near in truth, so the
    time for exactly that mean would be far too long."""
    return sorted(times(float(sample.error[j]) * z) for z in MAYBE)[len(MAYBE) // 2]


def _times_of_strength(sample: Sample, goals: Goals, j: int, by: float, needed: float) -> float:
    """As ``_times``, for its strength if that is higher ``by`` so much; infinite between the baseline's own bounds,
    where no number of battles settles it."""
    sign, mean = goals.signs[j], float(sample.mean[j]) + by
    if sign * (mean - goals.bar(1.0)) >= 0:
        return _times(sample, j, goals.bar(1.0) - by, sign, (needed, ALONE))
    return (
        _times(sample, j, goals.bar(-1.0) - by, sign, (needed, ALONE))
        if sign * (mean - goals.bar(-1.0)) < 0
        else math.inf
    )


def _times(sample: Sample, j: int, line: float, sign: float, needed: tuple[float, float]) -> float:
    """How many times its battles would settle on which side of the line it is, at their rate so far; 0 where they
    already show it to be above. ``needed``: the evidence that it takes above, and below."""
    above = sign * (float(sample.mean[j]) - line) >= 0
    if above and sample.evidence(j, line, sign) >= needed[0]:
        return 0.0
    goal, side = (needed[0], sign) if above else (needed[1], -sign)
    if not above:  # strictly under it: that nothing exceeds a line at the objective's own bound is no evidence
        line += UNDER_IT * (float(sample.mean[j]) - line)
    rate = sample.growth(j, line, side)
    spread = math.log(len(FRACTIONS))  # what averaging over fractions costs, at most
    return math.inf if rate <= 0 else (goal + spread) / (rate * sample.samples)
