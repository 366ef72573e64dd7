"""Games by reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.catalog import GAMES
from engine.config.train import TrainGame
from engine.errors import ConfigError
from engine.mdp.checks import check_batch
from engine.simulators.game_loaders import load_game
from engine.simulators.references import make


@pytest.mark.parametrize(
    ("reference", "settings"),
    [
        ("builtin:pong", {"points": 3}), ("builtin:image-pong", {"seats": (0, 1)}), ("gymnasium:CartPole-v1", {}),
        ("gymnasium:Pendulum-v1", {"g": 9.0}), ("atari:pong", {"frame_skip": 2}),
        ("python:tests.engine.sample_games:orchard", {}),
    ],
)  # fmt: skip
def test_a_reference_becomes_a_game(reference: str, settings: dict[str, Any]) -> None:
    game = load_game(reference, 3, settings)
    try:
        check_batch(reference, game.spec, 3, game.reset(np.arange(3, dtype=np.uint64)))
        check_batch(reference, game.spec, 3, game.step([seat.action.idle(3) for seat in game.spec.seats]))
    finally:
        game.close()


@pytest.mark.parametrize("name", GAMES)
def test_what_the_catalog_says_of_a_game_is_what_the_game_says_of_itself(name: str) -> None:
    row = GAMES[name]
    game = make(TrainGame(name=name), 1)
    try:
        spec = game.spec
        assert len(spec.seats) == max(1, len(row.sides) * row.squad)
        assert spec.squad == (row.squad if row.sides else len(spec.seats))
        assert {seat.action.kind for seat in spec.seats} == {row.does}
        images = any(len(seen.shape) == 3 for seen in spec.seats[0].observations)
        assert images == (row.sees == "pictures")
        assert spec.max_ticks == row.longest
        with pytest.raises(ConfigError, match="no such setting") as refused:
            make(TrainGame(name=name, settings={"colour": "red"}), 1)
        assert all(setting in str(refused.value) for setting in row.settings)
    finally:
        game.close()


@pytest.mark.parametrize(
    ("reference", "settings", "said"),
    [
        ("builtin:chess", {}, "game: .*a game is named like builtin:pong"),
        ("pong", {}, "a game is named like"),
        ("gymnasium:NoSuch-v9", {}, "game: Gymnasium has no 'NoSuch-v9'$"),
        ("gymnasium:cartpole-v1", {}, "Gymnasium has no 'cartpole-v1'. The nearest names: CartPole-v1, CartPole-v0"),
        ("gymnasium:no_such_module:X-v0", {}, "Gymnasium has no 'no_such_module:X-v0'"),
        ("atari:chess_2000", {}, "there is no Atari game 'chess_2000'"),
        ("atari:brekout", {}, "there is no Atari game 'brekout'. The nearest names: breakout"),
        (
            "builtin:pong",
            {"colour": "red"},
            "settings.colour: there is no such setting. There are seats, points, .*, mirror$",
        ),
        ("builtin:image-pong", {"colour": "red"}, "There are frames, .*, points, rewards, mirror$"),
        ("builtin:pong", {"points": "many"}, "settings.points: must be a whole number, not 'many'"),
        ("builtin:pong", {"points": True}, "settings.points: must be a whole number"),
        ("builtin:pong", {"mirror": 1}, "settings.mirror: must be true or false"),
        ("builtin:pong", {"rewards": "score"}, "settings.rewards: must be a list"),
        ("builtin:pong", {"points": -1, "max_ticks": 0}, "settings.points: must be 1 .*settings.max_ticks"),
        ("builtin:image-pong", {"frames": 0}, "settings.frames: must be 1 to 16, not 0"),
        (
            "builtin:pong",
            {"frame_skip": 10**12, "points": 10**12},
            "settings.points: must be 1 to 1,000, not 1,000,000,000,000; settings.frame_skip: must be 1 to 100",
        ),
        ("builtin:pong-two-seats", {"max_ticks": 10**12}, "settings.max_ticks: must be 1 to 1,000,000, not 1,000,000,"),
        ("builtin:image-pong", {"frames": 10**12}, "settings.frames: must be 1 to 16, not 1,000,000,000,000"),
        (
            "atari:pong",
            {"frame_skip": 10**9, "frames": 0},
            "settings.frame_skip: must be 1 to 100.*frames: must be",
        ),
        (
            "gymnasium:CartPole-v1",
            {"colour": "red"},
            "settings.colour: there is no such setting. There are max_episode_steps, .*sutton_barto_reward",
        ),
        ("gymnasium:Pendulum-v1", {"g": "heavy"}, "settings.g: must be a number, not 'heavy'"),
        ("gymnasium:CartPole-v1", {"max_episode_steps": "long"}, "settings.max_episode_steps: must be a whole number"),
        ("gymnasium:FrozenLake-v1", {"map_name": "9x9", "is_slippery": True}, "settings.map_name: .*KeyError: '9x9'"),
        ("atari:pong", {"sticky": "often", "speed": 3}, "settings.sticky: must be a number.*settings.speed: there is"),
        ("python:no", {}, "python:package.module:factory"),
    ],
)
def test_a_reference_that_means_nothing_is_refused(reference: str, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_game(reference, 3, settings)
