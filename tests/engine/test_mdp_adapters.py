"""Environments of others as games: Gymnasium's, ALE's, PettingZoo's, the AI Arena's lists; and what they do wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from pettingzoo import ParallelEnv

from engine.channel import Weights
from engine.config.policies import AGENT
from engine.config.rl import NetworkConfig
from engine.errors import ConfigError, SimulatorError
from engine.mdp.adapters import VectorFromMDP
from engine.mdp.ale import atari
from engine.mdp.arena import arena_mdp
from engine.mdp.gym import GymVector, GymVectorEnv
from engine.mdp.interface import MDP, Array, Discrete, Hybrid, Parameterised, SeatSpec
from engine.mdp.lists import ParallelGame
from engine.mdp.pettingzoo import parallel_mdp
from engine.mdp.spaces import actions, observation_leaves, read
from engine.mdp.trajectory import Batch
from engine.mdp.vector import VectorMDP, seat_ends
from engine.rl.policy import PolicySpec
from engine.rl.sampler import Sampler
from engine.rng import combine64, generator
from engine.simulators.states import from_arrays, to_arrays
from tests.contracts.mdp import VectorContract, Walk, at_random, snapshot


def cartpole(mode: AutoresetMode, n: int = 6) -> GymVectorEnv:
    makers = [lambda: gymnasium.make("CartPole-v1", max_episode_steps=25)] * n
    return GymVectorEnv(SyncVectorEnv(makers, autoreset_mode=mode), label="CartPole-v1")


class Spread(ParallelEnv[str, Any, int]):
    """Three agents; the second ends at tick 4; cut at 9 when its seed is odd, won at 7 otherwise."""

    metadata = {"name": "spread"}
    possible_agents = ["red", "green", "blue"]

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        box = spaces.Box(-10, 10, (2,), np.float64)
        return spaces.Dict({"observation": box, "action_mask": spaces.MultiBinary(3)}) if agent == "red" else box

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Discrete(3) if agent != "blue" else spaces.Box(-1, 1, (2,), np.float32)

    def _seen(self) -> dict[str, Any]:
        seen: dict[str, Any] = {agent: np.array([self.tick, self.luck]) for agent in self.agents}
        if "red" in seen:
            seen["red"] = {"observation": seen["red"], "action_mask": np.array([1, self.tick % 2, 1], np.int8)}
        return seen

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.agents, self.tick = list(self.possible_agents), 0
        self.seed_, self.luck = seed or 0, float(np.random.default_rng(seed).normal())
        return self._seen(), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> Any:
        assert set(actions) == set(self.agents)
        self.tick += 1
        won, cut = self.tick == 7 and self.seed_ % 2 == 0, self.tick == 9
        rewards = {agent: float(np.sum(actions[agent])) for agent in self.agents}
        seen = self._seen()
        terminated = {agent: won or (agent == "green" and self.tick == 4) for agent in self.agents}
        truncated = {agent: cut for agent in self.agents}
        infos: dict[str, Any] = {agent: {} for agent in self.agents}
        self.agents = [a for a in self.agents if not terminated[a] and not truncated[a]]
        return seen, rewards, terminated, truncated, infos


class Relay(ParallelEnv[str, Any, int]):
    """Three agents. A limit cuts the first one off at tick 2, and the last one at tick 4, when the second has won."""

    metadata = {"name": "relay"}
    possible_agents = ["first", "second", "third"]

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Box(0, 10, (1,), np.float32)

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Discrete(2)

    def _seen(self) -> dict[str, Any]:
        return {agent: np.array([self.tick], np.float32) for agent in self.agents}

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.agents, self.tick = list(self.possible_agents), 0
        return self._seen(), {agent: {} for agent in self.agents}

    def step(self, actions: dict[str, Any]) -> Any:
        self.tick += 1
        seen, rewards = self._seen(), {agent: 1.0 for agent in self.agents}
        infos: dict[str, Any] = {agent: {} for agent in self.agents}
        terminated = {agent: agent == "second" and self.tick == 4 for agent in self.agents}
        cut = {"first": 2, "second": 99, "third": 4}
        truncated = {agent: cut[agent] == self.tick for agent in self.agents}
        self.agents = [a for a in self.agents if not terminated[a] and not truncated[a]]
        return seen, rewards, terminated, truncated, infos


class Lists:
    """The list interface: an entity with numbers, one with a picture; cut at tick 6, or won at tick 4."""

    observation_spaces = [spaces.Box(-5, 5, (3,), np.float32), spaces.Box(0, 255, (4, 4, 1), np.uint8)]
    action_spaces = [spaces.Discrete(2), spaces.Box(-1, 1, (2,), np.float32)]

    def seed(self, seed: int) -> None:
        self.luck = seed % 1000

    def reset(self) -> list[Any]:
        self.tick = 0
        return self._seen()

    def _seen(self) -> list[Any]:
        return [np.full(3, self.luck % 5, np.float32), np.full((4, 4, 1), self.tick, np.uint8)]

    def step(self, actions: list[Any]) -> Any:
        self.tick += 1
        won, cut = self.tick == 4 and self.luck % 2 == 0, self.tick == 6
        rewards = [float(actions[0]), float(np.sum(actions[1]))]
        return self._seen(), rewards, won or cut, [{"TimeLimit.truncated": cut}, {}]


class TestVectorCartPole(VectorContract):
    def make(self) -> VectorMDP:
        return cartpole(AutoresetMode.DISABLED, self.battles)

    def test_a_battle_does_not_depend_on_its_batch(self) -> None:
        """The batch is as large as the environment was made for."""
        whole = Walk(self.make(), self.seeds())
        one = Walk(cartpole(AutoresetMode.DISABLED, 1), self.seeds()[4:5])
        for _ in range(60):
            for a, b in zip(snapshot(whole.step()), snapshot(one.step()), strict=True):
                np.testing.assert_array_equal(a[4:5], b)


class TestParallel(VectorContract):
    rounds = 120

    def make(self) -> VectorMDP:
        return VectorFromMDP(parallel_mdp(Spread))

    def mdp(self) -> MDP:
        return parallel_mdp(Spread)


class TestRelay(VectorContract):
    rounds = 160

    def make(self) -> VectorMDP:
        return VectorFromMDP(parallel_mdp(Relay))

    def mdp(self) -> MDP:
        return parallel_mdp(Relay)


class TestLists(VectorContract):
    rounds = 60

    def make(self) -> VectorMDP:
        return VectorFromMDP(arena_mdp(Lists))

    def mdp(self) -> MDP:
        return arena_mdp(Lists)


def test_both_modes_of_a_vector_environment_end_alike() -> None:
    """The first episodes are the same; the last thing seen is the old episode's, not the new one's."""
    walks = [
        Walk(cartpole(mode), np.arange(6, dtype=np.uint64))
        for mode in (AutoresetMode.DISABLED, AutoresetMode.SAME_STEP)
    ]
    alone = Walk(GymVector(lambda: gymnasium.make("CartPole-v1", max_episode_steps=25)), np.arange(6, dtype=np.uint64))
    for _ in range(60):
        one, other, third = (walk.step() for walk in (*walks, alone))
        if one.ended is not None:
            for step in (other, third):
                assert step.ended is not None
                np.testing.assert_array_equal(one.ended.battles, step.ended.battles)
                np.testing.assert_array_equal(
                    one.ended.observations[0]["observation"], step.ended.observations[0]["observation"]
                )
            return
    raise AssertionError("no episode ended")


def test_a_vector_environment_that_wastes_a_step_is_refused() -> None:
    with pytest.raises(ConfigError, match="autoreset mode"):
        cartpole(AutoresetMode.NEXT_STEP)
    with pytest.raises(ConfigError, match="made for 6 battles, not 5"):
        cartpole(AutoresetMode.DISABLED).reset(np.arange(5, dtype=np.uint64))


def test_atari_plays_and_its_time_limit_truncates() -> None:
    game = atari("pong", 2, max_moments=240)
    walk = Walk(game, np.arange(2, dtype=np.uint64))
    assert walk.now.observations[0]["observation"].shape == (2, 4, 84, 84)
    assert walk.now.observations[0]["observation"].dtype == np.uint8
    again = Walk(atari("pong", 1, max_moments=240), np.arange(1, 2, dtype=np.uint64))
    ends = 0
    for _ in range(130):
        step, other = walk.step(), again.step()
        np.testing.assert_array_equal(step.observations[0]["observation"][1:], other.observations[0]["observation"])
        assert not step.terminated.any()
        ends += int(step.truncated.sum())
    assert ends >= 4
    game.close()


def test_mujoco_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # it writes its warnings into the folder it runs in
    game = GymVector(lambda: gymnasium.make("HalfCheetah-v5", max_episode_steps=5))
    walk = Walk(game, np.arange(2, dtype=np.uint64))
    cut = [bool(walk.step().truncated.all()) for _ in range(10)]
    assert cut == [False] * 4 + [True] + [False] * 4 + [True]
    game.close()


@pytest.mark.parametrize("limits", [(4,), (10,), (10, 8), (8, 10)])
def test_episodes_end_when_and_as_gymnasium_ends_them(limits: tuple[int, ...]) -> None:
    """CartPole falls after 8 to 10 steps when it is always pushed one way; time limits lie around something else."""

    def make() -> Any:
        env = gymnasium.make("CartPole-v1", max_episode_steps=limits[0])
        for limit in limits[1:]:
            env = gymnasium.wrappers.TimeLimit(gymnasium.wrappers.TransformReward(env, float), limit)
        return env

    expected = {}
    for seed in range(20):
        env, ended, length = make(), (False, False), 0
        env.reset(seed=seed)
        while not any(ended):
            _, _, *ended, _ = env.step(0)
            length += 1
        expected[seed] = (length, ended[0])
    game, found = GymVector(make), dict[int, tuple[int, bool]]()
    game.reset(np.arange(20, dtype=np.uint64))
    for _ in range(12):
        step = game.step([np.zeros(20, np.int64)])
        assert not (step.terminated & step.truncated).any()
        if step.ended is not None:
            for battle, length in zip(step.ended.battles.tolist(), step.ended.lengths.tolist(), strict=True):
                found.setdefault(battle, (length, bool(step.terminated[battle])))
    assert found == expected


def test_an_agent_that_ends_first_is_out_and_the_battle_ends_as_the_last_ones_do() -> None:
    walk = Walk(VectorFromMDP(parallel_mdp(Spread)), np.array([2, 3], np.uint64))
    ends = []
    for tick in range(1, 10):
        step = walk.step()
        if tick == 5:
            assert step.alive.tolist() == [[True, False, True]] * 2
            assert not step.rewards[:, 1].any()
        ends.append((step.terminated.tolist(), step.truncated.tolist()))
    assert ends[6] == ([True, False], [False, False])
    assert ends[8] == ([False, False], [False, True])


def relay_ends() -> list[list[str]]:
    """How each agent ends in the four ticks of an episode."""
    walk, told = Walk(VectorFromMDP(parallel_mdp(Relay)), np.array([1], np.uint64)), []
    before = walk.now.alive.copy()
    for _ in range(4):
        step = walk.step()
        each = [seat_ends(before, step, seat) for seat in range(3)]
        told.append(["terminated" * int(e.terminated[0]) + "truncated" * int(e.truncated[0]) for e in each])
        before = step.alive.copy()
    return told


def test_an_agent_that_a_limit_of_its_own_cuts_off_is_truncated_and_who_wins_then_has_terminated() -> None:
    assert relay_ends()[:3] == [["", "", ""], ["truncated", "", ""], ["", "", ""]]
    assert relay_ends()[3][1:] == ["terminated", "truncated"]


def test_an_entity_that_sees_nothing_when_time_is_up_has_terminated() -> None:
    class Fallen(Lists):
        def _seen(self) -> list[Any]:
            return [super()._seen()[0], None if self.tick == 6 else super()._seen()[1]]

    walk = Walk(VectorFromMDP(arena_mdp(Fallen)), np.array([1], np.uint64))
    for _ in range(6):
        before = walk.now.alive.copy()
        step = walk.step()
    assert step.truncated.all()
    first, second = (seat_ends(before, step, seat) for seat in range(2))
    assert (first.truncated.all(), first.terminated.any()) == (True, False)
    assert (second.truncated.any(), second.terminated.all()) == (False, True)


def test_what_a_policy_is_bootstrapped_from_is_what_each_agent_saw_last() -> None:
    """One policy plays all three: its fragment has the last view of both that a limit cut off."""
    game = VectorFromMDP(parallel_mdp(Relay))
    model = PolicySpec(game.spec.seats[0], NetworkConfig(policy=[4], critic=[4]), "actor-critic").model()
    sampler = Sampler(game, {AGENT: model}, 2, 4, 1)
    sampler.load(Weights(AGENT, 0, 0, 0, {"actor": model.initial(generator(1))}))
    sampler.begin(0)
    fragment = sampler.sample()[AGENT]
    (last,) = fragment.final_observations.values()
    found = {(t, b): float(x[0]) for (t, b), x in zip(fragment.final_index.tolist(), last, strict=True)}
    assert found == {(1, 0): 2.0, (1, 1): 2.0, (3, 4): 4.0, (3, 5): 4.0}
    assert np.argwhere(fragment.truncated).tolist() == [[1, 0], [1, 1], [3, 4], [3, 5]]
    assert fragment.terminated[3, 2:4].all()


def test_a_limit_of_one_agent_survives_the_way_to_a_program_and_back() -> None:
    walk = Walk(VectorFromMDP(parallel_mdp(Relay)), np.array([1], np.uint64))
    sent = []
    for tick in range(4):
        step = walk.step()
        sent.append({name: np.array(array) for name, array in to_arrays(step).items()})
        again = from_arrays(walk.game.spec, 1, sent[-1])
        assert (again.cut is not None) == (step.cut is not None) == (tick == 1)
        if step.ended is not None:
            assert again.ended is not None
            np.testing.assert_array_equal(again.ended.out, step.ended.out)
    wrong = sent[0] | {"cut": np.array([[1, 0, 0]], np.uint8)}
    with pytest.raises(SimulatorError, match="cuts off a seat that is still in"):
        from_arrays(walk.game.spec, 1, wrong)


def test_agents_of_ours_that_others_play_end_as_they_end_here() -> None:
    """Our game as PettingZoo has it."""
    game = ParallelGame(VectorFromMDP(parallel_mdp(Relay)))
    game.reset(seed=1)
    told = []
    while game.agents:
        _, _, terminated, truncated, _ = game.step({agent: 0 for agent in game.agents})
        told.append([*(a for a, out in terminated.items() if out), "|", *(a for a, out in truncated.items() if out)])
    seats = game.possible_agents
    assert told == [["|"], ["|", seats[0]], ["|"], [seats[1], "|", seats[2]]]


def numbers(value: Any) -> Array:
    """A value of a space as the row of numbers that stands for it: its choices, then its boxes."""
    parts = [value]
    while any(isinstance(part, tuple) for part in parts):
        parts = [inner for part in parts for inner in (part if isinstance(part, tuple) else (part,))]
    ordered = sorted(parts, key=lambda part: np.ndim(part) > 0)
    return np.concatenate([np.ravel(part) for part in ordered])


def test_spaces_become_specs_and_numbers_travel_both_ways() -> None:
    goal = spaces.Tuple((spaces.Discrete(3), spaces.Tuple([spaces.Box(-1, 2, (k,), np.float32) for k in (2, 1, 1)])))
    mixed = spaces.Tuple((spaces.Discrete(4), spaces.Box(-1, 1, (2,), np.float32), spaces.Discrete(2)))
    assert isinstance(actions(goal, "x").spec, Parameterised)
    assert isinstance(actions(mixed, "x").spec, Hybrid)
    assert isinstance(actions(spaces.MultiDiscrete([2, 3]), "x").spec, Hybrid)
    for space in (goal, mixed, spaces.Discrete(5, start=0), spaces.Box(-2, 3, (2, 2), np.float32)):
        found = actions(space, "x")
        for seed in range(5):
            space.seed(seed)
            sample = at_random(SeatSpec((), found.spec))
            keys = combine64(seed, np.arange(4, dtype=np.uint64))
            rows = sample(Batch({}, None, keys)).actions
            assert rows.shape == (4, *found.spec.row)
            for line, value in zip(rows, found.values(rows), strict=True):
                assert space.contains(value)
                np.testing.assert_array_equal(line.ravel(), numbers(value))
    leaves = observation_leaves(
        spaces.Dict(
            {"map": spaces.Box(0, 255, (2, 2), np.uint8), "self": spaces.Tuple((spaces.Discrete(3), goal[1][0]))}
        ),
        "x",
    )
    seen = read(leaves, {"map": np.ones((2, 2), np.uint8), "self": (2, np.array([0.5, 1.0], np.float32))})
    assert {name: (a.dtype.name, a.tolist()) for name, a in seen.items()} == {
        "map": ("uint8", [[1, 1], [1, 1]]),
        "self.0": ("float32", [0.0, 0.0, 1.0]),
        "self.1": ("float32", [0.5, 1.0]),
    }


@pytest.mark.parametrize(
    ("space", "said"),
    [(spaces.Box(-np.inf, np.inf, (2,)), "have no bounds"), (spaces.Text(5), "cannot be used"),
     (spaces.Tuple((spaces.Discrete(2), spaces.Text(5))), "cannot be used")],
)  # fmt: skip
def test_spaces_that_cannot_be_used_are_refused(space: spaces.Space[Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        actions(space, "the environment")


class Broken(gymnasium.Env[Any, Any]):
    """Goes wrong at the third step, in a way of choice."""

    observation_space = spaces.Box(-1, 1, (2,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self, how: str) -> None:
        self.how, self.tick = how, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        if self.how == "reset":
            raise RuntimeError("no licence")
        return np.zeros(2, np.float32), {}

    def step(self, action: int) -> Any:
        self.tick += 1
        seen, reward = np.zeros(2, np.float32), 0.0
        if self.tick == 3:
            if self.how == "raise":
                raise ZeroDivisionError("the wheel has no radius")
            if self.how == "nan":
                seen[1] = np.nan
            if self.how == "shape":
                seen = np.zeros(3, np.float32)
            if self.how == "scalar":
                seen = np.zeros((), np.float32)
            if self.how == "reward":
                reward = float("inf")
        return seen, reward, False, False, {}


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("reset", "Broken, battle 0: reset raised RuntimeError: no licence"),
        ("raise", "Broken, battle 0: step raised ZeroDivisionError: the wheel has no radius"),
        ("nan", r"Broken: observation 'observation' is nan at \[0, 1\]"),
        ("shape", r"Broken, battle 0: observation 'observation' has shape \[3\]; it must be \[2\]"),
        ("scalar", r"Broken, battle 0: observation 'observation' has shape \[\]; it must be \[2\]"),
        ("reward", r"Broken: rewards is inf at \[0, 0, 0\]"),
    ],
)
def test_an_environment_that_goes_wrong_is_named_with_the_place(how: str, said: str) -> None:
    def play_on() -> None:
        walk = Walk(GymVector(lambda: Broken(how)), np.arange(2, dtype=np.uint64))
        for _ in range(3):
            walk.step()

    with pytest.raises(SimulatorError, match=said):
        play_on()


def _spoiled(base: type, **parts: Callable[..., Any]) -> Any:
    return type(base.__name__, (base,), parts)


def test_bad_lists_and_bad_agents_are_named_with_the_place() -> None:
    def step(self: Any, actions: Any) -> Any:
        return [np.zeros(3, np.float32)], [0.0, 0.0], False, [{}, {}]

    with pytest.raises(SimulatorError, match="Lists: 1 observations came for 2 entities"):
        Walk(VectorFromMDP(arena_mdp(_spoiled(Lists, step=step))), np.arange(2, dtype=np.uint64)).step()

    def rewards(self: Any, actions: Any) -> Any:
        return self._seen(), [0.0, float("nan")], False, [{}, {}]

    with pytest.raises(SimulatorError, match="Lists, seat 1: reward is nan"):
        Walk(VectorFromMDP(arena_mdp(_spoiled(Lists, step=rewards))), np.arange(2, dtype=np.uint64)).step()

    def crash(self: Any, actions: Any) -> Any:
        raise KeyError("blue")

    with pytest.raises(SimulatorError, match=r"spread, battle 0: spread: step raised KeyError: 'blue'"):
        Walk(VectorFromMDP(parallel_mdp(_spoiled(Spread, step=crash))), np.arange(2, dtype=np.uint64)).step()


def test_a_discrete_space_that_does_not_start_at_zero_is_shifted() -> None:
    found = actions(spaces.Discrete(3, start=5), "x")
    assert found.spec == Discrete(3)
    assert found.values(np.array([0, 2])) == [5, 7]
