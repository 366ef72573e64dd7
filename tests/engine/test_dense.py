"""Layers that are one node of the graph compute what torch's own layers do, and so do their gradients."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from engine.config.rl import ApartConfig, ConvConfig
from engine.mdp.interface import ArraySpec, Continuous, SeatSpec
from engine.rl import dense
from engine.rl.networks import Network

LINE = Continuous((-1.0,), (1.0,), (1,))


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("n", "i", "o"), [(256, 64, 160), (3, 5, 1)])
def test_products_are_torch_s_whatever_the_strides(n: int, i: int, o: int, transposed: bool) -> None:
    rng = torch.Generator().manual_seed(n)
    x, W = (torch.rand(shape, generator=rng) for shape in (((i, n), (i, o)) if transposed else ((n, i), (o, i))))
    x, W, b = (x.t(), W.t(), torch.rand(o, generator=rng)) if transposed else (x, W, torch.rand(o, generator=rng))
    torch.testing.assert_close(dense.product(x, W, b), (x.double() @ W.double().t() + b).float())
    torch.testing.assert_close(dense.product(x, W), (x.double() @ W.double().t()).float())


@pytest.mark.parametrize("activation", ["leaky_relu", "relu", "tanh"])
@pytest.mark.parametrize("image", [False, True])
def test_a_network_and_its_gradients_are_those_of_the_same_layers_one_by_one(activation: str, image: bool) -> None:
    seen = (ArraySpec("x", (7,)), ArraySpec("number", ()), *([ArraySpec("seen", (2, 9, 9))] if image else []))
    conv = (ConvConfig(channels=3, kernel=4, stride=2), ConvConfig(channels=2, kernel=2, stride=1)) if image else ()
    config = ApartConfig.model_validate({"policy": (128, 256), "conv": conv, "activation": activation})
    network = Network(SeatSpec(seen, LINE), config, outputs=4, values=0)
    rng = np.random.default_rng(1)
    given = {spec.name: torch.from_numpy(rng.standard_normal((300, *spec.shape), np.float32)) for spec in seen}
    theta = torch.from_numpy(rng.standard_normal(network.size).astype(np.float32) * 0.1)
    target = torch.from_numpy(rng.standard_normal((300, 4), np.float32))
    found = []
    for ahead in (network.policy_of, lambda theta, seen: network(network.parts(theta), seen)):
        of = {"θ": theta.clone().requires_grad_(), "x": given["x"].clone().requires_grad_()}
        y = ahead(of["θ"], given | {"x": of["x"]}).policy
        found.append((y, *torch.autograd.grad((y * target).mean(), list(of.values()))))
    for mine, theirs in zip(*found, strict=True):
        assert theirs.abs().max() > 1e-4
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-6)


def test_only_what_is_asked_for_is_differentiated() -> None:
    layers = dense.Layers((3, 8, 2), "relu")
    theta, x = torch.rand(layers.size), torch.rand(5, 3, requires_grad=True)
    (g,) = torch.autograd.grad(dense.forward(theta, x, layers).sum(), x)
    assert g.shape == x.shape
    assert not dense.forward(theta, x.detach(), layers).requires_grad
