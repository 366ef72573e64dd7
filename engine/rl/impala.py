"""IMPALA (Espeholt et al. 2018): an actor-critic that learns from trajectories of older policies, corrected by V-trace.

With v_s and ρ_s of ``returns.vtrace`` at the present values and ratios π_θ / μ:

    dθ = ∇_θ [−c_π E[ρ_s log π_θ(a_s|x_s) (r_s + γ v_{s+1} − V(x_s))] + c_V E[(v_s − V_θ)²] − c_H E[H(π_θ)]]

and one step of RMSprop.

Departures: 1. means over decisions where the paper sums; 2. λ of remark 2 is the algorithm's trace, 1 as in the paper;
3. v_{s+1} of a fragment's last step is the value of what followed; 4. RMSprop's ε is under the root and its average
is corrected for its beginning.
"""

from __future__ import annotations

import torch

from engine.config.rl import IMPALAConfig
from engine.mdp.interface import SeatSpec
from engine.mdp.trajectory import Trajectory
from engine.rl import returns
from engine.rl.actor_critic import ActorCritic, mean
from engine.rl.learner import Metrics, numbers
from engine.rl.optimisers import RMSprop
from engine.rl.tensors import whole


class IMPALA(ActorCritic):
    """μ the policy that acted, ρ̄ and c̄ the clips, v V-trace's targets."""

    config: IMPALAConfig

    def __init__(
        self, seat: SeatSpec, config: IMPALAConfig, seed: int, steps: int, on: torch.device | None = None
    ) -> None:
        super().__init__(seat, config, seed, steps, on)
        self.optimiser = RMSprop(self.theta.detach(), config.decay, config.epsilon)

    def _learn(self, trajectory: Trajectory) -> Metrics:
        """One step on one batch."""
        batch = self.batch(trajectory)
        parts = self.model.network.parts(self.theta)
        found = whole(self.model, parts, batch)
        log_std, distribution = self.model.log_std(parts), self.model.distribution
        log_pi = distribution.log_prob(found.policy, log_std, batch.actions, batch.masks)
        ratio = torch.exp(self.log_ratio(batch, slice(None), log_pi.detach()))
        r, V, after = self.rewards(trajectory, found)
        rho = ratio.view(batch.T, batch.B).cpu().numpy()
        gamma, lam, config = self.terms.gamma, self.terms.lam, self.config
        ended = trajectory.ended
        targets = returns.vtrace(r, V, after, ended, gamma, lam, rho, config.rho_clip, config.trace_clip)
        v, A = (torch.from_numpy(x).to(self.device).flatten(0, 1) for x in (targets.values, targets.advantages))
        policy = -mean(log_pi * self.advantage(A, batch.valid, normalise=False), batch.valid)
        critic = self.critic_loss(found.values[:-1].flatten(0, 1), v, batch.valid)
        H = mean(distribution.entropy(found.policy, log_std, batch.masks), batch.valid)
        g = self.descend(self.loss(policy, critic, H))
        norm = self.clip(g)
        self.optimiser.step(g, self.eta)
        metrics = numbers(policy_loss=policy, critic_loss=critic, entropy=H, ratio=mean(ratio, batch.valid))
        return self.finish(trajectory, metrics | {"gradient": norm})
