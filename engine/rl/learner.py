"""The contract of every learner, and what actor-critics share.

A learner is given trajectories of exactly ``fragment`` steps and publishes one flat vector of weights with a version,
the number of updates behind it. It draws from its own generator only, so on one thread the same seed and the same
trajectories give the same weights, bit for bit.

Staleness of a sample = (version that the update makes) − (version that acted): exactly 1 when sampling waits for
learning.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.config.genes import express
from engine.config.rl import ActorCriticConfig, AnyLearner, LearnerConfig
from engine.errors import ConfigError, EngineError
from engine.mdp.trajectory import Trajectory
from engine.rl import returns
from engine.rl.normalise import CLIP, Running
from engine.rl.policy import Policy, PolicySpec
from engine.rl.tensors import Pass, Tensors, tensors_of
from engine.rng import generator

F32 = NDArray[np.float32]
Arrays = dict[str, NDArray[Any]]
Metrics = dict[str, float]
_NORMAL_EPSILON = 1e-8


class Learner(Protocol):
    """Learns from trajectories. ``version`` counts updates, ``steps`` the decisions learned from."""

    version: int
    steps: int

    def update(self, trajectory: Trajectory) -> Metrics:
        """Learn from one batch. Raises EngineError when the numbers are no longer finite."""
        ...

    def weights(self) -> F32:
        """What samplers load: a copy."""
        ...

    def policy(self) -> Policy:
        """The policy as it is now."""
        ...

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """Everything needed to go on: weights, optimiser, normalisers, generator, counters."""
        ...

    def load(self, arrays: Arrays, meta: Mapping[str, Any]) -> None:
        """Go on from a state."""
        ...


class Terms(NamedTuple):
    """Discount, trace and weight of each named reward, float32[R]."""

    gamma: F32
    lam: F32
    weight: F32


def terms(config: LearnerConfig, names: tuple[str, ...]) -> Terms:
    """The named rewards' own terms, or the algorithm's. Raises ConfigError for a reward that the game does not give."""
    if unknown := sorted(config.rewards.keys() - set(names)):
        there = ", ".join(names)
        raise ConfigError([(f"rewards.{name}", f"the game gives no such reward; it gives {there}") for name in unknown])
    own = [config.rewards.get(name) for name in names]

    def column(field: str, otherwise: float) -> F32:
        found = [getattr(reward, field) if reward else None for reward in own]
        return np.array([otherwise if value is None else value for value in found], dtype=np.float32)

    trace = config.trace if isinstance(config, ActorCriticConfig) else 1.0
    return Terms(column("discount", config.discount), column("trace", trace), column("weight", 1.0))


def device() -> torch.device:
    """The GPU when there is one, told to compute the same every time, and convolutions in full float32, as samplers do
    on their processors: what they said of an action is compared with what the learner says."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it cuBLAS may add up in another order
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.allow_tf32 = False
    return torch.device("cuda")


class BaseLearner:
    """Weights, scales, counters and their checkpoint; the algorithm is the subclass."""

    def __init__(
        self, spec: PolicySpec, config: AnyLearner, seed: int, steps: int, on: torch.device | None = None
    ) -> None:
        """``steps``: how many the whole training has, for what changes over time; ``on``: the device."""
        express(config, {})  # a range that is left is an error at its place
        self.config, self.spec, self.total, self.device = config, spec, steps, on or device()
        self.model = spec.model()
        self.terms = terms(config, spec.seat.rewards)
        self.weighing = torch.from_numpy(self.terms.weight).to(self.device)
        self.rng = generator(seed, "learner", config.kind)
        first = self.model.initial(generator(seed, "weights"))
        n = self.model.network.size
        self.theta = torch.from_numpy(first[:n].copy()).to(self.device).requires_grad_()
        self._rest = first[n:].copy()
        self.running = {s.name: Running(s.shape) for s in self.model.scaling.running}
        self.spread = Running((len(spec.seat.rewards),))
        self.version = self.steps = 0

    @property
    def left(self) -> float:
        """The share of training that is still to come."""
        return max(0.0, 1.0 - self.steps / self.total)

    @property
    def eta(self) -> float:
        """The learning rate now."""
        rate = self.config.rate
        return rate * self.left if self.config.schedule == "linear" else rate

    def weights(self) -> F32:
        """θ, then the scales of observations."""
        return np.concatenate([self.theta.detach().cpu().numpy(), self._rest])

    def policy(self) -> Policy:
        """The policy as it is now."""
        return Policy(self.spec, self.weights(), self.version)

    def scales(self) -> dict[str, tuple[Tensor, Tensor]]:
        """Means and spreads of observations by name, on the device."""
        return self.model.scaling.parts(torch.from_numpy(self._rest[: self.model.scaling.size]).to(self.device))

    def observe(self, trajectory: Trajectory) -> None:
        """Add a trajectory to the running scales; after learning from it, so that what acted is what is learned."""
        for name, running in self.running.items():
            seen = trajectory.observations[name][:-1]
            valid = np.ones(seen.shape[:2], np.bool_) if trajectory.valid is None else trajectory.valid
            running.add(seen[valid])
        if self.running:
            means = [r.mean.ravel() for r in self.running.values()]
            spreads = [r.std.ravel() for r in self.running.values()]
            self._rest[: self.model.scaling.size] = np.concatenate([*means, *spreads])

    def finish(self, trajectory: Trajectory, metrics: Metrics) -> Metrics:
        """Count an update, move the scales and add what every learner reports."""
        self.observe(trajectory)
        return metrics | self.count(trajectory.versions, trajectory.steps)

    def count(self, versions: NDArray[np.int64], steps: int) -> Metrics:
        """One more update, from ``steps`` decisions of policies with these ``versions``."""
        stale = self.version + 1 - versions
        self.version += 1
        self.steps += steps
        return {"rate": self.eta, "staleness_mean": float(stale.mean()), "staleness_max": float(stale.max())}

    def descend(self, loss: Tensor) -> Tensor:
        """dL/dθ, one flat vector. Raises EngineError when the loss is not finite."""
        if not torch.isfinite(loss):
            raise EngineError(
                f"Learning went wrong after {self.steps} steps: the loss is not a number. Take a smaller learning "
                "rate, or scale rewards and observations."
            )
        return torch.autograd.grad(loss, self.theta)[0]

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """Weights, normalisers, generator, counters."""
        arrays: Arrays = {"weights": self.weights()}
        for name, running in {"reward": self.spread, **{f"seen.{k}": v for k, v in self.running.items()}}.items():
            arrays |= {f"running.{name}.{key}": value for key, value in running.state().items()}
        return arrays, {"rng": self.rng.bit_generator.state, "version": self.version, "steps": self.steps}

    def load(self, arrays: Arrays, meta: Mapping[str, Any]) -> None:
        """Go on from a state."""
        n = self.model.network.size
        with torch.no_grad():
            self.theta.copy_(torch.from_numpy(np.array(arrays["weights"][:n])))
        self._rest = np.array(arrays["weights"][n:])
        for name, running in {"reward": self.spread, **{f"seen.{k}": v for k, v in self.running.items()}}.items():
            at = f"running.{name}."
            running.load({key.removeprefix(at): value for key, value in arrays.items() if key.startswith(at)})
        self.rng.bit_generator.state = meta["rng"]
        self.version, self.steps = int(meta["version"]), int(meta["steps"])


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
            self.spread.add(whole.reshape(-1, whole.shape[2]))
            r = np.clip(r / self.spread.std.astype(np.float32), -CLIP, CLIP)
        return r, V, after

    def advantage(self, advantages: Tensor, valid: Tensor | None, normalise: bool) -> Tensor:
        """One number [N] from the named ones [N, R]: each normalised, weighted, then added (Lamarckian's code)."""
        if normalise:
            kept = advantages if valid is None else advantages[valid]
            std, mean = torch.std_mean(kept, dim=0, correction=0)
            advantages = (advantages - mean) / (std + _NORMAL_EPSILON)
        return advantages @ self.weighing

    def loss(self, policy: Tensor, critic: Tensor, H: Tensor) -> Tensor:
        """c_π L_π + c_V L_V − c_H H."""
        c = self.config
        return c.policy_weight * policy + c.critic_weight * critic - c.entropy_weight * H

    def critic_loss(self, values: Tensor, targets: Tensor, valid: Tensor | None) -> Tensor:
        """Mean over decisions of Σ_k (v_k − V_k)²."""
        return mean(((targets - values) ** 2).sum(dim=1), valid)


def mean(x: Tensor, valid: Tensor | None) -> Tensor:
    """The mean over decisions that count."""
    return x.mean() if valid is None else x[valid].mean()


def numbers(**tensors: Tensor) -> Metrics:
    """Scalars as metrics."""
    return {name: float(tensor.detach()) for name, tensor in tensors.items()}


def averaged(gathered: Sequence[Metrics]) -> Metrics:
    """The mean of each metric over the steps of an update."""
    return {name: float(np.mean([metrics[name] for metrics in gathered])) for name in gathered[0]}


@contextlib.contextmanager
def on_threads(threads: int) -> Iterator[None]:
    """Torch computes on this many threads of the processor meanwhile."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
