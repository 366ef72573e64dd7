"""Estimates for every trait from random pairings, with cross-fitted forecasts: none is used on battles it saw."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from engine import confidence
from engine.confidence import Range
from engine.lineups.drawing import costs
from engine.worth.estimates import by_pair, by_traits, predicting, trust, weighted
from engine.worth.expectations import Expectations, paired
from engine.worth.forecast import EncodedTeams, crossfitted
from engine.worth.hidden import LOST, WON, hidden
from engine.worth.prices import Slope, Slopes
from engine.worth.traits import Traits
from engine.worth.verdicts import NEEDED

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Index = NDArray[np.int64]
WIN, LEAD = OUTCOMES = 0, 1
SIDES = Range(-1.0, 1.0)
"""Bounds of an outcome minus its forecast."""


class Screen:
    """``rows`` int32[n, 2, slots]; ``ahead`` float64[n, 2]: by how much the first team was ahead (win, strength).

    There are two outcomes: the WIN, and the LEAD in strength, scaled to the win probability that it predicts. The lead
    shows an effect in fewer battles, so it guides the search; findings are about the win. For each outcome, by trait:
    ``rest``, the residuals of its forecast; ``expected``, that forecast over the reference, from teams that are drawn
    but do not play (``expectations``); ``pairs``, the residuals by pairs of pieces. Pieces come first among the traits,
    in the order of ``traits.single``."""

    def __init__(
        self, traits: Traits, rows: Ints, ahead: Floats, seed: int, stopped: Callable[[], bool] = lambda: False
    ) -> None:
        good = np.isfinite(ahead).all(axis=1)
        self.traits, self.rules, self.seed, self.stopped = traits, traits.rules, seed, stopped
        self._every, self._good, self._unfinished = rows, good, rows[~good]
        rows, ahead = rows[good], ahead[good]
        self.battles = len(rows)
        self._ranges: dict[tuple[int, float], Range] = {}
        self.scale = np.array([1.0, predicting(*ahead.T)])
        outcome = ahead * self.scale
        self.trust = np.ones(2)
        self.forecasts, forecast = crossfitted(traits, rows, outcome, seed, stopped)
        self.trust = np.array([trust(outcome[:, j], forecast[:, j]) for j in OUTCOMES])
        held, rest = _held(traits, rows), _both(outcome - self.trust * forecast)
        self.rest, self._held, self._rest = by_traits(held, rest), held.tocsc(), rest[:, WIN]
        pieces = held[:, : len(traits.single)].tocsr()
        self.pairs = [by_pair(pieces, rest[:, j]) for j in OUTCOMES]
        self._played = self._slopes(held, rows, rest[:, WIN])
        self.expectations = Expectations(traits, self.met, seed, stopped)
        kinds = traits.pairs_held(held)
        self._kinds = [weighted(kinds, rest[:, j]) for j in OUTCOMES]
        self._kinds_many = np.asarray(kinds.sum(axis=0), np.float64).ravel()
        self.expected, self._expected_kinds, self._drawn, self._expected_pairs = self.expectations.reference(len(rows))

    def outcome(self, j: int = WIN) -> Floats:
        """By trait, the outcome beyond even of teams with it."""
        return self.rest[j].mean + self.expected[j].mean

    def variance(self, j: int = WIN) -> Floats:
        """The variance of ``outcome``."""
        return self.rest[j].careful + self.expected[j].careful

    @property
    def base(self) -> Floats:
        """By piece and amount, how much teams win beyond even with the average piece of the same category in the same
        amount, because many of any piece may be worse than few. Pieces that are too rare to be tested do not count."""
        return self.average()[0]

    @property
    def base_variance(self) -> Floats:
        """The variance of ``base``."""
        return self.average()[1]

    def average(self, j: int = WIN) -> tuple[Floats, Floats]:
        """``base`` and its variance, for each outcome."""
        return self._averages[j]

    @cached_property
    def _averages(self) -> list[tuple[Floats, Floats]]:
        found = []
        for j in OUTCOMES:
            (totals, many), (spread, _) = self._by_group(self.outcome(j)), self._by_group(self.variance(j))
            many = np.maximum(many, 1)
            found.append((np.asarray((totals / many)[self.group]), np.asarray((spread / many**2)[self.group])))
        return found

    @property
    def drawn_variance(self) -> Floats:
        """By piece and amount, how much of the variance of its outcome and of ``base`` comes from the teams that are
        drawn but do not play: so much no battle takes away."""
        own = self.expected[WIN].careful
        totals, many = self._by_group(own)
        return np.asarray(own + (totals / np.maximum(many, 1) ** 2)[self.group])

    def pair_base(self, j: int = WIN) -> tuple[Floats, Floats]:
        """By pair, how much teams win beyond even with the average pair of the same two categories, as often as teams
        hold each of these; and the variance of that."""
        (mean, variance), expected, kinds = self._kinds[j], self._expected_kinds[j], self.traits.kinds
        return (mean + expected.mean)[kinds], (variance + expected.careful)[kinds]

    @cached_property
    def compared(self) -> NDArray[np.bool_]:
        """By piece and amount, whether there is something to compare it with: another piece of its category, in the
        same amount."""
        return np.asarray(self._by_group(self.outcome())[1][self.group] > 1)

    @cached_property
    def separable(self) -> NDArray[np.bool_]:
        """By piece and amount, whether its effect can be told from all else: some teams do not have it, and no other
        piece is in exactly the teams that have the piece."""
        many, together = self.rest[WIN].many, self.pairs[WIN].many
        mine = np.diag(together)
        same = (together == mine[:, None]) & (mine[None, :] == mine[:, None])
        place = {t.pieces: i for i, t in enumerate(self.traits.single)}
        of = [place[t.pieces] for t in [*self.traits.single, *self.traits.amounts]]
        return np.asarray((same.sum(axis=1) == 1)[of] & (many < 2 * self.battles))

    @cached_property
    def unfinished(self) -> tuple[Floats, Floats]:
        """How many teams had each piece and amount, and each two pieces [pieces, pieces], in battles that the game did
        not finish."""
        held = _held(self.traits, self._unfinished)
        pieces = held[:, : len(self.traits.single)]
        return np.asarray(held.sum(axis=0), np.float64).ravel(), np.asarray((pieces.T @ pieces).toarray(), np.float64)

    @cached_property
    def hidden(self) -> Floats:
        """By piece and amount, how far its outcome may be off given the battles that the game did not finish."""
        rest = self.rest[WIN]
        return hidden(_held(self.traits, self._unfinished), self._not_seen, rest.mean, rest.many)

    @cached_property
    def hidden_base(self) -> Floats:
        """The same of ``base``; a piece that has no part in that only because of these battles may be anything."""
        (totals, many), met, left = self._by_group(self.hidden), self.rest[WIN].many, self.unfinished[0]
        lost = np.bincount(self.group[(met < NEEDED) & (met + left >= NEEDED)], None, len(many))
        return np.asarray(((totals + lost) / np.maximum(many, 1))[self.group])

    @cached_property
    def hidden_pair_base(self) -> Floats:
        """The same, by pair, of ``pair_base``."""
        kinds = self.traits.pairs_held(_held(self.traits, self._unfinished))
        return hidden(kinds, self._not_seen, self._kinds[WIN][0], self._kinds_many)[self.traits.kinds]

    @cached_property
    def _not_seen(self) -> Floats:
        """Forecasts for the teams of the battles that were not finished."""
        if not len(self._unfinished):
            return np.empty(0)
        ahead = self.forecast(self._unfinished)[:, WIN]
        return np.concatenate([ahead, -ahead])

    @cached_property
    def _ways(self) -> tuple[sparse.csc_matrix, list[Floats]]:
        """The traits of all teams in the order of their battles, and their residuals, had each lost what was not
        finished, and had each won it."""
        known, found = np.tile(self._good, 2), []
        for edge in (LOST, WON):
            rest = np.empty(len(known))
            rest[known], rest[~known] = self._rest, edge - self._not_seen
            found.append(rest)
        return _held(self.traits, self._every).tocsc(), found

    @cached_property
    def tested(self) -> NDArray[np.bool_]:
        """By trait, whether it can be tested at all: a piece or an amount that is ``separable`` and ``compared``; a
        pair of two separable pieces, if teams hold another pair of the same two categories."""
        halves = self.traits.halves
        met, kinds = self.pairs[WIN].many[halves[:, 0], halves[:, 1]] > 1, self.traits.kinds
        several = np.bincount(kinds, met, int(kinds.max(initial=0)) + 1)[kinds] > 1
        return np.concatenate([self.separable & self.compared, self.separable[halves].all(axis=1) & several])

    @cached_property
    def group(self) -> NDArray[np.int64]:
        """The comparison group of each trait: pieces of a category, in the same amount."""
        every = [*self.traits.single, *self.traits.amounts]
        of = np.array([(self.rules.category[t.pieces[0]], t.least) for t in every])
        return np.asarray(np.unique(of, axis=0, return_inverse=True)[1].ravel(), np.int64)

    def _by_group(self, values: Floats) -> tuple[Floats, Floats]:
        """By group, the sum of values over traits that met often enough to be tested, also among teams that are drawn
        but do not play, and the number of these: few battles of one that hardly ever occurs, all lost by luck, would
        move the average, and say nothing of how far."""
        known, groups = np.isfinite(self.expected[WIN].variance), int(self.group.max()) + 1
        met = (self.rest[WIN].many >= NEEDED) & known
        own = self.group[met]
        return np.bincount(own, values[met], groups).astype(np.float64), np.bincount(own, None, groups).astype(
            np.float64
        )

    @cached_property
    def units(self) -> Floats:
        """By piece and amount, the average amount of the piece in teams that have it; 0 where none have."""
        many = self.expected[WIN].many
        of = np.array([t.pieces[0] for t in [*self.traits.single, *self.traits.amounts]], np.int64)
        totals = np.bincount(of, many, self.traits.pieces)[of]
        return np.asarray(np.divide(totals, many, out=np.zeros(len(of)), where=many > 0))

    @cached_property
    def slopes(self) -> dict[int, Slope]:
        """By category, the change of the win probability per unit of cost, at a given piece."""
        kinds = self.rules.category[[t.pieces[0] for t in self.traits.single]]
        none = np.zeros(len(self.traits.amounts), np.bool_)
        of = {k: np.append(kinds == k, none) for k in set(kinds.tolist())}
        return {k: self._played.slope(own).plus(self._drawn.slope(own)) for k, own in of.items()}

    def _slopes(self, held: sparse.csr_matrix, rows: Ints, y: Floats) -> Slopes:
        one, other = (costs(self.rules, rows[:, side]) for side in (0, 1))
        d = np.concatenate([one - other, other - one])
        return Slopes(held, np.tile(np.arange(len(rows)), 2), np.ones_like(d), d, y, d * d, d * y)

    def left(self, rows: Ints, ahead: Floats) -> Floats:
        """Residuals [n, 2] of forecasts for the first teams' outcomes, in battles that they never saw."""
        return np.asarray(ahead * self.scale - self.forecast(rows))

    def forecast(self, rows: Ints) -> Floats:
        """Forecasts [n, 2] to subtract from the first teams' outcomes."""
        return self.met(*paired(rows))

    def met(self, rows: Ints, first: Index, second: Index) -> Floats:
        """Forecasts [n, 2] for meetings of teams int32[t, slots], by index."""
        teams = EncodedTeams.of(self.rules, rows)
        return np.asarray(self.trust * np.mean([f.of(teams, first, second) for f in self.forecasts], axis=0))

    def range(self, trait: int, error: float) -> Range:
        """Range of the mean of a trait's ``rest``, for one look: the screen is analysed once, when it is complete. It
        holds whichever way the battles that were not finished would have ended."""
        if (trait, error) not in self._ranges:
            self._ranges[trait, error] = self._range(trait, error)
        return self._ranges[trait, error]

    def together(self, one: int, other: int, error: float) -> tuple[float, Range, float]:
        """Of two pieces, by their places among the traits: the outcome beyond even of teams with both, its range as of
        ``range``, and the variance of what forecasts expect of these teams."""
        rest = self._rest[_both_in(self._held, (one, other))]
        expected, variance = (
            float(each[one, other]) for each in (self._expected_pairs.mean, self._expected_pairs.variance)
        )
        ends = self._any_way((one, other), confidence.bounds_once(rest, *SIDES, error), error)
        return float(rest.mean()) + expected, Range(ends.low + expected, ends.high + expected), variance

    def outcomes(self, halves: Index) -> tuple[Floats, Floats]:
        """The same of many pairs [n, 2] at once, as means and their variances."""
        rest, expected = self.pairs[WIN].at(*halves.T), self._expected_pairs.at(*halves.T)
        return rest.mean + expected.mean, rest.variance + expected.variance

    def _range(self, trait: int, error: float) -> Range:
        ends = confidence.bounds_once(self._rest[_both_in(self._held, (trait,))], *SIDES, error)
        return self._any_way((trait,), ends, error)

    def _any_way(self, traits: tuple[int, ...], ends: Range, error: float) -> Range:
        """The range of teams with these traits whichever way the battles that were not finished would have ended, by
        that of those that were."""
        if self._good.all():
            return ends
        held, ways = self._ways
        at = _both_in(held, traits)
        least, most = (confidence.bounds_once(rest[at], *SIDES, error) for rest in ways)
        return Range(min(ends.low, least.low), max(ends.high, most.high))


def _held(traits: Traits, rows: Ints) -> sparse.csr_matrix:
    """The traits of the first teams, then of the second ones."""
    return traits.held(np.concatenate([rows[:, 0], rows[:, 1]]))


def _both_in(held: sparse.csc_matrix, traits: tuple[int, ...]) -> Index:
    """The teams that have all of one or two traits."""
    one, *others = (held.indices[held.indptr[t] : held.indptr[t + 1]] for t in traits)
    return np.asarray(np.intersect1d(one, others[0], assume_unique=True) if others else one)


def _both(ahead: Floats) -> Floats:
    """Leads of the first teams, then of the second ones."""
    return np.concatenate([ahead, -ahead])
