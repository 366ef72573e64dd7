"""DQN (Mnih et al. 2015) with double (van Hasselt et al. 2016), duelling (Wang et al. 2016), prioritised (Schaul et al.
2016) and n-step targets (Hessel et al. 2018), each of which can be switched off.

y = Σ_{k<m} γ^k r_{t+k} + γ^m Q⁻(s', argmax_a Q(s', a)) with Q⁻ the target network (without double, max_a Q⁻), nothing
after termination, the last observation after truncation; loss E[w Huber(y − Q(s, a))], Adam, the target copied every so
many updates. Samplers act ε-greedily; ε falls linearly over the first share of training and travels with the weights.
Illegal choices are neither taken nor maximised over.

Departures: 1. named rewards are added with their weights before anything is learned; 2. transitions keep both
observations (twice the memory of frames kept once, and no bookkeeping); 3. duelling's two streams are the two outputs
on top of the shared layers, plus what the critic's list adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from engine.config.rl import DQNConfig
from engine.mdp.interface import SeatSpec
from engine.rl.learner import Metrics, numbers
from engine.rl.optimisers import Adam
from engine.rl.policy import PolicySpec
from engine.rl.replay import PrioritisedReplay, ReplayBuffer
from engine.rl.replayed import Replayed

F32 = NDArray[np.float32]


class DQN(Replayed):
    """θ the weights, θ⁻ those of the target, ε exploration, w importance weights, δ errors (the papers' symbols)."""

    kept: ClassVar[tuple[str, ...]] = ("target",)
    config: DQNConfig

    def __init__(
        self, seat: SeatSpec, config: DQNConfig, seed: int, steps: int, on: torch.device | None = None
    ) -> None:
        super().__init__(seat, config, seed, steps, on)
        self.target = self.theta.detach().clone()

    def make_optimiser(self, theta: Tensor) -> Adam:
        """Adam with the settings of its paper."""
        return Adam(theta, epsilon=1e-8)

    @classmethod
    def policy_spec(cls, seat: SeatSpec, config: DQNConfig) -> PolicySpec:
        """A policy that takes the choice of highest value."""
        return super().policy_spec(seat, config)._replace(duelling=config.duelling)

    def warm_start(self, weights: F32) -> None:
        """θ⁻ ← θ, too."""
        super().warm_start(weights)
        self.target.copy_(self.theta.detach())

    def buffer(self) -> ReplayBuffer:
        """A prioritised one, unless that is switched off."""
        c = self.config
        return PrioritisedReplay(c.capacity, self.rng, c.alpha) if c.prioritised else super().buffer()

    @property
    def epsilon(self) -> float:
        """Current probability of a random action."""
        gone = min(1.0, (1.0 - self.left) / self.config.explore)
        return 1.0 + gone * (self.config.epsilon - 1.0)

    @property
    def beta(self) -> float:
        """Current exponent of the importance weights: rises from its first value to 1."""
        first = self.config.beta
        return first + (1.0 - first) * (1.0 - self.left)

    def _now(self) -> Metrics:
        return {"epsilon": self.epsilon, **super()._now()}

    def _minibatch(self) -> Metrics:
        """Learn from one minibatch."""
        rows, columns, w = self.replay.sample(self.config.minibatch, self.beta)
        c = self.tensors(columns)
        now, after = self.seen(c)
        parts = self.model.network.parts(self.theta)
        y = self._targets(parts, after, c)
        Q = self._q(parts, now).gather(1, c["action"][:, None])[:, 0]
        delta = y - Q
        loss = (torch.from_numpy(w).to(self.device) * F.huber_loss(Q, y, reduction="none")).mean()
        g = self.descend(loss)
        norm = self.clip(g)
        self.optimiser.step(g, self.eta)
        self.replay.learned(rows, delta.detach().cpu().numpy())
        self.learned += 1
        if self.learned % self.config.target_every == 0:
            self.target.copy_(self.theta.detach())
        return numbers(critic_loss=loss, td=delta.abs().mean(), q=Q.mean()) | {"gradient": norm}

    def _targets(self, parts: Mapping[str, Tensor], after: Mapping[str, Tensor], c: Mapping[str, Tensor]) -> Tensor:
        """y [n]."""
        network = self.model.network
        with torch.no_grad():
            theirs = self._q(network.parts(self.target), after)
            chooser = self._q(parts, after) if self.config.double else theirs
            if "mask" in c:
                chooser = torch.where(c["mask"], chooser, -torch.inf)
            best = chooser.argmax(dim=1, keepdim=True)
            return c["reward"] + c["factor"] * theirs.gather(1, best)[:, 0]

    def best(self, s: Mapping[str, Tensor]) -> Tensor:
        """max_a Q(s, a) [n]."""
        return self._q(self.model.network.parts(self.theta), s).amax(dim=1)

    def _q(self, parts: Mapping[str, Tensor], seen: Mapping[str, Tensor]) -> Tensor:
        """Q(s, ·) [n, K] of scaled observations."""
        return self.model.head.numbers(self.model.network(parts, seen))
