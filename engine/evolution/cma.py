"""CMA-ES, the (mu/mu_w, lambda) evolution strategy with covariance matrix adaptation, in the symbols of Hansen's "The
CMA Evolution Strategy: A Tutorial" (arXiv 1604.00772), figure 6 and table 1, with its negative weights (active CMA).

Written out because pycma's object cannot be saved without pickle; ``engine.bench ec`` runs both. Departures:

1. Samples are y = C^(1/2) z with the symmetric root B D B^T instead of B D z: the same distribution, and a rotated
   problem with rotated z gives exactly the rotated search.
2. Bounds: a sample beyond one is evaluated at its reflection (see ``distribution``); the tutorial leaves bounds open.
3. A flat ranking (the best equal to the one a third down, one objective) raises sigma, as in the tutorial's appendix
   on flat fitness; there are no restarts: a study ends by its own rules.
4. ``steady``: y is measured from the m and sigma of the moment of the step, and shortened to sqrt(n) + 2n / (n + 2) in
   the Mahalanobis metric, as Hansen 2011 ("Injecting external solutions into CMA-ES") treats foreign solutions.
"""

from __future__ import annotations

import numpy as np

from engine.config.algorithms import CMAESConfig
from engine.evolution.algorithm import Population
from engine.evolution.distribution import DistributionSearch
from engine.problem import Floats

_CONDITION = 1e14


class CMAES(DistributionSearch):
    """``sigma``: the first step size in units of the box (tutorial: 0.3). State: m, sigma, C, p_c, p_sigma, B, D, g."""

    Settings = CMAESConfig
    settings: CMAESConfig
    stream = "cmaes"
    kept = ("m", "sigma", "C", "p_c", "p_sigma", "B", "D", "g", "decomposed")

    def _start(self, x: Floats) -> None:
        n, self.sigma = self.n, self.settings.sigma
        self._constants(n, self.N)
        self.m, self.C, self.B, self.D = x.copy(), np.eye(n), np.eye(n), np.ones(n)
        self.p_c, self.p_sigma, self.g, self.decomposed = np.zeros(n), np.zeros(n), 0, 0

    def _constants(self, n: int, lambda_: int) -> None:
        """Table 1. Weights w[lambda], the first mu of them positive with sum 1."""
        raw = np.log((lambda_ + 1) / 2) - np.log(np.arange(1, lambda_ + 1))
        self.mu = mu = lambda_ // 2
        plus, minus = raw[:mu], raw[mu:]
        self.mu_eff = mu_eff = plus.sum() ** 2 / (plus**2).sum()
        mu_eff_minus = minus.sum() ** 2 / (minus**2).sum() if (minus < 0).any() else 0.0
        self.c_sigma = (mu_eff + 2) / (n + mu_eff + 5)
        self.d_sigma = 1 + 2 * max(0.0, np.sqrt((mu_eff - 1) / (n + 1)) - 1) + self.c_sigma
        self.c_c = (4 + mu_eff / n) / (n + 4 + 2 * mu_eff / n)
        self.c_1 = c_1 = 2 / ((n + 1.3) ** 2 + mu_eff)
        self.c_mu = c_mu = min(1 - c_1, 2 * (0.25 + mu_eff + 1 / mu_eff - 2) / ((n + 2) ** 2 + mu_eff))
        bounds = (1 + c_1 / c_mu, 1 + 2 * mu_eff_minus / (mu_eff + 2), (1 - c_1 - c_mu) / (n * c_mu))
        negative = min(bounds) / max(-raw[raw < 0].sum(), 1e-300)
        self.w = np.where(raw >= 0, raw / raw[raw >= 0].sum(), negative * raw)
        self.chi = np.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n**2))
        self.lag = max(1, int(1 / (10 * n * (c_1 + c_mu))))

    def _sample(self, k: int) -> Floats:
        """Equations 38-40."""
        z = self._normals(k)
        return np.asarray(self.m + self.sigma * self._coloured(z))

    def _coloured(self, z: Floats) -> Floats:
        return np.asarray((z @ self.B * self.D) @ self.B.T)

    def _whitened(self, y: Floats) -> Floats:
        """C^(-1/2) y."""
        return np.asarray((y @ self.B / self.D) @ self.B.T)

    def _step(self, x: Floats) -> None:
        """Equations 41-47."""
        n, w, c_1, c_mu = self.n, self.w, self.c_1, self.c_mu
        y = (x - self.m) / self.sigma
        length = np.linalg.norm(self._whitened(y), axis=1)
        if self.steady:
            shorter = np.minimum(1.0, (np.sqrt(n) + 2 * n / (n + 2)) / np.maximum(length, 1e-300))
            y, length = y * shorter[:, None], length * shorter
        y_w = w[: self.mu] @ y[: self.mu]
        self.m = self.m + self.sigma * y_w
        self.p_sigma = (1 - self.c_sigma) * self.p_sigma + np.sqrt(
            self.c_sigma * (2 - self.c_sigma) * self.mu_eff
        ) * self._whitened(y_w)
        self.g += 1
        norm = float(np.linalg.norm(self.p_sigma))
        h = norm / np.sqrt(1 - (1 - self.c_sigma) ** (2 * self.g)) < (1.4 + 2 / (n + 1)) * self.chi
        self.sigma = float(self.sigma * np.exp(self.c_sigma / self.d_sigma * (norm / self.chi - 1)))
        self.p_c = (1 - self.c_c) * self.p_c + h * np.sqrt(self.c_c * (2 - self.c_c) * self.mu_eff) * y_w
        w_circle = np.where(w >= 0, w, w * n / np.maximum(length**2, 1e-30))
        delta = (1 - h) * self.c_c * (2 - self.c_c)
        self.C = (1 + c_1 * delta - c_1 - c_mu * w.sum()) * self.C + c_1 * np.outer(self.p_c, self.p_c)
        self.C = self.C + c_mu * (y.T * w_circle) @ y
        if self.g - self.decomposed >= self.lag:
            self._decompose()

    def _decompose(self) -> None:
        """C = B D^2 B^T; axes shorter than 1e-7 of the longest are lengthened (rounding would make them negative)."""
        self.C = (self.C + self.C.T) / 2
        squares, self.B = np.linalg.eigh(self.C)
        least = squares[-1] / _CONDITION
        if squares[0] < least:
            squares = np.maximum(squares, least)
            self.C = (self.B * squares) @ self.B.T
        self.D, self.decomposed = np.sqrt(squares), self.g

    def _select(self) -> None:
        flat = len(self.arrived) == self.N and self._flat()
        super()._select()
        if flat:
            self.sigma = float(self.sigma * np.exp(0.2 + self.c_sigma / self.d_sigma))

    def _flat(self) -> bool:
        """Whether the ranking carries no information: the best is no better than the one a third down."""
        cost = Population(self.problem, self.arrived).cost
        values = np.sort(cost[:, 0])
        return cost.shape[1] == 1 and bool(values[0] == values[min(len(values) - 1, 1 + len(values) // 3)])
