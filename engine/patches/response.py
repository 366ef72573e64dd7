"""How worths respond to changes of numbers, as far as battles have told: a surrogate for playing every patch.

A suspect's worth under a patch is w + sum of a x + b x^2 over the changed numbers of its pieces, x being the change as
a share of the number's reach. All of these are Gaussian, first by what the experiment says, then by each shift that was
measured (Bayesian linear regression, one Kalman step a measurement). What a patch leaves unfair is the expectation of
how far worths are beyond what matters: so a worth that is surely small is better than one that is just small enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from engine.patches.numbers import Number
from engine.patches.space import Patch

Floats = NDArray[np.float64]
LINEAR, CURVED = 0.3, 0.1
"""What a number may do to a worth at its reach, before anything was measured: standard deviations."""
MISFIT = 0.005
"""Standard deviation of what no such curve can say."""
MARGIN, SEVERAL = 0.75, 0.5
"""Worths are to be within this share of what matters, so that a proof, whose ranges are wider, can say that they are
within all of it; where several are watched, whose ranges hold together and share the battles, within the second one."""


class Watched(NamedTuple):
    """A trait whose worth is to be fair: its number among the traits, its pieces, and the worth, with the variance of
    that, by the experiment."""

    trait: int
    pieces: tuple[int, ...]
    worth: float
    variance: float


class Response:
    """Of what is ``watched`` to ``numbers``. ``known``: by the place of a number what it does, (a, b) and their
    covariance, where something said so before."""

    def __init__(
        self, watched: Sequence[Watched], numbers: Sequence[Number], matters: float,
        known: dict[int, tuple[Floats, Floats]],
    ) -> None:  # fmt: skip
        self.watched, self.numbers, self.matters = watched, numbers, matters
        self.aim = matters * (SEVERAL if len(watched) > 1 else MARGIN)
        size = len(watched) + 2 * len(numbers)
        self.mean, self.covariance = np.zeros(size), np.zeros((size, size))
        self.mean[: len(watched)] = [w.worth for w in watched]
        spread = [w.variance for w in watched] + [LINEAR**2, CURVED**2] * len(numbers)
        self.covariance[np.diag_indices(size)] = spread
        for place, (weights, covariance) in known.items():
            at = self._at(place)
            self.mean[at], self.covariance[at, at] = weights, covariance

    def measured(self, i: int, patch: Patch, shift: float, variance: float) -> None:
        """By so much did a patch shift the worth of the i-th watched."""
        where, what = self._features(i, patch)
        where, what = where[1:], what[1:]
        if not len(where) or not math.isfinite(variance):
            return
        gain = self.covariance[:, where] @ what
        spread = float(what @ self.covariance[np.ix_(where, where)] @ what) + variance + MISFIT**2
        surprise = shift - float(what @ self.mean[where])
        self.mean = self.mean + gain * surprise / spread
        self.covariance = self.covariance - np.outer(gain, gain) / spread

    def observed(self, i: int, worth: float, variance: float) -> None:
        """The worth of the i-th watched in the game as it is, by battles that were not yet taken in."""
        gain = self.covariance[:, i]
        spread = float(self.covariance[i, i]) + variance
        self.mean = self.mean + gain * (worth - self.mean[i]) / spread
        self.covariance = self.covariance - np.outer(gain, gain) / spread

    def worth(self, i: int, patch: Patch) -> tuple[float, float]:
        """The expected worth of the i-th watched under a patch, and its standard deviation; (0, 0) for a pair that it
        keeps apart."""
        if self.watched[i].pieces in patch.apart:
            return 0.0, 0.0
        where, what = self._features(i, patch)
        variance = float(what @ self.covariance[np.ix_(where, where)] @ what)
        return float(what @ self.mean[where]), math.sqrt(max(variance, 0.0) + MISFIT**2)

    def left(self, patch: Patch) -> float:
        """How far worths are expected to be beyond what is aimed at, all together."""
        return sum(_beyond(*self.worth(i, patch), self.aim) for i in range(len(self.watched)))

    def sure(self, patch: Patch) -> float:
        """The chance that none of the worths is beyond what is aimed at."""
        return math.prod(_inside(*self.worth(i, patch), self.aim) for i in range(len(self.watched)))

    def size(self, patch: Patch) -> float:
        """The changes of numbers as shares of their ranges, all together."""
        return float(sum(abs(level) * self.numbers[p].step / self.numbers[p].range for p, level in patch.levels))

    def _at(self, place: int) -> slice:
        first = len(self.watched) + 2 * place
        return slice(first, first + 2)

    def _features(self, i: int, patch: Patch) -> tuple[NDArray[np.int64], Floats]:
        where, what = [i], [1.0]
        for place, level in patch.levels:
            number = self.numbers[place]
            if number.piece in self.watched[i].pieces:
                x, first = level * number.step / number.reach, self._at(place).start
                where += [first, first + 1]
                what += [x, x * x]
        return np.array(where), np.array(what)


def _beyond(mean: float, deviation: float, line: float) -> float:
    """The expectation of how far a Gaussian is beyond ``line``, above or below."""
    if deviation <= 0:
        return max(abs(mean) - line, 0.0)
    found = 0.0
    for side in (mean, -mean):
        z = (side - line) / deviation
        found += (side - line) * float(ndtr(z)) + deviation * math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return found


def _inside(mean: float, deviation: float, line: float) -> float:
    """The chance that a Gaussian is within ``line``."""
    if deviation <= 0:
        return float(abs(mean) < line)
    return float(ndtr((line - mean) / deviation) - ndtr((-line - mean) / deviation))
