"""Gradients that samplers compute from their own fragments: the message, and the worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine import arrays
from engine.channel import Frame, Weights
from engine.mdp.trajectory import Trajectory
from engine.rl.policy import Actor
from engine.rl.sampler import Episode

F32 = NDArray[np.float32]


class Gradient(NamedTuple):
    """dL/dθ ``numbers`` float32[size] at the weights of ``version``, from ``steps`` decisions made with them;
    ``losses``: metrics to report."""

    numbers: F32
    version: int
    steps: int
    losses: dict[str, float]

    @property
    def oldest(self) -> int:
        """The version of the oldest weights in it."""
        return self.version

    def encode(self, meta: Mapping[str, Any]) -> list[Frame]:
        """The gradient as one frame, with plain values ``meta``."""
        fields = {"of": self.version, "steps": self.steps, "losses": self.losses}
        return [arrays.pack({**meta, "gradient": fields}, {"gradient": self.numbers})]

    @classmethod
    def decode(cls, frames: Sequence[Frame]) -> tuple[Gradient, dict[str, Any]]:
        """The gradient in these frames, and its ``meta``. Raises StoreError for malformed frames."""
        bundle = arrays.unpack(frames[0])
        fields = bundle.meta.pop("gradient")
        return cls(bundle.arrays["gradient"], fields["of"], fields["steps"], fields["losses"]), bundle.meta


class Differentiates(Protocol):
    """A learner that can load published weights and compute a gradient at them."""

    version: int

    def follow(self, weights: F32, version: int) -> None: ...

    def gradient(self, trajectory: Trajectory) -> tuple[F32, dict[str, float]]: ...


class Plays(Protocol):
    """A sampler that gives fragments, as ``engine.rl.sampler.Sampler``."""

    actors: dict[str, Actor]

    @property
    def policies(self) -> tuple[str, ...]: ...

    def load(self, weights: Weights) -> None: ...

    def begin(self, beginning: int = 0) -> None: ...

    def sample(self, before: Callable[[], None] | None = None) -> dict[str, Trajectory]: ...

    def finished(self) -> list[Episode]: ...

    def close(self) -> None: ...


class GradientWorker:
    """Has the interface of a sampler, but gives gradients instead of fragments for some policies: it plays a fragment
    with the weights at its beginning and differentiates at these (the actor-learner of Mnih et al. 2016). Where seats
    take turns, a fragment may have begun with older weights; ``Gradient.oldest`` says how old."""

    def __init__(self, sampler: Plays, learners: Mapping[str, Differentiates]) -> None:
        """``learners``: by policy id."""
        self._sampler, self._learners = sampler, learners
        self._next: dict[str, Weights] = {}

    @property
    def policies(self) -> tuple[str, ...]:
        """As ``Sampler.policies``."""
        return self._sampler.policies

    def load(self, weights: Weights) -> None:
        """Play with these weights from now on; for a policy with gradients, from the next fragment on."""
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

    def close(self) -> None:
        """As ``Sampler.close``."""
        self._sampler.close()

    def sample(self, before: Callable[[], None] | None = None) -> dict[str, Gradient | Trajectory]:
        """By policy, the next ``length`` decisions of its streams, or their gradient. ``before``: called before each
        decision."""
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
        return Gradient(numbers, fragment.oldest, fragment.steps, losses)
