"""Kinds of noise on which promises are tried: bounded, each with the means of what it draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

Floats = NDArray[np.float64]


class NoisyCandidates(NamedTuple):
    """``truth`` float64[n]: the means of n candidates; ``values`` float64[n, replicates], independent and alike."""

    truth: Floats
    values: Floats


class Noise(NamedTuple):
    """Values between ``low`` and ``high``, each of so many ``battles``. ``draw(rng, n, replicates)``: candidates with
    means of their own."""

    low: float
    high: float
    draw: Callable[[np.random.Generator, int, int], NoisyCandidates]
    battles: int = 1


def _gaussian(rng: np.random.Generator, n: int, replicates: int) -> NoisyCandidates:
    """Means eight standard deviations and more from the range's ends, at which nothing is ever cut off."""
    truth = rng.uniform(0.4, 0.6, n)
    return NoisyCandidates(truth, np.clip(truth[:, None] + 0.05 * rng.standard_normal((n, replicates)), 0, 1))


def _lognormal(rng: np.random.Generator, n: int, replicates: int) -> NoisyCandidates:
    """Of standard deviation 1 in the logarithm, and cut off at 10 (the median of the best is 1.6)."""
    centre, cap = rng.uniform(-0.5, 0.5, n), 10.0
    below = np.exp(centre + 0.5) * norm.cdf(np.log(cap) - centre - 1)
    truth = below + cap * norm.sf(np.log(cap) - centre)
    return NoisyCandidates(truth, np.minimum(np.exp(centre[:, None] + rng.standard_normal((n, replicates))), cap))


def _wins(low: float, high: float) -> Callable[[np.random.Generator, int, int], NoisyCandidates]:
    def draw(rng: np.random.Generator, n: int, replicates: int) -> NoisyCandidates:
        truth = rng.uniform(low, high, n)
        return NoisyCandidates(truth, (rng.random((n, replicates)) < truth[:, None]).astype(np.float64))

    return draw


def _discrete(rng: np.random.Generator, n: int, replicates: int) -> NoisyCandidates:
    """Lost, drawn or won: 0, 0.5 or 1, each with any probability."""
    chances = rng.dirichlet(np.ones(3), n)
    part = rng.random((n, replicates))
    values = 0.5 * ((part > chances[:, :1]) + 0.0 + (part > chances[:, :2].sum(axis=1, keepdims=True)))
    return NoisyCandidates(chances @ np.array([0.0, 0.5, 1.0]), values)


def _constant(rng: np.random.Generator, n: int, replicates: int) -> NoisyCandidates:
    """No noise at all; values are coarse, so several candidates are equal."""
    truth = rng.integers(0, 11, n) / 10
    return NoisyCandidates(truth, np.repeat(truth[:, None], replicates, axis=1))


def _ties(rng: np.random.Generator, n: int, replicates: int) -> NoisyCandidates:
    """Nine of ten values are the same for everybody; the others are wins with a probability of the candidate's own."""
    chance = rng.uniform(0.05, 0.95, n)
    wins = (rng.random((n, replicates)) < chance[:, None]).astype(np.float64)
    return NoisyCandidates(0.45 + 0.1 * chance, np.where(rng.random((n, replicates)) < 0.9, 0.5, wins))


NOISES = {
    "gaussian": Noise(0.0, 1.0, _gaussian),
    "lognormal": Noise(0.0, 10.0, _lognormal),
    "wins": Noise(0.0, 1.0, _wins(0.1, 0.9)),
    "all-wins": Noise(0.0, 1.0, _wins(0.01, 0.99)),
    "rare-wins": Noise(0.0, 1.0, _wins(0.01, 0.05)),
    "discrete": Noise(0.0, 1.0, _discrete),
    "constant": Noise(0.0, 1.0, _constant),
    "ties": Noise(0.0, 1.0, _ties),
}
