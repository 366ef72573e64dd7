"""Heads turn a network's outputs into actions, into the numbers that the learner differentiates, and into the same
numbers as nodes of the exported graph. One class per kind of policy, listed in ``HEADS``.

The three must agree: ``numbers`` (torch), ``graph`` (ONNX) and ``decide``, which takes the result of ``numbers``. A
learner names its head in ``PolicySpec.kind``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.mdp.choosing import uniforms
from engine.mdp.interface import SeatSpec
from engine.mdp.trajectory import Batch, Decision
from engine.rl.distributions import Distribution, normals
from engine.rl.networks import Outputs

F32 = NDArray[np.float32]
Node = Callable[..., str]
"""Adds a node to a graph: takes (operator, names of its inputs, attributes), returns the name of its output."""
SPREADS = (-20.0, 2.0)
"""Bounds of a squashed Gaussian's log standard deviations, as in the released code of Haarnoja et al. (2018)."""


class Head(ABC):
    """``outputs``, ``values``: numbers of outputs of the policy and of the critic, which has no layers where there are
    none; ``spreads``: number of log standard deviations learned with θ; ``valued``: acting needs the critic, too.
    ``explores``: a rate of exploration ε, initially 1, travels with the weights; ``apart``: each entity of a group has
    a network of its own (``engine.rl.teams``). ``numbered``: choices have numbers of their own, and come ``beside``
    these from one network, or from values that see them in ``one`` pass or in ``passes`` (``engine.rl.numbered``)."""

    explores: ClassVar[bool] = False
    apart: ClassVar[bool] = False
    numbered: ClassVar[Literal["", "beside", "one", "passes"]] = ""
    valued = False

    def __init__(self, seat: SeatSpec, duelling: bool) -> None:
        self.distribution = Distribution(seat.action)
        self.outputs = self.distribution.outputs
        self.values, self.spreads, self.duelling = len(seat.rewards), self.distribution.D, duelling

    @abstractmethod
    def numbers(self, outputs: Outputs) -> Tensor:
        """The numbers that determine actions, [N, K]; differentiable."""

    @abstractmethod
    def graph(self, add: Node, policy: str, values: str) -> str:
        """Add ``numbers`` as nodes after the network's outputs; returns the name of their output."""

    @abstractmethod
    def decide(self, numbers: F32, log_std: F32, epsilon: float, batch: Batch) -> Decision:
        """The decision with exploration; noise comes from the keys of the batch alone."""

    def best(self, numbers: F32, batch: Batch) -> Decision:
        """The decision without exploration."""
        return Decision(self.distribution.best(numbers, batch.masks))


class Stochastic(Head):
    """Draws from a distribution given by logits, then means (``engine.rl.distributions``)."""

    def numbers(self, outputs: Outputs) -> Tensor:
        """As they are."""
        return outputs.policy

    def graph(self, add: Node, policy: str, values: str) -> str:
        """As they are."""
        return policy

    def decide(self, numbers: F32, log_std: F32, epsilon: float, batch: Batch) -> Decision:
        """An action drawn from its distribution, with its log-probability."""
        drawn = self.distribution.draw(numbers, log_std, batch.masks, batch.keys)
        return Decision(drawn.actions, drawn.log_probs)


class Greedy(Head):
    """Takes the choice of highest value Q(s, ·) or, with probability ε, a random legal one.
    ``duelling``: Q = V + A − mean A (Wang et al. 2016, eq 9)."""

    explores = True

    def __init__(self, seat: SeatSpec, duelling: bool) -> None:
        super().__init__(seat, duelling)
        self.values, self.valued = 1, duelling

    def numbers(self, outputs: Outputs) -> Tensor:
        """Q(s, ·)."""
        if not self.duelling:
            return outputs.policy
        return outputs.values + outputs.policy - outputs.policy.mean(dim=1, keepdim=True)

    def graph(self, add: Node, policy: str, values: str) -> str:
        """Q(s, ·)."""
        if not self.duelling:
            return policy
        mean = add("ReduceMean", [policy], axes=[1], keepdims=1)
        return add("Add", [values, add("Sub", [policy, mean])])

    def decide(self, numbers: F32, log_std: F32, epsilon: float, batch: Batch) -> Decision:
        """ε-greedily."""
        greedy = self.best(numbers, batch)
        if not epsilon:
            return greedy
        anything = self.distribution.draw(np.zeros_like(numbers), log_std, batch.masks, batch.keys).actions
        return Decision(np.where(uniforms(batch.keys, 1) < epsilon, anything, greedy.actions))


class _Steering(Head):
    """Base of heads of numbers within ±1 of half their range, whose critics look at actions and stand elsewhere."""

    def __init__(self, seat: SeatSpec, duelling: bool) -> None:
        super().__init__(seat, duelling)
        self.values = self.spreads = 0

    def placed(self, unit: F32) -> Decision:
        """The actions that stand for numbers within ±1 [N, D]."""
        return Decision(self.distribution.best(unit, None))


class Deterministic(_Steering):
    """tanh of the outputs; with Gaussian noise of standard deviation ε where ε < 1, else uniform actions."""

    explores = True

    def numbers(self, outputs: Outputs) -> Tensor:
        """π(s) [N, D] within ±1."""
        return torch.tanh(outputs.policy)

    def graph(self, add: Node, policy: str, values: str) -> str:
        """π(s)."""
        return add("Tanh", [policy])

    def decide(self, numbers: F32, log_std: F32, epsilon: float, batch: Batch) -> Decision:
        """π(s) with noise, clipped to the bounds; uniform while ε is 1."""
        if epsilon >= 1:
            drawn = [2 * uniforms(batch.keys, i) - 1 for i in range(self.distribution.D)]
            return self.placed(np.stack(drawn, axis=1).astype(np.float32))
        noise = np.float32(epsilon) * normals(batch.keys, self.distribution.D)
        return self.placed(np.clip(numbers + noise, -1, 1))


class Squashed(_Steering):
    """tanh of a Gaussian whose means and log standard deviations, clamped to ``SPREADS``, are the outputs [N, 2 D]."""

    def __init__(self, seat: SeatSpec, duelling: bool) -> None:
        super().__init__(seat, duelling)
        self.outputs = 2 * self.distribution.D

    def numbers(self, outputs: Outputs) -> Tensor:
        """Means, then log standard deviations, as they are."""
        return outputs.policy

    def graph(self, add: Node, policy: str, values: str) -> str:
        """As they are."""
        return policy

    def decide(self, numbers: F32, log_std: F32, epsilon: float, batch: Batch) -> Decision:
        """tanh(μ + σ ξ)."""
        mean, spread = np.split(numbers, 2, axis=1)
        xi = normals(batch.keys, self.distribution.D)
        return self.placed(np.tanh(mean + np.exp(np.clip(spread, *SPREADS)) * xi))

    def best(self, numbers: F32, batch: Batch) -> Decision:
        """tanh μ."""
        return self.placed(np.tanh(numbers[:, : self.distribution.D]))


class TeamDeterministic(Deterministic):
    """The same for a group."""

    apart = True


class TeamSquashed(Squashed):
    """The same for a group: the means of all members, then all log standard deviations."""

    apart = True


class Numbered(Head):
    """A number for each choice, then the numbers of all choices in units in which their bounds are ±1 (not clipped):
    takes the choice of the largest or, with probability ε, a random legal one with uniform numbers."""

    explores = True

    def __init__(self, seat: SeatSpec, duelling: bool) -> None:
        super().__init__(seat, duelling)
        self.values = self.spreads = 0

    def numbers(self, outputs: Outputs) -> Tensor:
        """As they are."""
        return outputs.policy

    def graph(self, add: Node, policy: str, values: str) -> str:
        """As they are."""
        return policy

    def decide(self, numbers: F32, log_std: F32, epsilon: float, batch: Batch) -> Decision:
        """ε-greedily."""
        greedy = self.best(numbers, batch)
        if not epsilon:
            return greedy
        drawn, D = np.zeros_like(numbers), self.distribution.D
        anything = self.distribution.draw(drawn, np.zeros(D, np.float32), batch.masks, batch.keys).actions
        unit = np.stack([2 * uniforms(batch.keys, 2 + i) - 1 for i in range(D)], axis=1)
        anything[:, 1:] = self.distribution.acting.centre + self.distribution.acting.half * unit
        return Decision(np.where((uniforms(batch.keys, 1) < epsilon)[:, None], anything, greedy.actions))


class NumberedBeside(Numbered):
    """The actor of ``engine.rl.paddpg``."""

    numbered = "beside"


class NumberedOnce(Numbered):
    """Values and numbers of ``engine.rl.pdqn``."""

    numbered = "one"


class NumberedPasses(Numbered):
    """Values and numbers of ``engine.rl.mpdqn``."""

    numbered = "passes"


HEADS: dict[str, type[Head]] = {
    "actor-critic": Stochastic, "q": Greedy, "deterministic": Deterministic, "squashed": Squashed,
    "team-deterministic": TeamDeterministic, "team-squashed": TeamSquashed, "numbered-actor": NumberedBeside,
    "numbered-q": NumberedOnce, "numbered-passes": NumberedPasses,
}  # fmt: skip
"""By the name in a policy's description (``PolicySpec.kind``)."""
