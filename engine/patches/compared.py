"""What a piece is compared with under a patch: the other pieces of its category, by random battles under that patch.

A worth is an outcome less that of the average piece of the category in the same amount, over those that met often
enough to be tested, as in ``engine.worth``. That average is the patched game's: where teams may leave a slot empty,
making one of two charms weaker moves what the average charm wins. The piece itself is one of the k + 1 that are
averaged, so its worth is k / (k + 1) of its distance to the mean of the k others, and that mean is estimated apart from
the battles that were drawn to hold the piece.

Of each of the others the outcome is the mean of what forecasts left over plus what they expect (``engine.worth``). All
of these means share battles, so their common variance is that of one sum over battles: sum of w^2 r^2, w being by how
much a battle's residual r counts. Departure: where that is smaller, sum of w^2 times the mean of r^2, because few
battles of a rare piece say little of their own spread.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from engine.worth.estimates import Grouped, Means
from engine.worth.verdicts import NEEDED

Floats = NDArray[np.float64]


class Others(NamedTuple):
    """By piece and amount, ``mean``: how much teams with the average of the others win beyond even, the ``variance`` of
    that, which ``share`` of the distance to it is worth (0 where there are no others), and how far battles that were
    not finished may have moved it (``hidden``)."""

    mean: Floats
    variance: Floats
    share: Floats
    hidden: Floats

    def of(self, trait: int) -> tuple[float, float, float, float]:
        """All of a trait; a pair is compared with an even battle."""
        if trait >= len(self.mean):
            return 0.0, 0.0, 1.0, 0.0
        mean, variance, share, hides = (float(each[trait]) for each in self)
        return mean, variance, share, hides


def others(
    group: NDArray[np.int64], held: sparse.csr_matrix, rest: Floats, expected: Means | Grouped, hidden: Floats
) -> Others:
    """``group`` [traits]: what is compared with one another; ``held`` [2 n, traits]: traits of the first teams, then of
    the second ones; ``rest`` [n]: residuals for the first teams, not a number where a battle was not finished;
    ``hidden`` [traits]: how far such battles may have moved the mean of each."""
    good = np.isfinite(rest)
    met = (np.asarray(held.sum(axis=0)).ravel() >= NEEDED) & np.isfinite(expected.variance)
    held, rest = held[np.tile(good, 2)], rest[good]
    many = np.asarray(held.sum(axis=0)).ravel()
    each = sparse.diags(np.where(met, 1 / np.maximum(many, 1), 0.0))
    counts = ((held[: len(rest)] - held[len(rest) :]) @ each).tocsr()
    outcome = np.asarray(counts.T @ rest) + np.where(met, expected.mean, 0.0)
    own = np.where(met, expected.careful, 0.0)
    k = _rest_of(group, met.astype(np.float64))
    usual = np.full(len(rest), np.mean(rest**2) if len(rest) else 0.0)
    noise = np.maximum(_noise(group, counts, rest**2), _noise(group, counts, usual))
    divisor = np.maximum(k, 1)
    variance, hides = (noise + _rest_of(group, own)) / divisor**2, _rest_of(group, np.where(met, hidden, 0.0)) / divisor
    return Others(_rest_of(group, outcome) / divisor, variance, k / (k + 1), hides)


def _rest_of(group: NDArray[np.int64], values: Floats) -> Floats:
    """Of each, the sum over the others of its group."""
    return np.asarray(np.bincount(group, values)[group] - values)


def _noise(group: NDArray[np.int64], counts: sparse.csr_matrix, squares: Floats) -> Floats:
    """The variance of the sum over the others of each; ``counts`` [n, traits]: by how much a battle counts in a
    trait's mean, ``squares`` [n]: the variance of its residual."""
    together = counts @ sparse.csr_matrix((np.ones(len(group)), (np.arange(len(group)), group)))
    whole = np.asarray(together.multiply(together).T @ squares)[group]
    both = np.asarray(together[:, group].multiply(counts).T @ squares)
    alone = np.asarray(counts.multiply(counts).T @ squares)
    return np.asarray(np.maximum(whole - 2 * both + alone, 0.0))
