"""Pong: no side is better, the same seed is the same battle, what is seen is what happens."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.games.pong import ImagePong, VectorPong, kernel
from engine.games.pong.drawing import DOT, PADDLES
from engine.games.pong.scripts import Follower, Interceptor
from engine.mdp.trajectory import Batch
from engine.mdp.vector import VectorMDP, VectorStep
from engine.rng import combine64
from tests.contracts.mdp import dice

GOLDEN = Path(__file__).parents[1] / "golden" / "pong.json"
SEEDS = combine64(3, np.arange(64, dtype=np.uint64))


def moves(salt: int, tick: int, n: int) -> np.ndarray:
    return (dice(combine64(np.arange(n, dtype=np.uint64), salt), tick) * 3).astype(np.int64)


def chase(field: np.ndarray, edge: float) -> np.ndarray:
    """Where the ball will be when it arrives, hit with a part of the paddle."""
    x, y, vx, vy, own = field[:, 0], field[:, 1], field[:, 2] / 16, field[:, 3] / 16, field[:, 4]
    when = np.maximum((x + 0.89) / np.maximum(-vx, 1e-3), 0)
    wall = 1.0 - kernel.BALL
    there = -(np.abs((y + vy * when + wall) % (4 * wall) - 2 * wall) - wall)
    gap = np.where(vx < 0, there - edge, 0.0) - own
    return np.where(np.abs(gap) <= 0.03, kernel.STAY, np.where(gap > 0, kernel.UP, kernel.DOWN))


def scores(game: VectorMDP, act: Any, wanted: int) -> np.ndarray:
    """Scores of seat 0 in the first episode of each battle."""
    step = game.reset(SEEDS[:wanted])
    found = np.full(wanted, np.nan)
    while np.isnan(found).any():
        step = game.step([act(step)])
        if step.ended is not None:
            new = np.isnan(found[step.ended.battles])
            found[step.ended.battles[new]] = step.ended.score[new, 0]
    return found


class BothSeats:
    """A game whose right seat is played by a script."""

    def __init__(self, game: VectorPong, right: Any) -> None:
        self.game, self.right, self.spec = game, right, game.spec

    def reset(self, seeds: np.ndarray) -> VectorStep:
        self.now = self.game.reset(seeds)
        return self.now

    def step(self, actions: Any) -> VectorStep:
        answer = self.right(Batch(self.now.observations[1], None, np.zeros(len(SEEDS), np.uint64))).actions
        self.now = self.game.step([*actions, answer])
        return self.now


def test_a_script_that_looks_ahead_beats_one_that_follows_the_ball_and_plays_unlike_it() -> None:
    game = VectorPong(seats=(0, 1), points=3, max_ticks=4000)
    ahead, follows = (script(game.spec.seats[0]) for script in (Interceptor, Follower))
    seen = scores(BothSeats(game, follows), lambda now: ahead(Batch(now.observations[0], None, SEEDS)).actions, 64)  # type: ignore[arg-type]
    assert seen.mean() > 0.6
    field = np.array([[0.0, 0.0, -0.64, 0.32, 0.0, 0.0, 0.5, 0.0]], np.float32)  # comes, rising; the other one is above
    found = [int(script(Batch({"field": field}, None, SEEDS[:1])).actions[0]) for script in (ahead, follows)]
    assert found == [kernel.UP, kernel.STAY]


@pytest.mark.parametrize("kind", [VectorPong, ImagePong])
def test_exchanged_seats_and_serves_give_the_exchanged_battle_exactly(kind: type[Any]) -> None:
    settings = {"seats": (0, 1), "points": 3, "max_ticks": 150}
    one, other = kind(**settings), kind(mirror=True, **settings)
    a, b = one.reset(SEEDS[:8]), other.reset(SEEDS[:8])
    for tick in range(300):
        for name, seen in a.observations[0].items():
            np.testing.assert_array_equal(seen, b.observations[1][name])
            np.testing.assert_array_equal(a.observations[1][name], b.observations[0][name])
        left, right = moves(1, tick, 8), moves(2, tick, 8)
        a, b = one.step([left, right]), other.step([right, left])
        np.testing.assert_array_equal(a.rewards[:, 0], b.rewards[:, 1])
        np.testing.assert_array_equal(a.terminated, b.terminated)
        if a.ended is not None:
            np.testing.assert_array_equal(a.ended.score, b.ended.score[:, ::-1])
            np.testing.assert_array_equal(a.ended.signals[0], b.ended.signals[1])


def test_the_scripted_player_is_the_same_on_both_sides() -> None:
    left, right = VectorPong(seats=(0,), points=3), VectorPong(seats=(1,), points=3, mirror=True)
    a, b = left.reset(SEEDS), right.reset(SEEDS)
    for tick in range(400):
        np.testing.assert_array_equal(a.observations[0]["field"], b.observations[0]["field"])
        action = moves(1, tick, len(SEEDS))
        a, b = left.step([action]), right.step([action])
        np.testing.assert_array_equal(a.rewards, b.rewards)


def test_serves_go_to_either_side_equally_often() -> None:
    game = VectorPong(seats=(0, 1))
    n = 20_000
    speed = game.reset(combine64(1, np.arange(n, dtype=np.uint64))).observations[0]["field"][:, 2]
    assert abs((speed > 0).mean() - 0.5) < 4 * 0.5 / np.sqrt(n)


def test_points_are_zero_sum_and_the_score_is_normalised() -> None:
    game = VectorPong(seats=(0, 1), points=4)
    step, ends = game.reset(SEEDS), 0
    for tick in range(600):
        step = game.step([moves(1, tick, 64), moves(2, tick, 64)])
        np.testing.assert_array_equal(step.rewards[:, 0], -step.rewards[:, 1])
        ended = step.ended
        if ended is not None:
            ends += len(ended.battles)
            np.testing.assert_allclose(ended.score.sum(axis=1), 1.0)
            np.testing.assert_allclose(ended.score, (ended.returns[:, :, 0] + 4) / 8)
            np.testing.assert_array_equal(ended.win, ended.score > 0.5)
    assert ends > 32


def test_a_good_player_wins_and_a_bad_one_loses_against_the_scripted_one() -> None:
    """The learning goal is a score of 0.95: it must be possible, and not by doing nothing."""
    good = scores(VectorPong(), lambda step: chase(step.observations[0]["field"], 0.0), 32)
    still = scores(VectorPong(), lambda step: np.zeros(32, np.int64), 32)
    assert good.mean() >= 0.99
    assert still.mean() <= 0.1


def test_signals_say_how_a_seat_played() -> None:
    game = VectorPong(points=1, rewards=("score", "moved", "stayed", "hit"))
    step, returns = game.reset(SEEDS), np.zeros((64, 4))
    for tick in range(400):
        step = game.step([moves(4, tick, 64)])
        returns += step.rewards[:, 0]
        if step.ended is not None:
            over, length = step.ended.battles, step.ended.lengths
            moved, stayed, hits = step.ended.signals[0].T
            np.testing.assert_allclose(moved, returns[over, 1] / length)
            np.testing.assert_allclose(stayed, returns[over, 2] / length)
            np.testing.assert_allclose(hits, returns[over, 3])
            assert ((moved + stayed) <= 1.0 + 1e-9).all(), "a paddle at the wall is told to move and does not"
            returns[over] = 0.0


def test_frame_skip_is_so_many_moments_with_the_same_action() -> None:
    one, four = VectorPong(points=50), VectorPong(points=50, frame_skip=4)
    a, b = one.reset(SEEDS), four.reset(SEEDS)
    for tick in range(100):
        action, reward = moves(1, tick, 64), np.zeros(64, np.float32)
        for _ in range(4):
            a = one.step([action])
            reward += a.rewards[:, 0, 0]
        b = four.step([action])
        np.testing.assert_array_equal(a.observations[0]["field"], b.observations[0]["field"])
        np.testing.assert_array_equal(reward, b.rewards[:, 0, 0])


def test_pictures_show_the_ball_and_the_paddles_where_they_are() -> None:
    numbers, pictures = VectorPong(frame_skip=4, points=50), ImagePong(points=50)
    a, b = numbers.reset(SEEDS), pictures.reset(SEEDS)
    last = b.observations[0]["frames"][:, -1].copy()
    for tick in range(60):
        seen = b.observations[0]["frames"]
        np.testing.assert_array_equal(seen[:, -2] if tick else seen[:, -1], last if tick else seen[:, 0])
        last = seen[:, -1].copy()
        for i in (0, 33):
            x, y, own, other = a.observations[0]["field"][i][[0, 1, 4, 6]]
            rows, cols = np.nonzero(last[i] == DOT)
            assert abs((cols.mean() + 0.5) / 42 - 1 - x) < 0.03
            assert abs(1 - (rows.mean() + 0.5) / 42 - y) < 0.03
            for half, paddle in ((slice(0, 10), own), (slice(74, 84), other)):
                rows, _ = np.nonzero(last[i][:, half] == PADDLES)
                assert abs(1 - (rows.mean() + 0.5) / 42 - paddle) < 0.08
        action = moves(1, tick, 64)
        a, b = numbers.step([action]), pictures.step([action])


@pytest.mark.parametrize("kind", [VectorPong, ImagePong])
def test_a_battle_can_be_drawn_at_any_size(kind: type[Any]) -> None:
    game = kind()
    game.reset(SEEDS[:2])
    for size in (42, 168):
        picture = game.picture(1, size)
        assert picture.shape == (size, size)
        assert {int(v) for v in np.unique(picture)} == {0, int(PADDLES), int(DOT)}


def digest(steps: list[VectorStep]) -> str:
    whole = hashlib.sha256()
    for step in steps:
        for seen in step.observations:
            for array in seen.values():
                whole.update(np.ascontiguousarray(array).tobytes())
        whole.update(step.rewards.tobytes())
    return whole.hexdigest()


@pytest.mark.parametrize("kind", [VectorPong, ImagePong])
def test_pong_plays_today_what_it_played_when_its_version_was_named(kind: type[Any]) -> None:
    """A changed digest means results stored under this version are of another game: raise ``game.VERSION``."""
    game = kind(seats=(0, 1), points=2)
    game.reset(SEEDS[:4])
    steps = [copied(game.step([moves(1, tick, 4), moves(2, tick, 4)])) for tick in range(120)]
    assert digest(steps) == json.loads(GOLDEN.read_text())[game.spec.name]


def copied(step: VectorStep) -> VectorStep:
    seen = tuple({name: array.copy() for name, array in o.items()} for o in step.observations)
    return step._replace(observations=seen, rewards=step.rewards.copy())
