"""The likelihood of a ladder's ratings, and how far a difference of them can go before all ratings are so unlikely.

The log likelihood of Bradley-Terry ratings is concave, so that its profile along a contrast falls ever more steeply,
from a parabola at its top to a straight line where one side wins everything. Three things keep the search for a given
depth sure where hardly any battle is decided, and next to nothing bends far from the top:

* All steps keep the contrast, and their equations are stiff along it; that changes no step, but the equations can be
  solved where two groups are so far apart that nothing bends between them.
* Steps are damped as the likelihood allows (Sun and Tran-Dinh 2019, "Generalized self-concordant functions: a recipe
  for Newton-type methods"): where Newton's would move two ratings apart by b, it is shortened to log(1 + b). Then each
  raises the likelihood, wherever it starts.
* The depth is convex in the contrast: no tangent ends before the profile does, and no chord after it. What Newton's
  method finds outside of these is not believed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]
NEAR = 1e-3
"""How near an end must be found, in standard errors: of the root of its depth."""
LEAP = 8.0
"""How far two ratings move apart, in log odds, before those that are likeliest then are looked for."""
_STEPS, _SETTLED, _STIFF = 100, 1e-4, 1e-13
"""The most steps of a search; what a step may still leave to gain of the log likelihood; the least curvature beside
the largest, below which equations cannot be solved."""


class Point(NamedTuple):
    """The likeliest ratings ``r`` with their contrast, minus the slope (``force``) that the log likelihood has there
    along it, and where they go as it grows by 1 (``ahead``)."""

    r: Floats
    force: float
    ahead: Floats

    @property
    def leap(self) -> float:
        """How much of the contrast moves two ratings so far apart that another step is due."""
        return LEAP / float(np.ptp(self.ahead))


class Profiles:
    """The log likelihood of ratings [n] by wins ``won`` [n, n] of each against each, which need not be whole, and its
    profiles along contrasts [n], differences of ratings of sum 0. Its maximum is sought from ``ratings``."""

    def __init__(self, won: Floats, ratings: Floats) -> None:
        self.won, self.many = won, won + won.T
        self.r = self._likeliest(ratings, np.zeros(len(ratings))).r
        self.best = self._likelihood(self.r)

    def depth(self, r: Floats) -> float:
        """Twice the fall of the log likelihood from its maximum."""
        return max(2 * (self.best - self._likelihood(r)), 0.0)

    def profile(self, contrast: Floats, target: float) -> Floats:
        """The likeliest ratings with this contrast."""
        return self._moved(self._likeliest(self.r, contrast), contrast, target).r

    def end(self, contrast: Floats, deep: float) -> float:
        """The largest value of a contrast that is no deeper than this: Newton's method on the root of the depth, within
        the chord of the deepest value inside and the least deep one outside, and all tangents."""
        point, start = self._likeliest(self.r, contrast), float(contrast @ self.r)
        target = min(start + math.sqrt(deep / self._curved(point)), start + point.leap)
        inside, outside, most = (start, 0.0), (math.inf, math.inf), math.inf
        for _ in range(_STEPS):
            point = self._moved(point, contrast, target)
            depth, slope = self.depth(point.r), 2 * max(point.force, 0.0)
            short = math.sqrt(deep) - math.sqrt(depth)
            if abs(short) < NEAR:
                return target
            inside, outside = (inside, (target, depth)) if short < 0 else ((target, depth), outside)
            most = min(most, target + (deep - depth) / slope if slope > 0 else math.inf)
            further = target + 2 * short * math.sqrt(depth) / slope if slope > 0 else math.inf
            target = min(_within(further, inside, outside, deep, most), target + point.leap)
        return most

    def _moved(self, point: Point, contrast: Floats, target: float) -> Point:
        """The likeliest ratings with another contrast, by leaps from these."""
        gap = target - float(contrast @ point.r)
        for left in range(math.ceil(abs(gap) / point.leap) or 1, 0, -1):
            gap = target - float(contrast @ point.r)
            point = self._likeliest(point.r + gap / left * point.ahead, contrast)
        return point

    def _likelihood(self, r: Floats) -> float:
        return float(-(self.won * np.logaddexp(0.0, r - r[:, None])).sum())

    def _curved(self, point: Point) -> float:
        """How much the profile bends."""
        chance = expit(point.r[:, None] - point.r)
        return float((self.many * chance * chance.T * (point.ahead[:, None] - point.ahead) ** 2).sum()) / 2

    def _likeliest(self, r: Floats, contrast: Floats) -> Point:
        """The likeliest ratings with the contrast of these; of all, where that is nothing."""
        point = Point(r, 0.0, contrast)
        for _ in range(_STEPS):
            chance = expit(point.r[:, None] - point.r)
            pull = (self.won * chance.T - self.won.T * chance).sum(axis=1)
            bent = _stiff(self.many * chance * chance.T, contrast)
            plain, along = np.linalg.solve(bent, np.stack([pull, contrast], axis=1)).T
            reach = float(contrast @ along) or 1.0
            force = -float(contrast @ plain) / reach
            step = plain + force * along
            apart = float(np.ptp(step))
            point = Point(point.r + step * (math.log1p(apart) / apart if apart > 0 else 1.0), force, along / reach)
            if float(pull @ step) * min(apart, 1.0) ** 2 < _SETTLED:
                break
        return point


def _within(
    further: float, inside: tuple[float, float], outside: tuple[float, float], deep: float, most: float
) -> float:
    """Where to look next: ``further`` if the end can be there. ``inside`` and ``outside``: values with their depths."""
    if math.isinf(outside[0]):
        return further if further > inside[0] else math.inf
    least = inside[0] + (outside[0] - inside[0]) * (deep - inside[1]) / (outside[1] - inside[1])
    return further if least < further < most else (least + most) / 2


def _stiff(bends: Floats, contrast: Floats) -> Floats:
    """The curvature of the log likelihood [n, n], of how much it ``bends`` between each two, made stiff along the
    contrast and the sum of all."""
    n, around, along = len(bends), bends.sum(axis=1), float(contrast @ contrast) or 1.0
    most = float(around.max())
    found = -bends + most / n + np.outer(contrast, contrast) * (most / along)
    found[np.diag_indices(n)] += around + most * _STIFF
    return np.asarray(found)
