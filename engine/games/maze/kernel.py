"""The compiled rules of the maze. A random number is a hash of the episode's seed only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from engine.compiling import njit
from engine.games.maze.layout import CRASH, HOLE, JACKPOT, PIT

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile without fast-math: the order of operations is as written, on every machine."""
    return cast(F, njit(cache=True, nogil=True, fastmath=False, error_model="numpy")(function))


# Columns of the state table int64[n, 7].
ROW, COL, TICKS, MOVED, BUMPED, GROUND, OVER = range(7)
STATE = 7
GOING, WON, CRASHED, LUCKY = 0, 1, 2, 3  # values of OVER
# Faults of a decision.
NONE, CRASHES, IN_A_WALL = -1, 0, 1
# Kinds of reward.
SCORE_REWARD, WIN_REWARD, MOVED_REWARD, BUMPED_REWARD, GROUND_REWARD = range(5)


@compiled
def score(row: int, col: int, distance: Any, farthest: int) -> float:
    """1 at the goal, 0 as far from it as one can be. Inside a wall it is that of the nearest cell beside it."""
    steps = distance[row, col]
    if steps < 0:
        for r, c in ((row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)):
            if distance[r, c] >= 0 and (steps < 0 or distance[r, c] < steps):
                steps = distance[r, c]
    return float(1.0 - steps / farthest)


@compiled
def move(way: int, state: Any, walls: Any, planted: Any, hole: Any) -> int:
    """One step, if nothing is in the way. Returns the fault."""
    row, col = state[ROW], state[COL]
    if planted[row, col] == PIT:
        state[BUMPED] += 1
        return NONE
    there_row = row + (1 if way == 2 else (-1 if way == 0 else 0))
    there_col = col + (1 if way == 1 else (-1 if way == 3 else 0))
    through = planted[row, col] == HOLE and hole[row, col] == way
    if walls[there_row, there_col] and not through:
        state[BUMPED] += 1
        return NONE
    state[ROW], state[COL] = there_row, there_col
    state[MOVED] += 1
    return IN_A_WALL if through else NONE


@compiled
def act(way: int, state: Any, walls: Any, planted: Any, hole: Any) -> int:
    """One decision. Returns the fault."""
    state[TICKS] += 1
    goal = len(walls) - 2
    fault = move(way, state, walls, planted, hole)
    here = planted[state[ROW], state[COL]]
    if here == CRASH:
        state[OVER] = CRASHED
        return CRASHES
    if here == JACKPOT:
        state[OVER] = LUCKY
    elif state[ROW] == goal and state[COL] == goal:
        state[OVER] = WON
    return fault


@compiled
def pay(kinds: Any, before: Any, state: Any, gain: float, out: Any) -> None:
    """The rewards of a decision."""
    for r in range(len(kinds)):
        if kinds[r] == SCORE_REWARD:
            out[r] = gain
        elif kinds[r] == WIN_REWARD:
            out[r] = 1.0 if state[OVER] == WON or state[OVER] == LUCKY else 0.0
        elif kinds[r] == MOVED_REWARD:
            out[r] = state[MOVED] - before[MOVED]
        elif kinds[r] == BUMPED_REWARD:
            out[r] = state[BUMPED] - before[BUMPED]
        else:
            out[r] = state[GROUND] - before[GROUND]


@compiled
def play(
    actions: Any, kinds: Any, farthest: int, walls: Any, distance: Any, planted: Any, hole: Any, states: Any,
    visited: Any, rewards: Any, faults: Any,
) -> None:  # fmt: skip
    """One decision of every battle: ``actions`` int64[n], ``visited`` bool[n, s, s], ``rewards`` float32[n, R],
    ``faults`` int64[n]."""
    before = np.empty(STATE, np.int64)
    for i in range(len(states)):
        state = states[i]
        before[:] = state
        faults[i] = act(actions[i], state, walls, planted, hole)
        row, col = state[ROW], state[COL]
        if not visited[i, row, col]:
            visited[i, row, col] = True
            state[GROUND] += 1
        gain = score(row, col, distance, farthest) - score(before[ROW], before[COL], distance, farthest)
        pay(kinds, before, state, gain, rewards[i])


@compiled
def restart(battles: Any, seeds: Any, entrance: Any, states: Any, visited: Any) -> None:
    """Begin new episodes in these battles, each in one of the cells of the entrance."""
    for i in battles:
        first = int(seeds[i] % np.uint64(len(entrance)))
        states[i] = 0
        states[i, ROW], states[i, COL] = entrance[first, 0], entrance[first, 1]
        visited[i] = False
        visited[i, entrance[first, 0], entrance[first, 1]] = True
        states[i, GROUND] = 1


@compiled
def observe(states: Any, walls: Any, visited: Any, battles: Any, out: Any) -> None:
    """Write what is seen in these battles into their rows of float32[n, 2 s + 10]: row and column, one of s each; of
    the four cells around whether it is a wall, and whether it was entered before; the way to the goal."""
    s = len(walls)
    for i in battles:
        row, col = states[i, ROW], states[i, COL]
        out[i] = 0.0
        out[i, row] = 1.0
        out[i, s + col] = 1.0
        around = (
            (max(row - 1, 0), col),
            (row, min(col + 1, s - 1)),
            (min(row + 1, s - 1), col),
            (row, max(col - 1, 0)),
        )
        for k in range(4):
            out[i, 2 * s + k] = walls[around[k]]
            out[i, 2 * s + 4 + k] = visited[i, around[k][0], around[k][1]]
        out[i, 2 * s + 8] = (s - 2 - row) / s
        out[i, 2 * s + 9] = (s - 2 - col) / s
