"""P-DQN: parametrised deep Q-networks (Xiong et al. 2018, "Parametrized Deep Q-Networks Learning", algorithm 1) for
choices with numbers of their own.

y = r + γ max_k Q(s', k, x(s'; θ'_X); θ'_Q)                                        (eq. 5)
L(θ_Q) = N⁻¹ Σ (y − Q(s, k, x; θ_Q))² for the choice k and the numbers x that were played (eq. 6)
L(θ_X) = −N⁻¹ Σ Σ_k Q(s, k, x(s; θ_X); θ_Q)                                       (eq. 7)

The gradient of L(θ_X) in the numbers is inverted near their bounds (``engine.rl.numbered.inverted``). Targets follow,
θ'_Q ← τ θ_Q + (1 − τ) θ'_Q, and θ'_X by a share of its own. Q sees the numbers of all choices.

Departures: 1. those of ``engine.rl.mixed``, such as targets that mix two returns (with β = 0 those above); 2. targets,
inverting gradients, the frozen layer of first numbers and squared errors without ½ are those of the released code of
Bester et al. (2019); in the paper target networks are left out; 3. illegal choices are neither taken nor maximised
over, and have a part in L(θ_X).
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from engine.mdp.interface import SeatSpec
from engine.rl.learner import Metrics, State, below, numbers
from engine.rl.mixed import MixedReturns
from engine.rl.networks import Seen
from engine.rl.numbered import ChoiceNetwork, NumbersNetwork, inverted
from engine.rl.optimisers import Adam


class PDQN(MixedReturns):
    """θ = (θ_X, θ_Q) numbers and values, θ' their targets, δ the gradient in the numbers (the papers' symbols)."""

    def __init__(self, seat: SeatSpec, config: Any, seed: int, steps: int, on: torch.device | None = None) -> None:
        super().__init__(seat, config, seed, steps, on)
        self.numbers_optimiser = Adam(self.theta.detach()[self.network.of_x], epsilon=1e-8)

    @property
    def network(self) -> ChoiceNetwork:
        """The structure of both networks."""
        assert isinstance(self.model.network, ChoiceNetwork)
        return self.model.network

    @property
    def layer(self) -> NumbersNetwork:
        """x."""
        return self.network.x

    def make_optimiser(self, theta: Tensor) -> Adam:
        """Adam of θ_Q."""
        return Adam(theta[self.network.of_q], epsilon=1e-8)

    def value(self, s: Seen, mask: Tensor | None) -> Tensor:
        """max_k Q(s, k, x(s; θ'_X); θ'_Q) [n] over legal choices."""
        Q = self._worths(self.target, s)
        if mask is not None:
            Q = torch.where(mask | ~mask.any(dim=1, keepdim=True), Q, -torch.inf)
        return Q.amax(dim=1)

    def best(self, s: Seen) -> Tensor:
        """max_k Q(s, k, x(s; θ_X); θ_Q) [n]."""
        return self._worths(self.theta.detach(), s).amax(dim=1)

    def _worths(self, theta: Tensor, s: Seen) -> Tensor:
        """Q(s, ·, x(s)) [n, K] by the networks of such parameters."""
        x, _ = self.network.numbers(theta[self.network.of_x], s)
        return self.network.worth(theta[self.network.of_q], s, x)[0]

    def _minibatch(self) -> Metrics:
        c = self.tensors(self.replay.sample(self.config.minibatch).columns)
        s, y = self._at("s.", c), self.y(c)
        theta_q = self.theta.detach()[self.network.of_q]
        k, x = c["action"][:, 0].to(torch.int64), c["action"][:, 1:]
        Q, pull = self.network.taken(theta_q, s, k, x)
        loss = torch.nn.functional.mse_loss(Q, y)
        g = self.descend(loss, lambda: pull(2 / len(y) * (Q - y)))
        norm = self.clip(g)
        self.optimiser.step(g, self.eta)
        g, value = self.numbers_gradient(s)
        self.clip(g)
        self.numbers_optimiser.step(g, self.numbers_eta)
        self._follow()
        self.learned += 1
        return numbers(critic_loss=loss, td=(y - Q).abs().mean(), q=Q.mean(), policy_loss=-value) | {"gradient": norm}

    def numbers_gradient(self, s: Seen) -> tuple[Tensor, Tensor]:
        """(∇ L(θ_X) with inverted gradients, −L) at these observations; θ_Q is a constant."""
        theta_x, theta_q = (self.theta.detach()[part] for part in (self.network.of_x, self.network.of_q))
        x, to_theta = self.network.numbers(theta_x, s)
        Q, to_x = self.network.worth(theta_q, s, x)
        delta = inverted(to_x(torch.full_like(Q, 1 / len(Q))), x)
        return to_theta(-delta), Q.sum(dim=1).mean()

    def _follow(self) -> None:
        """θ'_Q and θ'_X follow θ_Q and θ_X."""
        shares = (self.network.of_q, self.config.tau), (self.network.of_x, self.config.numbers_tau)
        for part, share in shares:
            self.target[part].lerp_(self.theta.detach()[part], share)

    def state(self) -> State:
        """With the numbers' optimiser."""
        state = super().state()
        own = {f"numbers_optimiser.{name}": value for name, value in self.numbers_optimiser.state().items()}
        state["learner"].arrays.update(own)
        return state

    def load(self, state: State) -> None:
        """Continue from a state."""
        super().load(state)
        self.numbers_optimiser.load(below("numbers_optimiser", state["learner"].arrays))
