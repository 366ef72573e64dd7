"""Layers that are one node of the graph compute what torch's own layers do, and so do their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from engine.config.rl import ApartConfig, ConvConfig
from engine.mdp.interface import ArraySpec, Continuous, SeatSpec
from engine.rl import dense
from engine.rl.critics import Critics
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
@pytest.mark.parametrize(("image", "n"), [(False, 300), (True, 300), (False, 600)])
def test_a_network_and_its_gradients_are_those_of_the_same_layers_one_by_one(
    activation: str, image: bool, n: int
) -> None:
    seen = (ArraySpec("x", (7,)), ArraySpec("number", ()), *([ArraySpec("seen", (2, 9, 9))] if image else []))
    conv = (ConvConfig(channels=3, kernel=4, stride=2), ConvConfig(channels=2, kernel=2, stride=1)) if image else ()
    config = ApartConfig.model_validate({"policy": (128, 256), "conv": conv, "activation": activation})
    network = Network(SeatSpec(seen, LINE), config, outputs=4, values=0)
    rng = np.random.default_rng(1)
    given = {spec.name: torch.from_numpy(rng.standard_normal((n, *spec.shape), np.float32)) for spec in seen}
    theta = torch.from_numpy(rng.standard_normal(network.size).astype(np.float32) * 0.1)
    target = torch.from_numpy(rng.standard_normal((n, 4), np.float32))
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


@pytest.mark.parametrize("activation", ["leaky_relu", "relu", "tanh"])
@pytest.mark.parametrize("n", [1, 7])
def test_small_layers_and_large_ones_say_the_same(activation: dense.Activation, n: int, monkeypatch: Any) -> None:
    layers, rng = dense.Layers((5, 16, 3, 2), activation), torch.Generator().manual_seed(1)
    theta, x, delta = (torch.rand(shape, generator=rng) - 0.5 for shape in ((3, layers.size), (n, 5), (3, n, 2)))
    found = []
    for least in (1 << 24, 0):
        monkeypatch.setattr(dense, "_LEAST", least)
        of = theta.clone().requires_grad_(), x.clone().requires_grad_()
        y = dense.stacked(*of, layers)
        found.append((y.detach(), *torch.autograd.grad(y, of, delta)))
    for small, large in zip(*found, strict=True):
        assert large.abs().max() > 1e-3
        torch.testing.assert_close(small, large)


@pytest.mark.parametrize("activation", ["leaky_relu", "relu", "tanh"])
def test_infinite_numbers_go_through_small_layers_as_through_torch_s(
    activation: dense.Activation, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers, found = dense.Layers((2, 2, 1), activation), []
    theta = torch.tensor([5.0, 5.0, -5.0, -5.0, 0.0, 0.0, 1.0, 0.5, 0.0])
    x = torch.tensor([[3e38, 3e38], [-3e38, 1.0], [0.0, 0.0]])
    for least in (1 << 24, 0):
        monkeypatch.setattr(dense, "_LEAST", least)
        y, pull = dense.sloped(theta, x, layers)
        found.append((y, pull(torch.ones(3, 1))))
    for small, large in zip(*found, strict=True):
        torch.testing.assert_close(small, large, equal_nan=True)


def test_the_tanh_of_small_layers_is_the_nearest_number_or_the_one_beside_it() -> None:
    rng = np.random.default_rng(1)
    plain = [np.linspace(-12, 12, 200_001), 10 ** rng.uniform(-30, 30, 100_000), rng.standard_normal(100_000)]
    x = torch.from_numpy(np.concatenate([*plain, [0.0, np.inf, -np.inf, 3e38]]).astype(np.float32))[:, None]
    layers = dense.Layers((1, 1, 1), "tanh")
    y = dense.forward(torch.tensor([1.0, 0.0, 1.0, 0.0]), x, layers).numpy()[:, 0]
    exact = np.tanh(x.numpy()[:, 0].astype(np.float64))
    assert np.abs(y - exact).max() <= 0.6 * np.spacing(np.float32(0.5)), "rounding alone is half of it"
    assert (np.abs(y - exact) <= 0.6 * np.spacing(np.abs(exact).astype(np.float32))).all()
    assert (np.abs(y) <= 1).all()


@pytest.mark.parametrize("activation", ["leaky_relu", "relu", "tanh"])
def test_what_is_not_a_number_stays_so_in_small_layers(activation: dense.Activation) -> None:
    layers = dense.Layers((2, 4, 1), activation)
    theta, x = torch.rand(layers.size), torch.tensor([[1.0, torch.nan], [1.0, 1.0]])
    y = dense.forward(theta, x, layers)
    assert torch.isnan(y[0])
    assert torch.isfinite(y[1])


@pytest.mark.parametrize("shared", [False, True])
def test_networks_side_by_side_give_the_same_gradient_outside_the_graph(shared: bool) -> None:
    layers, rng = dense.Layers((5, 16, 2), "tanh"), torch.Generator().manual_seed(1)
    theta = torch.rand(3, layers.size, generator=rng).requires_grad_()
    x, target = torch.rand(*([] if shared else [3]), 9, 5, generator=rng), torch.rand(3, 9, 2, generator=rng)
    theirs = dense.stacked(theta, x, layers)
    mine, pull = dense.stack_pulled(theta.detach(), x, layers)
    torch.testing.assert_close(mine, theirs.detach(), rtol=0, atol=0)
    (g,) = torch.autograd.grad((theirs * target).sum(), theta)
    torch.testing.assert_close(pull(target), g.flatten(), rtol=0, atol=0)


@pytest.mark.parametrize("image", [False, True])
def test_two_critics_have_the_gradients_that_the_graph_gives_them(image: bool) -> None:
    seen = (ArraySpec("x", (3,)), ArraySpec("number", ()), *([ArraySpec("seen", (2, 9, 9))] if image else []))
    conv = (ConvConfig(channels=3, kernel=4, stride=2),) if image else ()
    config = ApartConfig(policy=(8,), critic=(16, 8), conv=conv)
    critics = Critics(SeatSpec(seen, Continuous((-1.0,) * 2, (1.0,) * 2, (2,))), config)
    rng = np.random.default_rng(1)
    s = {spec.name: torch.from_numpy(rng.standard_normal((20, *spec.shape), np.float32)) for spec in seen}
    phi = torch.from_numpy(rng.standard_normal(critics.size).astype(np.float32) * 0.3).requires_grad_()
    a = torch.from_numpy(rng.standard_normal((20, 2), np.float32)).requires_grad_()
    slope = torch.from_numpy(rng.standard_normal((2, 20), np.float32))
    theirs = critics.values(phi, s, a)
    each = [critics.values(phi, s, one)[k] for k, one in enumerate((a, 2 * a))]
    torch.testing.assert_close(critics.values(phi, s, torch.stack([a, 2 * a])), torch.stack(each))
    torch.testing.assert_close(critics.least(phi, s, a), torch.minimum(*theirs))
    Q, to_phi = critics.pulled(phi.detach(), s, a.detach())
    first, to_a = critics.sloped(phi.detach(), s, a.detach())
    torch.testing.assert_close(Q, theirs.detach())
    torch.testing.assert_close(first, theirs[0].detach())
    (of_phi,) = torch.autograd.grad((theirs * slope).sum(), phi, retain_graph=True)
    (of_a,) = torch.autograd.grad((theirs[0] * slope[0]).sum(), a)
    assert min(float(of_phi.abs().max()), float(of_a.abs().max())) > 1e-3
    torch.testing.assert_close(to_phi(slope), of_phi)
    torch.testing.assert_close(to_a(slope[0]), of_a)
