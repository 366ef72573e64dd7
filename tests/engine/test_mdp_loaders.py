"""Games by reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.errors import ConfigError
from engine.mdp.checks import check_batch
from engine.simulators.game_loaders import load_game


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


@pytest.mark.parametrize(
    ("reference", "settings", "said"),
    [
        ("builtin:chess", {}, "a game is named like builtin:pong"),
        ("pong", {}, "a game is named like"),
        ("gymnasium:NoSuch-v9", {}, "Gymnasium has no 'NoSuch-v9'"),
        ("atari:chess_2000", {}, "there is no Atari game 'chess_2000'"),
        ("builtin:pong", {"colour": "red"}, "settings: builtin:pong: .*colour"),
        ("gymnasium:CartPole-v1", {"colour": "red"}, "settings: gymnasium:CartPole-v1: .*colour"),
        ("builtin:pong", {"points": -1}, "points"),
        ("python:no", {}, "python:package.module:factory"),
        ("command:game", {"speed": 2}, "takes no settings"),
    ],
)
def test_a_reference_that_means_nothing_is_refused(reference: str, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_game(reference, 3, settings)
