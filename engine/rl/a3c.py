"""A3C (Mnih et al. 2016): advantage actor-critic, in its asynchronous form and as A2C, the same with one worker.

dθ = ∇_θ [−c_π E[log π_θ(a|s) (v − V)] + c_V E[(v − V_θ)²] − c_H E[H(π_θ)]], with v the n-step returns of a fragment
(λ = 1; λ < 1 gives GAE), and one step of RMSprop whose average of squared gradients all workers share.

Asynchronous: a worker ``follow``s published weights, computes ``gradient`` from its own fragment and sends that; the
learner ``apply``s gradients in the order they arrive, whatever weights they were computed at (the policy's staleness is
reported). Synchronous and deterministic: ``update`` does both on the fragments of all environments at once.

Departures: 1. gradients travel to the learner instead of workers writing to shared memory without locks (Hogwild needs
shared memory; Lamarckian does the same); 2. a mean over decisions where the paper sums; 3. the average of squared
gradients is corrected for its beginning; 4. statistics of observations move in ``update`` only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from engine.config.rl import A3CConfig
from engine.mdp.trajectory import Trajectory
from engine.rl import returns
from engine.rl.learner import ActorCritic, Arrays, Metrics, mean, numbers
from engine.rl.optimisers import RMSprop, clip_norm
from engine.rl.policy import PolicySpec
from engine.rl.tensors import whole

F32 = NDArray[np.float32]


class A3C(ActorCritic):
    """θ the weights, v the returns, V the values, g RMSprop's shared average."""

    config: A3CConfig

    def __init__(
        self, spec: PolicySpec, config: A3CConfig, seed: int, steps: int, on: torch.device | None = None
    ) -> None:
        super().__init__(spec, config, seed, steps, on)
        self.optimiser = RMSprop(self.theta.detach(), config.decay, config.epsilon)

    def follow(self, weights: F32, version: int) -> None:
        """A worker takes over what the learner published."""
        n = self.model.network.size
        with torch.no_grad():
            self.theta.copy_(torch.from_numpy(np.array(weights[:n])))
        self._rest, self.version = np.array(weights[n:]), version

    def gradient(self, trajectory: Trajectory) -> tuple[F32, Metrics]:
        """dθ float32[size] of one batch at the present θ; changes nothing but the spread of rewards."""
        batch = self.batch(trajectory)
        parts = self.model.network.parts(self.theta)
        found = whole(self.model, parts, batch)
        r, V, after = self.rewards(trajectory, found)
        targets = returns.gae(r, V, after, trajectory.ended, self.terms.gamma, self.terms.lam)
        v, A = (torch.from_numpy(x).to(self.device).flatten(0, 1) for x in (targets.values, targets.advantages))
        log_std, distribution = self.model.log_std(parts), self.model.distribution
        log_pi = distribution.log_prob(found.policy, log_std, batch.actions, batch.masks)
        policy = -mean(log_pi * self.advantage(A, batch.valid, normalise=False), batch.valid)
        critic = self.critic_loss(found.values[:-1].flatten(0, 1), v, batch.valid)
        H = mean(distribution.entropy(found.policy, log_std, batch.masks), batch.valid)
        gradient = self.descend(self.loss(policy, critic, H)).cpu().numpy()
        return gradient, numbers(policy_loss=policy, critic_loss=critic, entropy=H)

    def apply(self, gradient: F32, versions: NDArray[np.int64], steps: int) -> Metrics:
        """One step of the shared RMSprop with a gradient that ``steps`` decisions by ``versions`` gave."""
        g = torch.from_numpy(np.array(gradient)).to(self.device)
        norm = clip_norm(g, self.config.max_gradient)
        self.optimiser.step(g, self.eta)
        return self.count(versions, steps) | {"gradient": norm}

    def update(self, trajectory: Trajectory) -> Metrics:
        """``gradient`` and ``apply`` in one: A2C."""
        gradient, metrics = self.gradient(trajectory)
        self.observe(trajectory)
        return metrics | self.apply(gradient, trajectory.versions, trajectory.steps)

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """With the shared statistics."""
        arrays, meta = super().state()
        return arrays | {f"rmsprop.{name}": value for name, value in self.optimiser.state().items()}, meta

    def load(self, arrays: Arrays, meta: Mapping[str, Any]) -> None:
        """Go on from a state."""
        super().load(arrays, meta)
        self.optimiser.load({name: arrays[f"rmsprop.{name}"] for name in ("g", "t")})
