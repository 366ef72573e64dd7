"""The contract of every learner, and their common base.

Class attributes of a learner declare the data it takes and the named vectors it publishes. It receives trajectories of
exactly ``fragment`` steps, or gradients that samplers computed from them; the version of its weights is the number of
updates so far. It draws from its own generator only, so on one thread the same seed and the same trajectories give the
same weights, bit for bit.

Staleness of a sample = (version after the update) − (version that acted): exactly 1 when sampling waits for learning.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.arrays import Bundle
from engine.config.genes import express
from engine.config.rl import ACTIONS, AnyLearner
from engine.errors import ConfigError, EngineError
from engine.mdp.interface import SeatSpec
from engine.mdp.trajectory import Trajectory
from engine.rl.devices import device
from engine.rl.gradient import Gradient
from engine.rl.normalise import Running
from engine.rl.optimisers import Optimiser, clip_norm
from engine.rl.policy import Policy, PolicySpec
from engine.rl.reward_terms import called, terms
from engine.rng import generator

F32 = NDArray[np.float32]
Arrays = dict[str, NDArray[Any]]
State = dict[str, Bundle]
"""A state in named parts."""
Metrics = dict[str, float]
IDLE = 10_000
"""Consecutive batches without a decision after which training is given up, because it would never end."""


Data = Literal["fragments", "transitions", "gradients"]
"""Data that a learner takes: fragments of the current or a recent policy; transitions of any age, which it keeps and
replays; gradients that samplers compute from their own fragments."""


class Learner(Protocol):
    """Learns from trajectories. ``version`` counts updates, ``steps`` the decisions learned from, of ``total`` in the
    whole training, along which schedules fall.

    ``takes``: the data it learns from; one that takes gradients, too, gets these when sampling is asynchronous.
    ``vectors``: names of the vectors it publishes, including ``actor``, with which samplers play. The kinds of action
    it supports are in its configuration (``LearnerConfig.actions``)."""

    takes: ClassVar[tuple[Data, ...]]
    vectors: ClassVar[tuple[str, ...]]
    version: int
    steps: int
    total: int
    stopped: Callable[[], bool]
    """Asked between minibatches of a long update, which ends early once it is True."""

    @property
    def cut(self) -> bool:
        """Whether the last update ended early."""
        ...

    @classmethod
    def policy_spec(cls, seat: SeatSpec, config: Any) -> PolicySpec:
        """The policy that it trains for a seat."""
        ...

    def update(self, trajectory: Trajectory) -> Metrics:
        """Learn from one batch. A batch in which no decision counts (``Trajectory.valid``) is skipped: it only
        increases ``version``. Raises EngineError when numbers are no longer finite, or after ``IDLE`` skipped batches
        in a row."""
        ...

    def apply(self, gradient: Gradient) -> Metrics:
        """Learn from one sampler's gradient; only for learners that take gradients."""
        ...

    def weights(self) -> F32:
        """The weights with which samplers play: a copy."""
        ...

    def publish(self) -> dict[str, F32]:
        """The named vectors for samplers and for other learners: copies."""
        ...

    def policy(self) -> Policy:
        """The current policy."""
        ...

    def start_from(self, weights: F32) -> None:
        """Begin with these weights (as from ``weights``), and nothing else learned."""
        ...

    def warm_start(self, weights: F32) -> None:
        """As ``start_from``, for a training: what else begins with the weights, such as a target, does so, too."""
        ...

    def mix(self, theirs: Mapping[str, F32], share: float) -> None:
        """Move the policy's network a ``share`` of the way to the published network of another learner of its kind;
        nothing else changes."""
        ...

    def state(self) -> State:
        """Everything needed to continue: ``learner`` (weights, optimiser, generator, counters), ``normaliser``, and
        further parts, such as ``replay``."""
        ...

    def load(self, state: State) -> None:
        """Continue from a state."""
        ...


class BaseLearner(ABC):
    """Weights, scales, counters and their checkpoint; the subclass is the algorithm."""

    takes: ClassVar[tuple[Data, ...]] = ("fragments",)
    vectors: ClassVar[tuple[str, ...]] = ("actor",)

    def __init__(
        self, seat: SeatSpec, config: AnyLearner, seed: int, steps: int, on: torch.device | None = None
    ) -> None:
        """``steps``: those of the whole training, for schedules; ``on``: the device. Raises ConfigError at the setting
        that does not fit the seat."""
        express(config, {})  # raises at the place of a remaining range
        if seat.action.kind not in config.actions:
            able = " or ".join(words for kind, words in ACTIONS.items() if kind in config.actions)
            why = f"{type(self).__name__} needs {able} as action, and here it is {ACTIONS[seat.action.kind]}; take PPO"
            raise ConfigError([("kind", why)])
        spec = self.policy_spec(seat, config)
        self.config, self.spec, self.total, self.device = config, spec, steps, on or device()
        self.model = spec.model()
        self.terms = terms(config, called(spec.seat))
        self.weighing = torch.from_numpy(self.terms.weight).to(self.device)
        self.rng = generator(seed, "learner", config.kind)
        first = self.model.initial(generator(seed, "weights"))
        n = self.model.network.size
        self.theta = torch.from_numpy(first[:n].copy()).to(self.device).requires_grad_()
        self.optimiser = self.make_optimiser(self.theta.detach())
        self._rest = first[n:].copy()
        self.running = {s.name: Running(s.shape) for s in self.model.scaling.running}
        self.spread = Running((len(spec.seat.rewards),))
        self.version = self.steps = self.idle = 0
        self.stopped: Callable[[], bool] = lambda: False

    @property
    def cut(self) -> bool:
        """Never: an update is short."""
        return False

    @classmethod
    def policy_spec(cls, seat: SeatSpec, config: Any) -> PolicySpec:
        """A policy with the head that the settings name."""
        return PolicySpec(seat, config.policy_network, config.head, config.normalise_observations)

    def update(self, trajectory: Trajectory) -> Metrics:
        """Learn from one batch, or skip it where no decision counts."""
        return self._learn(trajectory) if trajectory.steps else self.skip(trajectory.versions)

    def apply(self, gradient: Gradient) -> Metrics:
        """Take a step along a sampler's gradient. Raises EngineError where the algorithm does not take gradients."""
        raise EngineError(f"{self.config.kind} learns from batches of decisions and takes no gradients.")

    @abstractmethod
    def make_optimiser(self, theta: Tensor) -> Optimiser:
        """The optimiser of θ; ``config`` is already set."""

    @abstractmethod
    def _learn(self, trajectory: Trajectory) -> Metrics:
        """The algorithm's update on a batch in which some decision counts."""

    def skip(self, versions: NDArray[np.int64]) -> Metrics:
        """Count a skipped update. Raises EngineError after ``IDLE`` of them in a row."""
        self.idle += 1
        if self.idle >= IDLE:
            raise EngineError(
                f"The agent was out of its battle in {self.idle:,} batches in a row, so there was nothing to learn "
                "from. See that the game ends a battle, or begins the next, once the agent is out."
            )
        return self.count(versions, 0)

    @property
    def left(self) -> float:
        """The remaining share of training."""
        return max(0.0, 1.0 - self.steps / self.total)

    @property
    def eta(self) -> float:
        """The current learning rate."""
        rate = self.config.rate
        return rate * self.left if self.config.schedule == "linear" else rate

    def weights(self) -> F32:
        """θ, then the scales of observations."""
        return np.concatenate([self.theta.detach().cpu().numpy(), self._rest])

    def publish(self) -> dict[str, F32]:
        """The vector with which samplers play."""
        return {"actor": self.weights()}

    def policy(self) -> Policy:
        """The current policy."""
        return Policy(self.spec, self.weights(), self.version)

    def scales(self) -> dict[str, tuple[Tensor, Tensor]]:
        """Means and spreads of observations by name, on the device."""
        return self.model.scaling.parts(torch.from_numpy(self._rest[: self.model.scaling.size]).to(self.device))

    def observe(self, trajectory: Trajectory) -> None:
        """Add a trajectory to the running scales; call it after learning, so that acting and learning use the same
        scales."""
        for name, running in self.running.items():
            seen = trajectory.observations[name][:-1]
            valid = np.ones(seen.shape[:2], np.bool_) if trajectory.valid is None else trajectory.valid
            running.add(seen[valid])
        if self.running:
            means = [r.mean.ravel() for r in self.running.values()]
            spreads = [r.std.ravel() for r in self.running.values()]
            self._rest[: self.model.scaling.size] = np.concatenate([*means, *spreads])

    def finish(self, trajectory: Trajectory, metrics: Metrics) -> Metrics:
        """Count an update, update the scales and add the metrics of every learner."""
        self.observe(trajectory)
        return metrics | self.count(trajectory.versions, trajectory.steps)

    def count(self, versions: NDArray[np.int64], steps: int) -> Metrics:
        """One more update, from ``steps`` decisions of policies with these ``versions``."""
        stale = self.version + 1 - versions
        self.version += 1
        self.steps += steps
        self.idle = 0 if steps else self.idle
        return {"rate": self.eta, "staleness_mean": float(stale.mean()), "staleness_max": float(stale.max())}

    def descend(self, loss: Tensor, of: Tensor | Callable[[], Tensor] | None = None) -> Tensor:
        """dL/dθ, that of another vector, or what the caller knows how to compute, flat. Raises EngineError when the
        loss is not finite."""
        if not math.isfinite(float(loss.detach())):
            raise self._wrong("loss is not a number")
        if callable(of):
            return of()
        return torch.autograd.grad(loss, self.theta if of is None else of)[0]

    def clip(self, g: Tensor) -> float:
        """Clip a gradient to the largest norm, in place, and return its original norm. Raises EngineError for one that
        is not finite."""
        norm = clip_norm(g, self.config.max_gradient)
        if not math.isfinite(norm):
            raise self._wrong("gradient is not a number, or too large for one")
        return norm

    def _wrong(self, what: str) -> EngineError:
        return EngineError(
            f"Learning went wrong: the {what}. Take a smaller learning rate, or scale rewards and observations; and "
            "where it begins with a saved agent, see whether that one still plays."
        )

    def start_from(self, weights: F32) -> None:
        """Begin with these weights."""
        n = self.model.network.size
        with torch.no_grad():
            self.theta.copy_(torch.from_numpy(np.array(weights[:n])))
        self._rest = np.array(weights[n:])

    def warm_start(self, weights: F32) -> None:
        """Begin with these weights."""
        self.start_from(weights)

    def mix(self, theirs: Mapping[str, F32], share: float) -> None:
        """θ ← (1 − share) θ + share θ'."""
        with torch.no_grad():
            self.theta.lerp_(torch.from_numpy(np.array(theirs["actor"][: len(self.theta)])).to(self.device), share)

    def state(self) -> State:
        """Weights, optimiser, generator and counters; normalisers."""
        arrays: Arrays = {"weights": self.weights()}
        arrays |= {f"optimiser.{name}": value for name, value in self.optimiser.state().items()}
        meta = {"rng": self.rng.bit_generator.state, "version": self.version, "steps": self.steps}
        scales = {f"{name}.{key}": x for name, running in self._scales.items() for key, x in running.state().items()}
        return {"learner": Bundle(meta, arrays), "normaliser": Bundle({}, scales)}

    def load(self, state: State) -> None:
        """Continue from a state."""
        (meta, arrays), scales = state["learner"], state["normaliser"].arrays
        self.start_from(arrays["weights"])
        self.optimiser.load(below("optimiser", arrays))
        for name, running in self._scales.items():
            running.load(below(name, scales))
        self.rng.bit_generator.state = meta["rng"]
        self.version, self.steps = int(meta["version"]), int(meta["steps"])

    @property
    def _scales(self) -> dict[str, Running]:
        return {"reward": self.spread, **{f"seen.{name}": running for name, running in self.running.items()}}


def below(name: str, arrays: Arrays) -> Arrays:
    """The arrays whose names begin with ``name.``, named without it."""
    return {key.removeprefix(f"{name}."): array for key, array in arrays.items() if key.startswith(f"{name}.")}


def numbers(**tensors: Tensor) -> Metrics:
    """Scalars as metrics."""
    return {name: float(tensor.detach()) for name, tensor in tensors.items()}


def averaged(gathered: Sequence[Metrics]) -> Metrics:
    """The mean of each metric over the steps of an update that have it."""
    names = dict.fromkeys(name for metrics in gathered for name in metrics)
    return {name: float(np.mean([metrics[name] for metrics in gathered if name in metrics])) for name in names}
