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
from pettingzoo import AECEnv, ParallelEnv

from engine.errors import ConfigError, SimulatorError
from engine.games.pong import VectorPong
from engine.mdp.adapters import VectorFromMDP
from engine.mdp.ale import atari
from engine.mdp.arena import ArenaEnv, arena_mdp
from engine.mdp.driver import play
from engine.mdp.gym import GymVector, GymVectorEnv
from engine.mdp.interface import MDP, Controller, Discrete, Hybrid, Parameterised
from engine.mdp.pettingzoo import aec_mdp, parallel_mdp
from engine.mdp.spaces import action_space, actions, observation_leaves, read, row
from engine.mdp.vector import VectorMDP
from tests.contracts.mdp import VectorContract, Walk, snapshot


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


class Nim(AECEnv[str, Any, int]):
    """Take one or two of seven sticks in turns; who takes the last wins."""

    metadata = {"name": "nim"}

    def __init__(self) -> None:
        super().__init__()
        self.possible_agents = ["first", "second"]

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Discrete(8)

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Discrete(2, start=1)

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        self.agents, self.sticks = list(self.possible_agents), 7
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict(self.rewards)
        self.terminations, self.truncations = dict.fromkeys(self.agents, False), dict.fromkeys(self.agents, False)
        self.infos = {a: {"action_mask": np.array([1, self.sticks > 1], np.int8)} for a in self.agents}
        self.agent_selection = "first"

    def observe(self, agent: str) -> int:
        return self.sticks

    def step(self, action: int | None) -> None:
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        other = "second" if agent == "first" else "first"
        assert action in (1, 2)
        self.sticks -= action
        self._clear_rewards()
        self.infos = {a: {"action_mask": np.array([1, self.sticks > 1], np.int8)} for a in self.agents}
        if self.sticks == 0:
            self.rewards = {agent: 1.0, other: -1.0}
            self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = other


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


class TestLists(VectorContract):
    rounds = 60

    def make(self) -> VectorMDP:
        return VectorFromMDP(arena_mdp(Lists))

    def mdp(self) -> MDP:
        return arena_mdp(Lists)


class TestOurGameBehindTheListInterface(VectorContract):
    """There and back again."""

    def make(self) -> VectorMDP:
        return VectorFromMDP(arena_mdp(lambda: ArenaEnv(VectorPong(seats=(0, 1), points=2, max_ticks=90))))


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


def test_players_take_turns() -> None:
    battle = aec_mdp(Nim).reset(seed=0)
    seen: dict[int, list[int]] = {0: [], 1: []}

    async def one_stick(controller: Controller) -> list[float]:
        rewards, outcome = [], await controller.turn()
        while not outcome.done:
            state = controller.get_state()
            assert state.mask is not None
            seen[controller.seat].append(int(state.observations["observation"].argmax()))
            outcome = await controller(0)
            rewards.append(float(controller.get_reward()[0]))
        return rewards

    rewards = play(battle, *(one_stick(controller) for controller in battle.controllers))
    assert seen == {0: [7, 5, 3, 1], 1: [6, 4, 2]}
    assert rewards == [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]
    assert [c.get_result().score for c in battle.controllers] == [1.0, -1.0]


def test_an_action_out_of_turn_is_ignored_and_said_to_be() -> None:
    battle = aec_mdp(Nim).reset(seed=0)
    ignored = []

    async def hasty(controller: Controller) -> None:
        done = False
        while not done:
            outcome = await controller(0)
            ignored.append((controller.seat, outcome["ignored"]))
            done = outcome["done"]

    play(battle, *(hasty(controller) for controller in battle.controllers))
    assert (1, True) in ignored
    assert (0, True) not in ignored


def test_a_game_in_turns_has_no_form_as_arrays() -> None:
    with pytest.raises(SimulatorError, match="played in turns"):
        VectorFromMDP(aec_mdp(Nim)).reset(np.arange(2, dtype=np.uint64))


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
            value = space.sample()
            line = row(found.spec, value)
            assert line.shape == found.spec.row
            again = row(found.spec, found.values(line[None])[0])
            np.testing.assert_array_equal(line, again)
            assert action_space(found.spec).contains(value)
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

    def observe(self: Any, agent: str) -> int:
        return 99

    with pytest.raises(SimulatorError, match="an observed choice is 99"):
        aec_mdp(_spoiled(Nim, observe=observe)).reset(seed=0).controllers[0].get_state()

    def crash(self: Any, actions: Any) -> Any:
        raise KeyError("blue")

    with pytest.raises(SimulatorError, match=r"spread, battle 0: spread: step raised KeyError: 'blue'"):
        Walk(VectorFromMDP(parallel_mdp(_spoiled(Spread, step=crash))), np.arange(2, dtype=np.uint64)).step()


def test_a_discrete_space_that_does_not_start_at_zero_is_shifted() -> None:
    found = actions(spaces.Discrete(3, start=5), "x")
    assert found.spec == Discrete(3)
    assert found.values(np.array([0, 2])) == [5, 7]
