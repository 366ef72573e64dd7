"""IMPALA (Espeholt et al. 2018): an actor-critic that learns from trajectories of older policies, corrected by V-trace.

With v_s and ρ_s of ``vtrace`` (eq 1 and remark 1) at the current values and ratios π_θ / μ:

    dθ = ∇_θ [−c_π E[ρ_s log π_θ(a_s|x_s) (r_s + γ v_{s+1} − V(x_s))] + c_V E[(v_s − V_θ)²] − c_H E[H(π_θ)]]

and one step of RMSprop.

Departures: 1. means over decisions where the paper sums; 2. λ of remark 2 is the algorithm's trace, 1 as in the paper;
3. v_{s+1} of a fragment's last step is the value of what followed; 4. RMSprop's ε is under the root and its average
is bias-corrected.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from engine.config.rl import IMPALAConfig
from engine.mdp.trajectory import Trajectory
from engine.rl.actor_critic import ActorCritic, forward_all, mean
from engine.rl.compiled import compiled
from engine.rl.learner import Metrics, numbers
from engine.rl.optimisers import RMSprop
from engine.rl.returns import Bools, Floats, Targets


class IMPALA(ActorCritic):
    """μ the policy that acted, ρ̄ and c̄ the clips, v V-trace's targets."""

    config: IMPALAConfig

    def make_optimiser(self, theta: Tensor) -> RMSprop:
        """With this algorithm's own decay and ε."""
        return RMSprop(theta, self.config.decay, self.config.epsilon)

    def _learn(self, trajectory: Trajectory) -> Metrics:
        """One step on one batch."""
        batch = self.batch(trajectory)
        parts = self.model.network.parts(self.theta)
        found = forward_all(self.model, parts, batch)
        log_std, distribution = self.model.log_std(parts), self.model.distribution
        log_pi = distribution.log_prob(found.policy, log_std, batch.actions, batch.masks)
        ratio = torch.exp(self.log_ratio(batch, slice(None), log_pi.detach()))
        r, V, after = self.rewards(trajectory, found)
        rho = ratio.view(batch.T, batch.B).cpu().numpy()
        gamma, lam, c = self.terms.gamma, self.terms.lam, self.config
        ended = trajectory.ended
        targets = vtrace(r, V, after, ended, gamma, lam, rho, c.rho_clip, c.trace_clip)
        v, A = (torch.from_numpy(x).to(self.device).flatten(0, 1) for x in (targets.values, targets.advantages))
        policy = -mean(log_pi * self.weighed(A, batch.valid), batch.valid)
        critic = mean(((v - found.values[:-1].flatten(0, 1)) ** 2).sum(dim=1), batch.valid)
        H = mean(distribution.entropy(found.policy, log_std, batch.masks), batch.valid)
        g = self.descend(c.policy_weight * policy + c.critic_weight * critic - c.entropy_weight * H)
        norm = self.clip(g)
        self.optimiser.step(g, self.eta)
        metrics = numbers(policy_loss=policy, critic_loss=critic, entropy=H, ratio=mean(ratio, batch.valid))
        return self.finish(trajectory, metrics | {"gradient": norm})


def vtrace(
    rewards: Floats, values: Floats, after: Floats, ended: Bools, gamma: Floats, lam: Floats, ratio: Floats,
    rho_bar: float = 1.0, c_bar: float = 1.0,
) -> Targets:  # fmt: skip
    """V-trace: ρ_t = min(ρ̄, ratio_t), c_t = λ min(c̄, ratio_t), v_t = V_t + ρ_t δ_t + γ c_t (v_{t+1} − V_{t+1});
    advantages ρ_t (r_t + γ v_{t+1} − V_t), where v_{t+1} is V'_t at the end of an episode or a fragment.

    ``ratio`` [T, B] = π(a_t|s_t) / μ(a_t|s_t). Ratios of 1 and λ = 1 give n-step returns, ratios of 0 give V.
    """
    targets = np.empty_like(rewards)
    advantages = np.empty_like(rewards)
    rho, c = np.minimum(ratio, np.float32(rho_bar)), np.minimum(ratio, np.float32(c_bar))
    _vtrace(rewards, values, after, ended, gamma, lam, rho, c, targets, advantages)
    return Targets(targets, advantages)


@compiled
def _vtrace(
    rewards: Floats, values: Floats, after: Floats, ended: Bools, gamma: Floats, lam: Floats, rho: Floats, c: Floats,
    targets: Floats, advantages: Floats,
) -> None:  # fmt: skip
    T, B, R = rewards.shape
    for b in range(B):
        for k in range(R):
            for t in range(T - 1, -1, -1):
                V, V_next = values[t, b, k], after[t, b, k]
                delta = rewards[t, b, k] + gamma[k] * V_next - V
                cut = ended[t, b] or t == T - 1
                v_next = V_next if cut else targets[t + 1, b, k]
                targets[t, b, k] = V + rho[t, b] * delta + gamma[k] * lam[k] * c[t, b] * (v_next - V_next)
                advantages[t, b, k] = rho[t, b] * (rewards[t, b, k] + gamma[k] * v_next - V)
