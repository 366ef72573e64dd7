"""Networks of policies whose choices have numbers of their own (parameterised actions, Masson et al. 2016).

K choices, choice k with m_k numbers x_k ∈ X_k, D = Σ m_k; all numbers in units in which their bounds are ±1.

``NumbersNetwork``: x(s) = f(s) + W_0 s + b_0. The layer W_0, b_0 is frozen: it says which numbers a policy begins with,
and what is learned is added to it (Hausknecht & Stone 2016, released code of Bester et al. 2019).

``ChoiceNetwork``: numbers x(s; θ_X) and values Q(s, x; θ_Q) of all choices, θ = (θ_X, θ_Q). In one pass every Q_k sees
all numbers (P-DQN, Xiong et al. 2018). In K passes, one batch, Q_k is the k-th output for (s, x e_k), where all numbers
but x_k are 0 (MP-DQN, Bester et al. 2019, eq. 8–10; ``engine.rl.passes``), so that ∂Q_k / ∂x_j = 0 for j ≠ k.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.config.rl import NetworkConfig
from engine.errors import ConfigError
from engine.mdp.interface import ArraySpec, Parameterised, SeatSpec
from engine.rl.dense import Pull
from engine.rl.networks import Network, Outputs, Parts, Recurrent, Scales, Seen, flat
from engine.rl.passes import Passes

F32 = NDArray[np.float32]
NUMBERS, CHOICE = "numbers.", "choice."
"""Before the names of the parts of both networks."""
THROUGH = "through.weight", "through.bias"
OF_CHOICE = "the numbers of choice"  # no game's observation is named so
AHEAD = "the choices"


def sizes_of(seat: SeatSpec) -> tuple[int, ...]:
    """How many numbers each choice of a seat has. Raises ConfigError for a seat without such choices."""
    if not isinstance(seat.action, Parameterised) or not sum(seat.action.sizes):
        raise ConfigError([("kind", "none of the choices has a number of its own; take PPO")])
    return seat.action.sizes


def split(x: Tensor, sizes: tuple[int, ...]) -> dict[str, Tensor]:
    """The numbers [n, D] of each choice [n, m_k] by the name under which a network sees them."""
    return {f"{OF_CHOICE} {k}": part for k, part in enumerate(torch.split(x, list(sizes), dim=1)) if sizes[k]}


def seeing_numbers(seat: SeatSpec, *more: ArraySpec) -> SeatSpec:
    """A seat that sees the numbers of its action, too, choice by choice, behind what it saw and ``more``."""
    own = [ArraySpec(f"{OF_CHOICE} {k}", (size,)) for k, size in enumerate(sizes_of(seat)) if size]
    return msgspec.structs.replace(seat, observations=(*seat.observations, *more, *own))


class NumbersNetwork(Network):
    """f, W_0 and b_0. ``ahead``: outputs before the numbers, to which the frozen layer adds nothing."""

    def __init__(self, seat: SeatSpec, config: NetworkConfig, ahead: int = 0) -> None:
        if config.lstm:
            raise ConfigError([("network.lstm", "it learns from single decisions and needs none")])
        self.outputs = ahead + sum(sizes_of(seat))
        self.inner = Network(seat, config, self.outputs, 0)
        self.config, self.inputs, self.values, self.ahead = config, seat.observations, 0, ahead
        self.plain, self.images = self.inner.plain, self.inner.images
        self.flat = sum(math.prod(spec.shape) for spec in self.plain)
        self.shapes = dict(self.inner.shapes)
        if self.flat:
            self.shapes[THROUGH[0]] = (self.outputs, self.flat)
        self.shapes[THROUGH[1]] = (self.outputs,)
        self.sizes = [math.prod(shape) for shape in self.shapes.values()]
        self.size = sum(self.sizes)

    def initial(self, rng: np.random.Generator) -> F32:
        """An initial θ float32[size]: W_0 and b_0 are 0."""
        first = self.inner.initial(rng)
        return np.concatenate([first, np.zeros(self.size - len(first), np.float32)])

    def through(self, weight: F32, bias: F32) -> F32:
        """The end of θ for W_0 [D, flat] and b_0 [D]. Raises ConfigError where they do not fit."""
        D = self.outputs - self.ahead
        if weight.shape != (D, self.flat) or bias.shape != (D,):
            raise ConfigError([("start", f"the action has {D} numbers, and {self.flat} are seen")])
        nothing = np.zeros((self.ahead, self.flat), np.float32)
        whole = [
            nothing,
            np.asarray(weight, np.float32),
            np.zeros(self.ahead, np.float32),
            np.asarray(bias, np.float32),
        ]
        return np.concatenate([part.ravel() for part in whole])

    def rescale(self, theta: Tensor, before: Scales, after: Scales) -> None:
        """Let the frozen layer of θ add what it added, in place, where observations are scaled in another way from now
        on: with x = (s − m) / d, W_0' = W_0 d' / d and b_0' = b_0 + W_0 (m' − m) / d."""
        end = theta[self.inner.size : self.size]
        W, b = end[: -self.outputs].view(self.outputs, -1), end[-self.outputs :]
        if not self.flat or not W.any():
            return
        (m, d), (m_after, d_after) = (self._row(scales, theta) for scales in (before, after))
        b += W @ ((m_after - m) / d)
        W *= d_after / d

    def _row(self, scales: Scales, like: Tensor) -> tuple[Tensor, Tensor]:
        """Means and spreads [flat] of all that is seen as numbers: 0 and 1 where it is not scaled."""
        m, d = like.new_zeros(self.flat), like.new_ones(self.flat)
        at = 0
        for spec in self.plain:
            n = math.prod(spec.shape)
            if spec.name in scales:
                m[at : at + n], d[at : at + n] = (part.flatten() for part in scales[spec.name])
            at += n
        return m, d

    def __call__(
        self, parts: Parts, observations: Seen, state: Recurrent | None = None, *, critic: bool = True
    ) -> Outputs:
        """Outputs [n, ``ahead`` + D] of scaled observations."""
        y = self.inner(parts, observations, critic=False).policy + self._through(parts, observations)
        return Outputs(y, y.new_empty(0))

    def policy_of(self, theta: Tensor, observations: Seen) -> Outputs:
        """As ``__call__`` with the parts of θ, faster."""
        y = self.inner.policy_of(theta[: self.inner.size], observations).policy
        y = y + self._frozen(theta, observations)
        return Outputs(y, y.new_empty(0))

    def pulled(self, theta: Tensor, observations: Seen) -> tuple[Tensor, Pull]:
        """As ``Network.pulled``: the frozen layer has no gradient."""
        f, pull = self.inner.pulled(theta[: self.inner.size], observations)
        y, frozen = f + self._frozen(theta, observations), f.new_zeros(self.size - self.inner.size)
        return y, lambda delta: torch.cat([pull(delta), frozen])

    def _frozen(self, theta: Tensor, observations: Seen) -> Tensor:
        """W_0 s + b_0 of θ."""
        end = theta.detach()[self.inner.size : self.size]
        weight = {THROUGH[0]: end[: -self.outputs].view(self.outputs, -1)} if self.flat else {}
        return self._through(weight | {THROUGH[1]: end[-self.outputs :]}, observations)

    def _through(self, parts: Parts, observations: Seen) -> Tensor:
        """W_0 s + b_0, without a gradient."""
        bias = parts[THROUGH[1]].detach()
        if not self.flat:
            return bias
        s = [flat(observations[spec.name]) for spec in self.plain]
        return torch.nn.functional.linear(
            s[0] if len(s) == 1 else torch.cat(s, dim=1), parts[THROUGH[0]].detach(), bias
        )


class ChoiceNetwork(Network):
    """θ_X and θ_Q. Outputs: Q(s, x(s)) [n, K], then x(s) [n, D]. ``passes``: a pass for each choice, not one for all.
    ``of_x``, ``of_q``: their places in θ. The critic's layers are those of Q."""

    def __init__(self, seat: SeatSpec, config: NetworkConfig, *, passes: bool) -> None:
        self.config, self.inputs, self.values, self.passes = config, seat.observations, 0, passes
        self.counts = sizes_of(seat)
        self.K, self.outputs = len(self.counts), len(self.counts) + sum(self.counts)
        self.x = NumbersNetwork(seat, config)
        self.q = Network(seeing_numbers(seat), config.model_copy(update={"policy": config.critic}), self.K, 0)
        self.shapes = {NUMBERS + name: shape for name, shape in self.x.shapes.items()}
        self.shapes |= {CHOICE + name: shape for name, shape in self.q.shapes.items()}
        self.sizes = [math.prod(shape) for shape in self.shapes.values()]
        self.size = sum(self.sizes)
        self.of_x, self.of_q = slice(0, self.x.size), slice(self.x.size, self.size)
        self.owner = np.repeat(np.arange(self.K), self.counts)
        self._names = [
            {ahead + name: name for name in network.shapes} for ahead, network in ((NUMBERS, self.x), (CHOICE, self.q))
        ]
        own = torch.from_numpy(np.arange(self.K)[:, None] == self.owner)
        self._passes = Passes(self.owner, own, sum(math.prod(spec.shape) for spec in self.x.plain), config.activation)

    def initial(self, rng: np.random.Generator) -> F32:
        """An initial θ float32[size]."""
        return np.concatenate([self.x.initial(rng), self.q.initial(rng)])

    def __call__(
        self, parts: Parts, observations: Seen, state: Recurrent | None = None, *, critic: bool = True
    ) -> Outputs:
        """Q(s, x(s)), then x(s), of scaled observations."""
        mine, own = ({local: parts[name] for name, local in names.items()} for names in self._names)
        x = self.x(mine, observations).policy
        if self.passes:
            entry = self.q.entry(own, {**observations, **split(torch.zeros_like(x), self.counts)})
            Q = self._passes(self.q.layers(own), entry, x)
        else:
            Q = self.q(own, {**observations, **split(x, self.counts)}).policy
        return Outputs(torch.cat([Q, x], dim=1), x.new_empty(0))

    def numbers(self, theta_x: Tensor, s: Seen) -> tuple[Tensor, Pull]:
        """x(s; θ_X) [n, D], and ∂L/∂θ_X from ∂L/∂x."""
        return self.x.pulled(theta_x, s)

    def worth(self, theta_q: Tensor, s: Seen, x: Tensor) -> tuple[Tensor, Pull]:
        """Q(s, x; θ_Q) [n, K] for any numbers x [n, D], and ∂L/∂x from ∂L/∂Q."""
        if self.passes:
            behind, entry = self.q.behind(theta_q, {**s, **split(torch.zeros_like(x), self.counts)})
            return self._passes.pulled(behind, self.q.connected, entry, x)
        at, D = self._passes.at, x.shape[1]
        Q, pull = self.q.sloped(theta_q, {**s, **split(x, self.counts)})
        return Q, lambda delta: pull(delta)[:, at : at + D]

    def taken(self, theta_q: Tensor, s: Seen, k: Tensor, x: Tensor) -> tuple[Tensor, Pull]:
        """Q(s, k, x; θ_Q) [n] of one choice a row, k int64[n], and ∂L/∂θ_Q from ∂L/∂Q; of all passes this needs the
        k-th alone."""
        if self.passes:
            x = torch.where(self._passes.own.to(x.device)[k], x, 0.0)
        Q, pull = self.q.pulled(theta_q, {**s, **split(x, self.counts)})
        at = k[:, None]
        return Q.gather(1, at)[:, 0], lambda delta: pull(torch.zeros_like(Q).scatter_(1, at, delta[:, None]))


def inverted(delta: Tensor, p: Tensor) -> Tensor:
    """Gradients δ [n, D] along which numbers p (bounds ±1) shall rise, made smaller the nearer p is to the bound that
    they lead to, and turned around beyond it: inverting gradients (Hausknecht & Stone 2016, eq. 11)."""
    return delta * torch.where(delta > 0, (1 - p) / 2, (p + 1) / 2)
