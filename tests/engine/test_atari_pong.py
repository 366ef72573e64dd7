"""Atari's Pong: the console's memory and its pictures, what counts as moving, and styles bred in it."""

from __future__ import annotations

import numpy as np
import pytest

from engine.catalog import GAMES
from engine.config.style_templates import offered
from engine.errors import ConfigError
from engine.games.atari_pong import AtariPong, AtariPongPictures
from engine.games.atari_pong.follower import Follower
from engine.games.atari_pong.memory import BALL_X, OTHER, OWN, POINTS, placed
from engine.mdp.trajectory import Batch
from engine.mdp.vector import VectorMDP
from tests.contracts.mdp import VectorContract

SEEDS = np.arange(1, 4, dtype=np.uint64)
REST, UP, DOWN, UP_FIRES = 0, 2, 3, 4


class TestAtariPong(VectorContract):
    battles, rounds = 3, 60

    def make(self) -> VectorMDP:
        return AtariPong(max_ticks=25, rewards=("score", "moved", "stayed"))


class TestAtariPongPictures(VectorContract):
    battles, rounds = 3, 60

    def make(self) -> VectorMDP:
        return AtariPongPictures(max_ticks=25, frame_skip=2)


def pushed(action: int, decisions: int = 60) -> tuple[AtariPong, float]:
    """The game after so many of one action, and how high the agent's paddle is then."""
    game = AtariPong()
    game.reset(SEEDS[:1])
    for _ in range(decisions):
        game.step([np.array([action])])
    return game, float(game.positions(0)[2])


def test_the_paddle_goes_where_the_stick_is_pushed_and_is_drawn_there() -> None:
    heights = [pushed(action)[1] for action in (DOWN, REST, UP)]
    assert heights == sorted(heights)
    assert heights[0] < -0.6 < 0.6 < heights[2]
    assert pushed(UP_FIRES)[1] == pytest.approx(heights[2], abs=0.2)


def test_the_memory_says_where_the_ball_is_seen() -> None:
    game = AtariPongPictures()
    game.reset(SEEDS[:1])
    memory = game._consoles.memory[0]
    while not 80 < memory[BALL_X] < 170:  # between the paddles
        game.step([np.array([REST])])
    field = game._seen[0, -1]
    bright = np.argwhere(field == field.max())  # the ball is white
    row, column = 2 * bright.mean(axis=0)
    x, y = placed(memory)[:2]
    assert column == pytest.approx(79.5 - x * 62 / 0.92, abs=2)
    assert row == pytest.approx(79.5 - 80 * y, abs=3)


def test_without_a_ball_it_lies_in_the_middle_and_points_are_the_agent_s_first() -> None:
    memory = np.zeros(128, np.uint8)
    memory[[OWN, OTHER, *POINTS]] = 120, 121, 7, 3
    assert placed(memory).tolist() == [0.0, 0.0, 0.0, 0.0, 3.0, 7.0]


def test_shares_of_an_episode_are_those_of_its_decisions_and_the_score_counts_points() -> None:
    game = AtariPong(max_ticks=200, rewards=("moved", "stayed", "score"))
    game.reset(SEEDS)
    for tick in range(200):
        step = game.step([np.array([REST, UP, UP if tick % 4 == 0 else REST])])
    assert step.ended is not None
    assert step.ended.signals[0].tolist() == [[0.0, 1.0], [1.0, 0.0], [0.25, 0.75]]
    assert step.ended.returns[:, 0, :2].tolist() == [[0.0, 200.0], [200.0, 0.0], [50.0, 150.0]]
    np.testing.assert_allclose(step.ended.score[:, 0], (step.ended.returns[:, 0, 2] + 21) / 42)
    assert (step.ended.score < 0.5).all(), "who rests or clings to the wall loses"


def test_luck_is_the_battle_s_own_and_goes_with_a_stick_that_never_sticks() -> None:
    def ways(sticky: float) -> int:
        game = AtariPong(sticky=sticky)
        game.reset(np.arange(40, dtype=np.uint64))
        for tick in range(25):
            game.step([np.full(40, (UP, DOWN)[tick // 3 % 2])])
        return len(np.unique(game._consoles.memory, axis=0))

    assert ways(0.25) > 35 > ways(0.0)


def test_the_script_keeps_the_ball_in_play_longer_than_who_rests() -> None:
    game = AtariPong(max_ticks=400)
    follower, now = Follower(game.spec.seats[0]), game.reset(SEEDS)
    for _ in range(300):
        now = game.step([follower(Batch(now.observations[0], None, SEEDS)).actions])
    followed = game._consoles.points[:, 0].sum()
    game.reset(SEEDS)
    for _ in range(300):
        game.step([np.full(3, REST)])
    assert followed < game._consoles.points[:, 0].sum()
    with pytest.raises(ConfigError, match="plays by the console’s memory"):
        Follower(AtariPongPictures().spec.seats[0])


def test_both_kinds_offer_busy_and_calm_and_wrong_settings_are_refused() -> None:
    for name in ("atari-pong", "atari-pong-pictures"):
        row = GAMES[name]
        assert [t.key for t in offered(row.signals, (*row.captions, *row.ends))] == ["busy-calm"]
    with pytest.raises(ConfigError, match="sticky"):
        AtariPong(sticky=2.0)
