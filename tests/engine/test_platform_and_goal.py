"""Platform and Goal: the published rules, and scripts that play them about as well as the published agents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import ConfigError
from engine.games.goal import Goal
from engine.games.goal import kernel as goal
from engine.games.goal.scripts import Striker
from engine.games.one_seat import OneSeat
from engine.games.platform import Platform
from engine.games.platform import kernel as platform
from engine.games.platform.scripts import Crosser
from engine.mdp.interface import MDP
from engine.mdp.trajectory import Batch
from engine.mdp.vector import Ended, VectorMDP, noise_keys
from engine.rl.players import RandomPlayer
from engine.rng import combine64
from tests.contracts.coroutines import mdp_from_vector
from tests.contracts.mdp import VectorContract, Walk, snapshot

GOLDEN = Path(__file__).parents[1] / "golden" / "parameterised.json"
SEEDS = combine64(3, np.arange(256, dtype=np.uint64))


class TestPlatform(VectorContract):
    rounds = 40

    def make(self) -> VectorMDP:
        return Platform()

    def mdp(self) -> MDP:
        return mdp_from_vector(lambda seats: self.make(), self.make().spec)


class TestGoal(VectorContract):
    rounds = 40

    def make(self) -> VectorMDP:
        return Goal(x_max=5.0)

    def mdp(self) -> MDP:
        return mdp_from_vector(lambda seats: self.make(), self.make().spec)


def first_episodes(game: OneSeat, player: Any) -> list[Ended]:
    """Play until the first episode of every battle has ended; everything that ended on the way."""
    step, open_, ended, tick = game.reset(SEEDS), np.ones(len(SEEDS), np.bool_), [], 0
    while open_.any():
        keys = noise_keys(SEEDS, np.full(len(SEEDS), tick), 0)
        step = game.step([player(Batch(step.observations[0], None, keys)).actions])
        tick += 1
        if step.ended is not None:
            rows = open_[step.ended.battles]
            open_[step.ended.battles] = False
            told = {name: getattr(step.ended, name)[rows] for name in ("battles", "returns", "win", "score", "lengths")}
            ended.append(step.ended._replace(signals=(step.ended.signals[0][rows],), **told))
    return ended


def of_all(ended: list[Ended], what: Callable[[Ended], np.ndarray]) -> np.ndarray:
    return np.concatenate([what(each) for each in ended])


@pytest.mark.parametrize("game", [Platform, Goal])
def test_random_play_is_what_it_was(game: type[OneSeat]) -> None:
    walk, whole = Walk(game(), SEEDS[:16]), hashlib.sha256()
    for _ in range(30):
        for array in snapshot(walk.step()):
            whole.update(np.ascontiguousarray(array).tobytes())
    assert whole.hexdigest() == json.loads(GOLDEN.read_text())[walk.game.spec.name]


def test_an_episode_of_platform_returns_the_way_gained_as_a_share_and_never_more_than_one() -> None:
    for player, least, most in ((RandomPlayer, 0.05, 0.3), (Crosser, 0.92, 0.99)):
        game = Platform()
        ended = first_episodes(game, player(game.spec.seats[0]))
        returns, win = of_all(ended, lambda e: e.returns[:, 0, 0]), of_all(ended, lambda e: e.win[:, 0])
        assert least < returns.mean() < most
        assert returns.max() <= 1.0 + 1e-6
        np.testing.assert_allclose(returns[win == 1], 1.0, atol=1e-6)
        np.testing.assert_array_equal(of_all(ended, lambda e: e.score[:, 0]), returns)


def test_who_does_not_win_platform_has_fallen_into_a_gap_or_met_an_enemy() -> None:
    game = Platform()
    ended = first_episodes(game, RandomPlayer(game.spec.seats[0]))
    win, signals = of_all(ended, lambda e: e.win[:, 0]), of_all(ended, lambda e: e.signals[0])
    np.testing.assert_array_equal(win + signals[:, 3] + signals[:, 4], 1.0)
    np.testing.assert_allclose(signals[:, :3].sum(axis=1), 1.0)
    assert signals[:, 3:].mean(axis=0).min() > 0.1


def test_platforms_gaps_and_speeds_are_the_published_ones() -> None:
    assert [left + width for left, width in zip(platform.LEFT, platform.WIDTH, strict=True)] == [250, 750, 1035]
    assert [platform.LEFT[k + 1] - platform.LEFT[k] - platform.WIDTH[k] for k in range(2)] == [225, 235]
    game = Platform()
    step = game.reset(SEEDS)
    np.testing.assert_allclose(
        step.observations[0]["view"][0], [20 / 1055, 0, 230 / 1035, 0, 250 / 275, 1, 225 / 235, 0, 0], atol=1e-6
    )
    run = np.tile(np.float32([0, 30, 0, 0]), (256, 1))
    view = game.step([run]).observations[0]["view"]
    assert (view[:, 1] <= 0.7).all(), "70 is the highest speed of who stands"
    assert (np.abs(view[:, 0] * 1055 - 20 - 67.5) < 0.5).all(), "a second at nearly 70 a second"
    assert (np.abs(view[:, 2] * 1035 - 201.5) < 1.0).all(), "the enemy walks 30 a second, after it has turned around"


def test_a_hop_flies_higher_and_longer_than_a_leap_and_ends_standing() -> None:
    rises = []
    for action in (platform.HOP, platform.LEAP):
        game = Platform(first=3)
        game.reset(SEEDS)
        row = np.zeros((256, 4), np.float32)
        row[:, 0], row[:, 1 + action] = action, 50.0
        game.step([row])
        paths = np.stack([game.positions(i).reshape(platform.PATH, 4) for i in range(256)])
        assert (paths[:, -1, 1] == platform.HEIGHT).all()
        rises.append(paths[:, :, 1].max(axis=1).mean() - platform.HEIGHT)
    assert 50 < rises[0] < 63, "35 a second rise 62.5 at most"
    assert 24 < rises[1] < 32, "25 a second rise 31.9 at most"


@pytest.mark.parametrize(("first", "x"), [(1, 0.0), (2, 475.0), (3, 985.0)])
def test_an_episode_of_platform_begins_on_the_platform_that_is_said(first: int, x: float) -> None:
    view = Platform(first=first).reset(SEEDS[:4]).observations[0]["view"]
    np.testing.assert_allclose(view[:, 0] * 1055 - 20, x, atol=1e-3)
    np.testing.assert_allclose(view[:, 7], x / 1035, atol=1e-6)


def test_a_kick_sends_the_ball_towards_the_point_of_both_its_numbers() -> None:
    pushed = []
    for word in range(500):
        s = np.zeros(goal.STATE)
        s[[goal.PLAYER, goal.BALL]] = 5.0, 6.3
        goal.play_ball(s, 9.0, 4.0, np.uint64(word), 0)
        pushed.append(s[goal.BALL + 2 : goal.BALL + 4])
    way = np.mean(pushed, axis=0) / (1 - goal.BALL_DECAY)
    np.testing.assert_allclose(way, [4, 4], atol=0.15, err_msg="as far as the ball rolls, from where the player is")


def test_goals_pay_fifty_and_every_other_end_minus_the_distance_to_the_goal() -> None:
    game = Goal()
    ended = first_episodes(game, RandomPlayer(game.spec.seats[0]))
    returns, win = of_all(ended, lambda e: e.returns[:, 0, 0]), of_all(ended, lambda e: e.win[:, 0])
    assert win.mean() < 0.1
    np.testing.assert_array_equal(returns == 50.0, win == 1.0)
    assert (returns[win == 0] <= 0).all()
    assert returns.min() > -np.hypot(20, 15)
    signals = of_all(ended, lambda e: e.signals[0])
    np.testing.assert_array_equal(win + signals[:, 1:].sum(axis=1), 1.0)


def test_a_hard_shot_past_the_goalkeeper_scores_as_often_as_the_published_agents() -> None:
    game = Goal()
    scored = of_all(first_episodes(game, Striker(game.spec.seats[0])), lambda e: e.win[:, 0]).mean()
    assert 0.6 < scored < 0.8, "published: P-DQN 0.70, MP-DQN 0.79"


def test_goal_begins_with_the_ball_before_the_player_and_the_goalkeeper_between_ball_and_goal() -> None:
    game = Goal(x_min=4.0, x_max=8.0, y_min=-5.0, y_max=10.0)
    game.reset(SEEDS)
    for i in range(256):
        player, goalkeeper, ball = game.positions(i)[:6].reshape(3, 2)
        assert ((player >= [4, -5]) & (player <= [8, 10])).all()
        assert np.isclose(np.hypot(*(ball - player)), goal.KICKABLE)
        for one, other in ((player, ball), (ball, np.array([20.0, 0.0]))):
            to = np.array([20.0, 0.0]) - one
            assert abs(np.cross(np.append(to, 0), np.append(other - one, 0))[2]) < 1e-6, "on the way to the goal"
        assert goalkeeper[0] == 14.5
        assert np.isclose(goalkeeper[1], ball[1] * 5.5 / (20 - ball[0]))


def test_misses_below_and_above_the_goal_are_as_far_from_it() -> None:
    state = np.zeros(goal.STATE)
    found = []
    for x, y in ((21.0, 9.0), (21.0, -9.0), (15.0, 0.0), (17.0, 11.01), (17.0, -11.01)):
        state[goal.BALL], state[goal.BALL + 1] = x, y
        found.append(goal.distance(state))
    np.testing.assert_allclose(found, [1.99, 1.99, 5.0, 5.0, 5.0])


def test_the_hundredth_decision_is_the_last_and_does_nothing() -> None:
    game = Goal()
    game.reset(SEEDS[:4])
    game._ticks[:] = goal.LATE - 1
    before = [game._states[i].copy() for i in range(4)]
    step = game.step([np.tile(np.float32([0, 10, 0, 0, 0]), (4, 1))])
    assert step.terminated.all(), "as its reward for an end says: no value of a state follows"
    assert step.ended is not None
    for i, state in enumerate(before):
        assert np.isclose(step.rewards[i, 0, 0], -goal.distance(state), rtol=1e-6)


@pytest.mark.parametrize("settings", [{"x_min": 5.0, "x_max": 4.0}, {"y_min": 16.0}, {"x_max": 13.0}])
def test_a_start_from_which_no_episode_can_begin_is_refused_at_its_field(settings: dict[str, float]) -> None:
    with pytest.raises(ConfigError) as caught:
        Goal(**settings)
    assert caught.value.problems[0].place in settings


@pytest.mark.parametrize(("script", "other"), [(Crosser, Goal), (Striker, Platform)])
def test_a_script_refuses_another_game(script: Any, other: Any) -> None:
    with pytest.raises(ConfigError, match="this is another game"):
        script(other().spec.seats[0])


@pytest.mark.parametrize(("first", "enemy"), [(1, 0), (2, 1), (3, 1)])
def test_a_player_sees_the_enemy_of_the_platform_on_which_it_begins(first: int, enemy: int) -> None:
    game = Platform(first=first)
    (seen,) = game.reset(np.array([1], np.uint64)).observations[0].values()
    at = platform.LEFT[enemy] + platform.WIDTH[enemy] - platform.WIDE
    assert seen[0, 2] == pytest.approx(at / platform.END)
