"""Networks as pure functions of one flat vector θ: its gradient, the optimiser's state and the weights sent to samplers
are flat vectors, too.

The layers are those of Lamarckian's Table III: convolutions for image inputs, fully connected layers of the policy, an
LSTM when asked for, and a critic that is built on top of the policy's layers or has layers of its own. Each named
reward has a value of its own. Weights are orthogonal (Saxe et al. 2014) with gain √2, 0.01 for the policy's outputs and
1 for values; biases are 0 (37 details of PPO, core 2).

Departures from the paper: 1. the table does not say how many channels a convolution has (its code: 32); 2. observations
in uint8 are divided by 255, others by their running spread when asked for; 3. initial weights (the paper: the
library's).

Sampling and learning use the same implementation: on cached views without autograd, torch's ``linear`` takes 10 µs for
one row of FC(256, 128) and 56 µs for 64, NumPy 8 and 54 on the same thread, so a second one would gain nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from engine.config.rl import NetworkConfig
from engine.errors import ConfigError
from engine.mdp.interface import ArraySpec, SeatSpec
from engine.rl import dense
from engine.rl.normalise import CLIP

F32 = NDArray[np.float32]
Parts = Mapping[str, Tensor]
Seen = Mapping[str, Tensor]
"""What is seen, by name: [n, …], scaled."""
Scales = Mapping[str, tuple[Tensor, Tensor]]
_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "leaky_relu": lambda x: F.leaky_relu(x, dense.SLOPE),
    "relu": F.relu,
    "tanh": torch.tanh,
}
IMAGE_SCALE = 1 / 255


class Recurrent(NamedTuple):
    """An LSTM's hidden and cell state, [B, units] each."""

    h: Tensor
    c: Tensor


class Outputs(NamedTuple):
    """``policy`` [N, K]: logits, then means; ``values`` [N, R]; the recurrent state that follows."""

    policy: Tensor
    values: Tensor
    state: Recurrent | None = None


class Network:
    """The fixed structure of a network: its inputs, its layers and the position of each layer in θ."""

    def __init__(self, seat: SeatSpec, config: NetworkConfig, outputs: int, values: int, spreads: int = 0) -> None:
        """``outputs``, ``values``: numbers of outputs of the policy and of the critic (0: no critic); ``spreads``:
        number of continuous parameters, each with a state-independent log standard deviation."""
        self.config, self.inputs, self.outputs, self.values = config, seat.observations, outputs, values
        self.images = [spec for spec in seat.observations if config.conv and len(spec.shape) == 3]
        self.plain = [spec for spec in seat.observations if spec not in self.images]
        if config.conv and not self.images:
            raise ConfigError([("network.conv", "none of the observations is an image [channels, height, width]")])
        self.activation = _ACTIVATIONS[config.activation]
        self.shapes: dict[str, tuple[int, ...]] = {}
        self._plan(spreads)
        self.sizes = [math.prod(shape) for shape in self.shapes.values()]
        self.size = sum(self.sizes)

    def _plan(self, spreads: int) -> None:
        flat = sum(math.prod(spec.shape) for spec in self.plain)
        entry = flat + sum(self._plan_conv(spec) for spec in self.images)
        width = self._plan_layers("policy", entry, self.config.policy)
        if self.config.lstm:
            gates = 4 * self.config.lstm
            self.shapes |= {
                "lstm.input": (gates, width),
                "lstm.state": (gates, self.config.lstm),
                "lstm.bias": (gates,),
            }
            width = self.config.lstm
        on_top = self.config.sharing == "top"
        own = self.config.critic[len(self.config.policy) :] if on_top else self.config.critic
        critic = self._plan_layers("critic", width if on_top else entry, own if self.values else ())
        self._plan_layers("action", width, (self.outputs,))
        self._plan_layers("value", critic, (self.values,) if self.values else ())
        if spreads:
            self.shapes["log_std"] = (spreads,)

    def _plan_conv(self, spec: ArraySpec) -> int:
        """Plan the convolutions of one image; returns the number of their outputs. Raises ConfigError when the image is
        too small."""
        channels, *sides = spec.shape
        for i, layer in enumerate(self.config.conv):
            self.shapes[f"conv.{spec.name}.{i}.weight"] = (layer.channels, channels, layer.kernel, layer.kernel)
            self.shapes[f"conv.{spec.name}.{i}.bias"] = (layer.channels,)
            sides = [(side - layer.kernel) // layer.stride + 1 for side in sides]
            channels = layer.channels
            if min(sides) < 1:
                raise ConfigError([("network.conv", f"{spec.name} {list(spec.shape)} is too small for layer {i + 1}")])
        return channels * math.prod(sides)

    def _plan_layers(self, name: str, width: int, layers: tuple[int, ...]) -> int:
        for i, units in enumerate(layers):
            self.shapes |= {f"{name}.{i}.weight": (units, width), f"{name}.{i}.bias": (units,)}
            width = units
        return width

    def initial(self, rng: np.random.Generator) -> F32:
        """An initial θ float32[size]."""
        gains = {"action": 0.01, "value": 1.0, "lstm": 1.0}
        parts: list[F32] = []
        for name, shape in self.shapes.items():
            if name == "log_std":
                parts.append(np.full(shape, self.config.log_std, np.float32))
            elif len(shape) == 1:
                parts.append(np.zeros(shape, np.float32))
            else:
                parts.append(_orthogonal(rng, shape, gains.get(name.split(".")[0], math.sqrt(2))))
        return np.concatenate([part.ravel() for part in parts])

    def parts(self, theta: Tensor) -> dict[str, Tensor]:
        """θ split into its layers without copying; a single split, so that the gradient is assembled once."""
        pieces = torch.split(theta, self.sizes)
        return {name: piece.view(s) for piece, (name, s) in zip(pieces, self.shapes.items(), strict=True)}

    @property
    def memory(self) -> dict[str, tuple[int, ...]]:
        """Shapes of one stream's recurrent state by name; nothing without an LSTM."""
        units = self.config.lstm
        return {"h": (units,), "c": (units,)} if units else {}

    def __call__(
        self, parts: Parts, observations: Mapping[str, Tensor], state: Recurrent | None = None, *, critic: bool = True
    ) -> Outputs:
        """One step of N rows: outputs and values of ``observations`` (scaled, float32[N, …]). Without ``critic`` its
        own layers are not computed and values are empty: acting needs none. So they are where there is none."""
        entry, x = self._below(parts, observations)
        if self.config.lstm:
            assert state is not None
            state = _cell(parts, F.linear(x, parts["lstm.input"], parts["lstm.bias"]), state)
            x = state.h
        if critic and self.values:
            return self._above(parts, entry, x, state)
        return Outputs(F.linear(x, parts["action.0.weight"], parts["action.0.bias"]), x.new_empty(0), state)

    def unroll(
        self, parts: Parts, observations: Mapping[str, Tensor], state: Recurrent, ended: Tensor
    ) -> tuple[Outputs, Recurrent]:
        """T steps of B streams through the LSTM: observations [T, B, …], ``ended`` bool[T, B] (a new episode begins
        after this step). Outputs of [T · B] rows, and the states [T, B, units] after each step."""
        T, B = ended.shape
        entry, x = self._below(parts, {name: o.flatten(0, 1) for name, o in observations.items()})
        gates = F.linear(x, parts["lstm.input"], parts["lstm.bias"]).view(T, B, -1)
        kept = (~ended).to(gates.dtype)[..., None]
        after: list[Recurrent] = []
        for t in range(T):
            after.append(_cell(parts, gates[t], state))
            state = Recurrent(after[-1].h * kept[t], after[-1].c * kept[t])
        states = Recurrent(torch.stack([s.h for s in after]), torch.stack([s.c for s in after]))
        return self._above(parts, entry, states.h.flatten(0, 1), state), states

    def policy_of(self, theta: Tensor, observations: Mapping[str, Tensor]) -> Outputs:
        """As ``__call__`` with the parts of θ, for a network without LSTM, critic and spreads, but faster
        (``engine.rl.dense``)."""
        below, layers = self._split
        *convolutions, rest = torch.split(theta, below) if self.images else (theta,)
        pieces = zip(convolutions, self.shapes.items(), strict=False)
        parts = {name: piece.view(shape) for piece, (name, shape) in pieces}
        y = dense.forward(rest, self.entry(parts, observations), layers)
        return Outputs(y, y.new_empty(0))

    def pulled(self, theta: Tensor, observations: Mapping[str, Tensor]) -> tuple[Tensor, dense.Pull]:
        """The policy's outputs as from ``policy_of``, and ∂L/∂θ from the gradient in them."""
        if not self.images:
            return dense.pulled(theta.detach(), self.entry({}, observations), self.connected)
        theta = theta.detach().requires_grad_()
        y = self.policy_of(theta, observations).policy
        return y.detach(), lambda delta: torch.autograd.grad(y, theta, delta)[0]

    def sloped(self, theta: Tensor, observations: Mapping[str, Tensor]) -> tuple[Tensor, dense.Pull]:
        """The same outputs, and the gradient in what the first layers are given."""
        return dense.sloped(*self.behind(theta, observations), self.connected)

    def behind(self, theta: Tensor, observations: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """The part of θ that belongs to the layers behind the convolutions, and what the first of them is given."""
        theta = theta.detach()
        return theta[-self.connected.size :], self.entry(self.parts(theta) if self.images else {}, observations)

    def layers(self, parts: Parts) -> dense.Parts:
        """(W, b) of each layer behind the convolutions, of such a network."""
        behind = list(parts.values())[-2 * len(self.connected.widths) + 2 :]
        return list(zip(behind[::2], behind[1::2], strict=True))

    @property
    def connected(self) -> dense.Layers:
        """The layers behind the convolutions, of such a network."""
        return self._split[1]

    @cached_property
    def _split(self) -> tuple[list[int], dense.Layers]:
        """(sizes of the convolutions' parts and of all that follows; the layers that follow)."""
        matrices = [shape for shape in self.shapes.values() if len(shape) == 2]
        widths = (matrices[0][1], *(units for units, _ in matrices))
        layers = dense.Layers(widths, self.config.activation)
        ahead = self.sizes[: -2 * len(matrices)]
        assert layers.size + sum(ahead) == self.size, "an LSTM, a critic or spreads"
        return [*ahead, layers.size], layers

    def _below(self, parts: Parts, observations: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """(all inputs concatenated, outputs of the policy's hidden layers)."""
        entry = self.entry(parts, observations)
        return entry, self._layers(parts, "policy", entry)

    def entry(self, parts: Parts, observations: Mapping[str, Tensor]) -> Tensor:
        """What the first layers are given, [N, …]."""
        features = [flat(observations[spec.name]) for spec in self.plain]
        features += [self._convolved(parts, spec.name, observations[spec.name]) for spec in self.images]
        return features[0] if len(features) == 1 else torch.cat(features, dim=1)

    def _above(self, parts: Parts, entry: Tensor, x: Tensor, state: Recurrent | None) -> Outputs:
        critic = self._layers(parts, "critic", x if self.config.sharing == "top" else entry)
        policy = F.linear(x, parts["action.0.weight"], parts["action.0.bias"])
        return Outputs(policy, F.linear(critic, parts["value.0.weight"], parts["value.0.bias"]), state)

    def _convolved(self, parts: Parts, name: str, x: Tensor) -> Tensor:
        for i, layer in enumerate(self.config.conv):
            weight, bias = parts[f"conv.{name}.{i}.weight"], parts[f"conv.{name}.{i}.bias"]
            x = self.activation(F.conv2d(x, weight, bias, stride=layer.stride))
        return x.flatten(1)

    def _layers(self, parts: Parts, name: str, x: Tensor) -> Tensor:
        i = 0
        while (weight := parts.get(f"{name}.{i}.weight")) is not None:
            x = self.activation(F.linear(x, weight, parts[f"{name}.{i}.bias"]))
            i += 1
        return x


def flat(seen: Tensor) -> Tensor:
    """What is seen [n, …] as a row of numbers for each [n, m]; a single number is one, too."""
    return seen if seen.dim() == 2 else seen[..., None].flatten(1)


def _cell(parts: Parts, gates: Tensor, state: Recurrent) -> Recurrent:
    """One LSTM step (Hochreiter & Schmidhuber 1997; with forget gates, Gers et al. 2000)."""
    i, f, g, o = torch.chunk(gates + F.linear(state.h, parts["lstm.state"]), 4, dim=1)
    c = torch.sigmoid(f) * state.c + torch.sigmoid(i) * torch.tanh(g)
    return Recurrent(torch.sigmoid(o) * torch.tanh(c), c)


def _orthogonal(rng: np.random.Generator, shape: tuple[int, ...], gain: float) -> F32:
    """A matrix [shape[0], the rest] with orthonormal rows or columns, whichever are fewer, times ``gain``."""
    rows, columns = shape[0], math.prod(shape[1:])
    q, r = np.linalg.qr(rng.standard_normal((max(rows, columns), min(rows, columns))))
    q *= np.sign(np.diag(r))
    return np.asarray(gain * (q if rows >= columns else q.T), dtype=np.float32).reshape(shape)


class Scaling:
    """Scaling of observations before the network: by running means and spreads, or none."""

    def __init__(self, seat: SeatSpec, normalise: bool) -> None:
        """``normalise``: float observations are shifted and scaled by statistics; images are always divided by 255."""
        self.inputs = seat.observations
        self.running = [s for s in self.inputs if normalise and s.dtype == "float32"]
        self.size = 2 * sum(math.prod(spec.shape) for spec in self.running)

    def initial(self) -> F32:
        """Means of 0 and spreads of 1, float32[size]."""
        half = self.size // 2
        return np.concatenate([np.zeros(half, np.float32), np.ones(half, np.float32)])

    def parts(self, scales: Tensor) -> dict[str, tuple[Tensor, Tensor]]:
        """(mean, spread) by name."""
        found, at, half = {}, 0, self.size // 2
        for spec in self.running:
            n = math.prod(spec.shape)
            mean, spread = scales[at : at + n], scales[half + at : half + at + n]
            found[spec.name] = (mean.view(spec.shape), spread.view(spec.shape))
            at += n
        return found

    def __call__(self, parts: Scales, observations: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Observations for the network, float32; clipped to ±10 where they are scaled."""
        found = {}
        for spec in self.inputs:
            x = observations[spec.name]
            if spec.dtype == "uint8":
                x = x.to(torch.float32) * IMAGE_SCALE
            elif spec.name in parts:
                mean, spread = parts[spec.name]
                x = ((x - mean) / spread).clamp_(-CLIP, CLIP)
            found[spec.name] = x
        return found
