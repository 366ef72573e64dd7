"""What learners with two critics of state and action share: the critics, their targets, the minibatches, checkpoints.

Q_1 and Q_2 (Fujimoto et al. 2018, section 4.2) are ``engine.rl.critics``, φ = (φ_1, φ_2) their weights.

Departures: 1. named rewards are added with their weights before anything is learned; 2. initial weights are orthogonal
as everywhere here (``engine.rl.networks``), and those of a critic's last layer a hundred times smaller (the papers: the
library's); 3. targets may be n-step (``engine.rl.replay``; the papers: one step). After truncation targets bootstrap
from the last observation.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.config.rl import SteeringConfig
from engine.mdp.interface import Array, SeatSpec
from engine.rl.critics import Critics
from engine.rl.learner import Metrics, State, below, numbers
from engine.rl.networks import Seen
from engine.rl.optimisers import Adam
from engine.rl.replayed import Replayed
from engine.rng import generator

F32 = NDArray[np.float32]


class Transitions(NamedTuple):
    """A minibatch of n transitions on the device: scaled observations ``s`` and ``next`` by name [n, …], ``a`` [n, D]
    in units in which the bounds are ±1, ``r`` [n], and ``gamma`` [n], the factor of the next value (0 after
    termination)."""

    s: Seen
    a: Tensor
    r: Tensor
    gamma: Tensor
    next: Seen


class TwinLearner(Replayed):
    """``theta``: the policy θ; ``phi``, ``phi_target``: the critics and their targets, φ and φ'."""

    kept: ClassVar[tuple[str, ...]] = ("phi", "phi_target")
    config: SteeringConfig

    def __init__(self, seat: SeatSpec, config: Any, seed: int, steps: int, on: torch.device | None = None) -> None:
        super().__init__(seat, config, seed, steps, on)
        self.critics = self.make_critics(seat, config)
        first = self.critics.initial(generator(seed, "critics"))
        self.phi = torch.from_numpy(first).to(self.device)
        self.phi_target = self.phi.clone()
        self.critic_optimiser = self.make_optimiser(self.phi)
        low, high = seat.action.bounds
        self._centre, self._half = (low + high) / 2, np.maximum((high - low) / 2, 1e-6)

    def make_critics(self, seat: SeatSpec, config: SteeringConfig) -> Critics:
        """Q_1 and Q_2."""
        return Critics(seat, config.network)

    def make_optimiser(self, theta: Tensor) -> Adam:
        """Adam with the settings of its paper."""
        return Adam(theta, epsilon=1e-8)

    def draw(self) -> Transitions:
        """A minibatch of the replay."""
        c = self.tensors(self.replay.sample(self.config.minibatch).columns)
        now, after = self.seen(c)
        return Transitions(now, c["action"], c["reward"], c["factor"], after)

    def follow_critics(self) -> None:
        """φ' ← τ φ + (1 − τ) φ'."""
        self.phi_target.lerp_(self.phi, self.config.tau)

    def critic_weights(self) -> F32:
        """φ, then φ': a copy."""
        return torch.cat([self.phi, self.phi_target]).cpu().numpy()

    def take_critics(self, weights: F32) -> None:
        """Go on with these φ and φ' (as from ``critic_weights``)."""
        found = torch.from_numpy(np.array(weights)).to(self.device)
        with torch.no_grad():
            self.phi.copy_(found[: self.critics.size])
            self.phi_target.copy_(found[self.critics.size :])

    def state(self) -> State:
        """With both critics, the targets and the critics' optimiser."""
        state = super().state()
        own = {f"critic_optimiser.{name}": value for name, value in self.critic_optimiser.state().items()}
        state["learner"].arrays.update(own)
        return state

    def load(self, state: State) -> None:
        """Continue from a state."""
        super().load(state)
        self.critic_optimiser.load(below("critic_optimiser", state["learner"].arrays))

    def _played(self, actions: Array) -> Array:
        """In units in which the bounds are ±1, as they were played."""
        return np.clip((actions - self._centre) / self._half, -1, 1).astype(np.float32)

    def _noise(self, like: Tensor) -> Tensor:
        """Standard normal numbers of this shape."""
        return torch.from_numpy(self.rng.standard_normal(like.shape, np.float32)).to(self.device)

    def _regress(self, t: Transitions, y: Tensor, share: float = 1.0) -> Metrics:
        """One step of φ along ∇_φ of ``share`` · Σ_i mean (y − Q_i(s, a))²."""
        Q, pull = self.critics.pulled(self.phi, t.s, t.a)
        delta = Q - y
        loss = share * delta.square().mean(dim=1).sum()
        g = self.descend(loss, lambda: pull(2 * share / len(y) * delta))
        norm = self.clip(g)
        self.critic_optimiser.step(g, self.eta)
        return numbers(critic_loss=loss, td=delta[0].abs().mean(), q=Q[0].mean()) | {"gradient": norm}
