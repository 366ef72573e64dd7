"""TD3: twin delayed deep deterministic policy gradient (Fujimoto et al. 2018, algorithm 1).

ã = clip(π_θ'(s') + clip(σ̃ ε, −c, c), −1, 1), ε ~ N(0, I);  y = r + γ min_i Q_φ'i(s', ã)   (eq. 14, 15)
φ_i ← argmin N⁻¹ Σ (y − Q_φi(s, a))²;  every d updates θ along ∇_θ N⁻¹ Σ Q_φ1(s, π_θ(s)), and θ', φ' follow by τ.

Samplers act uniformly until learning begins, then with π_θ(s) + N(0, σ²), clipped. All σ and c are in units in which
the bounds of an action are ±1.

Departures: 1. those of ``engine.rl.twin``; 2. decisions come in fragments of several battles, and as many updates
follow as decisions came (the paper: one, one at a time).

The two steps can be used without the policy of this learner: ``critic_step`` learns against the parameters of any
policy, ``actor_gradient`` gives the gradient of any (for populations of policies beside one critic, as in CEM-RL,
Pourchot & Sigaud 2019).
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.config.rl import TD3Config
from engine.mdp.interface import SeatSpec
from engine.rl.learner import Metrics, numbers
from engine.rl.networks import Seen
from engine.rl.twin import Transitions, TwinLearner

F32 = NDArray[np.float32]


class TD3(TwinLearner):
    """θ the policy, φ = (φ_1, φ_2) the critics, θ' and φ' their targets (the paper's symbols)."""

    kept: ClassVar[tuple[str, ...]] = (*TwinLearner.kept, "theta_target")
    config: TD3Config

    def __init__(
        self, seat: SeatSpec, config: TD3Config, seed: int, steps: int, on: torch.device | None = None
    ) -> None:
        super().__init__(seat, config, seed, steps, on)
        self.theta_target = self.theta.detach().clone()

    @property
    def epsilon(self) -> float:
        """The current noise of exploration σ; 1, uniform actions, until learning begins."""
        return 1.0 if self.steps < self.config.warmup else self.config.explore

    def start_from(self, weights: F32) -> None:
        """Begin with these weights, and with a target that equals them."""
        super().start_from(weights)
        with torch.no_grad():
            self.theta_target.copy_(self.theta)

    def pi(self, theta: Tensor, s: Seen) -> Tensor:
        """π_θ(s) [n, D] of scaled observations, in units in which the bounds are ±1."""
        return self.model.head.numbers(self.model.network.policy_of(theta, s))

    def best(self, s: Seen) -> Tensor:
        """Q_φ1(s, π_θ(s)) [n]."""
        return self.critics.first(self.phi, s, self.pi(self.theta, s))

    def critic_step(self, t: Transitions, theta_target: Tensor) -> Metrics:
        """One step of φ, with targets by the policy of the parameters ``theta_target``. φ' does not follow (see
        ``follow_critics``). Raises EngineError when numbers are no longer finite."""
        c = self.config
        with torch.no_grad():
            noise = (c.smooth * self._noise(t.a)).clamp_(-c.smooth_clip, c.smooth_clip)
            a = (self.pi(theta_target, t.next) + noise).clamp_(-1, 1)
            y = t.r + t.gamma * self.critics.least(self.phi_target, t.next, a)
        return self._regress(t, y)

    def actor_gradient(self, t: Transitions, theta: Tensor) -> tuple[Tensor, Tensor]:
        """(∇_θ L, L) of L = −N⁻¹ Σ Q_φ1(s, π_θ(s)) for the policy of the parameters ``theta``, which stay; φ is a
        constant. Raises EngineError when L is not finite."""
        outputs, to_theta = self.model.network.pulled(theta, t.s)
        a = torch.tanh(outputs)
        Q, to_a = self.critics.sloped(self.phi, t.s, a)
        slope = torch.full_like(Q, -1 / len(Q))
        loss = -Q.mean()
        return self.descend(loss, lambda: to_theta(to_a(slope) * (1 - a * a))), loss

    def _minibatch(self) -> Metrics:
        t = self.draw()
        metrics = self.critic_step(t, self.theta_target)
        self.learned += 1
        if self.learned % self.config.delay == 0:
            g, loss = self.actor_gradient(t, self.theta)
            self.clip(g)
            self.optimiser.step(g, self.eta)
            self.follow_critics()
            self.theta_target.lerp_(self.theta.detach(), self.config.tau)
            metrics |= numbers(policy_loss=loss)
        return metrics
