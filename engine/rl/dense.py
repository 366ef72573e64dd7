"""Fully connected layers as one node of the graph, for learners whose minibatches are many and small.

y = W_k h_{k−1} + b_k, h_j = φ(W_j h_{j−1} + b_j), h_0 = x. With δ_k = ∂L/∂y: ∂L/∂W_j = δ_jᵀ h_{j−1}, ∂L/∂b_j = Σ δ_j,
δ_{j−1} = (δ_j W_j) φ'(h_{j−1}), each written to its place in one flat gradient.

On CPUs products go to oneDNN. torch's own go to MKL, which takes its widest instructions only on processors of its own
maker: for [256, 400] · [400, 300] on a Zen 5, MKL reaches 105 GFLOP/s and oneDNN 224. Results differ by rounding.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

Activation = Literal["leaky_relu", "relu", "tanh"]
SLOPE = 0.01
_ops: Any = torch.ops.aten
IN_PLACE: dict[Activation, Callable[[Tensor], Tensor]] = {
    "leaky_relu": lambda x: torch.nn.functional.leaky_relu_(x, SLOPE),
    "relu": torch.relu_,
    "tanh": torch.tanh_,
}
BACK: dict[Activation, Callable[[Tensor, Tensor], Tensor]] = {
    "leaky_relu": lambda g, h: _ops.leaky_relu_backward(g, h, SLOPE, True),
    "relu": lambda g, h: _ops.threshold_backward(g, h, 0),
    "tanh": lambda g, h: _ops.tanh_backward(g, h),
}
"""δ from the gradient of an activation and from the activation itself."""
_mkldnn: Any = torch.backends.mkldnn
_one_dnn: Any = torch.ops.mkldnn._linear_pointwise.default if _mkldnn.is_available() else None
_LEAST = 1 << 24
"""Multiplications in one product from which on oneDNN is faster: it takes longer to begin, and much longer
among products of several shapes."""


def _small(multiplications: int, x: Tensor) -> bool:
    """Whether a product stays with torch's own."""
    return multiplications < _LEAST or _one_dnn is None or not x.is_cpu


def product(x: Tensor, W: Tensor, b: Tensor | None = None) -> Tensor:
    """x Wᵀ + b, float32: x [n, i], W [o, i], b [o]; any strides."""
    if _small(x.shape[0] * W.numel(), x):
        return torch.nn.functional.linear(x, W, b)
    found: Tensor = _one_dnn(x, W, b, "none", [], "")
    return found


Parts = Sequence[tuple[Tensor, Tensor]]
"""(W, b) of each layer."""


class Layers(NamedTuple):
    """The shape of a network's layers: ``widths`` of x, of the layers, and of y; ``activation`` between them."""

    widths: tuple[int, ...]
    activation: Activation

    @property
    def size(self) -> int:
        """Numbers in θ: each layer's matrix, then its biases."""
        return sum((width + 1) * units for width, units in itertools.pairwise(self.widths))

    def parts(self, theta: Tensor) -> Parts:
        """Views (W, b) of each layer."""
        sizes, shapes = _places(self.widths)
        pieces = theta.split_with_sizes(sizes)
        return [(pieces[2 * i].view(shape), pieces[2 * i + 1]) for i, shape in enumerate(shapes)]

    def each(self, theta: Tensor) -> list[Parts]:
        """The same of each of K networks, θ [K, ``size``]."""
        (sizes, shapes), K = _places(self.widths), theta.shape[0]
        pieces = theta.split_with_sizes(sizes, 1)
        W = [piece.view(K, *shape).unbind() for piece, shape in zip(pieces[::2], shapes, strict=True)]
        b = [piece.unbind() for piece in pieces[1::2]]
        return [[(W[i][k], b[i][k]) for i in range(len(shapes))] for k in range(K)]


@cache
def _places(widths: tuple[int, ...]) -> tuple[list[int], list[tuple[int, int]]]:
    """The sizes of each layer's matrix and of its biases, and the shapes of the matrices."""
    shapes = [(units, width) for width, units in itertools.pairwise(widths)]
    return [n for units, width in shapes for n in (units * width, units)], shapes


def forward(theta: Tensor, x: Tensor, layers: Layers) -> Tensor:
    """y [n, o] for x [n, i] and θ [``layers.size``], differentiable once in both."""
    if not (torch.is_grad_enabled() and (theta.requires_grad or x.requires_grad)):
        return run(layers.parts(theta), x, layers.activation)[0]
    found: Tensor = _Node.apply(theta, x, layers)  # type: ignore[no-untyped-call]
    return found


Pull = Callable[[Tensor], Tensor]
"""Gives the gradient in what a function was given from that in what it returned."""


def pulled(theta: Tensor, x: Tensor, layers: Layers) -> tuple[Tensor, Pull]:
    """y as from ``forward``, and ∂L/∂θ from ∂L/∂y, outside the graph: its engine takes longer than small products."""
    parts, activation = layers.parts(theta), layers.activation
    y, inputs = run(parts, x, activation)

    def pull(delta: Tensor) -> Tensor:
        g = torch.empty_like(theta)
        _back(parts, inputs, delta, activation, layers.parts(g), False)
        return g

    return y, pull


def stacked(theta: Tensor, x: Tensor, layers: Layers) -> Tensor:
    """y [K, n, o] of K networks of the same shape, θ [K, ``layers.size``], for x [K, n, i], or for one x [n, i] that
    all of them look at; one node of the graph, differentiable once in both. Products stay one for each network: a
    batched one (MKL) takes 1.7 times as long."""
    found: Tensor = _Stack.apply(theta, x, layers)  # type: ignore[no-untyped-call]
    return found


def stack_pulled(theta: Tensor, x: Tensor, layers: Layers) -> tuple[Tensor, Pull]:
    """y [K, n, o] as from ``stacked``, and ∂L/∂θ [K · ``layers.size``] from ∂L/∂y, outside the graph."""
    whole = layers.each(theta)
    y, inputs = _run_each(whole, x, layers.activation)

    def pull(delta: Tensor) -> Tensor:
        g = torch.empty_like(theta)
        _back_each(whole, inputs, delta, layers, g, False)
        return g.flatten()

    return y, pull


def run(parts: Parts, x: Tensor, activation: Activation) -> tuple[Tensor, list[Tensor]]:
    """y, and what each layer was given; x has no activation before it."""
    inputs, h, bounded = [], x, IN_PLACE[activation]
    for i, (W, b) in enumerate(parts):
        h = bounded(h) if i else h
        inputs.append(h)
        h = product(h, W, b)
    return h, inputs


def _back(
    parts: Parts, inputs: Sequence[Tensor], delta: Tensor, activation: Activation, places: Parts | None, of_x: bool
) -> Tensor | None:
    """∂L/∂x if ``of_x``; ∂L/∂θ goes to ``places``."""
    for i in reversed(range(len(parts))):
        if places is not None:
            _weights_of(delta, inputs[i], *places[i])
        if i or of_x:
            delta = product(delta, parts[i][0].t())
        if i:
            delta = BACK[activation](delta, inputs[i])
    return delta if of_x else None


def of_x(parts: Parts, inputs: Sequence[Tensor], delta: Tensor, activation: Activation) -> Tensor:
    """∂L/∂x alone."""
    found = _back(parts, inputs, delta, activation, None, True)
    assert found is not None
    return found


class _Node(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, theta: Tensor, x: Tensor, layers: Layers) -> Tensor:
        ctx.parts, ctx.layers = layers.parts(theta), layers
        y, inputs = run(ctx.parts, x, layers.activation)
        ctx.save_for_backward(theta, *inputs)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, delta: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        (theta, *inputs), layers = ctx.saved_tensors, ctx.layers
        of_theta, of_x, _ = ctx.needs_input_grad
        g = torch.empty_like(theta) if of_theta else None
        places = None if g is None else layers.parts(g)
        return g, _back(ctx.parts, inputs, delta, layers.activation, places, of_x), None


class _Stack(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, theta: Tensor, x: Tensor, layers: Layers) -> Tensor:
        y, inputs = _run_each(layers.each(theta), x, layers.activation)
        ctx.save_for_backward(theta, *(h for own in inputs for h in own))
        ctx.layers, ctx.shared = layers, x.dim() == 2
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, delta: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        (theta, *kept), layers = ctx.saved_tensors, ctx.layers
        of_theta, of_x, _ = ctx.needs_input_grad
        each = len(layers.widths) - 1
        inputs = [kept[k : k + each] for k in range(0, len(kept), each)]
        g = torch.empty_like(theta) if of_theta else None
        found = _back_each(layers.each(theta), inputs, delta, layers, g, of_x)
        if not of_x:
            return g, None, None
        gx = torch.stack([one for one in found if one is not None])
        return g, gx.sum(0) if ctx.shared else gx, None


def _run_each(whole: Sequence[Parts], x: Tensor, activation: Activation) -> tuple[Tensor, list[list[Tensor]]]:
    """``run`` of each network, their y stacked."""
    seen = [x] * len(whole) if x.dim() == 2 else x.unbind()
    made = [run(parts, own, activation) for parts, own in zip(whole, seen, strict=True)]
    return torch.stack([y for y, _ in made]), [inputs for _, inputs in made]


def _back_each(
    whole: Sequence[Parts], inputs: Sequence[Sequence[Tensor]], delta: Tensor, layers: Layers, g: Tensor | None,
    of_x: bool,
) -> list[Tensor | None]:  # fmt: skip
    """``_back`` of each network; ∂L/∂θ goes to ``g`` [K, ``layers.size``]."""
    places: Sequence[Parts | None] = [None] * len(whole) if g is None else layers.each(g)
    rows = zip(whole, inputs, delta.unbind(), places, strict=True)
    return [_back(parts, seen, own, layers.activation, place, of_x) for parts, seen, own, place in rows]


def _weights_of(delta: Tensor, h: Tensor, W: Tensor, b: Tensor) -> None:
    """Write ∂L/∂W and ∂L/∂b."""
    torch.sum(delta, 0, out=b)
    if _small(delta.shape[0] * W.numel(), h):
        torch.mm(delta.t(), h, out=W)
    elif h.shape[1] < delta.shape[1]:  # oneDNN copies its first operand: the smaller one
        W.t().copy_(product(h.t(), delta.t()))
    else:
        W.copy_(product(delta.t(), h.t()))
