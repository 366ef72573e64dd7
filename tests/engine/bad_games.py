"""Programs whose game breaks ``equipoise-sim/1``, one way each: ``python -m tests.engine.bad_games NAME``."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

import msgspec
import numpy as np

from engine.mdp.adapters import VectorFromMDP
from engine.mdp.interface import Discrete
from engine.simulators import protocol
from engine.simulators.protocol import Arrays, Game, Hello, Reset, States
from engine.simulators.states import to_arrays
from tests.engine.bad_simulators import KEY, Line
from tests.engine.sample_games import ORCHARD, orchard


def begin() -> tuple[Line, Arrays]:
    """Go honestly through the introduction and the reset; gives the arrays that would be right for the first step."""
    line = Line()
    line.socket.recv_multipart()
    line.send(Game(spec=ORCHARD))
    message, arrays = protocol.decode(line.socket.recv_multipart())
    assert isinstance(message, Reset)
    game = VectorFromMDP(orchard())
    right = to_arrays(game.reset(arrays["seeds"]))
    line.send(States(id=message.id), right)
    line.socket.recv_multipart()
    return line, right


def answer(change: Callable[[Arrays], None]) -> None:
    line, right = begin()
    copies = {name: array.copy() for name, array in right.items()}
    change(copies)
    line.send(States(id=2), copies)
    time.sleep(600)


def hang() -> None:
    begin()
    time.sleep(600)


def leave() -> None:
    begin()
    print("out of fuel", flush=True)
    os._exit(4)


def nan() -> None:
    answer(lambda a: a["seat3.place"].__setitem__((1, 0), np.nan))


def shape() -> None:
    answer(lambda a: a.update({"rewards": a["rewards"][:, :2].copy()}))


def missing() -> None:
    answer(lambda a: a.__delitem__("seat1.map"))


def both_ends() -> None:
    answer(lambda a: (a["terminated"].fill(1), a["truncated"].fill(1)))  # type: ignore[arg-type, return-value]


def nothing_legal() -> None:
    answer(lambda a: a["seat2.mask"].fill(0))


def won_twice() -> None:
    answer(lambda a: end_battle_2(a, 2.0))


def won_endlessly() -> None:
    answer(lambda a: end_battle_2(a, np.inf))


def end_battle_2(arrays: Arrays, win: float) -> None:
    """Battle 2 ends, and its seat 1 says this win; the others say that the game names no winner."""
    arrays["terminated"][2] = 1
    arrays |= {f"ended.{name}": array[2:3].copy() for name, array in arrays.items() if name.startswith("seat")}
    arrays |= {f"ended.seat{i}.signals": np.zeros((1, len(seat.signals))) for i, seat in enumerate(ORCHARD.seats)}
    arrays |= {f"ended.{name}": np.full((1, len(ORCHARD.seats)), np.nan) for name in ("win", "score")}
    arrays["ended.win"][0, 1] = win


def a_lineup_game() -> None:
    from tests.engine.sample_simulators import SPEC

    line = Line()
    line.socket.recv_multipart()
    line.send(protocol.Spec(spec=SPEC))
    time.sleep(600)


def impossible() -> None:
    line = Line()
    line.socket.recv_multipart()
    first = msgspec.structs.replace(ORCHARD.seats[0], action=Discrete(0))
    line.send(Game(spec=msgspec.structs.replace(ORCHARD, seats=(first, *ORCHARD.seats[1:]))))
    time.sleep(600)


def other_key() -> None:
    Line(**{"key": f"{KEY}?"})
    time.sleep(600)


if __name__ == "__main__":
    assert Hello
    globals()[sys.argv[1]]()
