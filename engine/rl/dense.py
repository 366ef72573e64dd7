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

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from engine.rl import small_layers

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

    @property
    def above(self) -> Layers:
        """All but the first."""
        return Layers(self.widths[1:], self.activation)

    def first(self, theta: Tensor) -> tuple[tuple[Tensor, Tensor], Tensor]:
        """(W, b) of the first layer, and the θ of those above."""
        i, o = self.widths[:2]
        return (theta[: i * o].view(o, i), theta[i * o : (i + 1) * o]), theta[(i + 1) * o :]

    def each(self, theta: Tensor) -> list[Parts]:
        """The same of each of K networks, θ [K, ``size``]."""
        (sizes, shapes), K = _places(self.widths), theta.shape[0]
        pieces = theta.split_with_sizes(sizes, 1)
        W = [piece.view(K, *shape).unbind() for piece, shape in zip(pieces[::2], shapes, strict=True)]
        b = [piece.unbind() for piece in pieces[1::2]]
        return [[(W[i][k], b[i][k]) for i in range(len(shapes))] for k in range(K)]


class Small(NamedTuple):
    """What ``engine.rl.small_layers`` takes of layers: ``widths``, ``between`` (the sum of those between) and
    ``slope``; ``largest``: weights of the largest matrix."""

    widths: NDArray[np.int64]
    between: int
    slope: np.float32
    largest: int

    def takes(self, rows: int, x: Tensor) -> bool:
        """Whether so many rows of ``x`` are few enough to be computed there."""
        return 0 < rows * self.largest < _LEAST and x.is_cpu


@cache
def small_of(layers: Layers) -> Small:
    slopes = {"relu": np.float32(0), "leaky_relu": np.float32(SLOPE), "tanh": small_layers.TANH}
    largest = max(a * b for a, b in itertools.pairwise(layers.widths))
    return Small(np.array(layers.widths), sum(layers.widths[1:-1]), slopes[layers.activation], largest)


@cache
def _places(widths: tuple[int, ...]) -> tuple[list[int], list[tuple[int, int]]]:
    """The sizes of each layer's matrix and of its biases, and the shapes of the matrices."""
    shapes = [(units, width) for width, units in itertools.pairwise(widths)]
    return [n for units, width in shapes for n in (units * width, units)], shapes


def forward(theta: Tensor, x: Tensor, layers: Layers) -> Tensor:
    """y [n, o] for x [n, i] and θ [``layers.size``], differentiable once in both."""
    return stacked(theta[None], x, layers)[0]


Pull = Callable[[Tensor], Tensor]
"""Gives the gradient in what a function was given from that in what it returned."""


def pulled(theta: Tensor, x: Tensor, layers: Layers) -> tuple[Tensor, Pull]:
    """y [n, o] as from ``forward``, and ∂L/∂θ from ∂L/∂y, outside the graph: its engine takes longer than small
    products."""
    y, pull = stack_pulled(theta[None], x, layers)
    return y[0], lambda delta: pull(delta[None])


def sloped(theta: Tensor, x: Tensor, layers: Layers) -> tuple[Tensor, Pull]:
    """y [n, o] as from ``forward``, and ∂L/∂x from ∂L/∂y, outside the graph."""
    y, back = _ran(theta[None], x, layers)

    def pull(delta: Tensor) -> Tensor:
        _, gx = back(delta[None], False, True)
        assert gx is not None
        return gx[0]

    return y[0], pull


def stacked(theta: Tensor, x: Tensor, layers: Layers) -> Tensor:
    """y [K, n, o] of K networks of the same shape, θ [K, ``layers.size``], for x [K, n, i], or for one x [n, i] that
    all of them look at; one node of the graph, differentiable once in both. Products stay one for each network: a
    batched one (MKL) takes 1.7 times as long."""
    if not (torch.is_grad_enabled() and (theta.requires_grad or x.requires_grad)):
        return _ran(theta, x, layers)[0]
    found: Tensor = _Stack.apply(theta, x, layers)  # type: ignore[no-untyped-call]
    return found


def stack_pulled(theta: Tensor, x: Tensor, layers: Layers) -> tuple[Tensor, Pull]:
    """y [K, n, o] as from ``stacked``, and ∂L/∂θ [K · ``layers.size``] from ∂L/∂y, outside the graph."""
    y, back = _ran(theta, x, layers)

    def pull(delta: Tensor) -> Tensor:
        g, _ = back(delta, True, False)
        assert g is not None
        return g.flatten()

    return y, pull


Back = Callable[[Tensor, bool, bool], tuple[Tensor | None, Tensor | None]]
"""(∂L/∂θ [K, ``size``], ∂L/∂x [K, n, i]) from ∂L/∂y [K, n, o], each if it is asked for."""


def _ran(theta: Tensor, x: Tensor, layers: Layers) -> tuple[Tensor, Back]:
    """y as from ``stacked``, and the way back, neither in the graph."""
    theta, x = theta.detach(), x.detach()
    small = small_of(layers)
    if small.takes(x.shape[-2], x):
        return _ran_small(theta, x, small)
    return _ran_by_torch(theta, x, layers)


def _ran_small(theta: Tensor, x: Tensor, small: Small) -> tuple[Tensor, Back]:
    """In one call each way: operations of torch begin more slowly than such layers are computed."""
    small_layers.on_one_thread()
    weights, seen = theta.contiguous().numpy(), (x if x.dim() > 2 else x[None]).contiguous().numpy()
    (K, size), (_, n, i), slope, widths = weights.shape, seen.shape, small.slope, small.widths
    hidden, y = np.empty((K, n * small.between), np.float32), np.empty((K, n, widths[-1]), np.float32)
    small_layers.ahead(weights, seen, widths, slope, hidden, y)

    def back(delta: Tensor, of_theta: bool, of_x: bool) -> tuple[Tensor | None, Tensor | None]:
        g, gx = np.empty((K if of_theta else 0, size), np.float32), np.empty((K if of_x else 0, n, i), np.float32)
        small_layers.back(weights, seen, widths, slope, hidden, delta.contiguous().numpy(), g, gx)
        return torch.from_numpy(g) if of_theta else None, torch.from_numpy(gx) if of_x else None

    return torch.from_numpy(y), back


def _ran_by_torch(theta: Tensor, x: Tensor, layers: Layers) -> tuple[Tensor, Back]:
    """By operations of torch: on a GPU, and large ones."""
    whole = layers.each(theta)
    seen = [x] * len(whole) if x.dim() == 2 else x.unbind()
    made = [run(parts, own, layers.activation) for parts, own in zip(whole, seen, strict=True)]

    def back(delta: Tensor, of_theta: bool, of_x: bool) -> tuple[Tensor | None, Tensor | None]:
        g = torch.empty_like(theta) if of_theta else None
        places: Sequence[Parts | None] = [None] * len(whole) if g is None else layers.each(g)
        rows = zip(whole, made, delta.unbind(), places, strict=True)
        found = [_back(parts, inputs, own, layers.activation, place, of_x) for parts, (_, inputs), own, place in rows]
        return g, torch.stack([one for one in found if one is not None]) if of_x else None

    return torch.stack([y for y, _ in made]), back


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


class _Stack(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, theta: Tensor, x: Tensor, layers: Layers) -> Tensor:
        y, ctx.back = _ran(theta, x, layers)
        ctx.save_for_backward(theta, x)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, delta: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        _, x = ctx.saved_tensors  # says so where one of them was changed in between
        g, gx = ctx.back(delta, *ctx.needs_input_grad[:2])
        return g, gx.sum(0) if gx is not None and x.dim() == 2 else gx, None


def _weights_of(delta: Tensor, h: Tensor, W: Tensor, b: Tensor) -> None:
    """Write ∂L/∂W and ∂L/∂b."""
    torch.sum(delta, 0, out=b)
    if _small(delta.shape[0] * W.numel(), h):
        torch.mm(delta.t(), h, out=W)
    elif h.shape[1] < delta.shape[1]:  # oneDNN copies its first operand: the smaller one
        W.t().copy_(product(h.t(), delta.t()))
    else:
        W.copy_(product(delta.t(), h.t()))
