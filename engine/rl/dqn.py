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
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as nn
from numpy.typing import NDArray
from torch import Tensor

from engine.arrays import Bundle
from engine.config.rl import DQNConfig
from engine.errors import ConfigError
from engine.mdp.interface import SeatSpec
from engine.mdp.trajectory import Trajectory
from engine.rl.learner import BaseLearner, Data, Metrics, State, averaged, numbers
from engine.rl.optimisers import Adam
from engine.rl.policy import PolicySpec
from engine.rl.replay import PrioritisedReplay, ReplayBuffer, n_steps

F32 = NDArray[np.float32]


class DQN(BaseLearner):
    """θ the weights, θ⁻ the target's, ε exploration, w importance weights, δ errors (the papers' symbols)."""

    takes: ClassVar[tuple[Data, ...]] = ("transitions",)
    config: DQNConfig

    def __init__(
        self, seat: SeatSpec, config: DQNConfig, seed: int, steps: int, on: torch.device | None = None
    ) -> None:
        if config.network.lstm:
            raise ConfigError(
                [("network.lstm", "DQN learns from single transitions; take an actor-critic for an LSTM")]
            )
        super().__init__(seat, config, seed, steps, on)
        self.target = self.theta.detach().clone()
        self.replay = (
            PrioritisedReplay(config.capacity, self.rng, config.alpha)
            if config.prioritised
            else ReplayBuffer(config.capacity, self.rng)
        )
        self.learned = 0
        self.owed = 0.0

    @classmethod
    def policy_spec(cls, seat: SeatSpec, config: DQNConfig) -> PolicySpec:
        """One that takes the choice of highest value."""
        return super().policy_spec(seat, config)._replace(kind="q", duelling=config.duelling)

    def make_optimiser(self, theta: Tensor) -> Adam:
        """Adam as its paper has it."""
        return Adam(theta, epsilon=1e-8)

    @property
    def epsilon(self) -> float:
        """Chance of a random action now."""
        gone = min(1.0, (1.0 - self.left) / self.config.explore)
        return 1.0 + gone * (self.config.epsilon - 1.0)

    @property
    def beta(self) -> float:
        """Correction for prioritisation now: from its first value to 1."""
        first = self.config.beta
        return first + (1.0 - first) * (1.0 - self.left)

    def weights(self) -> F32:
        """θ, the scales of observations, ε."""
        self._rest[-1] = self.epsilon
        return super().weights()

    def _learn(self, trajectory: Trajectory) -> Metrics:
        """Keep a trajectory, then as many minibatches as its steps are worth."""
        self._keep(trajectory)
        metrics = self.finish(trajectory, {"epsilon": self.epsilon, "kept": float(self.replay.size)})
        if self.steps < self.config.warmup:
            return metrics
        self.owed += self.config.updates * trajectory.steps
        gathered = []
        while self.owed >= 1:
            self.owed -= 1
            gathered.append(self._minibatch())
        return metrics | (averaged(gathered) if gathered else {})

    def _keep(self, trajectory: Trajectory) -> None:
        """Put a trajectory's n-step transitions into the replay."""
        reward = (trajectory.rewards @ self.terms.weight).astype(np.float32)
        gamma = float(self.terms.gamma[0])
        found = n_steps(reward, trajectory.terminated, trajectory.truncated, gamma, self.config.n_step)
        T, B = reward.shape
        columns: dict[str, NDArray[Any]] = {
            "action": trajectory.actions, "reward": found.rewards, "factor": found.factors,
        }  # fmt: skip
        for name, seen in trajectory.observations.items():
            columns[f"s.{name}"] = seen[:T]
            columns[f"next.{name}"] = self._following(trajectory, seen, trajectory.final_observations[name], found.last)
        if trajectory.masks is not None and trajectory.final_masks is not None:
            columns["mask"] = self._following(trajectory, trajectory.masks, trajectory.final_masks, found.last)
        kept = np.ones((T, B), bool) if trajectory.valid is None else trajectory.valid
        self.replay.add({name: column[kept] for name, column in columns.items()})

    def _following(
        self, trajectory: Trajectory, seen: NDArray[Any], final: NDArray[Any], last: NDArray[np.int64]
    ) -> NDArray[Any]:
        """What was seen after step ``last[t, b]``: the last of its own episode where that was truncated. [T, B, …]."""
        follows = seen[1:].copy()
        t, b = trajectory.final_index.T
        follows[t, b] = final
        return follows[last, np.arange(last.shape[1])]

    def _minibatch(self) -> Metrics:
        """One minibatch."""
        rows, columns, w = self.replay.sample(self.config.minibatch, self.beta)
        c = {name: torch.from_numpy(column).to(self.device) for name, column in columns.items()}
        scales, network = self.scales(), self.model.network
        now, after = (
            self.model.scaling(scales, {s.name: c[f"{at}.{s.name}"] for s in self.spec.seat.observations})
            for at in ("s", "next")
        )
        parts = network.parts(self.theta)
        y = self._targets(parts, after, c)
        Q = self._q(parts, now).gather(1, c["action"][:, None])[:, 0]
        delta = y - Q
        loss = (torch.from_numpy(w).to(self.device) * nn.huber_loss(Q, y, reduction="none")).mean()
        g = self.descend(loss)
        norm = self.clip(g)
        self.optimiser.step(g, self.eta)
        self.replay.learned(rows, delta.detach().cpu().numpy())
        self.learned += 1
        if self.learned % self.config.target_every == 0:
            self.target.copy_(self.theta.detach())
        return numbers(critic_loss=loss, q=Q.mean()) | {"gradient": norm}

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

    def _q(self, parts: Mapping[str, Tensor], seen: Mapping[str, Tensor]) -> Tensor:
        """Q(s, ·) [n, K] of scaled observations."""
        return self.model.head.numbers(self.model.network(parts, seen))

    def state(self) -> State:
        """With the target and the replay."""
        state = super().state()
        kept, at = self.replay.state()
        state["learner"].arrays["target"] = self.target.cpu().numpy().copy()
        state["learner"].meta.update(learned=self.learned, owed=self.owed)
        return {**state, "replay": Bundle(at, kept)}

    def load(self, state: State) -> None:
        """Go on from a state."""
        super().load(state)
        (meta, arrays), (at, kept) = state["learner"], state["replay"]
        self.replay.load(kept, at)
        self.target.copy_(torch.from_numpy(np.array(arrays["target"])))
        self.learned, self.owed = int(meta["learned"]), float(meta["owed"])
