"""A ladder: players by strength from the meetings that were played, whoever met whom, with ranges.

Ratings are those of the Bradley-Terry model in log odds: player i takes the share 1 / (1 + exp(r_j - r_i)) of a meeting
with j. A meeting is two battles, one from each seat; its result is the first one's share of the two wins.

* The prior is Firth's (1993, "Bias reduction of maximum likelihood estimates"; Jeffreys's prior): each match-up counts
  as if h / 2 further meetings had been won and as many lost, h its leverage. All h add up to one less than there are
  players, so it hardly counts where much was played, and who never lost has a rating, too.
* What chance does to a meeting is estimated, not assumed: ``scale`` is the variance of a meeting in units of that of
  one battle, 1/2 for two independent battles, 1 where both always end alike, less with draws. It is pooled over all
  match-ups, with one even meeting of scale 1 added, and at most 1, beyond which no share can vary. Few meetings do not
  tell it well, and those that one side always wins hardly at all: in ranges it is as much larger as Student's quantile
  of its degrees of freedom is than the normal one, squared. Even meetings count as one each, others as their variance.
* Equals may draw where unequals do not, so ranges take each match-up's own variance, with ``SHRUNK`` meetings of the
  pooled scale added, and at least what a mean so near 0 or 1 leaves to shares that are quarters (``_least``). The
  variance of a contrast is then the sandwich of White (1980, "A heteroskedasticity-consistent covariance matrix
  estimator"); the fall of the likelihood is divided by it in units of what the likelihood says. Few odd results do not
  tell a variance well: it is multiplied as above, by the degrees of freedom of Satterthwaite (1946, "An approximate
  distribution of estimates of variance components"), those of a match-up being 8 times its sum of squares, at most one
  less than its meetings. It is never less than by the pooled scale, as match-ups that one side always wins show no
  variance, nor more than by scale 1.
* Ranges are of profile likelihood (Heinze and Schemper 2002, "A solution to the problem of separation in logistic
  regression"): they are not symmetric, and do not break down where a share is near 0 or 1, as the delta method does.
  ``profiles`` finds their ends.
* An end is infinite where the meetings leave it open: i may be arbitrarily far above j unless j took a share from
  somebody, who took one from somebody …, who took one from i (Ford 1957). Only the prior would close it. Beside a mean
  of some players, who else is far from all of them opens no end of theirs.
* Players between whom no chain of meetings runs cannot be compared. Those of the largest group are rated.
* Where match-ups are to weigh ``alike``, as in ``split``, each counts as the mean number of meetings, so that ratings
  are those of the shares, whoever met more often. The likelihood is then a weighted one, whose fall says too much of
  contrasts that hang on few meetings; the same sandwich mends that, too (Pace, Salvan and Sartori 2011, "Adjusting
  composite likelihood ratio statistics").
* ``surely_above`` decides on differences of two players, which are known better than either rating, at an error that
  all differences that are looked at share (Bonferroni, one-sided). So the highest of many is surely the best with an
  error of 5 % in all, though the same meetings say who is highest (Hsu 1984, "Constrained simultaneous confidence
  intervals for multiple comparisons with the best").

Measured (``python -m engine.bench trust``, cases ``ladders-…``), 500 ladders of each of 37 kinds (2 to 9 players, 2 to
200 meetings of a pair, up to 98 % of the battles of equals drawn, some with one who wins or loses everything): ranges
miss in at most 5.4 % (standard error 0.4), those of a single player in at most 6.8 % (1.1), and in less than 1 % in
some kinds with few meetings or levels far apart; of six equals the leader is called surely stronger than another in
4.2 % (0.9). Of two equals 3 above the four others, whom alone they met, one is called surely stronger in 3.4 to 4.6 %
(0.9). So what holds is about 95 %, and no proof covers few meetings.

Departures: leverages are those at the estimate, along the whole profile; results of different match-ups count as
independent, though the same seeds may be in them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, ndtri, stdtrit

from engine.confidence import Range
from engine.metagame.matchups import DOUBT, Pairs
from engine.metagame.profiles import Profiles

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
EVEN = 0.25
"""Variance of one battle between equals."""
FAINT = 0.05
"""Of the prior, what is left of it where it should hardly count."""
SHRUNK = 2.0
"""Meetings of the pooled scale that are added to those which tell a match-up's own variance."""
_STEPS, _CLOSE = 100, 1e-9


class Meetings(NamedTuple):
    """What was played, k rows: the two players ``met``, the number ``many`` of their meetings, the sum ``wins`` of the
    first one's shares in them, and the sum ``squares`` of the squares of these. A match-up may have several rows."""

    met: Pairs
    many: Floats
    wins: Floats
    squares: Floats


class Ladder:
    """``ratings`` float64[players] in log odds, around the mean of those ``around`` bool[players] whom they can be
    compared with; NaN for others. ``low`` and ``high``: ends of 95 % ranges, infinite where nothing bounds them.
    ``group`` int64[...]: the players who are rated; ``scale`` and ``alike`` as above."""

    def __init__(self, players: int, played: Meetings, around: Bools, alike: bool = False) -> None:
        table, won = _tables(players, played)
        self.group = _largest(table, around)
        many, won = (each[np.ix_(self.group, self.group)] for each in (table, won))
        self._weights = _alike(many) if alike else np.ones_like(many)
        many, won = many * self._weights, won * self._weights
        self.ratings, self.low, self.high = np.full((3, players), np.nan)
        if not len(self.group):
            return
        own_spread = _within(played, self.group, players)
        fit, self._own = _estimated(many, won, own_spread), own_spread.tables(len(many))
        self.scale, self._above = fit.scale, _reached(won > 0)
        self._estimate = many, won, fit
        careful = self._careful(DOUBT / 2)
        own = around[self.group]
        centre = own / own.sum() if own.any() else np.full(len(own), 1 / len(own))
        self.ratings[self.group] = fit.ratings - centre @ fit.ratings
        for k, player in enumerate(self.group.tolist()):
            self.low[player], self.high[player] = self._range(careful, _unit(len(own), k) - centre, k, centre > 0)

    def surely_above(self, one: int, others: Sequence[int], among: int) -> Bools:
        """Which of ``others`` a player is surely stronger than. All that is said so of any two ``among`` so many
        players holds at once, but for an error of 5 %."""
        place = {player: k for k, player in enumerate(self.group.tolist())}
        error, found = DOUBT / max(among * (among - 1), 1), np.zeros(len(others), np.bool_)
        careful = self._careful(error) if one in place else None
        for i, other in enumerate(others):
            if careful and self.ratings[one] > self.ratings[other]:
                apart = _unit(len(place), place[one]) - _unit(len(place), place[other])
                depth = min(view.depth(view.profile(apart, 0.0)) for view in careful.views)
                found[i] = depth >= self._wanted(apart, careful)
        return found

    def _careful(self, error: float) -> _Careful:
        _, won, fit = self._estimate
        wider = (float(stdtrit(fit.free, 1 - error)) / float(ndtri(error))) ** 2
        scale = min(fit.scale * wider, 1.0)
        views = [Profiles(won / scale + share * fit.leverage / 2, fit.ratings) for share in (1.0, FAINT)]
        return _Careful(error, scale, views)

    def _range(self, careful: _Careful, contrast: Floats, k: int, beside: Bools) -> Range:
        """Of player k of the group against the mean of those ``beside``: no end is nearer than by either prior."""
        rating = float(contrast @ self._estimate[2].ratings)
        if not np.abs(contrast).max() > 0:
            return Range(rating, rating)
        wanted, views = self._wanted(contrast, careful), careful.views
        low = min(-v.end(-contrast, wanted) for v in views) if self._above[beside, k].all() else -math.inf
        high = max(v.end(contrast, wanted) for v in views) if self._above[k, beside].all() else math.inf
        return Range(min(low, rating), max(high, rating))

    def _wanted(self, contrast: Floats, careful: _Careful) -> float:
        """How deep the likelihood of a contrast of ratings falls to an end that is missed as seldom as it should be."""
        many, _, fit = self._estimate
        pairs = np.triu_indices(len(many), 1)
        chance = expit(fit.ratings[:, None] - fit.ratings)
        along = np.linalg.solve(_laplacian(many * chance * (1 - chance)) + 1 / len(many), contrast)
        weight = (((along[:, None] - along) ** 2) * many * self._weights)[pairs]
        even, least = (chance * (1 - chance))[pairs], _least(chance[pairs])
        free, squares = (each[pairs] for each in self._own)
        events = np.minimum(8 * squares, free)
        own = weight * squares / (free + SHRUNK)
        rest = weight * SHRUNK * np.maximum(fit.scale * even, least) / (free + SHRUNK)
        unsure = float((own**2 / np.where(events > 0, events, 1.0)).sum() + rest.sum() ** 2 / (1 + events.sum()))
        student = float(stdtrit(max(float((own + rest).sum()) ** 2 / unsure, 1.0), 1 - careful.error))
        normal, even_spread = float(ndtri(careful.error)), float(weight @ even)
        apart = float(np.maximum(own + rest, weight * least).sum()) * (student / normal) ** 2
        spread = min(max(apart, careful.scale * even_spread), even_spread)
        return normal**2 * spread / (careful.scale * float(along @ contrast))


class _Fit(NamedTuple):
    """Ratings of mean 0, the leverages [players, players] of all match-ups, the scale of chance, and how many degrees
    of freedom tell it (``free``)."""

    ratings: Floats
    leverage: Floats
    scale: float
    free: float


class _Careful(NamedTuple):
    """For ends that are each missed with probability ``error``: the pooled ``scale`` as large as that asks for, and the
    ``views`` by either prior."""

    error: float
    scale: float
    views: list[Profiles]


class _Own(NamedTuple):
    """Rows of meetings within the group of at least two: the ``pair``, the degrees of freedom ``free`` of the sum of
    ``squares`` around their mean."""

    pair: tuple[NDArray[np.int64], NDArray[np.int64]]
    free: Floats
    squares: Floats

    def tables(self, players: int) -> tuple[Floats, Floats]:
        """``free`` and ``squares`` [players, players] of each two, from either side."""
        free, squares = np.zeros((2, players, players))
        for pair in (self.pair, self.pair[::-1]):
            np.add.at(free, pair, self.free)
            np.add.at(squares, pair, self.squares)
        return free, squares


def _within(played: Meetings, group: NDArray[np.int64], players: int) -> _Own:
    place = np.full(players, -1)
    place[group] = np.arange(len(group))
    first, second = place[played.met.first], place[played.met.second]
    here = (first >= 0) & (second >= 0) & (played.many > 1)
    squares = (played.squares - played.wins**2 / np.maximum(played.many, 1)).clip(0.0)
    return _Own((first[here], second[here]), played.many[here] - 1, squares[here])


def _estimated(many: Floats, won: Floats, own: _Own) -> _Fit:
    """Ratings by Newton's method on the likelihood with the prior as it is at each step, with steps of at most 1; the
    scale and the leverages are those at the end."""
    n, scale = len(many), 1.0
    r, leverage, free = np.zeros(n), np.zeros((n, n)), 0.0
    for _ in range(_STEPS):
        chance = expit(r[:, None] - r)
        even = chance * (1 - chance)
        inverse = np.linalg.inv(_laplacian(many * even) + 1 / n)
        leverage = many * even * (np.diag(inverse)[:, None] + np.diag(inverse) - 2 * inverse)
        free = 1.0 + float(own.free @ even[own.pair]) / EVEN
        scale = min((EVEN + float(own.squares.sum())) / (EVEN * free), 1.0)
        counted = many + scale * leverage
        pull = (won + scale * leverage / 2 - counted * chance).sum(axis=1)
        step = np.linalg.solve(_laplacian(counted * even) + 1 / n, pull)
        r = r + step / max(1.0, float(np.abs(step).max()))
        if np.abs(step).max() < _CLOSE:
            break
    return _Fit(r - r.mean(), leverage, scale, free)


def _least(chance: Floats) -> Floats:
    """The least variance of a meeting whose shares are quarters, where its mean is within a quarter of 0 or 1."""
    rare = np.minimum(chance, 1 - chance)
    return np.asarray(np.maximum(0.25 - rare, 0.0) * rare)


def _unit(n: int, k: int) -> Floats:
    return np.asarray(np.eye(n)[k])


def _tables(players: int, played: Meetings) -> tuple[Floats, Floats]:
    """Meetings [players, players] of each two, and the row player's wins in them."""
    table, won = np.zeros((2, players, players))
    for one, other, wins in (
        (played.met.first, played.met.second, played.wins),
        (played.met.second, played.met.first, played.many - played.wins),
    ):
        np.add.at(table, (one, other), played.many)
        np.add.at(won, (one, other), wins)
    return table, won


def _alike(many: Floats) -> Floats:
    """By match-up, how many times each of its meetings counts where all match-ups weigh alike; 1 where nobody met."""
    met = many > 0
    mean = float(many[met].mean()) if met.any() else 1.0
    return np.where(met, mean / np.where(met, many, mean), 1.0)


def _largest(table: Floats, around: Bools) -> NDArray[np.int64]:
    """The players of the group, tied together by meetings, that holds most of those ``around``; of equals, the one with
    most meetings. Nobody where nobody met."""
    count, label = connected_components(table > 0, directed=False)
    met = table.sum(axis=1)
    sizes = [(int(around[label == g].sum()), float(met[label == g].sum()), -g) for g in range(count)]
    wanted = [size for size in sizes if size[1] > 0]
    return np.flatnonzero(label == -max(wanted)[2]) if wanted else np.empty(0, np.int64)


def _reached(took: Bools) -> Bools:
    """[i, j]: a chain leads from j to i of players who each took a share from the next; then i cannot be arbitrarily
    far above j."""
    found = took.T | np.eye(len(took), dtype=bool)
    for _ in range(max(len(took) - 1, 1).bit_length()):
        found = (found.astype(np.float64) @ found) > 0
    return np.asarray(found)


def _laplacian(weights: Floats) -> Floats:
    return np.asarray(np.diag(weights.sum(axis=1)) - weights)
