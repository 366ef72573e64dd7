"""Critics Q_k of a state and an action: K networks of the same shape over everything that a seat sees and its whole
action in units in which the bounds are ±1. Their weights φ = (φ_1, …, φ_K) are one vector: they have one gradient and
one step of Adam."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.config.rl import NetworkConfig
from engine.mdp.interface import ArraySpec, SeatSpec
from engine.rl import dense
from engine.rl.networks import Network, Seen, flat

F32 = NDArray[np.float32]
_ACTION = "the action"  # no game's observation is named so


class Critics:
    """Their fixed structure. ``count``: K; ``size``: numbers in φ."""

    def __init__(self, seat: SeatSpec, config: NetworkConfig, count: int = 2) -> None:
        action = ArraySpec(_ACTION, (len(seat.action.bounds[0]),))
        seeing = msgspec.structs.replace(seat, observations=(*seat.observations, action))
        layers = config.model_copy(update={"policy": config.critic})
        self.network = Network(seeing, layers, outputs=1, values=0)
        self.count, self.size = count, count * self.network.size
        before = sum(math.prod(spec.shape) for spec in self.network.plain[:-1])
        self._of_a = slice(before, before + action.shape[0])

    def initial(self, rng: np.random.Generator) -> F32:
        """An initial φ float32[size]: critics differ."""
        return np.concatenate([self.network.initial(rng) for _ in range(self.count)])

    def first(self, phi: Tensor, s: Seen, a: Tensor) -> Tensor:
        """Q_1(s, a) [n] of actions [n, D]."""
        return self._value(phi[: self.network.size], s, a)

    def least(self, phi: Tensor, s: Seen, a: Tensor) -> Tensor:
        """min_k Q_k(s, a) [n]."""
        return self.values(phi, s, a).amin(dim=0)

    def values(self, phi: Tensor, s: Seen, a: Tensor) -> Tensor:
        """Q_k(s, a) [K, n] of actions [n, D], or [K, n, D]: one for each."""
        if not self.network.images:
            return dense.stacked(phi.view(self.count, -1), self._row(s, a), self.network.connected)[..., 0]
        each = a.unbind() if a.dim() > 2 else [a] * self.count
        return torch.stack([self._value(own, s, b) for own, b in zip(self._split(phi), each, strict=True)])

    def pulled(self, phi: Tensor, s: Seen, a: Tensor) -> tuple[Tensor, dense.Pull]:
        """Q [K, n] of actions [n, D], and ∂L/∂φ from ∂L/∂Q, outside the graph."""
        if not self.network.images:
            y, pull = dense.stack_pulled(phi.view(self.count, -1), self._row(s, a), self.network.connected)
            return y[..., 0], lambda delta: pull(delta[..., None])
        made = [self.network.pulled(own, {**s, _ACTION: a}) for own in self._split(phi)]

        def pull_each(delta: Tensor) -> Tensor:
            return torch.cat([pull(own[:, None]) for (_, pull), own in zip(made, delta.unbind(), strict=True)])

        return torch.stack([y[:, 0] for y, _ in made]), pull_each

    def sloped(self, phi: Tensor, s: Seen, a: Tensor) -> tuple[Tensor, dense.Pull]:
        """Q_1(s, a) [n] of actions [n, D], and ∂L/∂a from ∂L/∂Q_1 [n]."""
        Q, to_entry = self.network.sloped(phi[: self.network.size], {**s, _ACTION: a})
        return Q[:, 0], lambda delta: to_entry(delta[:, None])[:, self._of_a]

    def _value(self, phi: Tensor, s: Seen, a: Tensor) -> Tensor:
        return self.network.policy_of(phi, {**s, _ACTION: a}).policy[:, 0]

    def _split(self, phi: Tensor) -> tuple[Tensor, ...]:
        return torch.split(phi, self.network.size)

    def _row(self, s: Seen, a: Tensor) -> Tensor:
        """What all look at in one row of numbers, [n, I], or [K, n, I] where they have actions of their own."""
        seen = [flat(s[spec.name]) for spec in self.network.plain[:-1]]
        if a.dim() > 2:
            seen = [each.expand(len(a), *each.shape) for each in seen]
        return torch.cat([*seen, a], dim=-1)
