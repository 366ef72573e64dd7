"""How much more teams with a trait win, from reference battles and from battles of teams drawn to hold it.

Each battle that holds a trait gives d = outcome - b f, where f is a forecast that never saw the battle and b is how far
to trust it; then mean(d) + b E[f | trait] is an unbiased estimate of the outcome of teams with the trait, the more
precise the better the forecast (control variates). E[f | trait] comes from pairings that are drawn but not played.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from engine.worth.verdicts import NEEDED

Floats = NDArray[np.float64]
LEAST = 1e-305
"""The smallest lead in strength that is told from none."""


class Means(NamedTuple):
    """Count, sum and sum of squares of observations, float64[...], for each trait or pair of traits."""

    many: Floats
    total: Floats
    squares: Floats

    @classmethod
    def none(cls, many: int) -> Means:
        """Without observations."""
        return cls(*(np.zeros(many) for _ in range(3)))

    @property
    def mean(self) -> Floats:
        """The mean; 0 without observations."""
        return np.asarray(self.total / np.maximum(self.many, 1))

    @property
    def variance(self) -> Floats:
        """The variance of the mean; infinite for fewer than two observations."""
        spread = np.maximum(self.squares / np.maximum(self.many, 1) - self.mean**2, 0.0)
        return np.where(self.many > 1, spread / np.maximum(self.many - 1, 1), np.inf)

    @property
    def careful(self) -> Floats:
        """The same. Few observations say little of their own spread, and two that are alike nothing: of fewer than
        NEEDED it is at least what it would be with the mean square of all."""
        usual = self.squares.sum() / max(float(self.many.sum()), 1.0) / np.maximum(self.many, 1)
        return np.where(self.many < NEEDED, np.maximum(self.variance, usual), self.variance)

    def plus(self, other: Means) -> Means:
        """Both sets of observations together."""
        return Means(*(a + b for a, b in zip(self, other, strict=True)))

    def at(self, *where: NDArray[np.int64]) -> Means:
        """The entries at these indices."""
        return Means(*(each[where] for each in self))


class Grouped(NamedTuple):
    """Sums float64[traits] for the mean over pairings of which those of one group are not independent: the number of
    pairings and of groups with any, the sum of their values, and over groups the sums of (a group's sum)^2, of that
    times the group's count, and of count^2."""

    many: Floats
    groups: Floats
    total: Floats
    squares: Floats
    products: Floats
    counts: Floats

    @property
    def mean(self) -> Floats:
        """The mean over pairings; 0 without any."""
        return np.asarray(self.total / np.maximum(self.many, 1))

    @property
    def variance(self) -> Floats:
        """The variance of the mean, a ratio of sums over independent groups; infinite for fewer than two groups."""
        apart = np.maximum(self.squares - 2 * self.mean * self.products + self.mean**2 * self.counts, 0.0)
        surely = self.groups / np.maximum(self.groups - 1, 1)
        return np.where(self.groups > 1, surely * apart / np.maximum(self.many, 1) ** 2, np.inf)

    @property
    def careful(self) -> Floats:
        """The same; of fewer than NEEDED groups at least what it would be with the mean square of all
        (``Means.careful``)."""
        usual = self.squares.sum() / max(float(self.counts.sum()), 1.0) * self.counts / np.maximum(self.many, 1) ** 2
        return np.where(self.groups < NEEDED, np.maximum(self.variance, usual), self.variance)

    def plus(self, other: Grouped) -> Grouped:
        """Both sets of groups together."""
        return Grouped(*(a + b for a, b in zip(self, other, strict=True)))


class Ratios(NamedTuple):
    """Sums [...] for a mean of values that come in unequal numbers: the numbers, the values, and their squares and
    products; with the variance of a ratio of sums over independent rows."""

    many: Floats
    total: Floats
    squares: Floats
    products: Floats
    counts: Floats

    @property
    def mean(self) -> Floats:
        """The mean; 0 without values."""
        return np.asarray(self.total / np.maximum(self.many, 1))

    @property
    def variance(self) -> Floats:
        """Its variance; infinite without values."""
        apart = np.maximum(self.squares - 2 * self.mean * self.products + self.mean**2 * self.counts, 0.0)
        return np.where(self.many > 1, apart / np.maximum(self.many, 1) ** 2, np.inf)

    def plus(self, other: Ratios) -> Ratios:
        """Both sets of rows together."""
        return Ratios(*(a + b for a, b in zip(self, other, strict=True)))

    def at(self, *where: NDArray[np.int64]) -> Ratios:
        """The entries at these indices."""
        return Ratios(*(each[where] for each in self))


def ratios_by_pair(held: sparse.csr_matrix, many: Floats, totals: Floats) -> Ratios:
    """By pairs of traits, [traits, traits]; ``held`` [n, traits]: the traits of each row, ``many`` [n]: its number of
    values, and ``totals`` [n] their sum."""
    weights = (many, totals, totals**2, totals * many, many**2)
    return Ratios(*(np.asarray((held.T @ held.multiply(w[:, None]).tocsr()).toarray()) for w in weights))


def by_groups(held: sparse.csr_matrix, group: NDArray[np.int64], many: Floats, totals: Floats) -> list[Grouped]:
    """Means of each column of ``totals`` [n, k] by trait. ``held`` [n, traits]: the traits of each team; ``many`` [n]:
    its number of pairings, and ``totals`` the sums of values over these; teams of one ``group`` [n] are together."""
    first = np.flatnonzero(np.diff(group, prepend=-1))
    ends = np.append(first, len(group))
    gather = sparse.csr_matrix((np.ones(len(group)), np.arange(len(group)), ends), (len(first), len(group)))
    count, *sums = (gather @ held.multiply(w[:, None]).tocsr() for w in (many, *totals.T))
    alone = np.asarray((count > 0).sum(axis=0), np.float64).ravel(), _summed(count), _summed(count, count)
    return [Grouped(alone[1], alone[0], _summed(s), _summed(s, s), _summed(s, count), alone[2]) for s in sums]


def _summed(one: sparse.csr_matrix, other: sparse.csr_matrix | None = None) -> Floats:
    return np.asarray((one if other is None else one.multiply(other)).sum(axis=0), np.float64).ravel()


def by_traits(held: sparse.csr_matrix, values: Floats) -> list[Means]:
    """Means of each column of ``values`` [n, k] by trait; ``held`` [n, traits]: the traits of each row."""
    count, total, squares = (np.asarray(held.T @ weights) for weights in (np.ones_like(values), values, values**2))
    return [Means(count[:, j], total[:, j], squares[:, j]) for j in range(values.shape[1])]


def weighted(weights: sparse.csr_matrix, values: Floats) -> tuple[Floats, Floats]:
    """The mean of ``values`` [n] with each column of ``weights`` [n, k], and its variance (infinite without weights):
    that of a ratio of sums over independent rows; of fewer than NEEDED rows at least what it would be with the mean
    square of all (``Means.careful``)."""
    total, square = np.asarray(weights.sum(axis=0)).ravel(), weights.multiply(weights).T.tocsr()
    mean, squares = np.asarray(weights.T @ values) / np.maximum(total, 1), np.asarray(square.sum(axis=1)).ravel()
    found = square @ values**2
    spread = np.maximum(found - 2 * mean * (square @ values) + mean**2 * squares, 0.0)
    usual = found.sum() / max(float(squares.sum()), 1.0) * squares
    spread = np.where(weights.getnnz(axis=0) < NEEDED, np.maximum(spread, usual), spread)
    return mean, np.where(total > 1, spread / np.maximum(total, 1) ** 2, np.inf)


def by_pair(held: sparse.csr_matrix, values: Floats) -> Means:
    """Means of ``values`` [n] by pairs of traits, [traits, traits]."""
    return Means(
        *((held.T @ held.multiply(w[:, None]).tocsr()).toarray() for w in (np.ones_like(values), values, values**2))
    )


def by_group(values: Floats, groups: NDArray[np.int64], many: int) -> Means:
    """Means of ``values`` [n] by ``groups``, numbered 0 to ``many`` - 1."""
    return Means(*(np.bincount(groups, w, many).astype(np.float64) for w in (np.ones_like(values), values, values**2)))


def trust(outcome: Floats, forecast: Floats) -> float:
    """b: the multiple of the forecast, 0 to 1, that leaves the smallest variance of the outcomes."""
    spread = float(forecast.var())
    together = float(np.mean((outcome - outcome.mean()) * (forecast - forecast.mean())))
    return min(max(together / spread, 0.0), 1.0) if spread > 0 else 0.0


def predicting(win: Floats, lead: Floats) -> float:
    """By which number a lead is multiplied to predict the win best. The lead is first halved or doubled until it is
    near 1, for squares of numbers such as 1e-200 and 1e200 are none; that changes no digit of the result. One that is
    nowhere as far from 0 as ``LEAST`` is none."""
    if not np.abs(lead).max(initial=0.0) >= LEAST:
        return 0.0
    unit = math.ldexp(1.0, -math.frexp(float(np.abs(lead).max(initial=0.0)))[1])
    lead = lead * unit
    spread = float(lead.var())
    return float(np.mean(win * lead)) / spread * unit if spread > 0 else 0.0


def surprise(effect: Floats, variance: Floats, size: float) -> Floats:
    """Log likelihood ratio of a true effect of ``size`` to none, given this estimate and its variance."""
    known = np.isfinite(variance) & (variance > 0)
    found = (np.abs(effect) * size - size**2 / 2) / np.where(known, variance, 1.0)
    return np.where(known, found, -np.inf)
