"""A game that describes more than anything could keep up with is refused at once, with what it has too many of."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from engine.mdp.checks import game_problems
from engine.mdp.interface import MDPSpec
from engine.simulators.checks import spec_problems
from engine.simulators.sizes import MOST
from tests.engine.sample_simulators import SPEC

SEEN = {"name": "o", "shape": [2], "dtype": "float32", "low": 0, "high": 1}
SEAT = {"observations": [SEEN], "action": {"kind": "discrete", "n": 2}, "rewards": ["r"], "signals": []}


@pytest.mark.parametrize("what", sorted(MOST))
def test_too_long_a_list_of_a_game_of_lineups_is_all_that_is_said_of_it(what: str) -> None:
    one = getattr(SPEC, what)[:1] or (None,)
    large = msgspec.structs.replace(SPEC, **{what: one * (MOST[what] + 1)})
    assert spec_problems(large) == [f"spec.{what} has {MOST[what] + 1:,} entries; {MOST[what]:,} is the most"]


@pytest.mark.parametrize(
    ("seat", "words"),
    [
        ({"rewards": [f"r{i}" for i in range(100_000)]}, "spec.seats[0].rewards has 100,000 entries"),
        ({"observations": [{**SEEN, "shape": [100_000, 100_000]}]}, "observations[0] takes 40,000,000,000 bytes"),
        ({"action": {"kind": "discrete", "n": 10**9}}, "action has 1,000,000,000 alternatives and numbers"),
    ],
)
def test_a_game_for_agents_that_no_message_could_carry_is_refused(seat: dict[str, Any], words: str) -> None:
    game = msgspec.convert({"name": "g", "version": "1", "seats": [{**SEAT, **seat}]}, MDPSpec)
    (told,) = game_problems(game)
    assert words in told


def test_no_game_has_fewer_than_no_moves_or_less_than_one_moment_to_a_move() -> None:
    game = msgspec.convert({"name": "g", "version": "1", "seats": [SEAT], "max_ticks": -5, "frame_skip": 0}, MDPSpec)
    assert game_problems(game) == ["spec.max_ticks is -5; it must be 0 or more",
                                   "spec.frame_skip is 0; it must be 1 or more"]  # fmt: skip
