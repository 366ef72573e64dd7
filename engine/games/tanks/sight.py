"""What a tank sees in numbers, and scripts that act on it; compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.games.tanks.kernel import (
    ANGLE,
    FIGHTERS,
    HALF,
    HEALTH,
    LEFT,
    LIFE,
    RADIUS,
    RELOAD,
    SQUAD,
    TANKS,
    TURN,
    WAIT,
    X,
    Y,
    compiled,
    uniform,
)

OWN, EACH, STONE, NEAR = 8, 8, 3, 4
"""Numbers of the tank itself, of each other one, and of each of the nearest obstacles."""
SEEN = OWN + EACH * (TANKS - 1) + STONE * NEAR
ENEMIES = OWN + EACH * (SQUAD - 1)
"""Where the enemies begin."""
BYSTANDERS = ENEMIES + EACH * SQUAD
# Numbers of another tank: metres / HALF to the front and to the right, its direction, its life, its shell.
FRONT, RIGHT, LIVES = 0, 1, 4
STATIC, RANDOM, PASSIVE, AGGRESSIVE = range(4)
_NEAR_ENOUGH, _AIMED, _CLEAR, _DRAWN = 38.0, 0.12, 3.0, np.uint64(5)


@compiled
def number(own: int, k: int) -> int:
    """The ``k``-th other tank as ``own`` counts them: friends, enemies, neutral ones."""
    if k >= FIGHTERS - 1:
        return k + 1
    first = own // SQUAD * SQUAD
    if k < SQUAD - 1:
        return first + k + (1 if k >= own - first else 0)
    return (first + k + 1) % FIGHTERS


@compiled
def other(i: int, j: int, tanks: Any, shells: Any, out: Any) -> None:
    """What tank ``i`` sees of a living tank ``j``: where it is, where it looks, its life, its shell."""
    cos, sin = np.cos(tanks[i, ANGLE]), np.sin(tanks[i, ANGLE])
    x, y = tanks[j, X] - tanks[i, X], tanks[j, Y] - tanks[i, Y]
    out[0], out[1] = (x * cos + y * sin) / HALF, (x * sin - y * cos) / HALF
    turned = tanks[j, ANGLE] - tanks[i, ANGLE]
    out[2], out[3], out[4] = np.cos(turned), -np.sin(turned), tanks[j, HEALTH] / LIFE
    if j < FIGHTERS and shells[j, LEFT] > 0.0:
        x, y = shells[j, X] - tanks[i, X], shells[j, Y] - tanks[i, Y]
        out[5], out[6], out[7] = (x * cos + y * sin) / HALF, (x * sin - y * cos) / HALF, 1.0


@compiled
def obstacles(i: int, tanks: Any, stones: Any, out: Any) -> None:
    """The nearest obstacles: metres / HALF to the front, to the right, and the radius; zeros where there are fewer."""
    cos, sin = np.cos(tanks[i, ANGLE]), np.sin(tanks[i, ANGLE])
    last = -1.0
    for near in range(min(NEAR, len(stones))):
        best, found = np.inf, 0
        for k in range(len(stones)):
            gap = (stones[k, X] - tanks[i, X]) ** 2 + (stones[k, Y] - tanks[i, Y]) ** 2
            if last < gap < best:
                best, found = gap, k
        last = best
        x, y = stones[found, X] - tanks[i, X], stones[found, Y] - tanks[i, Y]
        out[3 * near], out[3 * near + 1] = (x * cos + y * sin) / HALF, (x * sin - y * cos) / HALF
        out[3 * near + 2] = stones[found, RADIUS] / HALF


@compiled
def see(i: int, time: float, tanks: Any, shells: Any, stones: Any, out: Any) -> None:
    """What tank ``i`` sees, float32[SEEN]; nothing but zeros once it is dead."""
    out[:] = 0.0
    if tanks[i, HEALTH] <= 0.0:
        return
    out[0], out[1] = tanks[i, X] / HALF, tanks[i, Y] / HALF
    out[2], out[3] = np.cos(tanks[i, ANGLE]), np.sin(tanks[i, ANGLE])
    out[4], out[5] = tanks[i, HEALTH] / LIFE, tanks[i, WAIT] / RELOAD
    out[6], out[7] = 1.0 if shells[i, LEFT] > 0.0 else 0.0, time
    for k in range(TANKS - 1):
        j = number(i, k)
        if tanks[j, HEALTH] > 0.0:
            other(i, j, tanks, shells, out[OWN + EACH * k : OWN + EACH * (k + 1)])
    obstacles(i, tanks, stones, out[OWN + EACH * (TANKS - 1) :])


@compiled
def see_rows(i: int, longest: int, battles: Any, ticks: Any, tanks: Any, shells: Any, stones: Any, out: Any) -> None:
    """Write what tank ``i`` sees in these battles into their rows of float32[n, SEEN]."""
    for n in battles:
        see(i, ticks[n] / longest, tanks[n], shells[n], stones[n], out[n])


@compiled
def nearest(view: Any) -> int:
    """Where the numbers of the nearest enemy that lives begin; -1: there is none."""
    best, found = np.inf, -1
    for k in range(SQUAD):
        at = ENEMIES + EACH * k
        gap = view[at + FRONT] ** 2 + view[at + RIGHT] ** 2
        if view[at + LIVES] > 0.0 and gap < best:
            best, found = gap, at
    return found


@compiled
def clear(view: Any, gap: float) -> bool:
    """Whether no friend and no neutral tank is in the line of fire, up to ``gap`` metres ahead."""
    for k in range(TANKS - 1):
        at = OWN + EACH * k
        if (at < ENEMIES or at >= BYSTANDERS) and view[at + LIVES] > 0.0:
            ahead, beside = view[at + FRONT] * HALF, abs(view[at + RIGHT]) * HALF
            if 0.0 < ahead < gap + _CLEAR and beside < _CLEAR:
                return False
    return True


@compiled
def act(kind: int, view: Any, out: Any) -> None:
    """What a script does: ``STATIC`` nothing; ``PASSIVE`` stays, turns to the nearest enemy and shoots when it is in
    range and nobody else in the way; ``AGGRESSIVE`` goes for the nearest enemy and shoots whoever is in the way."""
    out[0], out[1], out[2] = 0.0, 0.0, -1.0
    at = nearest(view)
    if kind == STATIC or at < 0:
        return
    gap = np.sqrt(view[at + FRONT] ** 2 + view[at + RIGHT] ** 2) * HALF
    aside = np.arctan2(view[at + RIGHT], view[at + FRONT])
    out[1] = min(max(aside / (6.0 * TURN), -1.0), 1.0)
    aimed = abs(aside) < _AIMED and gap < _NEAR_ENOUGH
    if kind == PASSIVE:
        out[2] = 1.0 if aimed and clear(view, gap) else -1.0
    else:
        out[0] = 1.0 if gap > 15.0 and abs(aside) < 1.0 else 0.0
        out[2] = 1.0 if aimed else -1.0


@compiled
def act_rows(kind: int, views: Any, out: Any) -> None:
    """What a script does in rows float32[n, SEEN], as float32[n, 3]."""
    for n in range(len(views)):
        act(kind, views[n], out[n])


@compiled
def command(
    kind: int, side: int, seeds: Any, longest: int, ticks: Any, tanks: Any, shells: Any, stones: Any, orders: Any
) -> None:  # fmt: skip
    """The orders float32[n, 12, 3] of a side that a script leads."""
    view = np.empty(SEEN, np.float32)
    for n in range(len(seeds)):
        for i in range(side * SQUAD, (side + 1) * SQUAD):
            if kind == RANDOM:
                for a in range(3):
                    orders[n, i, a] = uniform(seeds[n], _DRAWN, (ticks[n] * FIGHTERS + i) * 3 + a)
            else:
                see(i, ticks[n] / longest, tanks[n], shells[n], stones[n], view)
                act(kind, view, orders[n, i])
