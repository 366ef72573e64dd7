"""A3C (Mnih et al. 2016): advantage actor-critic, in its asynchronous form and as A2C, the same with one worker.

dθ = ∇_θ [−c_π E[log π_θ(a|s) (v − V)] + c_V E[(v − V_θ)²] − c_H E[H(π_θ)]], with v the n-step returns of a fragment
(λ = 1; λ < 1 gives GAE), and one step of RMSprop whose average of squared gradients all workers share.

Asynchronous: a worker (``rl.gradient``) loads published weights, plays a fragment with them, computes its gradient and
sends it; the learner ``apply``s gradients in the order of arrival, at whatever weights they were computed (staleness is
reported, and a study drops gradients that are too old). Synchronous and deterministic: ``update`` does both on the
fragments of all environments at once.

Departures: 1. gradients travel to the learner instead of workers writing to shared memory without locks (Hogwild needs
shared memory; Lamarckian does the same); 2. a mean over decisions where the paper sums; 3. the average of squared
gradients is bias-corrected; 4. statistics of observations change in ``update`` only, so asynchronous training does not
normalise them; 5. where rewards are scaled, every worker has a running spread of its own.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.config.rl import A3CConfig
from engine.mdp.trajectory import Trajectory
from engine.rl import returns
from engine.rl.actor_critic import ActorCritic, forward_all, mean
from engine.rl.gradient import Gradient
from engine.rl.learner import Data, Metrics, numbers
from engine.rl.optimisers import RMSprop

F32 = NDArray[np.float32]


class A3C(ActorCritic):
    """θ the weights, v the returns, V the values, g RMSprop's shared average."""

    takes: ClassVar[tuple[Data, ...]] = ("fragments", "gradients")
    config: A3CConfig

    def make_optimiser(self, theta: Tensor) -> RMSprop:
        """With this algorithm's own decay and ε."""
        return RMSprop(theta, self.config.decay, self.config.epsilon)

    def follow(self, weights: F32, version: int) -> None:
        """Load the weights that the learner published, in a worker."""
        self.start_from(weights)
        self.version = version

    def gradient(self, trajectory: Trajectory) -> tuple[F32, Metrics]:
        """dθ float32[size] of one batch at the current θ; changes nothing but the spread of rewards. Zeros where no
        decision counts."""
        if not trajectory.steps:
            return np.zeros(self.model.network.size, np.float32), {}
        batch = self.batch(trajectory)
        parts = self.model.network.parts(self.theta)
        found = forward_all(self.model, parts, batch)
        r, V, after = self.rewards(trajectory, found)
        targets = returns.gae(r, V, after, trajectory.ended, self.terms.gamma, self.terms.lam)
        v, A = (torch.from_numpy(x).to(self.device).flatten(0, 1) for x in (targets.values, targets.advantages))
        log_std, distribution = self.model.log_std(parts), self.model.distribution
        log_pi = distribution.log_prob(found.policy, log_std, batch.actions, batch.masks)
        policy = -mean(log_pi * self.weighed(A, batch.valid), batch.valid)
        critic = mean(((v - found.values[:-1].flatten(0, 1)) ** 2).sum(dim=1), batch.valid)
        H = mean(distribution.entropy(found.policy, log_std, batch.masks), batch.valid)
        c = self.config
        g = self.descend(c.policy_weight * policy + c.critic_weight * critic - c.entropy_weight * H)
        return g.cpu().numpy(), numbers(policy_loss=policy, critic_loss=critic, entropy=H)

    def apply(self, gradient: Gradient) -> Metrics:
        """One step of the shared RMSprop with a worker's gradient; none if the gradient comes from no decision."""
        if not gradient.steps:
            return self.skip(np.array([gradient.version]))
        norm = self._step(gradient.numbers)
        return gradient.losses | self.count(np.array([gradient.version]), gradient.steps) | {"gradient": norm}

    def _step(self, gradient: F32) -> float:
        g = torch.from_numpy(np.array(gradient)).to(self.device)
        norm = self.clip(g)
        self.optimiser.step(g, self.eta)
        return norm

    def _learn(self, trajectory: Trajectory) -> Metrics:
        """Gradient and step on one batch: A2C."""
        gradient, metrics = self.gradient(trajectory)
        norm = self._step(gradient)
        return self.finish(trajectory, metrics | {"gradient": norm})
