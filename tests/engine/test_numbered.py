"""P-DQN, MP-DQN and PA-DDPG keep the contract of learners, and do what their papers say: beside plain PyTorch, number
by number."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import onnxruntime
import pytest
import torch
from torch import nn

from engine.channel import Weights
from engine.config.rl import AnyLearner, ApartConfig, MPDQNConfig, PADDPGConfig, PDQNConfig, RewardConfig
from engine.errors import ConfigError
from engine.mdp.interface import ActionSpec, Parameterised
from engine.mdp.trajectory import Batch, Trajectory
from engine.mdp.vector import noise_keys
from engine.rl.numbered import inverted
from engine.rl.onnx_acting import acting
from engine.rl.policy import Policy
from engine.rl.surgery import grown
from tests.contracts.learner import LearnerContract, learner, training
from tests.engine.rl_game import Signals

SIZES = (1, 0, 2)
CHOICES = Parameterised(SIZES, (-1.0, 0.0, 5.0), (1.0, 30.0, 6.0))
QUIET = {"still": RewardConfig(weight=0.0)}
GOLDEN = Path(__file__).parent.parent / "golden" / "numbered.json"
LEARN: dict[str, Any] = {"network": ApartConfig(policy=(32,), critic=(32,)), "fragment": 8, "warmup": 200,
                         "minibatch": 32, "updates": 0.25, "rate": 0.01, "numbers_rate": 0.001, "tau": 0.1,
                         "discount": 0.5, "rewards": QUIET, "explore": 0.5}  # fmt: skip
KINDS: dict[str, Any] = {"pdqn": PDQNConfig, "mpdqn": MPDQNConfig, "paddpg": PADDPGConfig}
every_kind = pytest.mark.parametrize("kind", KINDS)


class TestPDQN(LearnerContract):
    action: ClassVar[ActionSpec] = Parameterised(SIZES)

    def config(self, **changes: Any) -> AnyLearner:
        return PDQNConfig(**(LEARN | changes))


class TestMPDQN(TestPDQN):
    def config(self, **changes: Any) -> AnyLearner:
        return MPDQNConfig(**(LEARN | {"beta": 0.2} | changes))


class TestPADDPG(TestPDQN):
    def config(self, **changes: Any) -> AnyLearner:
        return PADDPGConfig(**(LEARN | {"numbers_rate": 0.01} | changes))


def made(kind: str, **changes: Any) -> Any:
    """A small learner that learns at once."""
    settings = {"network": ApartConfig(policy=(24,), critic=(20,)), "minibatch": 20, "max_gradient": 0, "beta": 0.3,
                "numbers_rate": 0.003, "numbers_tau": 0.05, "start": (0.5, 3.0, 5.9), **changes}  # fmt: skip
    found = learner(KINDS[kind](**settings), Signals(CHOICES))
    head = dict(found.model.network.parts(found.theta.detach()))  # type: ignore[attr-defined]
    for name in ("action.0.weight", "numbers.action.0.weight", "choice.action.0.weight"):
        if name in head:
            head[name].mul_(30)  # first outputs are so small that nothing would differ
    found.target.copy_(found.theta.detach())  # type: ignore[attr-defined]
    return found


def fragment(learning: Any, length: int = 12) -> Trajectory:
    run = training(learning.config.model_copy(update={"fragment": length}), lambda: Signals(CHOICES))
    run.sampler.load(Weights("agent", 0, 0, 0, learning.publish()))
    return run.sampler.sample()["agent"]


def drawn(learning: Any) -> list[dict[str, torch.Tensor]]:
    """The columns of a few minibatches."""
    learning.keep(fragment(learning))
    return [learning.tensors(learning.replay.sample(20).columns) for _ in range(5)]


def test_what_a_choice_is_worth_in_mp_dqn_has_no_gradient_in_the_numbers_of_others_and_in_p_dqn_it_has() -> None:
    s = {"signal": torch.eye(3)}
    owner = np.repeat(np.arange(3), SIZES)
    for kind in ("mpdqn", "pdqn"):
        learning = made(kind)
        x = torch.randn(3, 3, generator=torch.Generator().manual_seed(1))
        _, pull = learning.network.worth(learning.theta[learning.network.of_q], s, x)
        for k in range(3):
            g = pull(torch.eye(3)[k].expand(3, 3)).numpy()
            if kind == "mpdqn":
                assert (g[:, owner != k] == 0).all()
            else:
                assert np.abs(g[:, owner != k]).max() > 0
            if SIZES[k]:
                assert np.abs(g[:, owner == k]).max() > 0


def test_a_gradient_vanishes_at_the_bound_that_it_leads_to_and_turns_around_beyond_it() -> None:
    p = torch.tensor([[1.0, -1.0, 1.0, -1.0, 0.0, 0.5, 1.2, -1.2]])
    delta = torch.tensor([[2.0, -2.0, -2.0, 2.0, 2.0, 2.0, 2.0, -2.0]])
    torch.testing.assert_close(inverted(delta, p), torch.tensor([[0.0, 0.0, -2.0, 2.0, 1.0, 0.5, -0.2, 0.2]]))


@every_kind
def test_returns_of_what_was_played_are_right_from_the_first_decision_on(kind: str) -> None:
    learning = made(kind, discount=0.5)
    seen = fragment(learning)
    columns = learning.transitions(seen)
    T, B = seen.rewards.shape[:2]
    reward = seen.rewards.sum(axis=2)
    assert seen.terminated.any()
    assert seen.truncated.any()
    found, factor = (columns[name].reshape(T, B) for name in ("return", "return.factor"))
    for b in range(B):
        for t in range(T):
            ends = [s for s in range(t, T) if seen.ended[s, b]] or [T - 1]
            paid = sum(0.5 ** (s - t) * reward[s, b] for s in range(t, ends[0] + 1))
            assert found[t, b] == pytest.approx(paid, rel=1e-4, abs=1e-5)
            gone = 0.0 if seen.terminated[ends[0], b] else 0.5 ** (ends[0] - t + 1)
            assert factor[t, b] == pytest.approx(gone)
    last = columns["last.signal"].reshape(T, B, 3)
    t, b = seen.final_index.T
    np.testing.assert_array_equal(last[t, b], seen.final_observations["signal"])
    assert np.abs(found[0]).min() > 0


class Reference:
    """Plain PyTorch: modules with the learner's first weights, and an optimiser for each."""

    def __init__(self, learning: Any, put: int, seen: int, valued: int, split: int) -> None:
        theta = learning.theta.detach()
        flat = [theta, learning.phi.detach()] if split == 0 else [theta[:split], theta[split:]]
        self.actor, self.critic = self._layers(3, 24, put), self._layers(seen, 20, valued)
        size = self._fill(self.actor, flat[0])
        self._fill(self.critic, flat[1])
        W, b = torch.split(flat[0][size:], [3 * put, put])
        self.W, self.b = W.view(put, 3), b
        self.actor_target, self.critic_target = copy.deepcopy(self.actor), copy.deepcopy(self.critic)
        moments = (0.95, 0.999) if split == 0 else (0.9, 0.999)
        rates = learning.config.numbers_rate, learning.config.rate
        self.optimisers = [
            torch.optim.Adam(module.parameters(), lr=rate, betas=moments)
            for module, rate in zip((self.actor, self.critic), rates, strict=True)
        ]

    @staticmethod
    def _layers(seen: int, units: int, put: int) -> nn.Module:
        return nn.Sequential(nn.Linear(seen, units), nn.ReLU(), nn.Linear(units, put))

    @staticmethod
    def _fill(module: nn.Module, flat: torch.Tensor) -> int:
        at = 0
        with torch.no_grad():
            for p in module.parameters():
                p.copy_(flat[at : at + p.numel()].view_as(p))
                at += p.numel()
        return at

    def acts(self, module: nn.Module, s: torch.Tensor) -> Any:
        return module(s) + s @ self.W.T + self.b

    def step(self, which: int, loss: torch.Tensor) -> None:
        self.optimisers[which].zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimisers[which].step()

    def follow(self, learning: Any) -> None:
        shares = (self.actor_target, self.actor, learning.config.numbers_tau), (
            self.critic_target, self.critic, learning.config.tau)  # fmt: skip
        with torch.no_grad():
            for target, module, tau in shares:
                for p, q in zip(target.parameters(), module.parameters(), strict=True):
                    p.mul_(1 - tau).add_(q, alpha=tau)


def uphill(g: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    """Inverting gradients as the paper writes them."""
    return torch.where(g > 0, g * (1 - p) / 2, g * (p - -1) / 2)


def mixed(c: dict[str, torch.Tensor], value: Any) -> Any:
    """The targets of a minibatch with β = 0.3."""
    with torch.no_grad():
        off = c["reward"] + c["factor"] * value(c["next.signal"])
        return 0.7 * off + 0.3 * (c["return"] + c["return.factor"] * value(c["last.signal"]))


def agree(learning: Any, pairs: list[tuple[torch.Tensor, nn.Module]]) -> None:
    for mine, module in pairs:
        theirs = torch.cat([p.detach().ravel() for p in module.parameters()])
        np.testing.assert_allclose(mine.detach().numpy()[: len(theirs)], theirs.numpy(), rtol=0, atol=1e-5)


def taught(learning: Any, c: dict[str, torch.Tensor]) -> None:
    learning.tensors = lambda columns: c
    learning._minibatch()


@pytest.mark.parametrize("kind", ["pdqn", "mpdqn"])
def test_p_dqn_and_mp_dqn_are_the_published_algorithms_number_by_number(kind: str) -> None:
    learning = made(kind)
    n = learning.network.x.size
    minibatches, theirs = drawn(learning), Reference(learning, 3, 6, 3, n)
    start = learning.weights()

    def Q(module: nn.Module, s: torch.Tensor, x: torch.Tensor) -> Any:
        if kind == "pdqn":
            return module(torch.cat([s, x], 1))
        found = []
        for k, (a, b) in enumerate([(0, 1), (1, 1), (1, 3)]):
            alone = torch.zeros_like(x)
            alone[:, a:b] = x[:, a:b]
            found.append(module(torch.cat([s, alone], 1))[:, k])
        return torch.stack(found, 1)

    for c in minibatches:
        taught(learning, c)
        s, k, x = c["s.signal"], c["action"][:, 0].long(), c["action"][:, 1:]
        y = mixed(c, lambda s: Q(theirs.critic_target, s, theirs.acts(theirs.actor_target, s)).max(1).values)
        theirs.step(1, ((Q(theirs.critic, s, x)[torch.arange(20), k] - y) ** 2).mean())
        p = theirs.acts(theirs.actor, s).detach().requires_grad_()
        g = torch.autograd.grad(Q(theirs.critic, s, p).sum(1).mean(), p)[0]
        theirs.step(0, -(uphill(g, p.detach()) * theirs.acts(theirs.actor, s)).sum())
        theirs.follow(learning)
    agree(learning, [(learning.theta, theirs.actor), (learning.theta[n:], theirs.critic),
                     (learning.target, theirs.actor_target), (learning.target[n:], theirs.critic_target)])  # fmt: skip
    assert np.abs(learning.weights() - start).max() > 1e-3


def test_pa_ddpg_is_the_published_algorithm_number_by_number() -> None:
    learning = made("paddpg")
    minibatches, theirs = drawn(learning), Reference(learning, 6, 9, 1, 0)
    start = learning.weights()

    def Q(module: nn.Module, s: torch.Tensor, a: torch.Tensor, x: torch.Tensor) -> Any:
        return module(torch.cat([s, a, x], 1))[:, 0]

    def value(s: torch.Tensor) -> Any:
        both = theirs.acts(theirs.actor_target, s)
        taken = torch.full((len(s), 3), -1.0)
        taken[torch.arange(len(s)), both[:, :3].argmax(1)] = 1.0
        return Q(theirs.critic_target, s, taken, both[:, 3:])

    for c in minibatches:
        taught(learning, c)
        s, x = c["s.signal"], c["action"][:, 1:]
        taken = torch.full((20, 3), -1.0)
        taken[torch.arange(20), c["action"][:, 0].long()] = 1.0
        theirs.step(1, ((Q(theirs.critic, s, taken, x) - mixed(c, value)) ** 2).mean())
        p = theirs.acts(theirs.actor, s).detach().requires_grad_()
        g = torch.autograd.grad(Q(theirs.critic, s, p[:, :3], p[:, 3:]).mean(), p)[0]
        theirs.step(0, -(uphill(g, p.detach()) * theirs.acts(theirs.actor, s)).sum())
        theirs.follow(learning)
    agree(learning, [(learning.theta, theirs.actor), (learning.phi, theirs.critic),
                     (learning.target, theirs.actor_target), (learning.phi_target, theirs.critic_target)])  # fmt: skip
    assert np.abs(learning.weights() - start).max() > 1e-3


@pytest.mark.parametrize("kind", ["pdqn", "mpdqn"])
def test_the_largest_value_is_that_of_the_best_choice_where_decisions_were_made_and_asking_draws_nothing(
    kind: str,
) -> None:
    learning = made(kind)
    drawn(learning)
    for _ in range(9):
        learning.practise(learning.replay)
    before = learning.rng.bit_generator.state
    now, _ = learning.seen(learning.tensors(learning.replay.spread(learning.replay.size)))
    network = learning.model.network
    Q = network(network.parts(learning.theta.detach()), now).policy[:, : len(SIZES)]
    found = learning.largest(learning.replay, learning.replay.size)
    assert found == pytest.approx(float(Q.amax(dim=1).mean()), rel=1e-5)
    assert found > float(Q.mean())
    assert learning.rng.bit_generator.state == before


@every_kind
def test_a_policy_begins_with_the_numbers_it_was_given_and_the_layer_that_says_so_stays(kind: str) -> None:
    learning = learner(KINDS[kind](start=(0.5, 3.0, 5.9), warmup=1, updates=0.1), Signals(CHOICES))
    seen = Batch({"signal": np.eye(3, dtype=np.float32)}, None, np.arange(3, dtype=np.uint64))
    first = learning.policy().actor(explore=False)(seen).actions
    np.testing.assert_allclose(first[:, 1:], np.tile([0.5, 3.0, 5.9], (3, 1)), atol=0.3)
    before = learning.policy().spec.model().tensors(learning.weights())
    learning.update(fragment(learning))
    after = learning.policy().spec.model().tensors(learning.weights())
    through = [name for name in before if "through" in name]
    assert len(through) == 2
    for name in before:
        if name in through:
            np.testing.assert_array_equal(after[name], before[name])
        elif name.endswith("action.0.weight"):
            assert not np.array_equal(after[name], before[name])


@pytest.mark.parametrize(("start", "why"), [((1.0,), "has 3 numbers"), ((0.5, 99.0, 5.5), "outside the bounds")])
def test_numbers_to_begin_with_that_the_action_cannot_have_are_refused_at_their_place(
    start: tuple[float, ...], why: str
) -> None:
    with pytest.raises(ConfigError, match=rf"start: .*{why}"):
        learner(MPDQNConfig(start=start), Signals(CHOICES))


def test_numbers_follow_what_is_seen_from_the_first_as_they_are_told_to() -> None:
    slopes = ((0.5, -1.0, 0.0), (0.0, 0.25, 0.0), (0.0, 0.0, 2.0))
    made = learner(MPDQNConfig(slopes=slopes, start=(0.5, 3.0, 5.9)), Signals(CHOICES))
    plain = learner(MPDQNConfig(start=(0.5, 3.0, 5.9)), Signals(CHOICES))
    seen = {made.spec.seat.observations[0].name: torch.tensor([[0.2, 0.6, 0.0], [-1.0, 0.1, 0.5]])}
    x, without = (one.layer.policy_of(one.theta[: one.layer.size], seen).policy for one in (made, plain))
    flat = next(iter(seen.values()))
    assert torch.allclose(x - without, flat @ torch.tensor(slopes).T, atol=1e-6)
    with pytest.raises(ConfigError, match=r"slopes: .*3 numbers, and 3 are seen"):
        learner(MPDQNConfig(slopes=((1.0,),)), Signals(CHOICES))
    assert "slopes" not in MPDQNConfig().model_dump(), "studies without them keep their hash"


@every_kind
def test_numbers_follow_what_the_game_gives_however_it_is_scaled_for_the_network(kind: str) -> None:
    slopes = ((0.5, -1.0, 0.0), (0.0, 0.25, 0.0), (0.0, 0.0, 2.0))
    following, plain = (made(kind, normalise_observations=True, start=(0.5, 3.0, 5.9), slopes=s) for s in (slopes, ()))
    (spec,) = following.spec.seat.observations
    seen = torch.tensor([[0.2, 0.6, 0.0], [-0.5, 0.1, 0.5]])
    for length in (5, 9, 17):
        played = fragment(plain, length)
        for learning in (following, plain):
            learning.observe(played)
        scaled = following.model.scaling(following.scales(), {spec.name: seen})
        assert not torch.allclose(scaled[spec.name], seen), "it is scaled"
        for of in ("theta", "target"):
            size = following.layer.size
            x, without = (one.layer.policy_of(getattr(one, of)[:size], scaled).policy for one in (following, plain))
            added = (x - without)[:, -3:]
            assert torch.allclose(added, seen @ torch.tensor(slopes).T, atol=1e-5)


def test_choices_without_numbers_are_refused_in_words() -> None:
    with pytest.raises(ConfigError, match="kind: none of the choices has a number of its own; take PPO"):
        learner(MPDQNConfig(), Signals(Parameterised((0, 0, 0))))


@every_kind
def test_exploration_takes_legal_choices_and_uniform_numbers_and_nothing_else_is_the_policy_s(kind: str) -> None:
    policy, n = made(kind).policy(), 4000
    keys = noise_keys(np.arange(n, dtype=np.uint64), np.zeros(n, np.int64), 0)
    masks = np.tile([True, False, True], (n, 1))
    seen = Batch({"signal": np.eye(3, dtype=np.float32)[np.arange(n) % 3]}, masks, keys)
    best = policy.actor(explore=False)(seen).actions
    always, seldom = (
        policy._replace(weights=np.append(policy.weights[:-1], np.float32(e))).actor()(seen).actions for e in (1, 0.2)
    )
    assert set(np.unique(always[:, 0])) == {0.0, 2.0}
    assert 0.45 < (always[:, 0] == 0).mean() < 0.55
    low, high = CHOICES.bounds
    assert ((always[:, 1:] >= low) & (always[:, 1:] <= high)).all()
    np.testing.assert_allclose(always[:, 1:].mean(axis=0), (low + high) / 2, atol=0.03 * (high - low).max())
    assert 0.17 < (seldom != best).any(axis=1).mean() < 0.23


@every_kind
def test_the_exported_graph_takes_the_policy_s_action(kind: str) -> None:
    policy = made(kind).policy()
    again = Policy.unpack(*policy.pack())
    seen = np.random.default_rng(1).normal(size=(9, 3)).astype(np.float32)
    legal = np.ones((9, 3), np.bool_)
    legal[:4, 0] = False
    mine = again.actor(explore=False)(Batch({"signal": seen}, legal, np.arange(9, dtype=np.uint64))).actions
    session = onnxruntime.InferenceSession(acting(policy, sampled=False))
    (found,) = session.run(["action"], {"signal": seen, "legal": legal})
    np.testing.assert_allclose(found, mine, rtol=1e-5, atol=1e-5)
    with pytest.raises(ConfigError, match="no odds"):
        acting(policy, sampled=True)


@every_kind
def test_a_trained_policy_begins_one_of_the_same_size_and_no_other(kind: str) -> None:
    one, same, larger = (made(kind, network=ApartConfig(policy=(n,), critic=(n,))) for n in (8, 8, 12))
    policy = one.policy()
    np.testing.assert_array_equal(grown(policy, same.policy().spec, same.weights()), policy.weights)
    with pytest.raises(ConfigError, match="of the same size only"):
        grown(policy, larger.policy().spec, larger.weights())


@every_kind
def test_each_has_a_golden_result_and_still_gives_it(kind: str) -> None:
    golden = json.loads(GOLDEN.read_text())
    found = golden_run(kind)
    assert len(found) == len(golden[kind]) > 3
    for mine, recorded in zip(found, golden[kind], strict=True):
        assert mine == pytest.approx(recorded, rel=1e-3, abs=1e-4)  # torch's sums differ between machines


def golden_run(kind: str) -> list[dict[str, float]]:
    """What a short training says."""
    config = KINDS[kind](network=ApartConfig(policy=(16,), critic=(16, 8)), warmup=64, minibatch=16, updates=0.1,
                         rate=0.01, numbers_rate=0.003, beta=0.2, discount=0.9)  # fmt: skip
    updates = training(config, lambda: Signals(CHOICES, masked=True), seed=7, steps=320).run()
    names = {"policy_loss", "critic_loss", "gradient", "q", "epsilon"}
    return [{name: value for name, value in u.metrics.items() if name in names} for u in updates]
