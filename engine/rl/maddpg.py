"""MADDPG: multi-agent deep deterministic policy gradient (Lowe et al. 2017, "Multi-Agent Actor-Critic for Mixed
Cooperative-Competitive Environments", algorithm 1).

N entities, each with an actor μ_θi(o_i), a reward r_i and a critic Q_φi of its own; critics look at all of
x = (o_1, …, o_N) and a = (a_1, …, a_N).

y_i = r_i + γ Q_φ'i(x', a'_1, …, a'_N), a'_j = μ_θ'j(o'_j);  L(φ_i) = S⁻¹ Σ (y_i − Q_φi(x, a))²       (eq. 6)
y_i = r_i where entity i is out from then on, as in the released code.
∇_θi J ≈ S⁻¹ Σ ∇_θi μ_θi(o_i) ∇_{a_i} Q_φi(x, a_1, …, a_i, …, a_N) at a_i = μ_θi(o_i), the others' from the replay
                                                                                                      (eq. 5)
With u_i what actor i puts out, a_i = tanh u_i, the released code adds κ = 10⁻³ times the mean square of u_i to its
loss; without it the first, wrong critics drive all u to ±10, where tanh has no slope and an actor learns no more.
θ' and φ' follow by τ. Samplers act uniformly until learning begins, then with μ_θ + N(0, σ²), clipped.

How a group is given: as to ``engine.rl.masac``, with each member's rewards ``apart``.

Departures: 1. those of ``engine.rl.twin``; 2. exploration by Gaussian noise (the paper: a process 𝒩, which its code
draws from the policy's own distribution), σ = 0.5: with TD3's 0.1 members that are nowhere near a reward hardly ever
meet one; 3. decisions come in fragments of several battles, and updates follow as
decisions came (the paper: one update of every entity in a hundred decisions, each with a minibatch of its own; here
all have the same); 4. actions are numbers; choices (by Gumbel softmax) are not taken; 5. no other entity's policy is
approximated and there are no ensembles (sections 4.2 and 4.3); 6. an entity that is out of its battle counts in no
actor's step, its observations and actions are 0, and critics are told who is there; 7. networks, learning rate,
discount and replay are as MASAC's, and a minibatch is of 256 (the paper: two layers of 64, 0.01, 0.95, a million and
1,024: the preset ``published-maddpg``).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.config.rl import MADDPGConfig, SteeringConfig
from engine.mdp.interface import SeatSpec
from engine.mdp.trajectory import Trajectory
from engine.rl.critics import Critics
from engine.rl.learner import Metrics, numbers
from engine.rl.networks import Seen
from engine.rl.replay import n_steps
from engine.rl.teams import Team, TeamNetwork
from engine.rl.twin import Transitions, TwinLearner

F32 = NDArray[np.float32]


class MADDPG(TwinLearner):
    """θ = (θ_1, …, θ_N) the actors, φ = (φ_1, …, φ_N) the critics, θ' and φ' their targets (μ, Q, μ' and Q' in the
    paper)."""

    kept: ClassVar[tuple[str, ...]] = (*TwinLearner.kept, "theta_target")
    config: MADDPGConfig

    def __init__(
        self, seat: SeatSpec, config: MADDPGConfig, seed: int, steps: int, on: torch.device | None = None
    ) -> None:
        self.team = Team(seat)
        super().__init__(seat, config, seed, steps, on)
        self.theta_target = self.theta.detach().clone()
        own = torch.zeros(len(self.team.members), 1, sum(self.team.widths), device=self.device)
        for i, member in enumerate(self.team.members):
            own[i, :, member.does] = 1
        self._own = own
        each = [1 / width for width in self.team.widths for _ in range(width)]
        self._each = torch.tensor(each, device=self.device)
        assert isinstance(self.model.network, TeamNetwork)
        self._sizes = [network.size for network in self.model.network.networks]

    def make_critics(self, seat: SeatSpec, config: SteeringConfig) -> Critics:
        """Q_φ1, …, Q_φN."""
        return Critics(seat, config.network, len(self.team.members))

    @property
    def epsilon(self) -> float:
        """The current noise of exploration σ; 1, uniform actions, until learning begins."""
        return 1.0 if self.steps < self.config.warmup else self.config.explore

    def start_from(self, weights: F32) -> None:
        """Begin with these weights, and with targets that equal them."""
        super().start_from(weights)
        with torch.no_grad():
            self.theta_target.copy_(self.theta)

    def transitions(self, trajectory: Trajectory) -> dict[str, NDArray[Any]]:
        """With ``own`` float32[N]: each entity's own weighted rewards."""
        paid, shape = self.team.paid(trajectory.rewards * self.terms.weight), trajectory.ended.shape
        gamma, ends = float(self.terms.gamma[0]), (trajectory.terminated, trajectory.truncated)
        own = [
            n_steps(np.ascontiguousarray(each), *ends, gamma, self.config.n_step).rewards
            for each in np.moveaxis(paid, 2, 0)
        ]
        kept = np.ones(shape, bool) if trajectory.valid is None else trajectory.valid
        return super().transitions(trajectory) | {"own": np.stack(own, axis=2)[kept]}

    def mu(self, theta: Tensor, o: Seen) -> Tensor:
        """μ_θ(o) [n, D] of all entities for scaled observations, in units in which the bounds are ±1; 0 for one that is
        out."""
        return self._acts(theta, o)[0]

    def _acts(self, theta: Tensor, o: Seen) -> tuple[Tensor, Tensor]:
        """(μ_θ(o), u): with what the actors put out, μ = tanh u; both 0 for one that is out."""
        outputs = self.model.network.policy_of(theta, o)
        here = self.team.doing(self.team.here(o))
        return self.model.head.numbers(outputs) * here, outputs.policy * here

    def draw(self) -> Transitions:
        """A minibatch of the replay: ``r`` [n, N]; the action of an entity that was out is 0."""
        c = self.tensors(self.replay.sample(self.config.minibatch).columns)
        x, after = self.seen(c)
        here = self.team.doing(self.team.here(x))
        return Transitions(x, c["action"] * here, c["own"], c["factor"], after)

    def critic_step(self, t: Transitions) -> Metrics:
        """One step of every φ_i along ∇ L(φ_i). Raises EngineError when numbers are no longer finite."""
        with torch.no_grad():
            after = self.critics.values(self.phi_target, t.next, self.mu(self.theta_target, t.next))
            y = t.r + (t.gamma * after).T * self.team.here(t.next)
        Q, pull = self.critics.pulled(self.phi, t.s, t.a)
        delta = Q - y.T
        loss = delta.square().mean(dim=1).sum()
        g = self.descend(loss, lambda: pull(2 / len(y) * delta))
        norm = self._clip_each(g, [self.critics.network.size] * self.critics.count)
        self.critic_optimiser.step(g, self.eta)
        return numbers(critic_loss=loss, q=Q.mean()) | {"gradient": norm}

    def actor_loss(self, t: Transitions) -> Tensor:
        """−Σ_i of what Q_φi says of its own entity's new action, + κ S⁻¹ Σ_i |u_i|² / D_i; φ is a constant."""
        mu, u = self._acts(self.theta, t.s)
        a = self._own * mu + (1 - self._own) * t.a
        Q = self.critics.values(self.phi, t.s, a)
        size = self.config.penalty * (u.square().mean(dim=0) * self._each).sum()
        return size - (Q * self.team.here(t.s).T).mean(dim=1).sum()

    def _clip_each(self, g: Tensor, sizes: list[int]) -> float:
        """Clip each network's own part of a gradient; returns the largest of their original norms."""
        return max(self.clip(part) for part in torch.split(g, sizes))

    def _minibatch(self) -> Metrics:
        t = self.draw()
        metrics = self.critic_step(t)
        loss = self.actor_loss(t)
        g = self.descend(loss)
        self._clip_each(g, self._sizes)
        self.optimiser.step(g, self.eta)
        self.follow_critics()
        self.theta_target.lerp_(self.theta.detach(), self.config.tau)
        self.learned += 1
        return metrics | numbers(policy_loss=loss)
