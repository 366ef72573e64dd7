"""Base of learners with a replay: the replay, the schedule of minibatches, batches as tensors, checkpoints.

Transitions are n-step, with the weighted sum of the named rewards (``engine.rl.replay``): columns ``action``,
``reward``, ``factor`` (of the next value, 0 after termination), ``s.NAME`` and ``next.NAME`` of each observation, and
``mask`` of the choices that are legal next, where not all are.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.arrays import Bundle
from engine.config.rl import ReplayedConfig
from engine.errors import ConfigError, EngineError
from engine.mdp.interface import Array, SeatSpec
from engine.mdp.trajectory import Trajectory
from engine.rl.learner import BaseLearner, Data, Metrics, State, averaged
from engine.rl.replay import ReplayBuffer, n_steps

F32 = NDArray[np.float32]


class Replayed(BaseLearner):
    """``kept``: names of further tensors in checkpoints, such as targets. ``learned``: minibatches so far; ``owed``:
    minibatches that are due for the steps kept."""

    takes: ClassVar[tuple[Data, ...]] = ("transitions",)
    kept: ClassVar[tuple[str, ...]] = ()
    config: ReplayedConfig  # type: ignore[assignment]

    def __init__(self, seat: SeatSpec, config: Any, seed: int, steps: int, on: torch.device | None = None) -> None:
        if config.network.lstm:
            why = f"{type(self).__name__} learns from single transitions; take an actor-critic for an LSTM"
            raise ConfigError([("network.lstm", why)])
        super().__init__(seat, config, seed, steps, on)
        self.replay = self.buffer()
        self.learned = 0
        self.owed = 0.0

    @abstractmethod
    def _minibatch(self) -> Metrics:
        """Learn from one minibatch."""

    @property
    def epsilon(self) -> float:
        """How much samplers explore now, for learners whose head takes a number for it (``Head.explores``): a
        probability or the spread of a noise."""
        raise NotImplementedError(f"{type(self).__name__} has a head that explores by a number: say epsilon")

    def best(self, s: Mapping[str, Tensor]) -> Tensor:
        """The largest value [n] of an action at scaled observations, by the networks that learn; over all choices, for
        a replay does not know which were legal. Raises EngineError where a learner values no single player's action."""
        raise EngineError(f"{type(self).__name__} values what a whole group does, and no action of one player.")

    def weights(self) -> F32:
        """θ, the scales of observations, and ε where the head takes one."""
        if self.model.extra:
            self._rest[-1] = self.epsilon
        return super().weights()

    @property
    def cut(self) -> bool:
        """Whether minibatches of the last update are still due."""
        return self.owed >= 1 and self.steps >= self.config.warmup

    def buffer(self) -> ReplayBuffer:
        """A new replay of its kind, which draws with its generator."""
        return ReplayBuffer(self.config.capacity, self.rng)

    def practise(self, replay: ReplayBuffer) -> Metrics:
        """Learn from one minibatch of a replay, which is its own from then on; ``td``: the mean |δ| of it."""
        self.replay = replay
        return self._minibatch()

    def largest(self, replay: ReplayBuffer, most: int) -> float:
        """The mean of ``best`` where decisions of a replay were made, of ``most`` at most. It draws nothing: learning
        goes on as if nobody had asked."""
        with torch.no_grad():
            now, _ = self.seen(self.tensors(replay.spread(most)))
            return float(self.best(now).mean())

    def arrived(self, versions: NDArray[np.int64], steps: int) -> Metrics:
        """Count an update, from ``steps`` decisions that are in a replay, by policies of these ``versions``."""
        return self._now() | self.count(versions, steps)

    def _now(self) -> Metrics:
        """Metrics of an update beside those of its minibatches."""
        return {"kept": float(self.replay.size)}

    def _played(self, actions: Array) -> Array:
        """Actions [T, B, …] in the form in which they are stored."""
        return actions

    def _learn(self, trajectory: Trajectory) -> Metrics:
        """Store a trajectory, then learn from the minibatches that are due."""
        self.keep(trajectory)
        metrics = self.finish(trajectory, self._now())
        if self.steps < self.config.warmup:
            return metrics
        self.owed += self.config.updates * trajectory.steps
        gathered = []
        while self.owed >= 1 and not self.stopped():
            self.owed -= 1
            gathered.append(self._minibatch())
        return metrics | (averaged(gathered) if gathered else {})

    def keep(self, trajectory: Trajectory) -> None:
        """Put a trajectory's n-step transitions into the replay."""
        self.replay.add(self.transitions(trajectory))

    def transitions(self, trajectory: Trajectory) -> dict[str, NDArray[Any]]:
        """A trajectory's n-step transitions as columns of the replay."""
        return self.stepped(trajectory, self.config.n_step)

    def stepped(self, trajectory: Trajectory, n: int) -> dict[str, NDArray[Any]]:
        """The same of another number of steps."""
        reward = (trajectory.rewards @ self.terms.weight).astype(np.float32)
        gamma = float(self.terms.gamma[0])
        found = n_steps(reward, trajectory.terminated, trajectory.truncated, gamma, n)
        T, B = reward.shape
        columns: dict[str, NDArray[Any]] = {
            "action": self._played(trajectory.actions), "reward": found.rewards, "factor": found.factors,
        }  # fmt: skip
        for name, seen in trajectory.observations.items():
            columns[f"s.{name}"] = seen[:T]
            columns[f"next.{name}"] = self._following(trajectory, seen, trajectory.final_observations[name], found.last)
        if trajectory.masks is not None and trajectory.final_masks is not None:
            columns["mask"] = self._following(trajectory, trajectory.masks, trajectory.final_masks, found.last)
        kept = np.ones((T, B), bool) if trajectory.valid is None else trajectory.valid
        return {name: column[kept] for name, column in columns.items()}

    def _following(
        self, trajectory: Trajectory, seen: NDArray[Any], final: NDArray[Any], last: NDArray[np.int64]
    ) -> NDArray[Any]:
        """The observation [T, B, …] after step ``last[t, b]``: the episode's last one where it was truncated."""
        follows = seen[1:].copy()
        t, b = trajectory.final_index.T
        follows[t, b] = final
        return follows[last, np.arange(last.shape[1])]

    def tensors(self, columns: Mapping[str, NDArray[Any]]) -> dict[str, Tensor]:
        """A minibatch's columns on the device."""
        return {name: torch.from_numpy(column).to(self.device) for name, column in columns.items()}

    def seen(self, c: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """(observations, next observations) of a minibatch, scaled for the network."""
        scales, names = self.scales(), [s.name for s in self.spec.seat.observations]
        now, after = (self.model.scaling(scales, {name: c[f"{at}.{name}"] for name in names}) for at in ("s", "next"))
        return now, after

    def state(self) -> State:
        """The base's state with the tensors in ``kept`` and the replay."""
        state = super().state()
        rows, at = self.replay.state()
        state["learner"].arrays.update({name: getattr(self, name).detach().cpu().numpy().copy() for name in self.kept})
        state["learner"].meta.update(learned=self.learned, owed=self.owed)
        return {**state, "replay": Bundle(at, rows)}

    def load(self, state: State) -> None:
        """Continue from a state."""
        super().load(state)
        (meta, arrays), (at, rows) = state["learner"], state["replay"]
        self.replay.load(rows, at)
        with torch.no_grad():
            for name in self.kept:
                getattr(self, name).copy_(torch.from_numpy(np.array(arrays[name])))
        self.learned, self.owed = int(meta["learned"]), float(meta["owed"])
