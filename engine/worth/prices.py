"""The price at which a piece is fair: teams that hold it, drawn again under the rules, win as often as they lose.

A price that rises takes the same gold from the rest of the team. How much that matters is measured, not assumed: in
battles whose first team holds a piece at a changed price, and is drawn under the rules as if that were the price. Of
each there is the outcome, less what a forecast expected (and plus that forecast's own curve, from pairings that nobody
plays); regressed on the change z and z^2 with a fixed effect for each piece, it gives the curve H of a category,
and White's (1980) covariance of it.

With an outcome o beyond even at the present price, the fair change d solves o + H(d) = 0. Its range holds every d at
which o and H(d), each within its own range, may add up to 0 (their errors add up, too: Bonferroni). As Fieller's (1954)
it may have no end; then, and where no change within reach makes the piece fair, there is no fair price.

How far prices are changed follows from the slope of the outcome by the difference of the teams' costs in the reference.
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
"""Below this share of its mean square a difference of costs is none."""
LEAST, WIDER = 0.1, 2.0
"""Prices are changed so far that outcomes move by this much, or by so many times what would make the piece fair."""
POWERS = np.arange(1, 3)
GRID = 801


def cost_bounds(spec: GameSpec) -> Floats:
    """The least and the most that each piece of a game may cost, float64[pieces, 2]."""
    kinds = {c.id: (c.cost_low, c.cost_high) for c in spec.categories}
    return np.array([kinds[p.category] for p in spec.pieces])


class Slopes(NamedTuple):
    """Sums over battles by what a team of theirs holds, float64[traits]: how many there were, of cost differences d and
    outcomes y, of d d, d y and y y."""

    many: Floats
    d: Floats
    y: Floats
    dd: Floats
    dy: Floats
    yy: Floats

    @classmethod
    def of(cls, held: sparse.csr_matrix, d: Floats, y: Floats) -> Slopes:
        """Of rows that hold traits [n, traits]."""
        return cls(*(np.asarray(held.T @ each) for each in (np.ones_like(d), d, y, d * d, d * y, y * y)))

    def plus(self, other: Slopes) -> Slopes:
        """Both together."""
        return Slopes(*(a + b for a, b in zip(self, other, strict=True)))

    def slope(self, of: NDArray[np.bool_]) -> Slope:
        """Of y by d among rows with the same one of some traits."""
        many = np.maximum(self.many[of], 1)
        dd = float((self.dd[of] - self.d[of] ** 2 / many).sum())
        if dd <= SPREAD * float(self.dd[of].sum()):
            return Slope(0.0, math.inf)
        found = float((self.dy[of] - self.d[of] * self.y[of] / many).sum()) / dd
        left = float((self.yy[of] - self.y[of] ** 2 / many).sum()) - found**2 * dd
        rows = float((self.many[of] - (self.many[of] > 0)).sum())
        # Each battle is there twice, for either team: the second time it says nothing new.
        return Slope(found, 2 * max(left, 0.0) / max(rows - 1, 1.0) / dd)


class Slope(NamedTuple):
    """The chance to win that one unit of cost brings, and the variance of that."""

    size: float
    variance: float

    def plus(self, other: Slope) -> Slope:
        """The sum of two that were measured apart."""
        return Slope(self.size + other.size, self.variance + other.variance)

    def known(self, errors: float) -> bool:
        """Whether it is surely above 0, by so many standard errors."""
        return self.size > errors * math.sqrt(self.variance)


class Curve(NamedTuple):
    """By how much an outcome changes with a price: ``weights`` float64[2] of the powers of change / ``scale``, and
    their ``covariance`` [2, 2]."""

    weights: Floats
    covariance: Floats
    scale: float

    def at(self, change: Floats) -> tuple[Floats, Floats]:
        """By how much, and the standard error of that, for changes of a price."""
        powers = (change / self.scale)[:, None] ** POWERS
        variance = np.einsum("ni,ij,nj->n", powers, self.covariance, powers)
        return powers @ self.weights, np.sqrt(np.maximum(variance, 0.0))

    def plus(self, other: Curve) -> Curve:
        """The sum of two that were measured apart, over the same scale."""
        return Curve(self.weights + other.weights, self.covariance + other.covariance, self.scale)


def curve(pieces: Ints, change: Floats, outcome: Floats, scale: float) -> Curve | None:
    """Of battles whose first team holds one of some ``pieces`` [n] at a price changed by so much [n]; None where they
    cannot tell."""
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
    """A fair price and its range; not a number where it cannot be measured."""

    price: float
    low: float
    high: float


NONE = Fair(math.nan, math.nan, math.nan)


def fair(price: float, reach: Range, bounds: Range, outcome: float, ends: Range, curve: Curve, errors: float) -> Fair:
    """Of a piece that costs ``price``, which was changed by as much as ``reach`` says and may be anywhere within
    ``bounds``; its teams have ``outcome`` beyond even, somewhere within ``ends``; ``errors``: standard errors of the
    curve on both sides."""
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
