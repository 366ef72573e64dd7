"""The passes of MP-DQN, compiled: beside what PyTorch and its own gradients make of the same layers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from engine.rl import dense
from engine.rl.passes import Passes

Shape = tuple[tuple[int, ...], tuple[int, ...], int, int]


def passes(counts: tuple[int, ...], seen: int, activation: dense.Activation) -> Passes:
    owner = np.repeat(np.arange(len(counts)), counts)
    return Passes(owner, torch.from_numpy(np.arange(len(counts))[:, None] == owner), seen, activation)


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """Numbers of each choice, widths between, what is seen beside them, and rows."""
    counts = draw(st.lists(st.integers(0, 3), min_size=1, max_size=5).filter(any))
    hidden = draw(st.lists(st.integers(1, 19), max_size=3))
    return tuple(counts), tuple(hidden), draw(st.integers(0, 9)), draw(st.integers(1, 6))


@given(shapes(), st.sampled_from(("relu", "leaky_relu", "tanh")), st.integers(0, 2**31))
def test_compiled_or_not_they_give_the_same_values_and_the_same_gradient_in_the_numbers(
    shape: Shape, activation: dense.Activation, seed: int
) -> None:
    (counts, hidden, seen, n), draw = shape, torch.Generator().manual_seed(seed)
    K, D = len(counts), sum(counts)
    made, layers = passes(counts, seen, activation), dense.Layers((seen + D, *hidden, K), activation)
    theta = torch.randn(layers.size, generator=draw)
    entry = torch.cat([torch.randn(n, seen, generator=draw), torch.zeros(n, D)], dim=1)
    x, delta = torch.randn(n, D, generator=draw), torch.randn(n, K, generator=draw)
    asked = x.clone().requires_grad_()
    Q = made(layers.parts(theta), entry, asked)
    (gradient,) = torch.autograd.grad(Q, asked, delta)
    with pytest.MonkeyPatch.context() as patch:
        for small in (True, False):
            patch.setattr(dense.Small, "takes", lambda *_, small=small: small)
            found, pull = made.pulled(theta, layers, entry, x)
            torch.testing.assert_close(found, Q.detach(), rtol=1e-4, atol=1e-4)
            torch.testing.assert_close(pull(delta), gradient, rtol=1e-4, atol=1e-4)


def test_only_few_rows_are_computed_in_one_call() -> None:
    small = dense.small_of(dense.Layers((63, 256, 128, 64, 3), "relu"))
    assert small.takes(96, torch.empty(32, 5))
    assert not small.takes(1_000_000, torch.empty(0))
    assert not small.takes(0, torch.empty(0))
