"""Fully connected layers as one node of the graph, for learners whose minibatches are many and small.

y = W_k h_{k−1} + b_k, h_j = φ(W_j h_{j−1} + b_j), h_0 = x. With δ_k = ∂L/∂y: ∂L/∂W_j = δ_jᵀ h_{j−1}, ∂L/∂b_j = Σ δ_j,
δ_{j−1} = (δ_j W_j) φ'(h_{j−1}), each written to its place in one flat gradient.

On CPUs products go to oneDNN. torch's own go to MKL, which takes its widest instructions only on processors of its own
maker: for [256, 400] · [400, 300] on a Zen 5, MKL reaches 105 GFLOP/s and oneDNN 224. Results differ by rounding.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

Activation = Literal["leaky_relu", "relu", "tanh"]
SLOPE = 0.01
_ops: Any = torch.ops.aten
_IN_PLACE: dict[Activation, Callable[[Tensor], Tensor]] = {
    "leaky_relu": lambda x: torch.nn.functional.leaky_relu_(x, SLOPE),
    "relu": torch.relu_,
    "tanh": torch.tanh_,
}
_BACK: dict[Activation, Callable[[Tensor, Tensor], Tensor]] = {
    "leaky_relu": lambda g, h: _ops.leaky_relu_backward(g, h, SLOPE, True),
    "relu": lambda g, h: _ops.threshold_backward(g, h, 0),
    "tanh": lambda g, h: _ops.tanh_backward(g, h),
}
"""δ from the gradient of an activation and from the activation itself."""
_mkldnn: Any = torch.backends.mkldnn
_one_dnn: Any = getattr(torch.ops.mkldnn, "_linear_pointwise", None) if _mkldnn.is_available() else None
WORTH = 1 << 23
"""Multiplications in all layers from which on one node is faster than a node for each step, which costs less Python."""
_LEAST = 1 << 21
"""Multiplications in one product from which on oneDNN is faster: it takes longer to begin."""


def product(x: Tensor, W: Tensor, b: Tensor | None = None) -> Tensor:
    """x Wᵀ + b, float32: x [n, i], W [o, i], b [o]; any strides."""
    if _one_dnn is None or x.device.type != "cpu" or len(x) * W.numel() < _LEAST:
        return torch.nn.functional.linear(x, W, b)
    found: Tensor = _one_dnn(x, W, b, "none", [], "")
    return found


class Layers(NamedTuple):
    """The shape of a network's layers: ``widths`` of x, of the layers, and of y; ``activation`` between them."""

    widths: tuple[int, ...]
    activation: Activation

    @property
    def size(self) -> int:
        """Numbers in θ: each layer's matrix, then its biases."""
        return sum((width + 1) * units for width, units in itertools.pairwise(self.widths))

    def parts(self, theta: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """Views (W, b) of each layer."""
        at = 0
        for width, units in itertools.pairwise(self.widths):
            end = at + units * width
            yield theta[at:end].view(units, width), theta[end : end + units]
            at = end + units


def forward(theta: Tensor, x: Tensor, layers: Layers) -> Tensor:
    """y [n, o] for x [n, i] and θ [``layers.size``], differentiable once in both."""
    found: Tensor = _Node.apply(theta, x, layers)  # type: ignore[no-untyped-call]
    return found


def stacked(theta: Tensor, x: Tensor, layers: Layers) -> Tensor:
    """y [K, n, o] of K networks of the same shape, θ [K, ``layers.size``], for x [K, n, i], or for one x [n, i] that
    all of them look at; one node of the graph, differentiable once in both. Products stay one for each network: a
    batched one (MKL) takes 1.7 times as long."""
    found: Tensor = _Stack.apply(theta, x, layers)  # type: ignore[no-untyped-call]
    return found


def _run(theta: Tensor, x: Tensor, layers: Layers) -> tuple[Tensor, list[Tensor]]:
    """y, and what each layer was given."""
    inputs, h = [], x
    for i, (W, b) in enumerate(layers.parts(theta)):
        h = _IN_PLACE[layers.activation](h) if i else h
        inputs.append(h)
        h = product(h, W, b)
    return h, inputs


def _back(
    theta: Tensor, inputs: list[Tensor], delta: Tensor, layers: Layers, g: Tensor | None, of_x: bool
) -> Tensor | None:
    """∂L/∂x if ``of_x``; ∂L/∂θ goes to ``g``."""
    places = list(layers.parts(g)) if g is not None else []
    for i, (W, _) in reversed(list(enumerate(layers.parts(theta)))):
        if g is not None:
            _weights_of(delta, inputs[i], *places[i])
        if i or of_x:
            delta = product(delta, W.t())
        if i:
            delta = _BACK[layers.activation](delta, inputs[i])
    return delta if of_x else None


class _Node(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, theta: Tensor, x: Tensor, layers: Layers) -> Tensor:
        y, inputs = _run(theta, x, layers)
        ctx.save_for_backward(theta, *inputs)
        ctx.layers = layers
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, delta: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        theta, *inputs = ctx.saved_tensors
        of_theta, of_x, _ = ctx.needs_input_grad
        g = torch.empty_like(theta) if of_theta else None
        return g, _back(theta, inputs, delta, ctx.layers, g, of_x), None


class _Stack(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, theta: Tensor, x: Tensor, layers: Layers) -> Tensor:
        made = [_run(each, x if x.dim() == 2 else x[k], layers) for k, each in enumerate(theta)]
        ctx.save_for_backward(theta, *(h for _, inputs in made for h in inputs))
        ctx.layers, ctx.shared = layers, x.dim() == 2
        return torch.stack([y for y, _ in made])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, delta: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        theta, *inputs = ctx.saved_tensors
        of_theta, of_x, _ = ctx.needs_input_grad
        g, each = torch.empty_like(theta) if of_theta else None, len(inputs) // len(theta)
        found = []
        for k, own in enumerate(theta):
            place = None if g is None else g[k]
            seen = inputs[k * each : (k + 1) * each]
            found.append(_back(own, seen, delta[k], ctx.layers, place, of_x))
        if not of_x:
            return g, None, None
        whole = torch.stack([one for one in found if one is not None])
        return g, whole.sum(0) if ctx.shared else whole, None


def _weights_of(delta: Tensor, h: Tensor, W: Tensor, b: Tensor) -> None:
    """Write ∂L/∂W and ∂L/∂b."""
    torch.sum(delta, 0, out=b)
    if h.shape[1] < delta.shape[1]:  # oneDNN copies its first operand: the smaller one
        W.t().copy_(product(h.t(), delta.t()))
    else:
        W.copy_(product(delta.t(), h.t()))
