"""Connect Four: two seats drop discs in turn, and four in a line win. Its battles are played in turns, by coroutines.

The episode's seed determines who moves first and the random ``opening`` moves, so battles between deterministic players
differ, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.config.agent_games import ConnectFourSettings
from engine.config.base import parse
from engine.errors import ConfigError
from engine.mdp.battle import SteppedMDP, Tick
from engine.mdp.interface import ArraySpec, Discrete, MDPSpec, Result, SeatSpec, State
from engine.rng import combine64

COLUMNS, ROWS = 7, 6
CELLS = COLUMNS * ROWS
SEAT = SeatSpec((ArraySpec("board", (2 * CELLS,), low=0.0, high=1.0),), Discrete(COLUMNS), ("score",), ("discs",))
SPEC = MDPSpec("connect-four", "1", (SEAT, SEAT), max_ticks=CELLS, in_turns=True)
_DIRECTIONS = (1, ROWS + 1, ROWS, ROWS + 2)
"""Bit offsets to the next cell up, sideways, and along both diagonals; a column has one more bit than cells."""
_NOTHING, _WON, _LOST = (np.array([reward], np.float32) for reward in (0.0, 1.0, -1.0))


def connect_four(*, opening: int = 2) -> SteppedMDP:
    """The game. A seat sees its own discs, then the other's, column by column from the bottom; it may choose any column
    that is not full. The reward is 1 for a win and -1 for a defeat; a result's score is 1, 0.5 or 0, its signal the
    number of discs that the seat has dropped, including the opening's. Raises ConfigError for an invalid opening."""
    parse(ConnectFourSettings, {"opening": opening})
    return SteppedMDP(SPEC, lambda: ConnectFour(opening))


class ConnectFour:
    """``Simulation`` of one battle. A seat played by the rules drops in random columns, determined by the seed."""

    def __init__(self, opening: int = 2) -> None:
        self._opening = opening

    def begin(self, seed: int, played: Sequence[int]) -> tuple[bool, bool]:
        """As ``Simulation.begin``."""
        self._seed, self._played = seed, frozenset(played)
        self._boards = np.zeros((2, 2, CELLS), np.float32)  # per seat: its own discs, the other's
        self._bits, self._heights, self._dropped = [0, 0], [0] * COLUMNS, [0, 0]
        self._winner: int | None = None
        self._mover = int(combine64(seed, 0)) % 2
        for _ in range(self._opening):
            self._drop(self._drawn())
        self._play_others()
        return self._acting

    @property
    def _acting(self) -> tuple[bool, bool]:
        return self._mover == 0, self._mover == 1

    @property
    def _over(self) -> bool:
        return self._winner is not None or sum(self._dropped) == CELLS

    def _drawn(self) -> int:
        """A random column that is not full."""
        free = [column for column in range(COLUMNS) if self._heights[column] < ROWS]
        return free[int(combine64(self._seed, 1 + sum(self._dropped)) >> np.uint64(11)) % len(free)]

    def _play_others(self) -> None:
        while not self._over and self._mover not in self._played:
            self._drop(self._drawn())

    def _drop(self, column: int) -> None:
        mover, row = self._mover, self._heights[column]
        self._heights[column] += 1
        self._dropped[mover] += 1
        self._bits[mover] |= 1 << (column * (ROWS + 1) + row)
        self._boards[mover, 0, column * ROWS + row] = self._boards[1 - mover, 1, column * ROWS + row] = 1.0
        if four_in_a_line(self._bits[mover]):
            self._winner = mover
        self._mover = 1 - mover

    def state(self, seat: int) -> State:
        """As ``Simulation.state``; when the board is full every column counts as legal."""
        free = np.array([height < ROWS for height in self._heights])
        return State({"board": self._boards[seat].reshape(-1)}, free if free.any() else ~free)

    def step(self, actions: Sequence[Any]) -> Tick:
        """As ``Simulation.step``. Raises ConfigError for a full or invalid column."""
        seat, column = self._mover, int(actions[self._mover])
        if not 0 <= column < COLUMNS or self._heights[column] == ROWS:
            raise ConfigError([(f"seat {seat}", f"column {column} cannot be chosen; it is full, or there is none")])
        self._drop(column)
        self._play_others()
        if self._winner is None:
            return Tick((_NOTHING, _NOTHING), terminated=self._over, acting=self._acting)
        return Tick((_WON, _LOST) if self._winner == 0 else (_LOST, _WON), terminated=True)

    def result(self, seat: int) -> Result:
        """As ``Simulation.result``."""
        win = 0.5 if self._winner is None else float(self._winner == seat)
        return Result(win, win, {"discs": float(self._dropped[seat])})

    def close(self) -> None:
        """Nothing is held."""


def four_in_a_line(discs: int) -> bool:
    """Whether these discs, bit (column × 7 + row), have four in a line."""
    for step in _DIRECTIONS:
        pairs = discs & (discs >> step)
        if pairs & (pairs >> (2 * step)):
            return True
    return False
