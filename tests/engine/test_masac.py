"""MASAC and MADDPG keep the contract of learners, and do what their papers say: beside plain PyTorch, number by
number."""

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
from engine.config.rl import AnyLearner, ApartConfig, MADDPGConfig, MASACConfig, RewardConfig, SACConfig
from engine.errors import ConfigError, EngineError
from engine.mdp.interface import ActionSpec
from engine.mdp.trajectory import Batch, Trajectory
from engine.mdp.vector import noise_keys
from engine.rl.onnx import exported
from engine.rl.policy import Policy
from engine.rl.surgery import grown
from tests.contracts.learner import LearnerContract, learner, training
from tests.engine.squad_game import LINE, group

SMALL = ApartConfig(policy=(32,), critic=(32,))
QUIET = {"still": RewardConfig(weight=0.0)}
KINDS: dict[str, Any] = {"masac": MASACConfig, "maddpg": MADDPGConfig, "sac": SACConfig}
GOLDEN = Path(__file__).parent.parent / "golden" / "groups.json"
LEARN: dict[str, Any] = {"network": SMALL, "fragment": 8, "warmup": 200, "minibatch": 32, "updates": 0.5, "rate": 0.01,
                         "discount": 0.5, "rewards": QUIET}  # fmt: skip


class TestMASAC(LearnerContract):
    action: ClassVar[ActionSpec] = LINE

    def game(self, *, masked: bool = False, image: bool = False) -> Any:
        """Its members have several inputs, none of which is a picture."""
        return group()

    def config(self, **changes: Any) -> AnyLearner:
        return MASACConfig(**(LEARN | {"alpha": 0.05} | changes))


class TestMADDPG(TestMASAC):
    def game(self, *, masked: bool = False, image: bool = False) -> Any:
        return group(apart=True)

    def config(self, **changes: Any) -> AnyLearner:
        return MADDPGConfig(**(LEARN | {"explore": 0.2, "tau": 0.05} | changes))


def made(kind: str, **changes: Any) -> Any:
    """A learner of two entities with the published settings, but small."""
    settings = {"network": ApartConfig(policy=(24, 16), critic=(24, 16)), "minibatch": 20, "max_gradient": 0, **changes}
    config: AnyLearner = KINDS[kind](**settings)
    return learner(config, group(apart=kind == "maddpg"))


def fragment(learning: Any, leaves: int = 0, length: int = 12) -> Trajectory:
    config = learning.config.model_copy(update={"fragment": length})
    run = training(config, lambda: group(apart=config.kind == "maddpg", leaves=leaves))
    run.sampler.load(Weights("agent", 0, 0, 0, learning.publish()))
    return run.sampler.sample()["agent"]


def drawn(learning: Any, leaves: int = 0) -> Any:
    learning.keep(fragment(learning, leaves))
    return learning.draw()


class Reference:
    """Plain PyTorch: a module for each network, an optimiser for each actor."""

    def __init__(self, learning: Any, put: int, critics: int) -> None:
        self.actors = [self._layers(3, put) for _ in range(2)]
        self.critics = [self._layers(2 * 3 + 2 + 2, 1) for _ in range(critics)]
        _fill(self.actors, learning.theta)
        _fill(self.critics, learning.phi)
        self.actor_targets, self.critic_targets = copy.deepcopy(self.actors), copy.deepcopy(self.critics)
        rate = learning.config.rate
        self.actor_optimisers = [torch.optim.Adam(one.parameters(), lr=rate) for one in self.actors]
        self.critic_optimiser = torch.optim.Adam([p for one in self.critics for p in one.parameters()], lr=rate)

    @staticmethod
    def _layers(seen: int, put: int) -> nn.Module:
        return nn.Sequential(nn.Linear(seen, 24), nn.ReLU(), nn.Linear(24, 16), nn.ReLU(), nn.Linear(16, put))

    def step_actors(self, loss: torch.Tensor) -> None:
        for optimiser in self.actor_optimisers:
            optimiser.zero_grad()
        loss.backward()
        for optimiser in self.actor_optimisers:
            optimiser.step()

    def step_critics(self, loss: torch.Tensor) -> None:
        self.critic_optimiser.zero_grad()
        loss.backward()
        self.critic_optimiser.step()

    @staticmethod
    def follow(targets: list[nn.Module], of: list[nn.Module], tau: float) -> None:
        with torch.no_grad():
            for target, one in zip(targets, of, strict=True):
                for p, q in zip(target.parameters(), one.parameters(), strict=True):
                    p.mul_(1 - tau).add_(q, alpha=tau)


def _fill(modules: list[nn.Module], flat: torch.Tensor) -> None:
    parameters = [p for one in modules for p in one.parameters()]
    with torch.no_grad():
        for p, piece in zip(parameters, torch.split(flat.detach(), [p.numel() for p in parameters]), strict=True):
            p.copy_(piece.view_as(p))


def _flat(modules: list[nn.Module]) -> Any:
    return torch.cat([p.detach().ravel() for one in modules for p in one.parameters()]).numpy()


def _seen(s: Any) -> tuple[list[torch.Tensor], torch.Tensor]:
    """What each sees, and what the critics do."""
    own = [s["signal 1"], s["signal 2"]]
    return own, torch.cat([*own, s["here"]], 1)


def _agree(learning: Any, theirs: Reference) -> None:
    for mine, modules in ((learning.theta, theirs.actors), (learning.phi, theirs.critics),
                          (learning.phi_target, theirs.critic_targets)):  # fmt: skip
        np.testing.assert_allclose(mine.detach().numpy(), _flat(modules), rtol=0, atol=1e-5)


def test_masac_is_the_released_algorithm_number_by_number() -> None:
    learning = made("masac")
    theirs, alpha, tau = Reference(learning, 2, 2), 0.2, learning.config.tau
    minibatches = [drawn(learning) for _ in range(5)]
    start = learning.weights()
    noises: list[torch.Tensor] = []
    original = learning._noise
    learning._noise = lambda like: noises.append(original(like)) or noises[-1]

    def acts(own: list[torch.Tensor], xi: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        actions, logs = [], []
        for i, actor in enumerate(theirs.actors):
            mean, log_std = actor(own[i]).chunk(2, dim=1)
            normal = torch.distributions.Normal(mean, log_std.clamp(-20, 2).exp())
            u = mean + log_std.clamp(-20, 2).exp() * xi[:, i : i + 1]
            actions.append(torch.tanh(u))
            logs.append((normal.log_prob(u) - torch.log1p(-(torch.tanh(u) ** 2))).sum(1))
        return torch.cat(actions, 1), torch.stack(logs)

    for t in minibatches:
        noises.clear()
        learning.draw = lambda t=t: t
        learning._minibatch()
        (own, x), (then, after) = _seen(t.s), _seen(t.next)
        with torch.no_grad():
            a, logs = acts(then, noises[1])
            least = torch.minimum(*(q(torch.cat([after, a], 1))[:, 0] for q in theirs.critic_targets))
            y = t.r + t.gamma * (least - alpha * logs.sum(0))
        old, log_old = acts(own, noises[0])  # before the critics move
        losses = [0.5 * ((q(torch.cat([x, t.a], 1))[:, 0] - y) ** 2).mean() for q in theirs.critics]
        theirs.step_critics(losses[0] + losses[1])
        q = torch.minimum(*(q(torch.cat([x, old], 1))[:, 0] for q in theirs.critics))
        theirs.step_actors(sum((alpha * log_old[i] - q).mean() for i in range(2)))  # type: ignore[arg-type]
        theirs.follow(theirs.critic_targets, theirs.critics, tau)
    _agree(learning, theirs)
    assert np.abs(learning.weights() - start).max() > 1e-3


def test_maddpg_is_the_published_algorithm_number_by_number() -> None:
    learning = made("maddpg", penalty=0.3)
    theirs, tau = Reference(learning, 1, 2), learning.config.tau
    minibatches = [drawn(learning) for _ in range(5)]
    assert minibatches[0].r.shape == (20, 2)
    assert (minibatches[0].r[:, 0] != minibatches[0].r[:, 1]).any(), "each has its own"
    for t in minibatches:
        learning.draw = lambda t=t: t
        learning._minibatch()
        (own, x), (then, after) = _seen(t.s), _seen(t.next)
        with torch.no_grad():
            a = torch.cat([torch.tanh(mu(o)) for mu, o in zip(theirs.actor_targets, then, strict=True)], 1)
            y = [t.r[:, i] + t.gamma * q(torch.cat([after, a], 1))[:, 0] for i, q in enumerate(theirs.critic_targets)]
        losses = [((q(torch.cat([x, t.a], 1))[:, 0] - y[i]) ** 2).mean() for i, q in enumerate(theirs.critics)]
        theirs.step_critics(losses[0] + losses[1])
        values = []
        for i, (mu, q) in enumerate(zip(theirs.actors, theirs.critics, strict=True)):
            u = mu(own[i])
            a = torch.cat([torch.tanh(u) if j == i else t.a[:, j : j + 1] for j in range(2)], 1)
            values.append(q(torch.cat([x, a], 1)).mean() - 0.3 * u.square().mean())
        theirs.step_actors(-(values[0] + values[1]))
        theirs.follow(theirs.critic_targets, theirs.critics, tau)
        theirs.follow(theirs.actor_targets, theirs.actors, tau)
    _agree(learning, theirs)
    np.testing.assert_allclose(learning.theta_target.numpy(), _flat(theirs.actor_targets), rtol=0, atol=1e-5)


def test_whoever_of_maddpg_is_out_from_then_on_expects_nothing_more() -> None:
    learning = made("maddpg")
    t = drawn(learning, leaves=3)
    out = t.next["here"][:, 1] == 0
    assert 0 < out.sum() < len(out)
    learning.critics.values = lambda *_: torch.full((2, len(out)), 1000.0)
    seen: list[torch.Tensor] = []
    learning.critics.pulled = lambda *_: (torch.zeros(2, len(out)), lambda delta: seen.append(-delta / 2 * len(out)))
    with pytest.raises(AttributeError):  # the gradient is not computed here
        learning.critic_step(t)
    y = seen[0]
    torch.testing.assert_close(y[1][out], t.r[out, 1])
    torch.testing.assert_close(y[1][~out], (t.r[:, 1] + 1000 * t.gamma)[~out])
    torch.testing.assert_close(y[0], t.r[:, 0] + 1000 * t.gamma)


@pytest.mark.parametrize("kind", ["masac", "maddpg"])
def test_critics_stay_in_the_actors_step_and_actors_in_the_critics(kind: str) -> None:
    learning = made(kind)
    t = drawn(learning)
    theta, phi = learning.theta.detach().clone(), learning.phi.detach().clone()
    if kind == "masac":
        loss = learning.actor_loss(t.s, *learning.pi(learning.theta, t.s), 0.2)
        g = learning.descend(loss)
        learning.critic_step(t, learning.theta, 0.2)
    else:
        g = learning.descend(learning.actor_loss(t))
        learning.critic_step(t)
    assert g.abs().max() > 0
    assert torch.equal(learning.theta.detach(), theta)
    moved = learning.phi.detach().clone()
    assert not torch.equal(moved, phi)
    learning._regress = learning.critic_step = lambda *_: {}
    learning.draw = lambda: t
    learning._minibatch()
    assert torch.equal(learning.phi.detach(), moved)
    assert not torch.equal(learning.theta.detach(), theta)


@pytest.mark.parametrize("kind", ["masac", "maddpg"])
def test_what_is_cut_short_goes_on_in_the_target_and_what_ended_does_not(kind: str) -> None:
    learning = made(kind)
    seen = fragment(learning)
    columns = learning.transitions(seen)
    factor = columns["factor"].reshape(seen.rewards.shape[:2])
    assert seen.truncated.any()
    assert (factor[seen.truncated] == np.float32(learning.config.discount)).all()
    assert (factor[seen.terminated] == 0).all()
    last = {name: columns[f"next.{name}"].reshape(*factor.shape, -1) for name in seen.final_observations}
    t, b = seen.final_index.T
    for name, array in seen.final_observations.items():
        np.testing.assert_array_equal(last[name][t, b], array)


def _beside(trajectory: Trajectory, change: Any) -> Trajectory:
    """The same with other numbers for the second entity wherever it is out."""
    out = trajectory.observations["here"][:-1, :, 1] == 0
    assert 0.2 < out.mean() < 0.9
    actions = trajectory.actions.copy()
    actions[..., 1][out] = change
    return trajectory._replace(actions=actions)


@pytest.mark.parametrize("kind", ["masac", "maddpg", "sac"])
def test_what_an_entity_decides_after_it_is_out_teaches_nobody(kind: str) -> None:
    one, two = (made(kind, warmup=1, updates=0.1) for _ in range(2))
    seen = fragment(one, leaves=3)
    one.update(_beside(seen, 1.7))
    two.update(_beside(seen, -0.4))
    assert one.learned > 3
    np.testing.assert_array_equal(one.weights(), two.weights())
    assert torch.equal(one.phi, two.phi)


@pytest.mark.parametrize("kind", ["masac", "sac"])
def test_an_entity_that_is_out_has_no_part_in_the_entropy_aimed_at(kind: str) -> None:
    learning = made(kind, automatic=True, entropy=-0.5)
    t = drawn(learning, leaves=3)
    there = (t.s["here"] > 0).sum(1)
    assert set(there.tolist()) == {1, 2}
    before = learning.log_alpha.detach().clone()
    learning.alpha_step(t.s, 0.5 * there)  # each that is there has as much as it is to have
    assert torch.equal(learning.log_alpha.detach(), before)
    learning.alpha_step(t.s, 0.5 * there + 0.1)
    assert float(learning.log_alpha.detach()) > float(before)


@pytest.mark.parametrize("kind", ["masac", "sac"])
def test_an_entity_that_is_out_has_no_part_in_odds_and_values(kind: str) -> None:
    learning = made(kind)
    t = drawn(learning, leaves=3)
    _, log_pi = learning.drawn(learning.theta, t.s)
    torch.manual_seed(1)
    learning._noise = lambda like: torch.full_like(like, 0.3)
    _, log_pi = learning.drawn(learning.theta, t.s)
    a, whole = learning.pi(learning.theta, t.s)
    here = t.s["here"] > 0
    torch.testing.assert_close(whole, (log_pi * here).sum(1))
    assert (a[~here[:, 1], 1] == 0).all()
    assert (~here).any()


@pytest.mark.parametrize("kind", ["masac", "maddpg"])
def test_members_play_apart_as_their_group_plays(kind: str) -> None:
    learning = made(kind, normalise_observations=True, warmup=1, updates=0.1)
    learning.update(fragment(learning))
    whole = learning.policy()
    seen = {name: array[0] for name, array in fragment(learning).observations.items()}
    keys = noise_keys(np.arange(8, dtype=np.uint64), np.zeros(8, np.int64), 0)
    together = whole.actor(explore=False)(Batch(seen, None, keys)).actions
    members = [Policy.unpack(*each.pack()) for each in whole.members()]
    assert [each.spec.kind for each in members] == ["squashed" if kind == "masac" else "deterministic"] * 2
    for i, each in enumerate(members):
        own = {"signal": seen[f"signal {i + 1}"]}
        alone = each.actor(explore=False)(Batch(own, None, keys)).actions
        np.testing.assert_allclose(together[:, i : i + 1], alone, rtol=0, atol=1e-6)
    assert (np.abs(together) <= 2).all()


@pytest.mark.parametrize("kind", ["masac", "maddpg"])
def test_a_group_s_graph_puts_out_the_group_s_numbers(kind: str) -> None:
    whole = made(kind).policy()
    seen = {name: array[0] for name, array in fragment(made(kind)).observations.items()}
    session = onnxruntime.InferenceSession(exported(whole))
    wanted = {each.name for each in session.get_inputs()}
    (found,) = session.run(["policy"], {name: array for name, array in seen.items() if name in wanted})
    keys = noise_keys(np.arange(8, dtype=np.uint64), np.zeros(8, np.int64), 0)
    np.testing.assert_allclose(found, whole.actor().numbers(Batch(seen, None, keys)), rtol=0, atol=1e-6)


def test_a_trained_group_begins_one_with_larger_networks_and_plays_as_before() -> None:
    small, large = made("masac"), made("masac", network=ApartConfig(policy=(40, 20), critic=(8,)))
    policy = small.policy()
    large.warm_start(grown(policy, large.policy().spec, large.weights()))
    seen = {name: array[0] for name, array in fragment(small).observations.items()}
    keys = noise_keys(np.arange(8, dtype=np.uint64), np.zeros(8, np.int64), 0)
    batch = Batch(seen, None, keys)
    np.testing.assert_allclose(large.policy().actor().numbers(batch), policy.actor().numbers(batch), rtol=0, atol=1e-6)
    sac: Any = learner(SACConfig(network=SMALL), group())  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="another kind of learner"):
        grown(policy, sac.policy().spec, sac.weights())


@pytest.mark.parametrize("kind", ["masac", "maddpg"])
def test_pictures_are_refused_at_their_place(kind: str) -> None:
    network = {"conv": [{}], "policy": [8], "critic": [8]}
    config: AnyLearner = MASACConfig(network=network) if kind == "masac" else MADDPGConfig(network=network)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"network\.conv: a group's members look at numbers"):
        learner(config, group(image=True, apart=kind == "maddpg"))  # type: ignore[arg-type]
    plain: AnyLearner = MASACConfig() if kind == "masac" else MADDPGConfig()
    with pytest.raises(ConfigError, match=r"kind: '.*' is a picture, and a group's members look at numbers"):
        learner(plain, group(image=True, apart=kind == "maddpg"))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["masac", "maddpg"])
def test_each_has_a_golden_result_and_still_gives_it(kind: str) -> None:
    golden = json.loads(GOLDEN.read_text())
    found = golden_run(kind)
    assert len(found) == len(golden[kind]) > 3
    for mine, recorded in zip(found, golden[kind], strict=True):
        assert mine == pytest.approx(recorded, rel=1e-3, abs=1e-4)  # torch's sums differ between machines


def golden_run(kind: str) -> list[dict[str, float]]:
    """What a short training of a group says."""
    settings: dict[str, Any] = {"network": ApartConfig(policy=(16,), critic=(16, 8)), "fragment": 8, "discount": 0.9,
                                "rate": 0.01, "warmup": 64, "minibatch": 16, "updates": 0.1, "n_step": 3}  # fmt: skip
    config: Any = MASACConfig(**settings, automatic=True) if kind == "masac" else MADDPGConfig(**settings, explore=0.1)
    game = group(apart=config.apart)
    updates = list(training(config, lambda: game, seed=7, steps=320).run())  # type: ignore[arg-type,return-value]
    names = {"policy_loss", "critic_loss", "entropy", "gradient", "q", "alpha"}
    return [{name: value for name, value in u.metrics.items() if name in names} for u in updates]


def test_who_values_what_a_group_does_says_that_it_values_no_action_of_one_player() -> None:
    with pytest.raises(EngineError, match="MADDPG values what a whole group does"):
        made("maddpg").best({})
