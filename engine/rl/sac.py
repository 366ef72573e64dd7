"""SAC: soft actor-critic (Haarnoja et al. 2018b, "Soft Actor-Critic Algorithms and Applications", algorithm 1).

π_θ(a|s): a = tanh u, u ~ N(μ_θ(s), σ_θ(s)²), so log π(a|s) = log N(u; μ, σ²) − Σ_j log(1 − tanh² u_j)   (appendix C)
y = r + γ (min_i Q_φ'i(s', a') − α log π_θ(a'|s')), a' ~ π_θ(·|s')                                     (eq. 3, 6)
J_Q = Σ_i ½ N⁻¹ Σ (y − Q_φi(s, a))²                                                                   (eq. 5)
J_π = N⁻¹ Σ α log π_θ(a|s) − min_i Q_φi(s, a), a = tanh(μ_θ(s) + σ_θ(s) ξ)                             (eq. 7, 9)
J_α = −N⁻¹ Σ log α (log π_θ(a|s) + H̄), H̄ = −D where it is learned                                     (eq. 18)

φ' follows φ by τ. Densities are of actions in units in which the bounds are ±1. A group (``engine.mdp.groups``) is one
large seat whose D numbers are all its members'.

Departures: 1. those of ``engine.rl.twin``; 2. decisions come in fragments of several battles, and as many updates
follow as decisions came; 3. until learning begins the first policy plays, a tanh of nearly standard normal numbers
(the released code: uniform actions); 4. J_α has log α where the paper has α, and log σ is clamped to [−20, 2], both as
in the released code; 5. within an update both α and φ move before θ, and all use the first α; 6. log(1 − tanh² u) is
exact (the released code adds 1e-6 under the logarithm); 7. what a member of a group does counts only while it is in
its battle: later its actions are 0, and its numbers are neither in log π_θ nor in H̄, which is −(the numbers of those
who are there), so it differs between states.
"""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch import Tensor

from engine.config.rl import SACConfig
from engine.mdp.interface import SeatSpec
from engine.rl.heads import SPREADS
from engine.rl.learner import Metrics, State, below, numbers
from engine.rl.networks import Seen
from engine.rl.teams import Team
from engine.rl.twin import Transitions, TwinLearner

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


class SAC(TwinLearner):
    """θ the policy, φ = (φ_1, φ_2) the critics, φ' their targets, α the weight of the entropy (the papers' symbols)."""

    kept: ClassVar[tuple[str, ...]] = (*TwinLearner.kept, "log_alpha")
    config: SACConfig

    def __init__(
        self, seat: SeatSpec, config: SACConfig, seed: int, steps: int, on: torch.device | None = None
    ) -> None:
        super().__init__(seat, config, seed, steps, on)
        first = torch.tensor([math.log(config.alpha)], device=self.device)
        self.log_alpha = first.requires_grad_()
        self.alpha_optimiser = self.make_optimiser(self.log_alpha.detach())
        self.team = Team(seat)

    def draw(self) -> Transitions:
        """A minibatch of the replay; the action of a member that was out is 0."""
        t = super().draw()
        return t._replace(a=t.a * self.acting(t.s))

    def acting(self, s: Seen) -> Tensor:
        """1 for each number of the action that counts, else 0, for it is of a member that is out: float32[n, D]."""
        return self.team.doing(self.team.here(s))

    def aimed(self, s: Seen) -> Tensor:
        """H̄ [n], the entropy that a policy is to have in each of these states."""
        return self.config.entropy * self.acting(s).sum(dim=1)

    def pi(self, theta: Tensor, s: Seen) -> tuple[Tensor, Tensor]:
        """(a [n, D], log π_θ(a|s) [n]) of one action drawn for each scaled observation; differentiable."""
        acting = self.acting(s)
        a, log_pi = self.drawn(theta, s)
        return a * acting, (log_pi * acting).sum(dim=1)

    def drawn(self, theta: Tensor, s: Seen) -> tuple[Tensor, Tensor]:
        """The same as if all were there, with a log π for each number of the action [n, D]."""
        mu, log_std = self.model.head.numbers(self.model.network.policy_of(theta, s)).chunk(2, dim=1)
        log_std = log_std.clamp(*SPREADS)
        xi = self._noise(mu)
        u = mu + log_std.exp() * xi
        normal = -0.5 * xi * xi - log_std - _HALF_LOG_2PI
        return torch.tanh(u), normal - self._log_slope(u)

    def best(self, s: Seen) -> Tensor:
        """Q_φ1(s, tanh μ_θ(s)) [n]: of what the policy does without drawing."""
        mu, _ = self.model.head.numbers(self.model.network.policy_of(self.theta, s)).chunk(2, dim=1)
        return self.critics.first(self.phi, s, torch.tanh(mu) * self.acting(s))

    @staticmethod
    def _log_slope(u: Tensor) -> Tensor:
        """log(1 − tanh² u)."""
        return 2 * (math.log(2) - u - torch.nn.functional.softplus(-2 * u))

    def alpha_step(self, s: Seen, log_pi: Tensor) -> None:
        """One step of log α along ∇ J_α, from actions drawn with ``pi``."""
        loss = -(self.log_alpha * (log_pi.detach() + self.aimed(s))).mean()
        self.alpha_optimiser.step(self.descend(loss, self.log_alpha), self.eta)

    def critic_step(self, t: Transitions, theta: Tensor, alpha: float) -> Metrics:
        """One step of φ along ∇_φ J_Q, with targets by the policy of the parameters ``theta``. φ' does not follow (see
        ``follow_critics``). Raises EngineError when numbers are no longer finite."""
        with torch.no_grad():
            a, log_pi = self.pi(theta, t.next)
            y = t.r + t.gamma * (self.critics.least(self.phi_target, t.next, a) - alpha * log_pi)
        return self._regress(t, y, 0.5)

    def actor_loss(self, s: Seen, a: Tensor, log_pi: Tensor, alpha: float) -> Tensor:
        """J_π of actions drawn with ``pi``; φ is a constant."""
        return (alpha * log_pi - self.critics.least(self.phi, s, a)).mean()

    def _minibatch(self) -> Metrics:
        t = self.draw()
        a, log_pi = self.pi(self.theta, t.s)
        alpha = float(self.log_alpha.detach().exp())
        metrics = self.critic_step(t, self.theta, alpha)
        if self.config.automatic:
            self.alpha_step(t.s, log_pi)
        loss = self.actor_loss(t.s, a, log_pi, alpha)
        g = self.descend(loss)
        self.clip(g)
        self.optimiser.step(g, self.eta)
        self.follow_critics()
        self.learned += 1
        return metrics | numbers(policy_loss=loss, entropy=-log_pi.mean()) | {"alpha": alpha}

    def state(self) -> State:
        """With α's optimiser."""
        state = super().state()
        own = {f"alpha_optimiser.{name}": value for name, value in self.alpha_optimiser.state().items()}
        state["learner"].arrays.update(own)
        return state

    def load(self, state: State) -> None:
        """Continue from a state."""
        super().load(state)
        self.alpha_optimiser.load(below("alpha_optimiser", state["learner"].arrays))
