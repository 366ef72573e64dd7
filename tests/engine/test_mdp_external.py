"""Games of any program through ``equipoise-sim/1``: the same as in this process, and every way to go wrong."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from engine.errors import ConfigError, SimulatorError
from engine.games.pong import VectorPong
from engine.mdp.adapters import VectorFromMDP
from engine.mdp.vector import VectorMDP
from engine.simulators.conversation import SimulatorLimits
from engine.simulators.game_client import ExternalGame
from tests.contracts.mdp import Walk, snapshot
from tests.engine.leftovers import new_mark, none_left
from tests.engine.sample_games import ORCHARD, orchard

PATIENT = SimulatorLimits(handshake_s=60.0, request_s=60.0, cancel_s=1.0, bye_s=1.0)
SHORT = SimulatorLimits(handshake_s=60.0, request_s=3.0, cancel_s=1.0, bye_s=1.0)
SEEDS = np.arange(4, dtype=np.uint64)


def pong() -> VectorPong:
    return VectorPong(seats=(0, 1), points=2, max_ticks=60)


class Moody:
    """Raises at its third step."""

    def __init__(self) -> None:
        self.game = VectorFromMDP(orchard())
        self.spec, self.reset, self.close, self.steps = self.game.spec, self.game.reset, self.game.close, 0

    def step(self, actions: list[np.ndarray]) -> object:
        self.steps += 1
        if self.steps == 3:
            raise RuntimeError("the orchard is flooded")
        return self.game.step(actions)


@pytest.mark.parametrize(
    ("served", "here"),
    [("tests.engine.sample_games:orchard", VectorFromMDP(orchard())), ("tests.engine.test_mdp_external:pong", pong())],
)
def test_a_game_in_a_process_of_its_own_is_the_same_game(served: str, here: VectorMDP) -> None:
    mark = new_mark()
    with ExternalGame.from_entry_point(served, variables=mark) as game:
        assert game.spec == here.spec
        far, near, ends = Walk(game, SEEDS), Walk(here, SEEDS), 0
        for _ in range(80):
            a, b = far.step(), near.step()
            for x, y in zip(snapshot(a), snapshot(b), strict=True):
                np.testing.assert_array_equal(x, y)
            if a.ended is not None:
                assert b.ended is not None
                ends += 1
                for x, y in zip(a.ended, b.ended, strict=True):
                    np.testing.assert_equal(x, y)
        assert ends
        assert all(array.flags.writeable for seen in a.observations for array in seen.values()), "as torch wants"
        with pytest.raises(ConfigError, match="seat 0: the actions are"):
            game.step([np.zeros(3, np.int64)] * len(here.spec.seats))
        assert game.starts == 1
    assert none_left(mark)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("hang", "did not answer ACTIONS of 4 battles within 3 s"),
        ("leave", "ended by itself with exit code 4.*out of fuel"),
        ("nan", r"seat 3: observation 'place' is nan at \[1, 0\]"),
        ("shape", r"rewards is float32\[4, 2, 2\]; it must be float32\[4, 4, 2\]"),
        ("missing", "the array 'seat1.map' is missing"),
        ("both_ends", "battle 0 says both terminated and truncated"),
        ("nothing_legal", "battle 0: the mask leaves nothing legal to do"),
        ("won_twice", "battle 2, seat 1: the win is 2; it must be 0 to 1, or NaN where the game names no winner"),
        ("won_endlessly", "battle 2, seat 1: the win is inf; it must be 0 to 1"),
        ("a_lineup_game", "answered HELLO with SPEC instead of GAME"),
        ("other_key", "did not repeat the key"),
    ],
)
def test_a_program_that_goes_wrong_is_ended_and_named(name: str, said: str) -> None:
    mark, limits = new_mark(), SHORT if name == "hang" else PATIENT
    game = ExternalGame([sys.executable, "-m", "tests.engine.bad_games", name], variables=mark, limits=limits)
    with pytest.raises(SimulatorError, match=said):
        Walk(game, SEEDS).step()
    assert none_left(mark)
    with pytest.raises(SimulatorError):
        game.step([seat.action.idle(4) for seat in ORCHARD.seats])


def test_a_game_that_raises_is_named_and_may_begin_again() -> None:
    with ExternalGame.from_entry_point("tests.engine.test_mdp_external:Moody", limits=PATIENT) as game:
        walk = Walk(game, SEEDS)
        walk.step(), walk.step()
        with pytest.raises(SimulatorError, match="could not play ACTIONS of 4 battles: RuntimeError: the orchard is"):
            walk.step()
        Walk(game, SEEDS).step()
        assert game.starts == 1
