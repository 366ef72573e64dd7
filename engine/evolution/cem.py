"""The cross-entropy method as CEM-RL uses it (Pourchot & Sigaud, ICLR 2019, equations 1-4): a Gaussian with a diagonal
covariance, moved to its weighted elites, with additive noise that decays.

Departures:

1. Variances are in units of the space's box squared, so the noise's defaults fit problems of any scale.
2. The paper's weights log((K_e + 1) / i) are used, not the extra 1 / K_e of its published code.
3. ``steady``: see ``distribution``; a step uses the newest mean as mu_old.
"""

from __future__ import annotations

import numpy as np

from engine.config.algorithms import CEMConfig
from engine.evolution.distribution import DistributionSearch
from engine.problem import Floats


class CEM(DistributionSearch):
    """``elites``: the share of samples to learn from; ``sigma``: initial standard deviation; ``noise`` and
    ``noise_end``: variance added at each step, at first and in the end; ``tau``: how slowly it changes between them."""

    Settings = CEMConfig
    settings: CEMConfig
    stream = "cem"
    kept = ("mu", "Sigma", "epsilon")

    def _start(self, x: Floats) -> None:
        s = self.settings
        self.mu, self.Sigma, self.epsilon = x.copy(), np.full(self.n, s.sigma**2), s.noise
        self.K_e = max(1, round(s.elites * self.N))
        weights = np.log((self.K_e + 1) / np.arange(1, self.K_e + 1))
        self.lambda_ = weights / weights.sum()

    def _sample(self, k: int) -> Floats:
        return np.asarray(self.mu + np.sqrt(self.Sigma) * self._normals(k))

    def _step(self, x: Floats) -> None:
        """Equations 1 and 2, then the noise of equation 4."""
        z = x[: self.K_e]
        self.Sigma = self.lambda_ @ (z - self.mu) ** 2 + self.epsilon
        self.mu = self.lambda_ @ z
        self.epsilon = self.settings.tau * self.epsilon + (1 - self.settings.tau) * self.settings.noise_end
