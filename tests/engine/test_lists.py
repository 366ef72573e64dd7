"""Entities of every kind in one battle, by the list interface of AI Arena and by PettingZoo, both ways: what a battle
is does not depend on which of them plays it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from mpe2 import simple_spread_v3
from pettingzoo import ParallelEnv
from pettingzoo.test import parallel_api_test

from engine.config.arena import ArenaConfig
from engine.errors import ConfigError, SimulatorError
from engine.events import Finished
from engine.games.navigation import Navigation
from engine.mdp.adapters import VectorFromMDP
from engine.mdp.arena import arena_mdp
from engine.mdp.lists import ArenaGame, ParallelGame
from engine.mdp.our_spaces import action_space, observation_space, row
from engine.mdp.pettingzoo import parallel_mdp
from engine.mdp.spaces import actions, observation_leaves
from engine.mdp.vector import VectorMDP
from engine.rl.policy import Policy
from engine.simulators.entry_points import build
from engine.store import FolderStore
from engine.studies import load
from engine.study import run
from engine.study.course import beginner
from engine.study.course_checks import check
from tests.contracts.mdp import Walk
from tests.engine.sample_games import ORCHARD, fallers, orchard

NAMES = ("chooser", "driver", "watcher", "leaver", "dawdler")
EVERY = 3


class Yard:
    """One that chooses, one that steers, one that sees pictures, one that leaves at a tick its seed says, and one that
    decides at every third observation only; cut at tick 9, or won at tick 7."""

    seen = (
        spaces.Box(-10, 10, (2,), np.float32), spaces.Box(-10, 10, (3,), np.float32),
        spaces.Box(0, 255, (2, 8, 8), np.uint8), spaces.Box(-10, 10, (2,), np.float32),
        spaces.Box(-10, 10, (2,), np.float32),
    )  # fmt: skip
    done = (
        spaces.Discrete(3), spaces.Box(-1, 1, (2,), np.float32), spaces.Discrete(2), spaces.Discrete(2),
        spaces.Box(-1, 1, (1,), np.float32),
    )  # fmt: skip

    def begin(self, seed: int) -> None:
        self.luck, self.tick, self.held = seed % 1000, 0, 0.0
        self.leaves = 2 + seed % 4

    def look(self) -> list[Any]:
        numbers = np.array([self.tick, self.luck % 5], np.float32)
        picture = np.full((2, 8, 8), self.tick, np.uint8)
        return [numbers, np.append(numbers, self.held).astype(np.float32), picture, numbers, numbers]

    def act(self, decided: list[Any]) -> tuple[list[float], bool, bool]:
        if self.tick % EVERY == 0:
            self.held = float(np.sum(decided[4]))
        self.tick += 1
        rewards = [0.0 if each is None else float(np.sum(each)) for each in decided[:4]]
        return [*rewards, self.held], self.tick == 7 and self.luck % 2 == 0, self.tick == 9

    @property
    def left(self) -> bool:
        return self.tick >= self.leaves


class YardLists(Yard):
    """By lists, with nulls."""

    observation_spaces, action_spaces = list(Yard.seen), list(Yard.done)

    def seed(self, seed: int) -> None:
        self.next = seed

    def reset(self) -> list[Any]:
        self.begin(self.next)
        return self.look()

    def step(self, decided: list[Any]) -> Any:
        assert (decided[3] is None) == self.left
        rewards, won, cut = self.act(decided)
        seen = self.look()
        if self.left and not (won or (cut and self.tick <= self.leaves)):
            seen[3] = None
        return (
            seen,
            [*rewards[:3], None if decided[3] is None else rewards[3], rewards[4]],
            won or cut,
            [{"truncated": cut}] * 5,
        )


class YardParallel(Yard, ParallelEnv[str, Any, Any]):
    """By dictionaries."""

    metadata = {"name": "yard"}
    possible_agents = list(NAMES)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.seen[NAMES.index(agent)]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.done[NAMES.index(agent)]

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.agents = list(NAMES)
        self.begin(seed or 0)
        return dict(zip(NAMES, self.look(), strict=True)), {name: {} for name in NAMES}

    def step(self, decided: dict[str, Any]) -> Any:
        acting = self.agents
        rewards, won, cut = self.act([decided.get(name) for name in NAMES])
        out = {name: won or cut or (name == "leaver" and self.left) for name in acting}
        seen, paid = (dict(zip(NAMES, each, strict=True)) for each in (self.look(), rewards))
        self.agents = [name for name in acting if not out[name]]
        gone = {name: out[name] and not cut for name in acting}
        return (
            {name: seen[name] for name in acting}, {name: paid[name] for name in acting}, gone,
            {name: out[name] and cut for name in acting}, {name: {} for name in acting},
        )  # fmt: skip


def same(one: VectorMDP, other: VectorMDP, rounds: int) -> int:
    """Play both at random and compare all that the seats that are in are told, in the first episode of each battle, for
    other interfaces have smaller seeds; how many episodes ended."""
    seeds = np.arange(12, dtype=np.uint64) * 977 + 5
    walks, first = (Walk(one, seeds), Walk(other, seeds)), np.ones(12, np.bool_)
    for _ in range(rounds):
        whole = [walk.step() for walk in walks]
        for what in ("alive", "terminated", "truncated"):
            np.testing.assert_array_equal(*(getattr(step, what)[first] for step in whole))
        np.testing.assert_allclose(*(step.rewards.sum(axis=2)[first] for step in whole), atol=1e-6)
        first &= ~(whole[0].terminated | whole[0].truncated)
        for seat in range(whole[0].alive.shape[1]):
            rows = whole[0].alive[:, seat] & first
            for name, seen in whole[0].observations[seat].items():
                np.testing.assert_array_equal(seen[rows], whole[1].observations[seat][name][rows])
    return int((~first).sum())


def test_entities_of_every_kind_play_the_same_battle_by_lists_and_by_dictionaries() -> None:
    lists, parallel = VectorFromMDP(arena_mdp(YardLists)), VectorFromMDP(parallel_mdp(YardParallel))
    assert [seat.action for seat in lists.spec.seats] == [seat.action for seat in parallel.spec.seats]
    assert same(lists, parallel, 40) == 12


def test_one_that_left_is_out_until_the_next_episode_and_one_that_dawdles_repeats_itself() -> None:
    game = VectorFromMDP(arena_mdp(YardLists))
    walk = Walk(game, np.arange(8, dtype=np.uint64))
    leaves, held = 2 + np.arange(8) % 4, np.zeros(8, np.float32)
    for tick in range(1, 7):
        step = walk.step()
        np.testing.assert_array_equal(step.alive[:, 3], tick < leaves)
        assert step.alive[:, [0, 1, 2, 4]].all()
        assert not step.rewards[tick > leaves, 3].any()
        now = step.observations[1]["observation"][:, 2].copy()
        assert (now != held).all() == (tick % EVERY == 1)
        held = now


@pytest.mark.parametrize("make", [lambda: VectorFromMDP(arena_mdp(YardLists)), lambda: VectorFromMDP(fallers())])
def test_our_games_are_the_same_through_lists_and_back(make: Any) -> None:
    again = VectorFromMDP(arena_mdp(lambda: ArenaGame(make())))
    assert [seat.action for seat in again.spec.seats] == [seat.action for seat in make().spec.seats]
    assert same(make(), again, 40) == 12


@pytest.mark.parametrize("make", [lambda: VectorFromMDP(parallel_mdp(YardParallel)), lambda: VectorFromMDP(orchard())])
def test_our_games_are_the_same_through_dictionaries_and_back(make: Any) -> None:
    again = VectorFromMDP(parallel_mdp(lambda: ParallelGame(make())))
    assert same(make(), again, 40) == 12


def test_our_games_are_parallel_environments_by_pettingzoo_s_own_test() -> None:
    parallel_api_test(ParallelGame(VectorFromMDP(fallers())), num_cycles=60)


def test_spaces_of_every_kind_of_action_are_read_back_as_they_were() -> None:
    for seat in ORCHARD.seats:
        space = action_space(seat.action)
        found = actions(space, "here").spec
        assert (found.kind, found.choices, found.row) == (seat.action.kind, seat.action.choices, seat.action.row)
        np.testing.assert_array_equal(found.bounds, seat.action.bounds)
        space.seed(3)
        for _ in range(20):
            value = space.sample()
            (back,) = actions(space, "here").values(row(seat.action, value))
            assert space.contains(back)
        assert [leaf.spec for leaf in observation_leaves(observation_space(seat), "here")] == list(seat.observations)


def test_what_lists_cannot_say_is_refused() -> None:
    with pytest.raises(ConfigError, match="forbids actions now and then"):
        ArenaGame(VectorFromMDP(orchard())).reset()

    class Blind(YardLists):
        def look(self) -> list[Any]:
            return [None, *super().look()[1:]]

    with pytest.raises(SimulatorError, match="entity 0 sees nothing when the episode begins"):
        VectorFromMDP(arena_mdp(Blind)).reset(np.arange(2, dtype=np.uint64))


def test_a_course_is_held_for_entities_of_every_kind(tmp_path: Path, monkeypatch: Any) -> None:
    """PPO chooses and sees pictures, SAC steers, DQN leaves early, TD3 dawdles: one battle."""
    monkeypatch.setattr(
        "engine.simulators.references.load_game", lambda *args, **more: VectorFromMDP(arena_mdp(YardLists))
    )
    small, steers = {"policy": [16], "critic": [16]}, {"warmup": 64, "capacity": 1000, "minibatch": 16}
    ppo = {"kind": "ppo", "batch": 64, "minibatch": 32}
    conv = [{"channels": 4, "kernel": 4, "stride": 2}]
    roster = {
        "chooser": {"learner": {**ppo, "network": small}},
        "driver": {"learner": {"kind": "sac", "network": small, **steers}},
        "watcher": {"learner": {**ppo, "network": {**small, "conv": conv}}},
        "leaver": {"learner": {"kind": "dqn", "network": small, **steers}},
        "dawdler": {"learner": {"kind": "td3", "network": small, **steers}},
    }
    config = load({
        "kind": "arena", "game": "python:none:none", "roster": roster, "fragment": 16, "environments": 4,
        "lessons": [{"matches": [list(NAMES)], "steps": 1000}], "pool": {"kind": "local"},
    })  # fmt: skip
    assert isinstance(config, ArenaConfig)
    store = FolderStore(tmp_path)
    first = {name: beginner(config, name, seat).policy() for name, seat in check(config, store).seats.items()}
    end = list(run(config, store))[-1]
    assert isinstance(end, Finished), end
    for name in NAMES:
        assert f"{name}/return" in end.summary
        last = Policy.stored(store, end.artifacts[f"policy_description/{name}"])
        assert last.version > 0, name
        assert (last.weights != first[name].weights).any(), name


def test_simple_spread_of_pettingzoo_is_played_as_it_is() -> None:
    game: Any = build("mpe2.simple_spread_v3:parallel_env")
    own = simple_spread_v3.parallel_env()
    step = game.reset(np.array([5], np.uint64))
    battles = {seat: step.observations[seat] for seat in range(3)}
    assert {name: tuple(own.observation_space(name).shape) for name in own.possible_agents} == {
        f"agent_{seat}": next(iter(seen.values())).shape[1:] for seat, seen in battles.items()
    }
    rng, returns, length, ended = np.random.default_rng(2), np.zeros(3), 0, None
    while ended is None:
        step = game.step([rng.integers(0, 5, 1) for _ in range(3)])
        returns += step.rewards[0, :, 0]
        length, ended = length + 1, step.ended
    assert (length, bool(step.truncated[0]), bool(step.terminated[0])) == (25, True, False), "time was up"
    np.testing.assert_allclose(ended.score[0], returns, rtol=1e-5)
    assert (returns < 0).all(), "whoever is far from every target pays for it"


def test_a_reset_without_a_seed_goes_on_to_another_battle_and_one_with_it_begins_that_again() -> None:
    game = ParallelGame(Navigation())

    def begins(seed: int | None = None) -> bytes:
        seen, _ = game.reset(seed)
        return b"".join(each["view"].tobytes() for each in seen.values())

    first = begins(3)
    assert len({first, begins(), begins()}) == 3
    assert begins(3) == first
