"""Trained policies begin larger networks: what was there stays as it was, and what is new can be learned."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.config.rl import ConvConfig, NetworkConfig
from engine.errors import ConfigError
from engine.events import Failed, Finished
from engine.job_folder import with_stored_starts
from engine.mdp.interface import ActionSpec, ArraySpec, Continuous, Discrete, Hybrid, Parameterised, SeatSpec
from engine.mdp.trajectory import Batch
from engine.mdp.vector import noise_keys
from engine.rl.networks import Recurrent
from engine.rl.policy import Policy, PolicySpec
from engine.rl.surgery import MARGIN, grown
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from engine.study.learner_factory import make_learners

ROWS = 16
Draw = Any


class Pair(NamedTuple):
    """A specification, and a larger one."""

    before: PolicySpec
    after: PolicySpec


def policy_of(spec: PolicySpec, seed: int = 0) -> Policy:
    """A policy that has learned something: no number of it is 0, and its scales are odd ones."""
    rng, model = np.random.default_rng(seed), spec.model()
    weights = rng.normal(0.0, 0.7, model.size).astype(np.float32)
    scales = weights[model.network.size : model.network.size + model.scaling.size]
    scales[len(scales) // 2 :] = np.abs(scales[len(scales) // 2 :]) + 0.5
    if model.extra:
        weights[-1] = 0.3
    return Policy(spec, weights, 7)


def operated(pair: Pair, seed: int = 0) -> tuple[Policy, Policy]:
    policy = policy_of(pair.before, seed)
    first = pair.after.model().initial(np.random.default_rng(seed + 1))
    return policy, Policy(pair.after, grown(policy, pair.after, first))


def seen(pair: Pair, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The same situations as both see them; where one sees more, with anything in it."""
    rng, now, earlier = np.random.default_rng(seed), {}, {}
    for spec in pair.after.seat.observations:
        numbers = rng.normal(0.0, 2.0, (ROWS, *spec.shape)).astype(np.float32)
        now[spec.name] = numbers if spec.dtype == "float32" else rng.integers(0, 256, numbers.shape).astype(np.uint8)
    for spec in pair.before.seat.observations:
        earlier[spec.name] = np.ascontiguousarray(now[spec.name][(slice(None), *map(slice, spec.shape))])
    return earlier, now


def answered(policy: Policy, observations: dict[str, Any], memory: Any = None) -> Any:
    """What the network says: (numbers, values, recurrent state)."""
    model = policy.spec.model()
    parts = model.network.parts(torch.from_numpy(policy.weights[: model.network.size].copy()))
    scales = model.scaling.parts(torch.from_numpy(policy.weights[model.network.size :].copy()))
    scaled = model.scaling(scales, {name: torch.from_numpy(array) for name, array in observations.items()})
    return model.network(parts, scaled, memory)


@st.composite
def layers(draw: Draw, least: int = 0) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Layers before and after."""
    before = draw(st.lists(st.integers(1, 5), min_size=least, max_size=2))
    return tuple(before), tuple(units + draw(st.integers(0, 3)) for units in before)


@st.composite
def actions(draw: Draw) -> tuple[ActionSpec, ActionSpec]:
    """An action before and after."""
    more = st.integers(0, 2)
    n, d = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    line = Continuous((-1.0,) * d, (2.0,) * d, (d,))
    wider = d + draw(more)
    longer = Continuous((-1.0,) * wider, (2.0,) * wider, (wider,))
    sizes = draw(st.lists(st.integers(0, 2), min_size=1, max_size=3).filter(any))
    larger = [size + draw(more) for size in sizes] + draw(st.lists(st.integers(0, 2), max_size=1))
    last = draw(st.sampled_from([(), (Discrete(3),), (line,)]))
    return draw(st.sampled_from([  # type: ignore[no-any-return]
        (Discrete(n), Discrete(n + draw(more))),
        (line, longer),
        (Hybrid((Discrete(n), line)), Hybrid((Discrete(n + draw(more)), longer, *last))),
        (Parameterised(tuple(sizes)), Parameterised(tuple(larger))),
    ]))  # fmt: skip


@st.composite
def pairs(draw: Draw) -> Pair:
    """A policy's specification, and one that it can begin."""
    flat, more = draw(st.integers(1, 4)), draw(st.integers(0, 3))
    image = draw(st.booleans())
    observations = [
        [ArraySpec("flat", (flat,)), ArraySpec("one", ())],
        [ArraySpec("flat", (flat + more,)), ArraySpec("one", ())],
    ]
    conv: tuple[tuple[ConvConfig, ...], tuple[ConvConfig, ...]] = ((), ())
    if image:
        channels, kernels = draw(st.integers(1, 2)), [ConvConfig(channels=2, kernel=2, stride=1)] * 2
        conv = tuple(kernels), tuple(k.model_copy(update={"channels": 2 + draw(st.integers(0, 1))}) for k in kernels)
        for specs, count in zip(observations, (channels, channels + draw(st.integers(0, 1))), strict=True):
            specs.insert(0, ArraySpec("eye", (count, 4, 3), "uint8"))
    if draw(st.booleans()):
        observations[1].insert(draw(st.integers(0, 1)), ArraySpec("new", (2, 2)))
    body, own = draw(layers()), draw(layers())
    lstm, sharing = draw(st.sampled_from([(0, 0), (2, 2), (2, 4)])), draw(st.sampled_from(["top", "separate"]))
    lstm = lstm if sharing == "top" else (0, 0)
    chosen = draw(actions())
    q = isinstance(chosen[0], Discrete) and not any(lstm) and draw(st.booleans())
    normalise, duelling = draw(st.booleans()), q and draw(st.booleans())
    activation: Any = draw(st.sampled_from(["tanh", "relu", "leaky_relu"]))
    made = []
    for i in range(2):
        critic = (*body[i], *own[i]) if sharing == "top" else own[i]
        network = NetworkConfig(conv=conv[i], policy=body[i], critic=critic, sharing=sharing, lstm=lstm[i],
                                activation=activation)  # fmt: skip
        seat = SeatSpec(tuple(observations[i]), chosen[i], rewards=("score", "style"))
        made.append(PolicySpec(seat, network, "q" if q else "actor-critic", normalise, duelling))
    return Pair(*made)


def old_outputs(pair: Pair) -> list[int]:
    """Where the outputs of before stand among those of after, worked out by name."""
    named = [list(_names(spec.seat.action)) for spec in pair]
    return [named[1].index(name) for name in named[0]]


def _names(action: ActionSpec) -> list[tuple[Any, ...]]:
    if isinstance(action, Parameterised):
        choices = [("choice", i) for i in range(len(action.sizes))]
        return [*choices, *(("number", i, j) for i, size in enumerate(action.sizes) for j in range(size))]
    parts = action.parts if isinstance(action, Hybrid) else (action,)
    choices = [("choice", i, j) for i, part in enumerate(parts) for k in part.choices for j in range(k)]
    return [*choices, *(("number", i, j) for i, part in enumerate(parts) for j in range(len(part.bounds[0])))]


@settings(max_examples=60, deadline=None)
@given(pairs(), st.integers(0, 1000))
def test_a_larger_network_says_what_the_smaller_one_said(pair: Pair, seed: int) -> None:
    policy, larger = operated(pair, seed)
    earlier, now = seen(pair, seed)
    memory: list[Any] = [None, None]
    if units := pair.before.network.lstm:
        h, c = torch.randn(2, ROWS, units, generator=torch.Generator().manual_seed(seed))
        wide = torch.zeros(ROWS, pair.after.network.lstm - units)
        memory = [Recurrent(h, c), Recurrent(torch.cat([h, wide], 1), torch.cat([c, wide], 1))]
    said, says = answered(policy, earlier, memory[0]), answered(larger, now, memory[1])
    at = old_outputs(pair)
    np.testing.assert_allclose(says.policy[:, at], said.policy, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(says.values, said.values, rtol=1e-4, atol=1e-4)
    if units:
        np.testing.assert_allclose(says.state.h[:, :units], said.state.h, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(says.state.c[:, :units], said.state.c, rtol=1e-4, atol=1e-5)
    heads = [spec.model().head for spec in pair]
    told = [head.numbers(outputs) for head, outputs in zip(heads, (said, says), strict=True)]
    np.testing.assert_allclose(told[1][:, at], told[0], rtol=1e-4, atol=1e-4)  # duelling: also what Q is made of


def one(**changes: Any) -> PolicySpec:
    seat = SeatSpec((ArraySpec("flat", (3,)),), changes.pop("action", Discrete(3)))
    network = NetworkConfig(policy=(4,), critic=(4, 4), activation="tanh")
    return PolicySpec(seat, network)._replace(**changes)


def wider(spec: PolicySpec, action: ActionSpec | None = None) -> PolicySpec:
    """With two more units in each layer, two more numbers in sight, and another action."""
    network = spec.network.model_copy(update={"policy": (6,), "critic": (6, 6)})
    seat = SeatSpec((ArraySpec("flat", (5,)),), action or spec.seat.action)
    return spec._replace(seat=seat, network=network)


@pytest.mark.parametrize(("kind", "at"), [("deterministic", [0, 1]), ("squashed", [0, 1, 3, 4])])
def test_actors_of_td3_and_sac_do_what_they_did_with_another_number_to_steer_and_more_to_see(
    kind: str, at: list[int]
) -> None:
    """Of a squashed Gaussian the means come first, then the spreads: those of the new number are in between."""
    plane, space = (Continuous((-1.0,) * d, (2.0,) * d, (d,)) for d in (2, 3))
    before = one(kind=kind, action=plane)
    for normalise in (False, True):
        pair = Pair(before._replace(normalise=normalise), wider(before, space)._replace(normalise=normalise))
        for seed in range(5):
            policy, larger = operated(pair, seed)
            earlier, now = seen(pair, seed)
            says = answered(larger, now).policy[:, at]
            np.testing.assert_allclose(says, answered(policy, earlier).policy, rtol=1e-4, atol=1e-4)
            keys = np.arange(ROWS, dtype=np.uint64)
            acts = [each.actor(explore=False)(Batch(view, None, keys)).actions
                    for each, view in ((policy, earlier), (larger, now))]  # fmt: skip
            np.testing.assert_allclose(acts[1][:, :2], acts[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["actor-critic", "q"])
def test_the_likeliest_action_stays_the_likeliest_whatever_is_new(kind: str) -> None:
    pair = Pair(one(kind=kind), wider(one(kind=kind), Discrete(6)))
    for seed in range(20):
        policy, larger = operated(pair, seed)
        earlier, now = seen(pair, seed)
        keys = noise_keys(np.arange(ROWS, dtype=np.uint64), np.full(ROWS, seed, np.int64), 0)
        before, after = (
            p.actor(explore=False)(Batch(o, None, keys, {})) for p, o in ((policy, earlier), (larger, now))
        )
        np.testing.assert_array_equal(before.actions, after.actions)


def test_a_new_choice_is_drawn_at_most_once_in_a_thousand_decisions_and_the_others_as_before() -> None:
    pair = Pair(one(), wider(one(), Discrete(5)))
    for seed in range(20):
        policy, larger = operated(pair, seed)
        earlier, now = seen(pair, seed)
        p, larger_p = (torch.softmax(answered(*each).policy, 1).numpy() for each in ((policy, earlier), (larger, now)))
        assert (larger_p[:, 3:] > 0).all()
        assert (larger_p[:, 3:] <= np.exp(-MARGIN) / 3 * (1 + 1e-4)).all()
        np.testing.assert_allclose(larger_p[:, :3] / larger_p[:, :3].sum(1, keepdims=True), p, rtol=1e-4)


def test_a_new_number_stands_in_the_middle_of_its_bounds() -> None:
    line, plane = Continuous((-1.0,), (3.0,), (1,)), Continuous((-1.0, 10.0), (3.0, 30.0), (2,))
    _, larger = operated(Pair(one(action=line), wider(one(action=line), plane)))
    batch = Batch(seen(Pair(one(action=line), larger.spec), 1)[1], None, np.empty(ROWS, np.uint64), {})
    assert larger.actor(explore=False)(batch).actions[:, 1] == pytest.approx(20.0)


@pytest.mark.parametrize("action", [Discrete(5), None], ids=["another choice", "the same choices"])
def test_learning_reaches_all_that_is_new(action: ActionSpec | None) -> None:
    pair = Pair(one(), wider(one(), action))
    _, larger = operated(pair)
    model, first = larger.spec.model(), larger.weights.copy()
    theta = torch.from_numpy(larger.weights[: model.network.size].copy()).requires_grad_()
    seen_now = {name: torch.from_numpy(array) for name, array in seen(pair, 3)[1].items()}
    wanted = torch.arange(ROWS) % larger.spec.seat.action.legal
    for _ in range(3):  # what a new unit does is learned first, then what it sees
        outputs = model.network(model.network.parts(theta), seen_now)
        log_p = model.distribution.log_prob(outputs.policy, None, wanted, None)
        loss = (outputs.values - 3.0).square().mean() - log_p.mean()
        (g,) = torch.autograd.grad(loss, theta)
        theta = (theta - 0.1 * g).detach().requires_grad_()
    learned = model.tensors(np.concatenate([theta.detach().numpy(), first[model.network.size :]]))
    before = model.tensors(first)
    assert all((learned[name] != before[name]).all() for name in before), "every number has moved"


@pytest.mark.parametrize("conv", [(), (ConvConfig(channels=2, kernel=2, stride=1),)])
def test_a_policy_begins_itself_to_the_last_bit(conv: tuple[ConvConfig, ...]) -> None:
    seat = SeatSpec((ArraySpec("eye", (1, 3, 3), "uint8"), ArraySpec("flat", (3,))), Discrete(4))
    network = NetworkConfig(conv=conv, policy=(4,), critic=(4,), lstm=3)
    policy, same = operated(Pair(*[PolicySpec(seat, network, normalise=True)] * 2))
    np.testing.assert_array_equal(same.weights, policy.weights)


def test_values_begin_anew_where_there_is_another_number_of_rewards() -> None:
    spec = one()
    after = spec._replace(seat=SeatSpec(spec.seat.observations, spec.seat.action, rewards=("score", "style")))
    policy, larger = operated(Pair(spec, after))
    mine, theirs = (p.spec.model().tensors(p.weights) for p in (larger, policy))
    np.testing.assert_array_equal(mine["action.0.weight"], theirs["action.0.weight"])
    first = after.model().tensors(after.model().initial(np.random.default_rng(1)))
    np.testing.assert_array_equal(mine["value.0.weight"], first["value.0.weight"])


NETWORK = one().network
SEES = one().seat.observations


def network(**changes: Any) -> PolicySpec:
    return one(network=NETWORK.model_copy(update=changes))


def seat(*observations: ArraySpec) -> PolicySpec:
    return one(seat=SeatSpec(observations, Discrete(3)))


@pytest.mark.parametrize(
    ("after", "why"),
    [
        (network(policy=(3,), critic=(3, 4)), "layers of the policy have 4 units, and here 3: give as many"),
        (network(critic=(4, 2)), "layers of the critic have 4, 4 units, and here 4, 2"),
        (network(policy=(4, 4)), "layers of the policy have 4 units, and here 4, 4"),
        (network(sharing="separate"), "the critic of its network is top, and here separate"),
        (network(activation="relu"), "the activation of its network is tanh, and here relu"),
        (network(lstm=4), "0 LSTM units, and here 4"),
        (one(kind="q"), "another kind of learner trained it"),
        (one(normalise=True), "with the scaling of observations off: switch it off here, too"),
        (seat(ArraySpec("other", (3,))), "it sees “flat”, which this game does not show"),
        (seat(ArraySpec("flat", (2,))), "it sees “flat” as 3 of float32, and this game shows 2 of float32"),
        (seat(ArraySpec("flat", (3,), "uint8")), "shows 3 of uint8"),
        (one(action=Discrete(2)), "it chooses among 3 actions, and here are 2"),
        (one(action=Continuous((0.0,), (1.0,), (1,))), "it does a single choice, and here it is numbers"),
    ],
)  # fmt: skip
def test_what_cannot_be_begun_is_refused_with_a_sentence(after: PolicySpec, why: str) -> None:
    with pytest.raises(ConfigError) as refused:
        operated(Pair(one(), after))
    assert any(why in problem.message for problem in refused.value.problems)


def test_all_reasons_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as refused:
        operated(Pair(one(), one(action=Discrete(2), kind="q", network=NETWORK.model_copy(update={"lstm": 2}))))
    assert len(refused.value.problems) == 3


def test_numbers_with_other_bounds_or_another_layout_are_refused() -> None:
    def told(before: ActionSpec, after: ActionSpec) -> str:
        with pytest.raises(ConfigError) as refused:
            operated(Pair(one(action=before), one(action=after)))
        return str(refused.value)

    line = Continuous((0.0, 0.0), (1.0, 1.0), (2,))
    assert "have other bounds" in told(line, Continuous((0.0, 0.0), (1.0, 2.0), (2,)))
    assert "are fewer here" in told(line, Continuous((0.0,), (1.0,), (1,)))
    assert "laid out otherwise" in told(line, Continuous((0.0,) * 4, (1.0,) * 4, (2, 2)))


SMALL: dict[str, Any] = {
    "kind": "train", "game": {"name": "vector-pong", "settings": {}}, "steps": 64, "samplers": 1, "environments": 4,
    "episodes": 2, "pool": {"kind": "local"}, "seed": 3,
    "learner": {"kind": "ppo", "batch": 32, "fragment": 8, "network": {"policy": [4], "critic": [4]}},
}  # fmt: skip
DQN = {"kind": "dqn", "warmup": 16, "fragment": 8, "network": {"policy": [4], "critic": [4]}}


def larger(learner: dict[str, Any]) -> dict[str, Any]:
    return {**learner, "network": {"policy": [9], "critic": [9]}}


@pytest.mark.parametrize("learner", [SMALL["learner"], DQN], ids=["ppo", "dqn"])
def test_a_training_begins_with_a_trained_policy_in_a_larger_network(tmp_path: Path, learner: dict[str, Any]) -> None:
    store = FolderStore(tmp_path)
    *_, last = run(load({**SMALL, "learner": learner}), store)
    assert isinstance(last, Finished), last
    start = last.artifacts["policy_description"]
    study: Any = load({**SMALL, "learner": larger(learner), "start": start})
    begun = make_learners(study, store).policies["agent"].learner
    policy, now = Policy.stored(store, start), begun.policy()
    rng = np.random.default_rng(1)
    sight = {o.name: rng.random((ROWS, *o.shape)).astype(np.float32) for o in policy.spec.seat.observations}
    np.testing.assert_allclose(answered(now, sight).policy, answered(policy, sight).policy, atol=1e-5)
    if learner is DQN:
        np.testing.assert_array_equal(begun.target, begun.theta.detach())  # type: ignore[attr-defined]
    *_, end = run(study, store)
    assert isinstance(end, Finished), end
    assert Policy.stored(store, end.artifacts["policy_description"]).spec.network.policy == (9,)


@pytest.mark.parametrize("where", ["start", "policies.agent.start"])
def test_a_policy_that_cannot_begin_a_training_is_refused_at_its_place(tmp_path: Path, where: str) -> None:
    store = FolderStore(tmp_path)
    *_, last = run(load({**SMALL, "learner": larger(SMALL["learner"])}), store)
    assert isinstance(last, Finished)
    for start, why in ((last.artifacts["policy_description"], "9 units, and here 4"), ("ab" * 32, "")):
        at = {"start": start} if where == "start" else {"policies": {"agent": {"start": start}}}
        (failed,) = run(load({**SMALL, **at}), store)
        assert isinstance(failed, Failed)
        assert failed.permanent
        assert failed.message.startswith(f"{where}: ")
        assert why in failed.message


def exported_policy(folder: Path) -> FolderStore:
    """The files of a policy of SMALL's network, and a store that does not hold them."""
    apart = FolderStore(folder / "apart")
    *_, last = run(load(SMALL), apart)
    assert isinstance(last, Finished)
    Policy.stored(apart, last.artifacts["policy_description"]).save(folder / "agent")
    return FolderStore(folder / "store")


def test_the_command_line_begins_with_the_files_of_a_policy(tmp_path: Path) -> None:
    store = exported_policy(tmp_path)
    for told in ({"start": str(tmp_path / "agent")}, {"policies": {"red": {"start": str(tmp_path / "agent")}}}):
        settled = with_stored_starts({**SMALL, **told}, store.address)
        start = settled.get("start") or settled["policies"]["red"]["start"]
        np.testing.assert_array_equal(
            Policy.stored(store, start).weights, Policy.load(tmp_path / "agent").weights
        )  # fmt: skip
    assert with_stored_starts({**SMALL, "start": "ab" * 32}, store.address)["start"] == "ab" * 32
    with pytest.raises(ConfigError, match=r"start: there is no folder \./nowhere; name one"):
        with_stored_starts({**SMALL, "start": "./nowhere"}, store.address)
    (tmp_path / "agent" / "policy.safetensors").unlink()
    with pytest.raises(ConfigError, match=r"start: there is no policy in .*agent"):
        with_stored_starts({**SMALL, "start": str(tmp_path / "agent")}, store.address)


def test_a_damaged_file_of_a_policy_is_named_and_nothing_is_stored(tmp_path: Path) -> None:
    store, agent = exported_policy(tmp_path), tmp_path / "agent"
    whole = (agent / "policy.safetensors").read_bytes()
    (agent / "policy.safetensors").write_bytes(whole[:-5])
    with pytest.raises(ConfigError, match=r"start: policy\.safetensors in .*agent is not the file that policy\.json"):
        with_stored_starts({**SMALL, "start": str(agent)}, store.address)
    (agent / "policy.safetensors").write_bytes(whole)
    for text in ("[" * 200_000, "{}", "[]", "7", '{"sha256": 3', "\udcff"):
        (agent / "policy.json").write_bytes(text.encode("utf-8", "surrogateescape"))
        with pytest.raises(ConfigError) as refused:
            with_stored_starts({**SMALL, "start": str(agent)}, store.address)
        assert "agent/policy.json is not the description of a policy" in str(refused.value)
    assert not [*store]


def test_several_policies_each_say_with_what_they_begin() -> None:
    both = {"policies": {"red": {"seats": [0]}, "blue": {"seats": [1]}}, "start": "ab" * 32}
    with pytest.raises(ConfigError, match=r"policies\.red\.start"):
        load({**SMALL, **both})
    with pytest.raises(ConfigError, match="start"):
        load({**SMALL, "start": "no hash"})
