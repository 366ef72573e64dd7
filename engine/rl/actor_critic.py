"""What actor-critics share: batches as tensors, rewards and values, advantages, the three parts of the loss.

A decision that does not count (``Trajectory.valid``) has an advantage of 0, a ratio of 1 and no part in any mean, so
nothing of it reaches the gradient.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.config.rl import ActorCriticConfig
from engine.mdp.trajectory import Trajectory
from engine.rl import returns
from engine.rl.learner import BaseLearner
from engine.rl.normalise import CLIP
from engine.rl.tensors import Pass, Tensors, tensors_of

F32 = NDArray[np.float32]
_NORMAL_EPSILON = 1e-8


class ActorCritic(BaseLearner):
    """A policy and a value of each named reward, learned from whole batches."""

    config: ActorCriticConfig  # type: ignore[assignment]

    def batch(self, trajectory: Trajectory) -> Tensors:
        """The tensors of a trajectory."""
        return tensors_of(trajectory, self.scales(), self.device)

    def rewards(self, trajectory: Trajectory, found: Pass) -> tuple[F32, F32, F32]:
        """(r, V, V') [T, B, R] as ``returns`` wants them; r is divided by the running spread of returns when asked for.

        Departure from the 37 details (continuous 8): the spread is that of the λ-returns, which look forward, so no
        stream's past has to be remembered.
        """
        values = found.values.detach().cpu().numpy()
        final = np.zeros(trajectory.rewards.shape, np.float32)
        t, b = trajectory.final_index.T
        final[t, b] = found.finals.detach().cpu().numpy()
        after = returns.following(values, trajectory.terminated, trajectory.truncated, final)
        r, V = trajectory.rewards, values[:-1]
        if self.config.scale_rewards:
            before = self.spread.std.astype(np.float32)
            gamma, lam, ended = self.terms.gamma, self.terms.lam, trajectory.ended
            whole = returns.gae(r, V * before, after * before, ended, gamma, lam).values
            self.spread.add(whole.reshape(-1, whole.shape[2]) if trajectory.valid is None else whole[trajectory.valid])
            r = np.clip(r / self.spread.std.astype(np.float32), -CLIP, CLIP)
        return r, V, after

    def log_ratio(self, batch: Tensors, rows: Tensor | slice, log_pi: Tensor) -> Tensor:
        """log π_θ − log μ of rows; 0 where a decision does not count, so that nothing can come of what it was."""
        difference = log_pi - batch.log_mu[rows]
        return difference if batch.valid is None else difference.masked_fill(~batch.valid[rows], 0.0)

    def advantage(self, advantages: Tensor, valid: Tensor | None, normalise: bool) -> Tensor:
        """One number [N] from the named ones [N, R]: each normalised over the decisions that count (of which there must
        be one), weighted, then added (Lamarckian's code); 0 for those that do not."""
        if normalise:
            kept = advantages if valid is None else advantages[valid]
            std, mean = torch.std_mean(kept, dim=0, correction=0)
            advantages = (advantages - mean) / (std + _NORMAL_EPSILON)
        found = advantages @ self.weighing
        return found if valid is None else found.masked_fill(~valid, 0.0)

    def loss(self, policy: Tensor, critic: Tensor, H: Tensor) -> Tensor:
        """c_π L_π + c_V L_V − c_H H."""
        c = self.config
        return c.policy_weight * policy + c.critic_weight * critic - c.entropy_weight * H

    def critic_loss(self, values: Tensor, targets: Tensor, valid: Tensor | None) -> Tensor:
        """Mean over decisions of Σ_k (v_k − V_k)²."""
        return mean(((targets - values) ** 2).sum(dim=1), valid)


def mean(x: Tensor, valid: Tensor | None) -> Tensor:
    """The mean over decisions that count, of which there must be one."""
    return x.mean() if valid is None else x[valid].mean()
