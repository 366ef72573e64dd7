"""TD3 and SAC keep the contract of learners, and do what their papers say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from scipy.stats import kstest

from engine.bench.peers import sb3_twin
from engine.channel import Weights
from engine.config.base import parse
from engine.config.rl import AnyLearner, ApartConfig, RewardConfig, SACConfig, TD3Config
from engine.errors import ConfigError
from engine.mdp.interface import ActionSpec, ArraySpec, Continuous, SeatSpec
from engine.mdp.trajectory import Batch
from engine.mdp.vector import noise_keys
from engine.rl.sac import SAC
from engine.rl.td3 import TD3
from engine.rl.twin import Transitions
from tests.contracts.learner import LearnerContract, learner, training
from tests.engine.rl_game import Signals

SMALL = ApartConfig(policy=(32,), critic=(32,))
LINE = Continuous((-2.0,), (2.0,), (1,))
QUIET = {"still": RewardConfig(weight=0.0)}


class TestTD3(LearnerContract):
    action: ClassVar[ActionSpec] = LINE

    def config(self, **changes: Any) -> AnyLearner:
        given = {"network": SMALL, "fragment": 8, "warmup": 200, "minibatch": 32, "updates": 0.25, "rate": 0.01,
                 "discount": 0.5, "rewards": QUIET}  # fmt: skip
        return TD3Config(**(given | changes))


class TestSAC(LearnerContract):
    action: ClassVar[ActionSpec] = LINE

    def config(self, **changes: Any) -> AnyLearner:
        given = {"network": SMALL, "fragment": 8, "warmup": 200, "minibatch": 32, "updates": 0.25, "rate": 0.01,
                 "discount": 0.5, "rewards": QUIET, "alpha": 0.1}  # fmt: skip
        return SACConfig(**(given | changes))


REFERENCE = Path(__file__).parent.parent / "golden" / "sb3_twin.npz"
"""Made by ``engine/bench/peers/sb3_twin.py reference`` with Stable-Baselines3 2.9.2."""


@pytest.mark.parametrize("kind", ["td3", "sac"])
def test_from_the_same_weights_a_hundred_minibatches_give_the_parameters_of_stable_baselines(kind: str) -> None:
    policy, critics, minibatches = sb3_twin.scripted(kind)
    made = made_as_theirs(kind)
    made._log_slope = lambda u: torch.log(1 - torch.tanh(u) ** 2 + 1e-6)  # theirs is not exact; ours differs by 2e-5
    made.start_from(np.concatenate([sb3_twin.flat(policy), np.zeros(made.model.extra, np.float32)]))
    phi = np.concatenate([sb3_twin.flat(critic) for critic in critics])
    made.take_critics(np.concatenate([phi, phi]))
    for each in minibatches:
        noise = [torch.from_numpy(numbers) for numbers in each.noise]
        made._noise = lambda like, noise=noise: noise.pop(0)
        made.draw = lambda each=each: transitions(each)
        made._minibatch()
    with np.load(REFERENCE) as theirs:
        for name in ("theta", "phi", "phi_target", *(["log_alpha"] if kind == "sac" else [])):
            mine = getattr(made, name).detach().numpy()
            np.testing.assert_allclose(mine, theirs[f"{kind}.{name}"], rtol=0, atol=1e-5, err_msg=name)
            assert np.abs(theirs[f"{kind}.{name}"]).max() > 1e-3


def made_as_theirs(kind: str) -> Any:
    """A learner with the settings of the reference."""
    network = ApartConfig(policy=sb3_twin.LAYERS, critic=sb3_twin.LAYERS)
    line = Continuous((-1.0,) * sb3_twin.GIVEN, (1.0,) * sb3_twin.GIVEN, (sb3_twin.GIVEN,))
    seat = SeatSpec((ArraySpec("x", (sb3_twin.SEEN,)),), line)
    kinds: dict[str, Any] = {"td3": (TD3, TD3Config), "sac": (SAC, SACConfig)}
    made, config = kinds[kind]
    return made(seat, config(network=network, rate=sb3_twin.RATE), 1, 1000)


def transitions(each: sb3_twin.Given) -> Transitions:
    s, a, r, over, after = (torch.from_numpy(array) for array in each[:5])
    return Transitions({"x": s}, a, r[:, 0], 0.99 * (1 - over[:, 0]), {"x": after})


def drawn(made: Any) -> Transitions:
    """A minibatch of what the learner saw in one fragment."""
    run = training(made.config, lambda: Signals(LINE))
    run.sampler.load(Weights("agent", 0, 0, 0, made.publish()))
    made.keep(run.sampler.sample()["agent"])
    found: Transitions = made.draw()
    return found


def test_critics_learn_against_the_policy_they_are_given_and_the_learner_s_own_has_no_part_in_it() -> None:
    config = TD3Config(network=SMALL, smooth=0.0, minibatch=32)
    one, other = (learner(config, Signals(LINE)) for _ in range(2))
    assert isinstance(one, TD3)
    assert isinstance(other, TD3)
    t = drawn(one)
    stranger = torch.from_numpy(np.random.default_rng(1).standard_normal(len(one.theta)).astype(np.float32))
    other.start_from(np.concatenate([stranger.numpy(), np.zeros(1, np.float32)]))
    before = one.weights()
    one.critic_step(t, stranger)
    other.critic_step(t, other.theta_target)
    torch.testing.assert_close(one.phi, other.phi, rtol=0, atol=0)
    np.testing.assert_array_equal(one.weights(), before)


def test_a_step_along_the_gradient_of_any_policy_raises_what_the_first_critic_says_of_it() -> None:
    made = learner(TD3Config(network=SMALL, minibatch=32), Signals(LINE))
    assert isinstance(made, TD3)
    t = drawn(made)
    theta = torch.from_numpy(np.random.default_rng(1).standard_normal(len(made.theta)).astype(np.float32) * 0.3)
    kept, phi = theta.clone(), made.phi.detach().clone()
    g, loss = made.actor_gradient(t, theta)
    value = made.critics.first(phi, t.s, made.pi(theta, t.s)).mean()
    torch.testing.assert_close(loss, -value)
    assert made.critics.first(phi, t.s, made.pi(theta - 1e-2 * g / g.norm(), t.s)).mean() > value
    torch.testing.assert_close(theta, kept, rtol=0, atol=0)
    torch.testing.assert_close(made.phi.detach(), phi, rtol=0, atol=0)


@pytest.mark.parametrize("kind", ["td3", "sac"])
def test_an_episode_cut_short_goes_on_in_the_target_and_one_that_ended_does_not(kind: str) -> None:
    made = made_as_theirs(kind)
    made.take_critics(np.full(2 * made.critics.size, 0.3, np.float32))
    each = sb3_twin.scripted(kind)[2][0]
    targets: list[Any] = []
    made._regress = lambda t, y, share=1.0: targets.append(y.numpy())
    for over in (0.0, 1.0):
        t = transitions(each._replace(over=np.full_like(each.over, over)))
        made.critic_step(t, made.theta, *([0.0] if kind == "sac" else []))
    np.testing.assert_allclose(targets[1], each.r[:, 0])
    assert (np.abs(targets[0] - targets[1]) > 0.1).all()


def test_td3_acts_by_chance_until_learning_begins_and_near_its_policy_then() -> None:
    made = learner(TD3Config(network=SMALL, warmup=100, explore=0.05), Signals(LINE))
    actor, n = made.policy().actor(), 5000
    batch = Batch({"signal": np.eye(3, dtype=np.float32)[np.arange(n) % 3]}, None, noise_keys(
        np.arange(n, dtype=np.uint64), np.zeros(n, np.int64), 0))  # fmt: skip
    best = made.policy().actor(explore=False)(batch).actions[:, 0]
    assert kstest(actor(batch).actions[:, 0], "uniform", (-2, 4)).pvalue > 0.001
    made.steps = 100
    noise = made.policy().actor()(batch).actions[:, 0] - best
    assert kstest(noise, "norm", (0, 0.1)).pvalue > 0.001, "0.05 of half the range"


def test_the_entropy_s_weight_rises_where_a_policy_draws_too_little_and_falls_where_too_much() -> None:
    made = made_as_theirs("sac")
    for log_pi, more in ((50.0, True), (-50.0, False)):
        before = float(made.log_alpha.detach())
        made.alpha_step({"x": torch.zeros(8, sb3_twin.SEEN)}, torch.full((8,), log_pi))
        assert (float(made.log_alpha.detach()) > before) is more


def test_sac_s_odds_are_those_of_the_numbers_it_draws() -> None:
    """The density of tanh u integrates to 1 over the bounds."""
    made = made_as_theirs("sac")
    n = 200_000
    a, log_pi = made.pi(made.theta.detach(), {"x": torch.zeros(n, sb3_twin.SEEN)})
    inside = (a.abs() < 0.9).all(dim=1)
    volume = torch.exp(-log_pi.double())[inside].sum() / n  # E[1/π over the square] = its area
    assert float(volume) == pytest.approx(1.8**sb3_twin.GIVEN, rel=0.03)


@pytest.mark.parametrize("settings", [TD3Config, SACConfig])
def test_layers_that_critics_cannot_share_are_refused_at_their_place(settings: Any) -> None:
    with pytest.raises(ConfigError, match=r"network\.sharing: .*separate"):
        parse(settings, {"network": {"sharing": "top"}})
    with pytest.raises(ConfigError, match=r"network\.lstm: it learns from single decisions"):
        parse(settings, {"network": {"lstm": 4}})


def golden_run(kind: str) -> list[dict[str, float]]:
    """What a short training on signals says: the same settings and seed always."""
    shared: dict[str, Any] = {"network": ApartConfig(policy=(16,), critic=(16, 8)), "fragment": 8, "discount": 0.9,
                              "rate": 0.01, "warmup": 64, "minibatch": 16, "updates": 0.1, "n_step": 3}  # fmt: skip
    config: AnyLearner = TD3Config(**shared) if kind == "td3" else SACConfig(**shared)
    updates = list(training(config, lambda: Signals(LINE), seed=7, steps=320).run())
    names = {"policy_loss", "critic_loss", "entropy", "gradient", "q", "alpha"}
    return [{name: value for name, value in u.metrics.items() if name in names} for u in updates]


@pytest.mark.parametrize("kind", ["td3", "sac"])
def test_each_has_a_golden_result_and_still_gives_it(kind: str) -> None:
    golden = json.loads((REFERENCE.parent / "steering.json").read_text())
    found = golden_run(kind)
    assert len(found) == len(golden[kind]) > 3
    for mine, recorded in zip(found, golden[kind], strict=True):
        assert mine == pytest.approx(recorded, rel=1e-3, abs=1e-4)  # torch's sums differ between machines
