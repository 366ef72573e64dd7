"""PA-DDPG: deep deterministic policy gradient in parameterised action spaces (Hausknecht & Stone 2016, "Deep
Reinforcement Learning in Parameterized Action Space", sections 4 and 5).

The actor puts out a number a_k for each choice, the largest of which is taken, and the numbers x of all choices:
(a, x)(s; θ). The critic values both: Q(s, a, x; φ).

y = r + γ Q(s', a(s'; θ'), x(s'; θ'); φ')
L(φ) = N⁻¹ Σ (y − Q(s, a, x; φ))²                                                (eq. 3, 4)
∇_θ J = N⁻¹ Σ δ ∇_θ (a, x)(s; θ), δ = ∇_{a, x} Q(s, a, x; φ)                     (eq. 5)

with δ inverted near the bounds, which are ±1 for a, too (eq. 11). Targets follow by τ, the actor's by a share of its
own.

Departures: 1. those of ``engine.rl.mixed``; 2. a is what was played, 1 for the choice taken and −1 for the others, in
the replay as in targets, because a trajectory keeps the choice (the paper: the actor's outputs); δ is taken at the
actor's outputs; 3. illegal choices are never taken.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor

from engine.config.rl import PADDPGConfig
from engine.mdp.interface import ArraySpec, SeatSpec
from engine.rl.learner import Metrics, State, below, numbers
from engine.rl.mixed import MixedReturns
from engine.rl.networks import Network, Seen
from engine.rl.numbered import AHEAD, NumbersNetwork, inverted, seeing_numbers, sizes_of, split
from engine.rl.optimisers import Adam
from engine.rng import generator


class PADDPG(MixedReturns):
    """θ the actor, φ the critic, θ' and φ' their targets, δ the gradient in the actions (the paper's symbols)."""

    kept: ClassVar[tuple[str, ...]] = (*MixedReturns.kept, "phi", "phi_target")
    config: PADDPGConfig

    def __init__(self, seat: SeatSpec, config: Any, seed: int, steps: int, on: torch.device | None = None) -> None:
        super().__init__(seat, config, seed, steps, on)
        self.counts = sizes_of(seat)
        self.K = len(self.counts)
        layers = config.network.model_copy(update={"policy": config.network.critic})
        self.critic = Network(seeing_numbers(seat, ArraySpec(AHEAD, (self.K,))), layers, 1, 0)
        first = self.critic.initial(generator(seed, "critics"))
        self.phi = torch.from_numpy(first).to(self.device).requires_grad_()
        self.phi_target = self.phi.detach().clone()
        self.critic_optimiser = self.make_optimiser(self.phi.detach())

    @property
    def layer(self) -> NumbersNetwork:
        """(a, x)."""
        assert isinstance(self.model.network, NumbersNetwork)
        return self.model.network

    def make_optimiser(self, theta: Tensor) -> Adam:
        """Adam with the moments of the paper."""
        return Adam(theta, beta1=0.95, epsilon=1e-8)

    def of_critic(self, s: Seen, a: Tensor, x: Tensor) -> Seen:
        """What the critic sees."""
        return {**s, AHEAD: a, **split(x, self.counts)}

    def corners(self, k: Tensor) -> Tensor:
        """a [n, K] of choices int64[n]: 1 for the choice, −1 for the others."""
        return 2.0 * torch.nn.functional.one_hot(k, self.K) - 1.0

    def value(self, s: Seen, mask: Tensor | None) -> Tensor:
        """Q(s, a, x; φ') [n] of what θ' does."""
        return self._value(self.target, self.phi_target, s, mask)

    def best(self, s: Seen) -> Tensor:
        """Q(s, a, x; φ) [n] of what θ does, which takes what it holds for the best."""
        return self._value(self.theta.detach(), self.phi.detach(), s, None)

    def _value(self, theta: Tensor, phi: Tensor, s: Seen, mask: Tensor | None) -> Tensor:
        a, x = torch.split(self.layer.policy_of(theta, s).policy, [self.K, sum(self.counts)], dim=1)
        if mask is not None:
            a = torch.where(mask | ~mask.any(dim=1, keepdim=True), a, -torch.inf)
        return self.critic.policy_of(phi, self.of_critic(s, self.corners(a.argmax(dim=1)), x)).policy[:, 0]

    def _minibatch(self) -> Metrics:
        c = self.tensors(self.replay.sample(self.config.minibatch).columns)
        s, y = self._at("s.", c), self.y(c)
        k, x = c["action"][:, 0].to(torch.int64), c["action"][:, 1:]
        values, pull = self.critic.pulled(self.phi, self.of_critic(s, self.corners(k), x))
        Q = values[:, 0]
        loss = torch.nn.functional.mse_loss(Q, y)
        g = self.descend(loss, lambda: pull(2 / len(y) * (values - y[:, None])))
        norm = self.clip(g)
        self.critic_optimiser.step(g, self.eta)
        g, value = self.actor_gradient(s)
        self.clip(g)
        self.optimiser.step(g, self.numbers_eta)
        self.phi_target.lerp_(self.phi.detach(), self.config.tau)
        self.target.lerp_(self.theta.detach(), self.config.numbers_tau)
        self.learned += 1
        return numbers(critic_loss=loss, td=(y - Q).abs().mean(), q=Q.mean(), policy_loss=-value) | {"gradient": norm}

    def actor_gradient(self, s: Seen) -> tuple[Tensor, Tensor]:
        """(−∇_θ J with inverted gradients, J) at these observations; φ is a constant."""
        p, to_theta = self.layer.pulled(self.theta, s)
        seen = self.of_critic(s, p[:, : self.K], p[:, self.K :])
        Q, to_seen = self.critic.sloped(self.phi, seen)
        slope = to_seen(torch.full_like(Q, 1 / len(Q)))[:, self.layer.flat : self.layer.flat + p.shape[1]]
        return to_theta(-inverted(slope, p)), Q.mean()

    def state(self) -> State:
        """With the critic's optimiser."""
        state = super().state()
        own = {f"critic_optimiser.{name}": value for name, value in self.critic_optimiser.state().items()}
        state["learner"].arrays.update(own)
        return state

    def load(self, state: State) -> None:
        """Continue from a state."""
        super().load(state)
        self.critic_optimiser.load(below("critic_optimiser", state["learner"].arrays))
