"""The plan of a maze: its walls, how far every cell is from the goal, and where its bugs are planted.

A maze is size × size cells, the outermost of which are walls. A depth-first walk connects the cells with odd
coordinates, then some walls fall so that there are ways round. The entrance is in the upper left corner, the goal in
the lower right one. Nothing but ``layout`` and ``size`` decides what it looks like.
"""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.rng import generator

UP, RIGHT, DOWN, LEFT = range(4)
WAYS = ((-1, 0), (0, 1), (1, 0), (0, -1))
NOTHING, CRASH, PIT, HOLE, JACKPOT = range(5)
"""What is planted in a cell: it crashes the game; nobody leaves it; one of its walls lets everybody through; it wins at
once, with twice the score."""
EACH = 3
"""Planted bugs of each kind."""
_OPENED = 0.4
_FAR = 2


class Layout(NamedTuple):
    """``walls`` bool[s, s]; ``distance`` int64[s, s]: steps to the goal (-1: wall); ``planted`` int64[s, s]: kinds of
    bug; ``hole`` int64[s, s]: the way through the wall where a HOLE is; ``entrance`` int64[k, 2]: cells where an
    episode may begin."""

    walls: NDArray[np.bool_]
    distance: NDArray[np.int64]
    planted: NDArray[np.int64]
    hole: NDArray[np.int64]
    entrance: NDArray[np.int64]


@lru_cache(maxsize=16)
def laid_out(size: int, layout: int) -> Layout:
    """The plan of a maze with an odd ``size``; its arrays cannot be written to."""
    rng = generator(layout, "maze", size)
    walls = _dug(size, rng)
    distance = distances(walls, (size - 2, size - 2))
    begin = distances(walls, (1, 1))
    entrance = np.argwhere((begin >= 0) & (begin <= 1))
    planted, hole = _planted(walls, distance, begin)
    found = Layout(walls, distance, planted, hole, entrance)
    for array in found:
        array.flags.writeable = False
    return found


def distances(walls: NDArray[np.bool_], start: tuple[int, int]) -> NDArray[np.int64]:
    """Steps from ``start`` to every cell, -1 where nobody gets."""
    found = np.full(walls.shape, -1, np.int64)
    found[start] = 0
    queue = deque([start])
    while queue:
        row, col = queue.popleft()
        for down, right in WAYS:
            there = row + down, col + right
            if not walls[there] and found[there] < 0:
                found[there] = found[row, col] + 1
                queue.append(there)
    return found


def _dug(size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    walls = np.ones((size, size), np.bool_)
    walls[1, 1] = False
    stack = [(1, 1)]
    while stack:
        row, col = stack[-1]
        open_ = [(d, r) for d, r in WAYS if _inside(row + 2 * d, col + 2 * r, size) and walls[row + 2 * d, col + 2 * r]]
        if not open_:
            stack.pop()
            continue
        down, right = open_[int(rng.integers(len(open_)))]
        walls[row + down, col + right] = walls[row + 2 * down, col + 2 * right] = False
        stack.append((row + 2 * down, col + 2 * right))
    inner = np.argwhere(walls[1:-1, 1:-1]) + 1
    between = inner[(inner.sum(axis=1) % 2).astype(bool)]
    fallen = rng.permutation(len(between))[: int(_OPENED * len(between))]
    walls[tuple(between[fallen].T)] = False
    return walls


def _inside(row: int, col: int, size: int) -> bool:
    return 0 < row < size - 1 and 0 < col < size - 1


def _planted(
    walls: NDArray[np.bool_], to_goal: NDArray[np.int64], begin: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The bugs: off the shortest ways to the goal, from near the entrance to the farthest corners; each kind both near
    and far."""
    planted, hole = np.zeros(walls.shape, np.int64), np.full(walls.shape, -1, np.int64)
    detour, before = begin + to_goal - to_goal[1, 1], _before_goal(walls)
    sites = np.argwhere(before & (detour >= 2 * _FAR) & (to_goal > _FAR) & (begin > _FAR))
    sites = sites[np.argsort(begin[tuple(sites.T)], kind="stable")]
    kinds = np.tile([CRASH, PIT, HOLE, JACKPOT], EACH)
    for kind, part in zip(kinds.tolist(), np.array_split(sites, len(kinds)), strict=True):
        here, ends = set(map(tuple, part.tolist())), (planted > 0) & (planted != HOLE)
        free = sorted((at for at in map(tuple, sites.tolist()) if not planted[at]), key=lambda at: -int(detour[at]))
        wanted = (*(at for at in free if at in here), *(at for at in free if at not in here))
        deepest = next((at for at in wanted if _takes(kind, walls, ends, at)), None)  # looking is dear in large mazes
        if deepest is not None:
            planted[deepest] = kind
            hole[deepest] = _thin(walls, deepest) if kind == HOLE else -1
    return planted, hole


def _takes(kind: int, walls: NDArray[np.bool_], ends: NDArray[np.bool_], at: tuple[int, ...]) -> bool:
    """Whether a cell can have such a bug: what ends an episode, or everything, must cut nobody off from other cells,
    nor from the other ``ends``."""
    if kind == HOLE:
        return _thin(walls, at) >= 0
    before, barred = _before_goal(walls | ends), walls | ends
    before[at], barred[at] = False, True
    if (_before_goal(barred) != before).any():
        return False
    for other in map(tuple, np.argwhere(ends).tolist()):
        without = barred.copy()
        without[other] = False
        if not _before_goal(without)[other]:
            return False
    return True


def _before_goal(walls: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The cells that can be reached without passing the goal, which ends an episode."""
    without = walls.copy()
    without[-2, -2] = True
    return np.asarray(distances(without, (1, 1)) >= 0)


def _thin(walls: NDArray[np.bool_], at: tuple[int, ...]) -> int:
    """A way from a cell into a wall that is not an outer one; -1: there is none."""
    size = len(walls)
    for way, (down, right) in enumerate(WAYS):
        row, col = at[0] + down, at[1] + right
        if walls[row, col] and _inside(row, col, size):
            return way
    return -1
