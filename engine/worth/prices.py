"""The fair price of a piece: teams that hold it, drawn under the rules at that price, win as often as they lose.

A higher price takes that much gold from the rest of the team, as often as the team holds the piece. Its effect is
measured, not assumed, in battles whose first team holds a piece at a changed price and is drawn under the rules as if
that were the price. The outcome minus the forecast is regressed on the gold z and z^2, and on z times the piece's share
of its team's gold (where a piece leaves little to the rest, gold is worth more), with a fixed effect for each piece;
with the forecast's own curve added, from pairings that are not played, this gives the curve H of a category and its
covariance (White 1980). Pieces may depart from it: what gold buys goes with one piece better than with another. From
how much their slopes differ beyond luck (the moment estimate of DerSimonian and Laird 1986) follows how far each
departs by its own battles at changed prices (the best linear prediction: Henderson 1975); what these leave open widens
its curve.

With an outcome o beyond even at the present price, the fair change d solves o + H(d) = 0. Its range contains every d at
which o and H(d), each within its own range, can add up to 0 (their errors add up: Bonferroni). Like Fieller's (1954) it
may be unbounded; then, and where no change within reach makes the piece fair, there is no fair price. Where only the
permitted costs end it, the range is open there: nothing rules out that the fair price lies beyond them. One that is
open at both ends rules nothing out, and is none.

Battles at changed prices that the game did not finish may have ended in any way: ``hidden_prices`` says how far that
may move the curve, and the range is as much wider, so that it holds whichever way they would have ended.

How far prices are changed follows from the slope of the outcome in the teams' cost difference in the reference; it ends
where hardly any team can field the piece.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from engine.confidence import Range
from engine.simulators.contract import GameSpec
from engine.worth.verdicts import ANYWHERE, BEYOND, PRICED, UNFIELDED, UNTRIED

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
SPREAD = 1e-9
"""Cost differences whose variance is below this share of their mean square count as constant."""
LEAST, WIDER = 0.1, 2.0
"""Price changes should move outcomes by at least LEAST, or by WIDER times the distance to fair."""
GRID = 801
ROUNDING = 1e-9
"""Of a price: nearer than that to a bound it is at the bound, because a change and back again is rounded."""
OWN = 1.96
"""Standard deviations of what is a piece's own in the curve: independent of luck, so added in squares."""


def cost_bounds(spec: GameSpec) -> Floats:
    """Lowest and highest permitted cost of each piece of a game, float64[pieces, 2]."""
    kinds = {c.id: (c.cost_low, c.cost_high) for c in spec.categories}
    return np.array([kinds[p.category] for p in spec.pieces])


class Slopes(NamedTuple):
    """Teams and what they met: ``held`` [n, traits], the traits of each; its ``group`` int64[n], of those that are not
    independent; and float64[n], over its pairings, their number and the sums of cost differences d, outcomes y, d d and
    d y."""

    held: sparse.csr_matrix
    group: Ints
    many: Floats
    d: Floats
    y: Floats
    dd: Floats
    dy: Floats

    @classmethod
    def together(cls, parts: Sequence[Slopes]) -> Slopes:
        """All groups of these parts."""
        before = np.cumsum([0, *(int(part.group.max()) + 1 for part in parts)])
        group = np.concatenate([part.group + at for part, at in zip(parts, before.tolist(), strict=False)])
        sums = map(np.concatenate, zip(*(part[2:] for part in parts), strict=True))
        return cls(sparse.vstack([part.held for part in parts]).tocsr(), group, *sums)

    def slope(self, of: NDArray[np.bool_]) -> Slope:
        """Slope of y in d within the traits ``of``, each with an intercept of its own; its variance is that of scores
        summed by group (Liang and Zeger 1986)."""
        held = self.held[:, of]
        many = np.maximum(held.T @ self.many, 1)
        x, y = (held.T @ self.d) / many, (held.T @ self.y) / many
        times = np.asarray(held.sum(axis=1)).ravel()
        within = times * self.dd - 2 * (held @ x) * self.d + (held @ x**2) * self.many
        together = times * self.dy - (held @ x) * self.y - (held @ y) * self.d + (held @ (x * y)) * self.many
        spread, groups = float(within.sum()), int(self.group.max(initial=0)) + 1
        if groups < 2 or spread <= SPREAD * float(times @ self.dd):
            return Slope(0.0, math.inf)
        found = float(together.sum()) / spread
        scores = np.bincount(self.group, together - found * within, groups)
        return Slope(found, float(scores @ scores) * groups / (groups - 1) / spread**2)


class Slope(NamedTuple):
    """Change of the win probability per unit of cost, and its variance."""

    size: float
    variance: float

    def plus(self, other: Slope) -> Slope:
        """The sum of two independent slopes."""
        return Slope(self.size + other.size, self.variance + other.variance)

    def known(self, errors: float) -> bool:
        """Whether it is above 0 by more than so many standard errors."""
        return self.size > errors * math.sqrt(self.variance)


class Own(NamedTuple):
    """By how much the outcome of a piece's teams departs from its category's curve, per gold / scale; the standard
    deviation of what is not known of that; and the covariance [3, 3] of the weights, as far as it concerns the piece:
    what its own battles say of its slope does not depend on the others'."""

    shift: float
    doubt: float
    covariance: Floats

    def plus(self, other: Own) -> Own:
        """Both together, as if the doubts were the same."""
        return Own(self.shift + other.shift, self.doubt + other.doubt, self.covariance + other.covariance)


class Curve(NamedTuple):
    """Outcome as a function of the gold that a team pays more: ``weights`` float64[3] of gold / ``scale``, of its
    square and of its product with the piece's ``lean``, and their ``covariance`` [3, 3]; ``own``: the standard
    deviation of what is a piece's own in the first of these; ``pieces``: what is known of that for each that was played
    at changed prices."""

    weights: Floats
    covariance: Floats
    scale: float
    own: float = 0.0
    pieces: Mapping[int, Own] = {}

    def of(self, piece: int) -> Own:
        """What is a piece's own."""
        return self.pieces.get(piece, Own(0.0, self.own, self.covariance))

    def at(self, gold: Floats, held: Held) -> tuple[Floats, Floats, Floats]:
        """The change of the outcome for so much gold that teams pay more for a piece that they hold so, the curve's
        standard error, and the standard deviation of what is not known of the piece's own part."""
        x, own = powers(gold / self.scale, np.full(len(gold), held.lean)), self.of(held.piece)
        variance = np.einsum("ni,ij,nj->n", x, own.covariance, x)
        moved = x @ self.weights + own.shift * x[:, 0]
        return moved, np.sqrt(np.maximum(variance, 0.0)), own.doubt * np.abs(x[:, 0])

    def of_price(self, change: float, held: Held) -> tuple[Floats, Floats]:
        """The same as a function of a price that is changed by so many times ``change``: float64[2] of that and of its
        square, and their covariance [2, 2], what is a piece's own included."""
        far, own = held.units * change / self.scale, self.of(held.piece)
        turned = np.array([[far, 0.0, far * held.lean], [0.0, far**2, 0.0]])
        doubt = np.diag([(own.doubt * far) ** 2, 0.0])
        return turned @ self.weights + [own.shift * far, 0.0], turned @ own.covariance @ turned.T + doubt

    def plus(self, other: Curve) -> Curve:
        """The sum of two curves of the same scale, independent but for what is a piece's own in them."""
        weights, covariance = self.weights + other.weights, self.covariance + other.covariance
        pieces = {each: self.of(each).plus(other.of(each)) for each in {*self.pieces, *other.pieces}}
        return Curve(weights, covariance, self.scale, self.own + other.own, pieces)


def leans(gold: Floats) -> Floats:
    """How much of a team's gold each of a category's pieces takes, beyond the middle of all, from -1 to 1; ``gold``:
    what a team pays for each."""
    middle = (gold.min() + gold.max()) / 2 if len(gold) else 0.0
    half = float(np.abs(gold - middle).max(initial=0.0))
    return np.asarray((gold - middle) / half if half > 0 else np.zeros_like(gold))


def curve(pieces: Ints, gold: Floats, lean: Floats, outcome: Floats, scale: float) -> Curve | None:
    """The curve from battles whose first team holds a piece of ``pieces`` [n], with this ``lean`` [n], at a price that
    takes ``gold`` [n] more; None where they do not determine it."""
    each, group, many = np.unique(pieces, return_inverse=True, return_counts=True)
    columns = np.column_stack([powers(gold / scale, lean), outcome])
    means = np.stack([np.bincount(group, c, len(many)) for c in columns.T], axis=1) / many[:, None]
    within = columns - means[group]
    x, y = within[:, :-1], within[:, -1]
    used = np.arange(3 if len(many) > 2 and np.ptp(lean) > 0 else 2)
    if len(y) <= len(many) + len(used) or np.linalg.matrix_rank(x[:, used]) < len(used):
        return None
    inverse = np.zeros((3, 3))
    inverse[np.ix_(used, used)] = np.linalg.inv(x[:, used].T @ x[:, used])
    weights = inverse @ (x.T @ y)
    rest = y - x @ weights
    scores = x * rest[:, None]
    spread = inverse @ (scores.T @ scores) @ inverse * len(y) / (len(y) - len(many))
    own, apart = _own(group, x[:, 0], rest, len(many), len(used))
    steered = np.stack([np.bincount(group, c * x[:, 0], len(many)) for c in x.T], axis=1)
    covariance = spread + own**2 * inverse @ (steered.T @ steered) @ inverse
    known = [
        Own(trust * slope, math.sqrt(1 - trust) * own, _left(trust, among, covariance))
        for (slope, trust), among in zip(apart, steered, strict=True)
    ]
    return Curve(weights, covariance, scale, own, dict(zip(each.tolist(), known, strict=True)))


def _left(trust: float, steered: Floats, covariance: Floats) -> Floats:
    """What the weights' errors leave in a piece's own curve: as far as its own slope is trusted, it makes up for
    them."""
    turned = np.eye(3)
    turned[0] -= trust * steered / max(float(steered[0]), 1e-300)
    return np.asarray(turned @ covariance @ turned.T)


def _own(group: Ints, gold: Floats, rest: Floats, many: int, fitted: int) -> tuple[float, list[tuple[float, float]]]:
    """The standard deviation of the slopes of groups beyond luck, from what the fit of so many numbers left; and of
    each its slope, and how far that is to be trusted (0 to 1)."""
    size, noise = np.bincount(group, gold**2, many), float(rest @ rest) / max(len(rest) - many - fitted, 1)
    if many <= fitted or not noise > 0 or not (size > 0).all():
        return 0.0, [(0.0, 0.0)] * many
    slope = np.bincount(group, gold * rest, many) / size
    apart = float(size @ slope**2) / noise - (many - fitted)
    own = max(apart, 0.0) * noise / float(size.sum() - (size**2).sum() / size.sum())
    return math.sqrt(own), [*zip(slope.tolist(), (own / (own + noise / size)).tolist(), strict=True)]


def powers(gold: Floats, lean: Floats) -> Floats:
    """What a curve's weights are of, float64[n, 3], by gold / scale."""
    return np.column_stack([gold, gold**2, gold * lean])


class Reach(NamedTuple):
    """The price changes that are tried, and whether they end where hardly any team can field the piece."""

    low: float
    high: float
    least: bool = False
    most: bool = False


class Fair(NamedTuple):
    """A fair price and its range; NaN where it cannot be measured, and ``why``. ``below``, ``above``: the range ends
    where the permitted costs do, and the fair price may as well lie beyond that; never both."""

    price: float
    low: float
    high: float
    why: int = PRICED
    below: bool = False
    above: bool = False

    @classmethod
    def none(cls, why: int) -> Fair:
        """It cannot be measured."""
        return cls(math.nan, math.nan, math.nan, why)

    def holds(self, price: float) -> bool:
        """Whether the range, open where it is, holds this price."""
        return (self.below or self.low <= price) and (self.above or price <= self.high)


class Held(NamedTuple):
    """How teams hold a ``piece``, numbered as in ``curve``: how many ``units`` of it on average, and its ``lean``
    (``leans``)."""

    units: float
    lean: float
    piece: int = -1


Off = Callable[[Floats, Held], Floats]
"""How far an outcome may be off for so much gold that teams pay more for a piece that they hold so."""


def fair(
    price: float, reach: Reach, bounds: Range, outcome: float, ends: Range, curve: Curve, errors: float,
    held: Held, off: Off | None = None,
) -> Fair:  # fmt: skip
    """The fair price of a piece. ``price``: its present cost; ``reach``: the price changes that were tried; ``bounds``:
    permitted costs; ``outcome``: that of its teams beyond even, within ``ends``; ``errors``: standard errors of the
    curve on each side; ``off``: how far the curve may be off besides."""
    if not all(map(math.isfinite, (reach.low, reach.high, outcome, *ends))):
        return Fair.none(UNTRIED)
    if reach.high <= reach.low:
        return Fair.none(UNFIELDED if reach.least or reach.most else UNTRIED)
    change, step = np.linspace(reach.low, reach.high, GRID, retstep=True)
    moved, error, own = curve.at(held.units * change, held)
    below, above = (np.hypot(half + errors * error, OWN * own) for half in (outcome - ends.low, ends.high - outcome))
    if off is not None:
        below, above = (side + off(held.units * change, held) for side in (below, above))
    left = outcome + moved
    may = (left - below <= 0) & (left + above >= 0)
    near = ROUNDING * price
    cheaper = bool(may[0] and price + reach.low > bounds.low + near)
    dearer = bool(may[-1] and price + reach.high < bounds.high - near)
    crossing = np.flatnonzero((left[:-1] > 0) & (left[1:] <= 0))
    if cheaper or dearer or len(crossing) != 1:
        ended = (reach.least and (cheaper or left[0] <= 0)) or (reach.most and (dearer or left[-1] > 0))
        return Fair.none(UNFIELDED if ended else BEYOND)
    if may[0] and may[-1]:
        return Fair.none(ANYWHERE)
    k, inside = int(crossing[0]), np.flatnonzero(may)
    exact = change[k] + step * left[k] / (left[k] - left[k + 1])
    first, last = price + float(change[inside[0]]) - step, price + float(change[inside[-1]]) + step
    low, high = max(first, bounds.low), min(last, bounds.high)
    return Fair(price + float(exact), low, high, below=bool(may[0]), above=bool(may[-1]))
