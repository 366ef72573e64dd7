"""Gradients that samplers compute of their own fragments: what travels, and the worker that makes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine import arrays
from engine.channel import Frame, Weights
from engine.mdp.trajectory import Trajectory
from engine.mdp.vector import VectorMDP
from engine.rl.sampler import Episode, Sampler

F32 = NDArray[np.float32]


class Gradient(NamedTuple):
    """dL/dθ ``numbers`` float32[size] at the weights of ``version``, from ``steps`` decisions that they made;
    ``losses``: what there is to report."""

    numbers: F32
    version: int
    steps: int
    losses: dict[str, float]

    @property
    def oldest(self) -> int:
        """The version of the oldest weights in it."""
        return self.version

    def encode(self, meta: Mapping[str, Any]) -> list[Frame]:
        """One frame; ``meta``: plain values that travel along."""
        told = {"of": self.version, "steps": self.steps, "losses": self.losses}
        return [arrays.pack({**meta, "gradient": told}, {"gradient": self.numbers})]

    @classmethod
    def decode(cls, frames: Sequence[Frame]) -> tuple[Gradient, dict[str, Any]]:
        """The gradient in these frames, and what travelled along. Raises StoreError for junk."""
        bundle = arrays.unpack(frames[0])
        told = bundle.meta.pop("gradient")
        return cls(bundle.arrays["gradient"], told["of"], told["steps"], told["losses"]), bundle.meta


class Differentiates(Protocol):
    """A learner that can follow published weights and say what it would change of them."""

    version: int

    def follow(self, weights: F32, version: int) -> None: ...

    def gradient(self, trajectory: Trajectory) -> tuple[F32, dict[str, float]]: ...


class GradientWorker:
    """A sampler, to whoever asks it for work, that gives gradients instead of the fragments of some policies: it plays
    a fragment with the weights it had at its beginning, and differentiates there (the actor-learner of Mnih et al.
    2016)."""

    def __init__(self, sampler: Sampler, learners: Mapping[str, Differentiates]) -> None:
        """``learners``: by the id of their policy."""
        self._sampler, self._learners = sampler, learners
        self._next: dict[str, Weights] = {}

    @property
    def mdp(self) -> VectorMDP:
        """The game."""
        return self._sampler.mdp

    @property
    def policies(self) -> tuple[str, ...]:
        """As ``Sampler.policies``."""
        return self._sampler.policies

    def load(self, weights: Weights) -> None:
        """Play on with these weights, or where their gradient is wanted the next fragment."""
        if weights.policy in self._learners:
            self._next[weights.policy] = weights
        else:
            self._sampler.load(weights)

    def begin(self, beginning: int = 0) -> None:
        """As ``Sampler.begin``."""
        self._sampler.begin(beginning)

    def finished(self) -> list[Episode]:
        """As ``Sampler.finished``."""
        return self._sampler.finished()

    def sample(self, before: Callable[[], None] | None = None) -> dict[str, Gradient | Trajectory]:
        """By policy the next ``length`` decisions of its streams, or the gradient of them. ``before``: called before
        each decision."""
        for policy, weights in self._next.items():
            self._sampler.load(weights)
            self._learners[policy].follow(weights.vectors["actor"], weights.version)
        self._next = {}
        fragments = self._sampler.sample(before)
        return {policy: self._work(policy, fragment) for policy, fragment in fragments.items()}

    def _work(self, policy: str, fragment: Trajectory) -> Gradient | Trajectory:
        learner = self._learners.get(policy)
        if learner is None:
            return fragment
        numbers, losses = learner.gradient(fragment)
        return Gradient(numbers, learner.version, fragment.steps, losses)
