"""The fair price of a piece: teams that hold it, drawn under the rules at that price, win as often as they lose.

A higher price takes that much gold from the rest of the team. Its effect is measured, not assumed, in battles whose
first team holds a piece at a changed price and is drawn under the rules as if that were the price. The outcome minus
the forecast is regressed on the change z and z^2 with a fixed effect for each piece; with the forecast's own curve
added, from pairings that are not played, this gives the curve H of a category and its covariance (White 1980).

With an outcome o beyond even at the present price, the fair change d solves o + H(d) = 0. Its range contains every d at
which o and H(d), each within its own range, can add up to 0 (their errors add up: Bonferroni). Like Fieller's (1954) it
may be unbounded; then, and where no change within reach makes the piece fair, there is no fair price.

How far prices are changed follows from the slope of the outcome in the teams' cost difference in the reference.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from engine.confidence import Range
from engine.simulators.contract import GameSpec

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
SPREAD = 1e-9
"""Cost differences whose variance is below this share of their mean square count as constant."""
LEAST, WIDER = 0.1, 2.0
"""Price changes should move outcomes by at least LEAST, or by WIDER times the distance to fair."""
POWERS = np.arange(1, 3)
GRID = 801


def cost_bounds(spec: GameSpec) -> Floats:
    """Lowest and highest permitted cost of each piece of a game, float64[pieces, 2]."""
    kinds = {c.id: (c.cost_low, c.cost_high) for c in spec.categories}
    return np.array([kinds[p.category] for p in spec.pieces])


class Slopes(NamedTuple):
    """Sums over battles by the traits of a team, float64[traits]: their count, and the sums of cost differences d,
    outcomes y, d d, d y and y y."""

    many: Floats
    d: Floats
    y: Floats
    dd: Floats
    dy: Floats
    yy: Floats

    @classmethod
    def of(cls, held: sparse.csr_matrix, d: Floats, y: Floats) -> Slopes:
        """From rows that hold traits [n, traits]."""
        return cls(*(np.asarray(held.T @ each) for each in (np.ones_like(d), d, y, d * d, d * y, y * y)))

    def plus(self, other: Slopes) -> Slopes:
        """Both together."""
        return Slopes(*(a + b for a, b in zip(self, other, strict=True)))

    def slope(self, of: NDArray[np.bool_]) -> Slope:
        """Slope of y in d within the traits ``of``, each with an intercept of its own."""
        many = np.maximum(self.many[of], 1)
        dd = float((self.dd[of] - self.d[of] ** 2 / many).sum())
        if dd <= SPREAD * float(self.dd[of].sum()):
            return Slope(0.0, math.inf)
        found = float((self.dy[of] - self.d[of] * self.y[of] / many).sum()) / dd
        left = float((self.yy[of] - self.y[of] ** 2 / many).sum()) - found**2 * dd
        rows = float((self.many[of] - (self.many[of] > 0)).sum())
        # Each battle is counted twice, once for each team; the second time adds no information.
        return Slope(found, 2 * max(left, 0.0) / max(rows - 1, 1.0) / dd)


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


class Curve(NamedTuple):
    """Outcome as a function of a price change: ``weights`` float64[2] of the powers of change / ``scale``, and their
    ``covariance`` [2, 2]."""

    weights: Floats
    covariance: Floats
    scale: float

    def at(self, change: Floats) -> tuple[Floats, Floats]:
        """The change of the outcome for these price changes, and its standard error."""
        powers = (change / self.scale)[:, None] ** POWERS
        variance = np.einsum("ni,ij,nj->n", powers, self.covariance, powers)
        return powers @ self.weights, np.sqrt(np.maximum(variance, 0.0))

    def plus(self, other: Curve) -> Curve:
        """The sum of two independent curves of the same scale."""
        return Curve(self.weights + other.weights, self.covariance + other.covariance, self.scale)


def curve(pieces: Ints, change: Floats, outcome: Floats, scale: float) -> Curve | None:
    """The curve from battles whose first team holds a piece of ``pieces`` [n] at a price changed by ``change`` [n];
    None where they do not determine it."""
    _, group, many = np.unique(pieces, return_inverse=True, return_counts=True)
    powers = (change / scale)[:, None] ** POWERS
    columns = np.column_stack([powers, outcome])
    means = np.stack([np.bincount(group, c, len(many)) for c in columns.T], axis=1) / many[:, None]
    within = columns - means[group]
    x, y = within[:, :-1], within[:, -1]
    if len(y) <= len(many) + len(POWERS) or np.linalg.matrix_rank(x) < len(POWERS):
        return None
    inverse = np.linalg.inv(x.T @ x)
    weights = inverse @ (x.T @ y)
    scores = x * (y - x @ weights)[:, None]
    return Curve(weights, inverse @ (scores.T @ scores) @ inverse * len(y) / (len(y) - len(many)), scale)


class Fair(NamedTuple):
    """A fair price and its range; NaN where it cannot be measured."""

    price: float
    low: float
    high: float


NONE = Fair(math.nan, math.nan, math.nan)


def fair(price: float, reach: Range, bounds: Range, outcome: float, ends: Range, curve: Curve, errors: float) -> Fair:
    """The fair price of a piece. ``price``: its present cost; ``reach``: the price changes that were tried; ``bounds``:
    permitted costs; ``outcome``: that of its teams beyond even, within ``ends``; ``errors``: standard errors of the
    curve on each side."""
    if not all(map(math.isfinite, (*reach, outcome, *ends))) or reach.high <= reach.low:
        return NONE
    change, step = np.linspace(*reach, GRID, retstep=True)
    moved, error = curve.at(change)
    may = (ends.low + moved - errors * error <= 0) & (ends.high + moved + errors * error >= 0)
    low, high = price + reach.low, price + reach.high
    left = outcome + moved
    crossing = np.flatnonzero((left[:-1] > 0) & (left[1:] <= 0))
    if len(crossing) != 1 or (may[0] and low > bounds.low) or (may[-1] and high < bounds.high):
        return NONE
    k, inside = int(crossing[0]), np.flatnonzero(may)
    exact = change[k] + step * left[k] / (left[k] - left[k + 1])
    first, last = price + float(change[inside[0]]) - step, price + float(change[inside[-1]]) + step
    return Fair(price + float(exact), max(first, bounds.low), min(last, bounds.high))
