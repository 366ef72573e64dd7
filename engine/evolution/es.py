"""OpenAI's evolution strategy (Salimans, Ho, Chen, Sidor, Sutskever 2017, algorithm 1): a Gaussian of fixed width whose
mean climbs the gradient that antithetic samples estimate; fitness as centred ranks; Adam (Kingma & Ba 2015) or SGD with
momentum.

Departures:

1. sigma and the learning rate are in units of the space's box; the mean is kept inside it.
2. ``steady``: epsilon is measured from where the mean is at the moment of the step, and the two halves of an
   antithetic pair may fall into different steps.
"""

from __future__ import annotations

import numpy as np

from engine.config.algorithms import OpenAIESConfig
from engine.evolution.distribution import DistributionSearch
from engine.problem import Floats

_BETA1, _BETA2, _SMALL = 0.9, 0.999, 1e-8


class OpenAIES(DistributionSearch):
    """``sigma``: standard deviation of samples; ``rate``: learning rate alpha; ``decay``: weight decay towards zero
    (for network weights: towards the initial network)."""

    Settings = OpenAIESConfig
    settings: OpenAIESConfig
    stream = "openai-es"
    kept = ("theta", "first", "second", "g", "pending")

    def _start(self, x: Floats) -> None:
        self.sigma, self.alpha = self.settings.sigma, self.settings.rate
        self.theta, self.g = x.copy(), 0
        self.first, self.second = np.zeros(self.n), np.zeros(self.n)
        self.pending = np.empty((0, self.n))
        ranks = np.arange(self.N)[::-1] / max(self.N - 1, 1) - 0.5
        self.shaped = ranks  # of the samples in order of merit: 0.5 for the best, -0.5 for the worst

    def _sample(self, k: int) -> Floats:
        """theta + sigma epsilon, each epsilon followed by its opposite."""
        pairs = (k - len(self.pending) + 1) // 2
        fresh = self._normals(max(pairs, 0))
        epsilon = np.concatenate([self.pending, np.stack([fresh, -fresh], axis=1).reshape(-1, self.n)])
        self.pending = epsilon[k:]
        return np.asarray(self.theta + self.sigma * epsilon[:k])

    def _step(self, x: Floats) -> None:
        epsilon = (x - self.theta) / self.sigma
        gradient = self.shaped @ epsilon / (self.N * self.sigma) - self.settings.decay * self.theta
        self.g += 1
        self.theta = self.theta + self.alpha * self._direction(gradient)
        if self.numbers.bounded:
            self.theta = np.clip(self.theta, 0.0, 1.0)

    def _direction(self, gradient: Floats) -> Floats:
        self.first = _BETA1 * self.first + (1 - _BETA1) * gradient
        if self.settings.optimiser == "sgd":
            return self.first
        self.second = _BETA2 * self.second + (1 - _BETA2) * gradient**2
        unbiased = self.first / (1 - _BETA1**self.g)
        return np.asarray(unbiased / (np.sqrt(self.second / (1 - _BETA2**self.g)) + _SMALL))
