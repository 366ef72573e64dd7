"""How much more teams win that hold a trait, from battles of the reference and of teams drawn to hold it.

Of each battle that holds a trait there is d = outcome - b f, where f is a forecast that never saw the battle and b says
how far it is to be trusted; then mean(d) + b E[f | trait] is unbiased for the outcome of teams with the trait, and as
exact as the forecast is good (control variates). E[f | trait] comes from pairings that are drawn and not played.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]


class Means(NamedTuple):
    """Sums over observations, one for each trait or pair of traits: how many there were, their sum and the sum of their
    squares, float64[...]."""

    many: Floats
    total: Floats
    squares: Floats

    @classmethod
    def none(cls, many: int) -> Means:
        """Of no observations."""
        return cls(*(np.zeros(many) for _ in range(3)))

    @property
    def mean(self) -> Floats:
        """0 where there was none."""
        return np.asarray(self.total / np.maximum(self.many, 1))

    @property
    def variance(self) -> Floats:
        """Of the mean; infinite where there were fewer than two."""
        spread = np.maximum(self.squares / np.maximum(self.many, 1) - self.mean**2, 0.0)
        return np.where(self.many > 1, spread / np.maximum(self.many - 1, 1), np.inf)

    def plus(self, other: Means) -> Means:
        """Both together."""
        return Means(*(a + b for a, b in zip(self, other, strict=True)))

    def at(self, *where: NDArray[np.int64]) -> Means:
        """Of some of them."""
        return Means(*(each[where] for each in self))


def by_traits(held: sparse.csr_matrix, values: Floats) -> list[Means]:
    """Of each column of ``values`` [n, k] by the traits that rows have, [n, traits]."""
    count, total, squares = (np.asarray(held.T @ weights) for weights in (np.ones_like(values), values, values**2))
    return [Means(count[:, j], total[:, j], squares[:, j]) for j in range(values.shape[1])]


def by_pair(held: sparse.csr_matrix, values: Floats) -> Means:
    """The same of ``values`` [n] by pairs of traits, each [traits, traits]."""
    return Means(
        *((held.T @ held.multiply(w[:, None]).tocsr()).toarray() for w in (np.ones_like(values), values, values**2))
    )


def by_group(values: Floats, groups: NDArray[np.int64], many: int) -> Means:
    """The same by the group of each of ``values`` [n], 0 to ``many`` - 1."""
    return Means(*(np.bincount(groups, w, many).astype(np.float64) for w in (np.ones_like(values), values, values**2)))


def trust(outcome: Floats, forecast: Floats) -> float:
    """b: the share of a forecast that leaves least of the outcomes' spread, 0 to 1."""
    spread = float(forecast.var())
    together = float(np.mean((outcome - outcome.mean()) * (forecast - forecast.mean())))
    return min(max(together / spread, 0.0), 1.0) if spread > 0 else 0.0


def surprise(effect: Floats, variance: Floats, size: float) -> Floats:
    """Log of how much likelier an effect like this is where the true one has ``size`` than where there is none."""
    known = np.isfinite(variance) & (variance > 0)
    found = (np.abs(effect) * size - size**2 / 2) / np.where(known, variance, 1.0)
    return np.where(known, found, -np.inf)
