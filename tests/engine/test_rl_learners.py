"""Each learning algorithm keeps the contract, and does what its paper says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.channel import Weights
from engine.config.rl import (
    PRESETS,
    A3CConfig,
    AnyLearner,
    DQNConfig,
    IMPALAConfig,
    NetworkConfig,
    PPOConfig,
    RewardConfig,
)
from engine.errors import ConfigError, EngineError
from engine.games.pong import ImagePong, VectorPong
from engine.rl import actor_critic
from engine.rl.a3c import A3C
from engine.rl.devices import device
from engine.rl.dqn import DQN
from engine.rl.factory import gradient_worker
from engine.rl.gradient import Gradient
from engine.rl.ppo import PPO
from engine.rl.sampler import Sampler
from tests.contracts.learner import LearnerContract, curve, fingerprint, learner, training
from tests.engine.rl_game import Signals

GOLDEN = Path(__file__).parent.parent / "golden"
SMALL = NetworkConfig(policy=(32,), critic=(32,))
QUIET = {"still": RewardConfig(weight=0.0)}


def weights(numbers: Any, version: int) -> Weights:
    return Weights("agent", 0, 0, version, {"actor": numbers})


class TestPPO(LearnerContract):
    def config(self, **changes: Any) -> AnyLearner:
        given = {"network": SMALL, "fragment": 16, "batch": 128, "minibatch": 32, "reuse": 6, "rate": 0.01,
                 "discount": 0.5, "rewards": QUIET}  # fmt: skip
        return PPOConfig(**(given | changes))


class TestAsynchronousPPO(TestPPO):
    def config(self, **changes: Any) -> AnyLearner:
        return super().config(**({"asynchronous": True, "minibatch": 0, "rate": 0.03} | changes))


class TestA3C(LearnerContract):
    def config(self, **changes: Any) -> AnyLearner:
        given = {"network": SMALL, "fragment": 5, "batch": 40, "rate": 0.03, "discount": 0.5, "rewards": QUIET}
        return A3CConfig(**(given | changes))


class TestIMPALA(LearnerContract):
    def config(self, **changes: Any) -> AnyLearner:
        given = {"network": SMALL, "fragment": 5, "batch": 40, "rate": 0.03, "discount": 0.5, "rewards": QUIET,
                 "max_gradient": 1.0, "epsilon": 1e-3}  # fmt: skip
        return IMPALAConfig(**(given | changes))


class TestDQN(LearnerContract):
    def config(self, **changes: Any) -> AnyLearner:
        given = {"network": SMALL, "fragment": 8, "warmup": 100, "minibatch": 32, "updates": 0.25, "rate": 0.01,
                 "target_every": 20, "discount": 0.5, "rewards": QUIET, "n_step": 2}  # fmt: skip
        return DQNConfig(**(given | changes))


class TestPlainDQN(TestDQN):
    def config(self, **changes: Any) -> AnyLearner:
        plain = {"double": False, "duelling": False, "prioritised": False, "n_step": 1}
        return super().config(**(plain | changes))


def test_the_first_ratio_of_ppo_is_one() -> None:
    config = PPOConfig(network=SMALL, fragment=16, batch=128, normalise_observations=True, minibatch=32)
    for changes in ({}, {"minibatch": 0}, {"network": SMALL.model_copy(update={"lstm": 8})}):
        run = training(config.model_copy(update=changes), lambda: Signals(masked=True), steps=10**6)
        updates = run.run()
        for _ in range(3):
            ppo = run.learner
            assert isinstance(ppo, PPO)
            ratios = _watch(ppo)
            next(updates)
            np.testing.assert_allclose(ratios[0], 1.0, rtol=2e-5)


def _watch(ppo: PPO) -> list[Any]:
    """The ratios of each step of the next updates."""
    seen: list[Any] = []
    original = type(ppo)._ratio

    def ratio(*arguments: Any) -> Any:
        found = original(ppo, *arguments)
        seen.append(found.detach().numpy())
        return found

    ppo._ratio = ratio  # type: ignore[method-assign]
    return seen


def test_a_clipped_ratio_gives_no_gradient() -> None:
    """Far beyond the clip, and with an advantage of the same sign, θ does not move."""
    config = PPOConfig(network=SMALL, fragment=4, batch=32, critic_weight=0.0, entropy_weight=0.0,
                       normalise_advantages=False, discount=0.0)  # fmt: skip
    made = learner(config, Signals())
    run = training(config, Signals)
    run.sampler.load(weights(made.weights(), 0))
    seen = run.sampler.sample()["agent"]
    before = made.weights()
    made.update(seen._replace(log_probs=seen.log_probs - 5, rewards=np.full_like(seen.rewards, 100)))
    np.testing.assert_array_equal(made.weights(), before)


@pytest.mark.parametrize("minibatch", [0, 48])
def test_a_batch_that_is_too_large_for_one_pass_is_learned_from_in_pieces(
    minibatch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for numbers in (10**6, 3 * 7):  # all rows at once, and seven
        monkeypatch.setattr(actor_critic, "_NUMBERS", numbers)
        config = PPOConfig(network=SMALL, fragment=16, batch=128, minibatch=minibatch, reuse=3)
        run = training(config, lambda: Signals(masked=True), steps=256)
        curve(run)
        found.append(run.learner.weights())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("preset", ["table3-image-pong", "table3-pendulum", "table3-gfootball"])
def test_the_paper_s_networks_learn_from_what_they_see(preset: str) -> None:
    config = PRESETS[preset]
    game: Any = ImagePong() if config.network.conv else VectorPong()
    learner = PPO(game.spec.seats[0], config, 1, 1000)  # type: ignore[arg-type]
    sampler = Sampler(game, {"agent": learner.model}, 2, 4, seed=1)
    sampler.load(weights(learner.weights(), 0))
    before = learner.weights()
    metrics = learner.update(sampler.sample()["agent"])
    assert metrics["ratio"] == pytest.approx(1.0, abs=1e-2)
    assert np.isfinite(learner.weights()).all()
    assert not np.array_equal(before, learner.weights())


def test_training_stops_a_batch_at_the_divergence_it_was_given() -> None:
    config = PPOConfig(network=SMALL, fragment=16, batch=128, minibatch=32, reuse=50, rate=0.05, target_kl=0.01)
    free, held = (curve(training(c, Signals, steps=128)) for c in (config.model_copy(update={"target_kl": 0}), config))
    assert held[0][2]["kl"] < free[0][2]["kl"]


@pytest.mark.parametrize("kind", ["ppo", "a3c", "impala"])
def test_memory_learns_what_was_shown_at_the_beginning_of_an_episode(kind: str) -> None:
    network = NetworkConfig(policy=(16,), critic=(16,), lstm=16)
    shared: dict[str, Any] = {"network": network, "fragment": 14, "batch": 112, "rate": 0.02, "discount": 0.5,
                              "rewards": QUIET, "entropy_weight": 0.003}  # fmt: skip
    config: AnyLearner = {
        "ppo": lambda: PPOConfig(minibatch=56, reuse=4, **shared),
        "a3c": lambda: A3CConfig(**shared),
        "impala": lambda: IMPALAConfig(max_gradient=0.5, epsilon=1e-5, **shared),
    }[kind]()
    steps = 4000 if kind == "ppo" else 8000
    *_, last = training(config, lambda: Signals(blind=True), steps=steps).run()
    assert last.examination is not None
    assert last.examination.returns[:, 0].sum() / last.examination.lengths.sum() > 0.8


def test_an_asynchronous_gradient_is_the_synchronous_update_when_weights_are_the_same() -> None:
    config = A3CConfig(network=SMALL)
    learners = [learner(config, Signals()) for _ in range(3)]
    assert all(isinstance(one, A3C) for one in learners)
    alone, server, worker = learners
    run = training(config, Signals)
    for version in range(3):
        run.sampler.load(weights(server.weights(), version))
        seen = run.sampler.sample()["agent"]
        worker.follow(server.weights(), server.version)
        numbers, losses = worker.gradient(seen)
        metrics = server.apply(Gradient(numbers, worker.version, seen.steps, losses))
        alone.update(seen)
        assert metrics["staleness_max"] == 1.0
        np.testing.assert_array_equal(alone.weights(), server.weights())


def test_a_learner_that_learns_from_batches_refuses_a_gradient_in_words() -> None:
    one = learner(PPOConfig(network=SMALL), Signals())
    before = one.weights()
    with pytest.raises(EngineError, match="ppo learns from batches of decisions and takes no gradients"):
        one.apply(Gradient(np.ones_like(before), 0, 1, {}))
    np.testing.assert_array_equal(one.weights(), before)


def test_late_gradients_are_applied_in_the_order_they_arrive_and_counted_as_late() -> None:
    config = A3CConfig(network=SMALL)
    server, worker = learner(config, Signals()), learner(config, Signals())
    run = training(config, Signals)
    run.sampler.load(weights(server.weights(), 0))
    gradients = [worker.gradient(run.sampler.sample()["agent"])[0] for _ in range(3)]
    late = [server.apply(Gradient(g, 0, 40, {}))["staleness_max"] for g in gradients]
    assert late == [1.0, 2.0, 3.0]


def test_a_worker_gives_the_gradient_of_the_weights_its_fragment_began_with() -> None:
    """Newer ones that arrive in the middle of a fragment act from the next on."""
    config = A3CConfig(network=SMALL)
    server, again = learner(config, Signals()), learner(config, Signals())
    run = training(config, Signals)
    worker = gradient_worker(run.sampler, {"agent": config})
    first, second = server.weights(), server.weights() + np.float32(0.1)
    worker.load(weights(first, 3))
    gradient = worker.sample(lambda: worker.load(weights(second, 4)))["agent"]
    same = training(config, Signals).sampler
    same.load(weights(first, 3))
    again.follow(first, 3)
    np.testing.assert_array_equal(gradient.numbers, again.gradient(same.sample()["agent"])[0])
    assert (gradient.version, gradient.steps) == (3, 40)
    assert worker.sample()["agent"].version == 4


def test_illegal_choices_are_never_in_a_dqn_target() -> None:
    config = DQNConfig(network=SMALL, duelling=False, double=False, prioritised=False)
    dqn = learner(config, Signals(masked=True))
    assert isinstance(dqn, DQN)
    signal = torch.eye(3)
    q = dqn.model.head.numbers(dqn.model.network(dqn.model.network.parts(dqn.theta), {"signal": signal})).detach()
    mask = torch.tensor([[True, False, False], [False, True, False], [False, False, True]])
    columns = {"mask": mask, "reward": torch.zeros(3), "factor": torch.ones(3)}
    y = dqn._targets(dqn.model.network.parts(dqn.theta), {"signal": signal}, columns)
    np.testing.assert_array_equal(y, q.diagonal())


def test_double_dqn_values_with_the_target_what_the_network_chose() -> None:
    dqn = learner(DQNConfig(network=SMALL, duelling=False), Signals())
    assert isinstance(dqn, DQN)
    dqn.target.copy_(torch.from_numpy(np.random.default_rng(1).standard_normal(len(dqn.target)).astype(np.float32)))
    network, signal = dqn.model.network, torch.eye(3)
    mine, theirs = (
        dqn.model.head.numbers(network(network.parts(theta), {"signal": signal})) for theta in (dqn.theta, dqn.target)
    )
    columns = {"reward": torch.ones(3), "factor": torch.full((3,), 0.5)}
    y = dqn._targets(network.parts(dqn.theta), {"signal": signal}, columns)
    expected = 1 + 0.5 * theirs.gather(1, mine.argmax(dim=1, keepdim=True))[:, 0]
    torch.testing.assert_close(y, expected.detach())


def test_a_gpu_is_taken_where_there_is_one_and_told_to_compute_the_same_every_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", "")
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", True)
    assert device() == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    try:
        assert device() == torch.device("cuda")
        assert torch.are_deterministic_algorithms_enabled()
        assert not torch.backends.cudnn.allow_tf32
    finally:
        torch.use_deterministic_algorithms(False)


def test_a_learner_s_state_goes_through_the_engine_s_own_container() -> None:
    run = training(DQNConfig(network=SMALL, warmup=50, minibatch=8), Signals, steps=300)
    curve(run)
    assert fingerprint(run) == fingerprint(run)


def test_dqn_refuses_memory() -> None:
    with pytest.raises(ConfigError, match=r"network\.lstm"):
        learner(DQNConfig(network=NetworkConfig(lstm=4)), Signals())


def golden_run(kind: str) -> list[dict[str, float]]:
    """What a short training on signals says: the same settings and seed always."""
    network = NetworkConfig(policy=(16,), critic=(16, 8))
    shared: dict[str, Any] = {"network": network, "fragment": 8, "discount": 0.9, "rate": 0.01}
    config: AnyLearner = {
        "ppo": lambda: PPOConfig(batch=64, minibatch=32, reuse=2, **shared),
        "ppo-asynchronous": lambda: PPOConfig(batch=64, reuse=2, asynchronous=True, **shared),
        "a3c": lambda: A3CConfig(batch=64, **shared),
        "impala": lambda: IMPALAConfig(batch=64, **shared),
        "dqn": lambda: DQNConfig(warmup=64, minibatch=16, updates=0.1, n_step=3, target_every=10, **shared),
    }[kind]()
    updates = list(training(config, lambda: Signals(masked=True), seed=7, steps=320).run())
    names = {"policy_loss", "critic_loss", "entropy", "kl", "gradient", "q", "epsilon"}
    return [{name: value for name, value in u.metrics.items() if name in names} for u in updates]


@pytest.mark.parametrize("kind", ["ppo", "ppo-asynchronous", "a3c", "impala", "dqn"])
def test_every_learner_has_a_golden_result_and_still_gives_it(kind: str) -> None:
    golden = json.loads((GOLDEN / "learners.json").read_text())
    assert kind in golden, f"record a golden run for {kind}"
    found = golden_run(kind)
    assert len(found) == len(golden[kind])
    for mine, recorded in zip(found, golden[kind], strict=True):
        assert mine == pytest.approx(recorded, rel=1e-3, abs=1e-4)  # torch's sums differ between machines
