"""Distributions, networks, policies on disk, and the ONNX made from them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from engine.config.rl import K4S2, PRESETS, NetworkConfig
from engine.errors import ConfigError, StoreError
from engine.mdp.choosing import uniforms
from engine.mdp.interface import ActionSpec, ArraySpec, Continuous, Discrete, Hybrid, Parameterised, SeatSpec
from engine.mdp.trajectory import Batch
from engine.mdp.vector import noise_keys
from engine.rl.distributions import Distribution
from engine.rl.heads import HEADS
from engine.rl.networks import Network, Recurrent
from engine.rl.onnx import exported
from engine.rl.policy import JSON, TENSORS, Policy, PolicySpec

LINE = Continuous((-2.0, 0.0), (2.0, 10.0), (2,))
ACTIONS: dict[str, ActionSpec] = {
    "discrete": Discrete(4),
    "continuous": LINE,
    "hybrid": Hybrid((Discrete(3), LINE, Discrete(2))),
    "parameterised": Parameterised((1, 0, 2), (-1.0, 0.0, 5.0), (1.0, 30.0, 6.0)),
}
rng = np.random.default_rng(0)


def keys(n: int, tick: int = 0) -> Any:
    return noise_keys(np.arange(n, dtype=np.uint64), np.full(n, tick, np.int64), 0)


def some(spec: ActionSpec, n: int) -> tuple[Distribution, Any, Any, Any]:
    """A distribution, outputs, log spreads and masks."""
    d = Distribution(spec)
    mask = rng.random((n, d.K)) < 0.6 if d.K else None
    if mask is not None:
        mask[: n // 8] = False
    return d, rng.standard_normal((n, d.outputs)).astype(np.float32), np.full(d.D, -0.3, np.float32), mask


@pytest.mark.parametrize("kind", ACTIONS)
def test_acting_and_learning_agree_on_the_probability_of_an_action(kind: str) -> None:
    d, outputs, log_std, mask = some(ACTIONS[kind], 200)
    drawn = d.draw(outputs, log_std, mask, keys(200))
    masks = None if mask is None else torch.from_numpy(mask)
    again = d.log_prob(torch.from_numpy(outputs), torch.from_numpy(log_std), torch.from_numpy(drawn.actions), masks)
    np.testing.assert_allclose(drawn.log_probs, again.numpy(), rtol=1e-4, atol=1e-5)
    assert drawn.actions.dtype == ACTIONS[kind].dtype
    assert drawn.actions.shape == (200, *ACTIONS[kind].row)


@pytest.mark.parametrize("kind", ["discrete", "hybrid", "parameterised"])
def test_masked_choices_have_no_probability_and_no_gradient(kind: str) -> None:
    d, outputs, log_std, mask = some(ACTIONS[kind], 200)
    assert mask is not None
    z = torch.from_numpy(outputs).requires_grad_()
    drawn = d.draw(outputs, log_std, mask, keys(200))
    actions, masks = torch.from_numpy(drawn.actions), torch.from_numpy(mask)
    loss = d.log_prob(z, torch.from_numpy(log_std), actions, masks) + d.entropy(z, torch.from_numpy(log_std), masks)
    loss.sum().backward()
    assert z.grad is not None
    at = 0
    for k in ACTIONS[kind].choices:
        legal = mask[:, at : at + k]
        illegal = ~legal & legal.any(axis=1, keepdims=True)
        assert (z.grad.numpy()[:, at : at + k][illegal] == 0).all()
        assert torch.isfinite(z.grad).all()
        at += k
    chosen = drawn.actions.reshape(200, -1)[:, 0].astype(int)
    first = mask[:, : ACTIONS[kind].choices[0]]
    assert first[np.arange(200), chosen][first.any(axis=1)].all()
    logits = np.where(first, outputs[:, : first.shape[1]], -np.inf)
    best = d.best(outputs, mask).reshape(200, -1)[:, 0].astype(int)
    np.testing.assert_array_equal(best[first.any(axis=1)], logits.argmax(axis=1)[first.any(axis=1)])


def test_choices_are_drawn_as_often_as_their_probability() -> None:
    n, d = 20_000, Distribution(Discrete(4))
    z = np.tile(np.array([0.0, 1.0, -1.0, 2.0], np.float32), (n, 1))
    mask = np.tile([True, True, True, False], (n, 1))
    counts = np.bincount(d.draw(z, np.empty(0, np.float32), mask, keys(n)).actions, minlength=4)
    p = np.exp([0.0, 1.0, -1.0])
    assert counts[3] == 0
    assert chisquare(counts[:3], n * p / p.sum()).pvalue > 0.001


def test_parameters_are_normal_around_their_means_in_the_bounds_units() -> None:
    n, d = 20_000, Distribution(LINE)
    mean, log_std = np.tile(np.array([0.5, -1.0], np.float32), (n, 1)), np.array([0.0, -1.0], np.float32)
    found = d.draw(mean, log_std, None, keys(n)).actions
    for column, centre, half, mu, sigma in ((0, 0.0, 2.0, 0.5, 1.0), (1, 5.0, 5.0, -1.0, np.exp(-1.0))):
        standard = ((found[:, column] - centre) / half - mu) / sigma
        assert kstest(standard, "norm").pvalue > 0.001
    assert found.min() < -2
    assert abs(np.corrcoef(found.T)[0, 1]) < 0.03


def test_entropy_is_the_mean_surprise_of_what_is_drawn() -> None:
    n = 20_000
    for spec in ACTIONS.values():
        d = Distribution(spec)
        outputs = np.tile(rng.standard_normal(d.outputs).astype(np.float32), (n, 1))
        log_std = np.full(d.D, -0.5, np.float32)
        surprise = -d.draw(outputs, log_std, None, keys(n)).log_probs
        expected = float(d.entropy(torch.from_numpy(outputs[:1]), torch.from_numpy(log_std), None)[0])
        assert abs(surprise.mean() - expected) < 4 * surprise.std() / np.sqrt(n) + 1e-4


def test_only_the_chosen_choice_s_parameters_count() -> None:
    d, outputs, log_std, _ = some(ACTIONS["parameterised"], 50)
    drawn = d.draw(outputs, log_std, None, keys(50))
    other = drawn.actions.copy()
    other[other[:, 0] != 2, 2:] += 1
    other[other[:, 0] != 0, 1] += 1
    a, b = (
        d.log_prob(torch.from_numpy(outputs), torch.from_numpy(log_std), torch.from_numpy(x), None)
        for x in (drawn.actions, other)
    )
    torch.testing.assert_close(a, b)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 64), st.integers(0, 63))
def test_what_a_seat_does_does_not_depend_on_its_batch(n: int, i: int) -> None:
    d, outputs, log_std, mask = some(ACTIONS["hybrid"], n)
    i = min(i, n - 1)
    whole = d.draw(outputs, log_std, mask, keys(n))
    alone = d.draw(outputs[i : i + 1], log_std, mask[i : i + 1], keys(n)[i : i + 1])
    np.testing.assert_array_equal(whole.actions[i], alone.actions[0])


def test_a_key_s_stream_is_uniform_and_its_numbers_are_independent() -> None:
    a, b = uniforms(keys(20_000), 0), uniforms(keys(20_000), 1)
    assert kstest(a, "uniform").pvalue > 0.001
    assert kstest(uniforms(keys(20_000, tick=1), 0), "uniform").pvalue > 0.001
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.03


def seat(action: ActionSpec = LINE, *inputs: ArraySpec) -> SeatSpec:
    return SeatSpec(inputs or (ArraySpec("x", (3,)),), action, ("score", "style"))


PICTURE = ArraySpec("picture", (4, 84, 84), "uint8")


def layers(preset: str, *inputs: ArraySpec) -> dict[str, tuple[int, ...]]:
    config = PRESETS[preset].network
    shapes = Network(seat(Discrete(3), *inputs), config, 3, 1).shapes
    return {name.removesuffix(".weight"): shape for name, shape in shapes.items() if name.endswith(".weight")}


def test_table_three_s_networks_have_exactly_its_layers() -> None:
    assert layers("table3-pendulum") == {
        "policy.0": (256, 3), "policy.1": (128, 256), "critic.0": (128, 128), "critic.1": (64, 128),
        "action.0": (3, 128), "value.0": (1, 64),
    }  # fmt: skip
    assert layers("table3-vector-pong") == {
        "policy.0": (256, 3), "policy.1": (128, 256), "action.0": (3, 128), "value.0": (1, 128)
    }  # fmt: skip
    assert layers("table3-gfootball") == {
        "policy.0": (512, 3), "policy.1": (256, 512), "policy.2": (128, 256), "critic.0": (128, 128),
        "critic.1": (64, 128), "action.0": (3, 128), "value.0": (1, 64),
    }  # fmt: skip
    pong = layers("table3-image-pong", PICTURE)
    assert [pong[f"conv.picture.{i}"] for i in range(4)] == [(32, 4, 4, 4)] + [(32, 32, 4, 4)] * 3
    assert pong["policy.0"] == (256, 32 * 3 * 3)


def test_first_weights_are_orthogonal() -> None:
    network = Network(seat(), NetworkConfig(), 2, 1, 2)
    parts = network.parts(torch.from_numpy(network.initial(np.random.default_rng(1))))
    w = parts["policy.1.weight"]
    torch.testing.assert_close(w @ w.t(), 2 * torch.eye(128), atol=1e-4, rtol=0)
    assert float(parts["action.0.weight"].norm(dim=1).max()) == pytest.approx(0.01, rel=1e-3)
    assert not parts["policy.0.bias"].any()


def test_a_critic_on_top_shares_the_policy_s_layers_and_a_separate_one_does_not() -> None:
    for sharing, shared in (("top", True), ("separate", False)):
        network = Network(seat(), NetworkConfig(policy=(8,), critic=(8,), sharing=sharing), 2, 1)  # type: ignore[arg-type]
        theta = torch.from_numpy(network.initial(np.random.default_rng(1))).requires_grad_()
        parts = network.parts(theta)
        network(parts, {"x": torch.ones(2, 3)}).values.sum().backward()
        assert theta.grad is not None
        assert bool(network.parts(theta.grad)["policy.0.weight"].any()) is shared


def test_memory_unrolled_is_memory_stepped_and_begins_anew_with_an_episode() -> None:
    network = Network(seat(), NetworkConfig(policy=(8,), critic=(8, 4), lstm=5), 2, 2)
    parts = network.parts(torch.from_numpy(network.initial(np.random.default_rng(1))))
    T, B = 6, 3
    x = torch.randn(T, B, 3, generator=torch.Generator().manual_seed(1))
    ended = torch.zeros(T, B, dtype=torch.bool)
    ended[2, 1] = ended[4, 0] = True
    state = Recurrent(torch.ones(B, 5), -torch.ones(B, 5))
    whole, states = network.unroll(parts, {"x": x}, state, ended)
    for t in range(T):
        step = network(parts, {"x": x[t]}, state)
        assert step.state is not None
        torch.testing.assert_close(step.policy, whole.policy.view(T, B, -1)[t])
        torch.testing.assert_close(step.values, whole.values.view(T, B, -1)[t])
        torch.testing.assert_close(step.state.h, states.h[t])
        kept = (~ended[t]).float()[:, None]
        state = Recurrent(step.state.h * kept, step.state.c * kept)


def test_networks_that_cannot_be_are_errors_at_their_place() -> None:
    with pytest.raises(ConfigError, match=r"network\.conv: .*image"):
        Network(seat(), NetworkConfig(conv=(K4S2,)), 2, 1)
    with pytest.raises(ConfigError, match="too small for layer 2"):
        Network(seat(LINE, ArraySpec("eye", (1, 8, 8), "uint8")), NetworkConfig(conv=(K4S2,) * 3), 2, 1)
    with pytest.raises(ValueError, match="begin with the policy"):
        NetworkConfig(policy=(64,), critic=(32,))


POLICIES = {
    "line": PolicySpec(seat(), NetworkConfig(policy=(16, 8), critic=(16, 8, 8)), normalise=True),
    "memory": PolicySpec(seat(ACTIONS["hybrid"]), NetworkConfig(policy=(8,), critic=(8,), lstm=6, activation="tanh")),
    "picture": PolicySpec(
        seat(Discrete(3), ArraySpec("eye", (2, 20, 20), "uint8"), ArraySpec("x", (3,)), ArraySpec("one", ())),
        NetworkConfig(conv=(K4S2, K4S2), policy=(8,), critic=(8,), activation="relu"),
    ),
    "values": PolicySpec(seat(Discrete(3)), NetworkConfig(policy=(8,), critic=(8, 8)), kind="q", duelling=True),
    "steering": PolicySpec(seat(), NetworkConfig(policy=(8,), critic=(), sharing="separate"), kind="deterministic"),
    "squashed": PolicySpec(seat(), NetworkConfig(policy=(8,), critic=(), sharing="separate"), kind="squashed"),
    "numbered-actor": PolicySpec(
        seat(ACTIONS["parameterised"]),
        NetworkConfig(policy=(8,), critic=(), sharing="separate"),
        kind="numbered-actor",
    ),
    "numbered-q": PolicySpec(
        seat(ACTIONS["parameterised"], ArraySpec("eye", (2, 20, 20), "uint8"), ArraySpec("x", (3,))),
        NetworkConfig(conv=(K4S2, K4S2), policy=(8,), critic=(6, 4), sharing="separate"),
        kind="numbered-q",
    ),
    "numbered-passes": PolicySpec(
        seat(ACTIONS["parameterised"]),
        NetworkConfig(policy=(8, 6), critic=(6,), sharing="separate"),
        kind="numbered-passes",
        normalise=True,
    ),
}


def policy(name: str) -> Policy:
    spec = POLICIES[name]
    weights = spec.model().initial(np.random.default_rng(2))
    return Policy(spec, weights + 0.3 * np.random.default_rng(3).random(len(weights)).astype(np.float32), 7)


def batch(p: Policy, n: int = 5) -> Batch:
    seen: dict[str, Any] = {
        s.name: (rng.random((n, *s.shape)) * (255 if s.dtype == "uint8" else 2)).astype(s.dtype)
        for s in p.spec.seat.observations
    }
    memory = {name: rng.random((n, *shape)).astype(np.float32) for name, shape in p.spec.model().network.memory.items()}
    return Batch(seen, None, keys(n), memory)


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_saved_and_loaded_is_the_same_to_the_last_bit(name: str, tmp_path: Path) -> None:
    first = policy(name)
    first.save(tmp_path / "p")
    again = Policy.load(tmp_path / "p")
    assert again.spec == first.spec
    assert again.version == 7
    np.testing.assert_array_equal(again.weights, first.weights)
    assert again.pack() == first.pack()
    seen = batch(first)
    np.testing.assert_array_equal(first.actor()(seen).actions, again.actor()(seen).actions)
    described = json.loads((tmp_path / "p" / JSON).read_text())
    assert described["seat"]["action"]["kind"] == first.spec.seat.action.__struct_config__.tag


def test_every_kind_of_policy_is_saved_and_exported_here() -> None:
    of_groups = {kind for kind in HEADS if kind.startswith("team-")}  # in test_squads.py
    assert {spec.kind for spec in POLICIES.values()} == HEADS.keys() - of_groups


@pytest.mark.parametrize("name", POLICIES)
def test_the_onnx_model_says_what_the_network_says(name: str) -> None:
    p = policy(name)
    model, seen = p.spec.model(), batch(p)
    theta = torch.from_numpy(p.weights)
    n = model.network.size
    scales = model.scaling.parts(theta[n : n + model.scaling.size])
    state = Recurrent(*(torch.from_numpy(seen.state[k]) for k in "hc")) if seen.state else None
    observations = {k: torch.from_numpy(v) for k, v in seen.observations.items()}
    expected = model.network(model.network.parts(theta[:n]), model.scaling(scales, observations), state)
    session = onnxruntime.InferenceSession(exported(p), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    found = dict(zip(names, session.run(None, {**seen.observations, **seen.state}), strict=True))
    mine = model.head.numbers(expected)
    np.testing.assert_allclose(found["policy"], mine.numpy(), rtol=1e-4, atol=1e-5)
    assert ("values" in found) == (model.head.values > 0)
    if model.head.values:
        np.testing.assert_allclose(found["values"], expected.values.numpy(), rtol=1e-4, atol=1e-5)
    if expected.state is not None:
        np.testing.assert_allclose(found["c_next"], expected.state.c.numpy(), rtol=1e-4, atol=1e-5)


HUGE = {"kind": "parameterised", "sizes": [1_000_000_000], "low": [], "high": []}


def test_files_that_are_no_policy_are_refused_with_words(tmp_path: Path) -> None:
    description, tensors = policy("line").pack()
    data = json.loads(description)
    seen = data["seat"]["observations"]
    nothing = [seen[0] | {"shape": [0]}, *seen[1:]]
    torn = [seen[0] | {"name": "x\nFinished after 1 s"}, *seen[1:]]
    for broken, why in (
        (b"{", "readable"),
        (json.dumps(data | {"format": "other/9"}).encode(), "other/9"),
        (json.dumps({k: v for k, v in data.items() if k != "seat"}).encode(), "seat"),
        (json.dumps(data | {"network": data["network"] | {"policy": [4]}}).encode(), "begin with"),
        (json.dumps(data | {"kind": "oracle"}).encode(), "oracle"),
        (json.dumps(data | {"version": float("inf")}).encode(), "readable"),
        (b"[" * 100_000, "readable"),
        (json.dumps(data | {"seat": data["seat"] | {"observations": seen * 2}}).encode(), "the same name"),
        (json.dumps(data | {"seat": data["seat"] | {"observations": nothing}}).encode(), "has no numbers"),
        (json.dumps(data | {"seat": data["seat"] | {"observations": torn}}).encode(), "must be one line"),
        (json.dumps(data | {"normalise": False}).encode(), "do not fit"),
        (json.dumps(data | {"seat": data["seat"] | {"action": HUGE}}).encode(), "0 to 100,000 parameters"),
    ):
        with pytest.raises(StoreError, match=why):
            Policy.unpack(broken, tensors)
    choosing = PolicySpec(SeatSpec((ArraySpec("x", (4,)),), Discrete(2)), NetworkConfig(policy=(8,), critic=(8,)))
    said, own = Policy(choosing, choosing.model().initial(np.random.default_rng(0))).pack()
    with pytest.raises(StoreError, match="readable"):  # a team whose members have no numbers to steer by
        Policy.unpack(json.dumps(json.loads(said) | {"kind": "team-squashed"}).encode(), own)
    with pytest.raises(StoreError, match="check sums"):
        Policy.unpack(description, tensors[:-1] + bytes([tensors[-1] ^ 1]))
    with pytest.raises(StoreError, match="no policy"):
        Policy.load(tmp_path)
    assert {JSON, TENSORS} == {"policy.json", "policy.safetensors"}


@pytest.mark.parametrize("number", [np.nan, np.inf, 3e38, -2e19])
def test_a_policy_with_a_weight_that_is_not_finite_or_too_large_is_refused(number: float) -> None:
    first = policy("line")
    with pytest.raises(StoreError, match="not finite"):
        Policy.unpack(*first._replace(weights=np.append(first.weights[:-1], np.float32(number))).pack())


def test_a_greedy_player_takes_the_best_and_an_exploring_one_sometimes_anything() -> None:
    p = policy("values")
    seen = batch(p, 4000)
    certain = p._replace(weights=np.append(p.weights[:-1], np.float32(0.0)))
    curious = p._replace(weights=np.append(p.weights[:-1], np.float32(0.3)))
    best = p.actor(explore=False)(seen).actions
    np.testing.assert_array_equal(certain.actor()(seen).actions, best)
    other = (curious.actor()(seen).actions != best).mean()
    assert 0.16 < other < 0.24
