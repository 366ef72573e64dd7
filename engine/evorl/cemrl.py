"""CEM-RL (Pourchot & Sigaud, ICLR 2019, algorithm 1), and the cross-entropy method, which is what is left without its
critic. In the paper's symbols: π_μ, Σ, the population of N, of which half are trained.

A generation: N individuals z ~ N(π_μ, Σ) in antithetic pairs. For each of the first half in turn, the critic learns
from T / (N / 2) minibatches with z as the targets' policy, then z from T minibatches along its gradient, T being the
decisions of the generation before. All play an episode, without noise. The better half become π_μ' = Σ_i λ_i z_i and
Σ' = Σ_i λ_i (z_i − π_μ)² + ε I, and ε falls from its first to its last value.

``parallel``, called P-CEM-RL by Lee et al. (2020): individuals play while the critic goes on learning for the next one,
and the generation ends when the last has come. An individual's answer depends neither on the others nor on when it was
given, so one after the other or side by side the end is the same bit for bit.

Departures:

1. Weights log((K_e + 1) / i); ε falls after a generation (in the released code before it). ``narrow``: with the extra
   1 / K_e of the released code, Σ' = Σ_i λ_i (z_i − π_μ)² / K_e + ε I. Without it, as in the paper, nothing but
   selection narrows Σ, and ε widens it: where selection tells nothing, σ rises from 0.03 to 0.07 in ten generations,
   and with it falls to ε's.
2. Decisions by chance come first, where a critic learns from them (the released code lets untrained individuals play
   them).
3. The mean is measured by the study's examinations alone.
4. An individual that fails is the worst of its generation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.arrays import Bundle
from engine.config.aesrl import CEMRLMethod
from engine.evolution.algorithm import Parts
from engine.evorl.aes import weights
from engine.evorl.shared_critic import F32, SharedCritic
from engine.problem import Evaluation, Request


class CEMRL(SharedCritic):
    """``z`` float32[N, d]: the generation; ``scores``: what individuals returned, by their index; ``T``: decisions of
    the generation before, ``now``: of this one; ``base``: the id of the first individual."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        method = self.config.method
        assert isinstance(method, CEMRLMethod)
        self.method, self.N = method, method.population
        self.mu = self.first.astype(np.float64)
        self.Sigma, self.epsilon = np.full(len(self.mu), method.variance_at_first), method.noise
        self.T = self.now = self.base = self.learners = 0
        self.scores: dict[int, float] = {}

    @property
    def waiting(self) -> bool:
        return True

    @property
    def centre(self) -> F32:
        return self.mu.astype(np.float32)

    def ask(self, room: int) -> list[Request]:
        """As for every method; within a generation, what has become ready."""
        return super().ask(room) + self._released()

    def _released(self) -> list[Request]:
        if not self.method.parallel:
            found, self.ready = self.ready[: not self.outstanding], self.ready[bool(not self.outstanding) :]
        else:
            found, self.ready = self.ready, []
        self.outstanding |= {request.id: request for request in found}
        return found

    def _next(self) -> Iterator[Request]:
        half = self.rng.standard_normal(((self.N + 1) // 2, len(self.mu)))
        drawn = np.concatenate([half, -half])[: self.N]
        self.z = (self.mu + np.sqrt(self.Sigma) * drawn).astype(np.float32)
        self.base, self.next_id = self.next_id, self.next_id + 2 * self.N
        trains = self.method.learns and self.T > 0
        self.learners, self.scores, self.now = self.N // 2 if trains else 0, {}, 0
        if self.learners:
            self.ready.append(self._teach(0))
        self.ready += [self._request("es", self.z[k], self.base + k) for k in range(self.learners, self.N)]
        yield from self._released()

    def _teach(self, k: int) -> Request:
        """The critic's turn before individual k's."""
        count = max(1, self.T // self.learners)
        return self._request("critic", self.z[k], self.base + self.N + k, minibatches=count)

    def at_once(self, request: Request) -> bool:
        """The critic's answers, too: the next individual learns from them."""
        return super().at_once(request) or self.role(request) == "critic"

    def _answered(self, request: Request, answer: Evaluation) -> None:
        super()._answered(request, answer)
        if self.role(request) == "critic":
            k = request.id - self.base - self.N
            self.ready.append(self._request("rl", self.z[k], self.base + k, minibatches=self.T))
            if k + 1 < self.learners:
                self.ready.append(self._teach(k + 1))

    def _gone(self, request: Request) -> None:
        if self.role(request) in ("es", "rl"):
            self._come(request.id - self.base, -np.inf, 0)

    def _take(self, request: Request, answer: Evaluation) -> None:
        k = request.id - self.base
        self.z[k] = self._learnt(request, answer)
        self._come(k, float(answer.objectives[0]), answer.cost)

    def _come(self, k: int, score: float, steps: int) -> None:
        self.scores[k] = score
        self.now += steps
        if len(self.scores) == self.N:
            self.T = self.now
            order = sorted(self.scores, key=lambda each: (-self.scores[each], each))
            self._step(self.z[order[: self.N // 2]].astype(np.float64))

    def _step(self, z: Any) -> None:
        """The update from the elites, the best first."""
        lambda_, method = weights(len(z)), self.method
        self.Sigma = lambda_ @ (z - self.mu) ** 2 / (len(z) if method.narrow else 1) + self.epsilon
        self.mu = lambda_ @ z
        self.epsilon = method.tau * self.epsilon + (1 - method.tau) * method.noise_end

    def metrics(self) -> dict[str, float]:
        return super().metrics() | {"sigma": float(np.sqrt(self.Sigma).mean())}

    def _own(self) -> Parts:
        arrays = {"mu": self.mu.copy(), "Sigma": self.Sigma.copy()}
        return {"distribution": Bundle({"epsilon": self.epsilon, "T": self.T}, arrays)}

    def _take_own(self, parts: Parts) -> None:
        meta, arrays = parts["distribution"]
        self.mu, self.Sigma = np.array(arrays["mu"]), np.array(arrays["Sigma"])
        self.epsilon, self.T = meta["epsilon"], meta["T"]
