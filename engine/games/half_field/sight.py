"""What the attacker of half-field offence sees: HFO's low-level features, 58 and 8 of the goalkeeper, compiled.

All are from −1 to 1. An angle is its sine and cosine; what is near has a larger number than what is far; what may be
true is 1 or −1. Everything is always known, nobody tires or touches a post.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.games.chance import clip, compiled
from engine.games.half_field.field import (
    AREA_HALF,
    AREA_LONG,
    BALL,
    GOALKEEPER,
    HALF,
    KICKABLE,
    LENGTH,
    PLAYER,
    POST,
    WIDTH,
    gap,
)
from engine.games.half_field.kernel import FARTHEST, FROZEN, HIT_BALL, HIT_PLAYER

ALONE, EACH = 58, 8
"""Features without a goalkeeper, and those of it."""
LANDMARKS = np.array(
    [
        (LENGTH, 0.0), (LENGTH, -POST), (LENGTH, POST), (LENGTH - AREA_LONG, 0.0), (LENGTH - AREA_LONG, -AREA_HALF),
        (LENGTH - AREA_LONG, AREA_HALF), (0.0, 0.0), (0.0, -HALF), (LENGTH, -HALF), (LENGTH, HALF), (0.0, HALF),
    ],
    np.float64,
)  # fmt: skip
"""The goal's middle and posts, the penalty area's, the middle of the field, and the corners."""
SELF, SPEED, BODY, CAN, FIRST = 0, 4, 5, 12, 13
EDGES, THE_BALL, BALL_SPEED = 46, 50, 55
FAR_X, FAR_Y = 1.1 * LENGTH, 1.05 * WIDTH
FASTEST_SELF, FASTEST_OTHER, FASTEST_BALL = 0.46, 0.75, 5.0
"""Speeds at which HFO's features are 1: the fastest that its authors saw of a player, and more than any of a ball."""


@compiled
def nearness(far: float, most: float) -> float:
    """1 at no distance, −1 at ``most`` and beyond."""
    return 1.0 - 2.0 * clip(far / most, 0.0, 1.0)


@compiled
def place(s: Any, x: float, y: float, out: Any) -> None:
    """Where a point is, float32[3]: sine and cosine of its angle from the body, and how near it is."""
    dx, dy = x - s[PLAYER], y - s[PLAYER + 1]
    far, cos, sin = math.hypot(dx, dy), math.cos(s[PLAYER + 4]), math.sin(s[PLAYER + 4])
    out[0], out[1], out[2] = 0.0, 1.0, nearness(far, FARTHEST)
    if far > 0.0:
        out[0], out[1] = (dy * cos - dx * sin) / far, (dx * cos + dy * sin) / far


@compiled
def heading(vx: float, vy: float) -> float:
    """The direction of a velocity; 0 of what rests, whatever the signs of its zeros."""
    return math.atan2(vy, vx) if vx != 0.0 or vy != 0.0 else 0.0


@compiled
def motion(vx: float, vy: float, fastest: float, body: float, out: Any) -> None:
    """How something moves, float32[3]: its speed, then sine and cosine of its direction from ``body``."""
    speed, angle = math.hypot(vx, vy), heading(vx, vy) - body
    out[0], out[1], out[2] = 2.0 * min(speed / fastest, 1.0) - 1.0, math.sin(angle), math.cos(angle)


@compiled
def own(s: Any, hit: int, out: Any) -> None:
    """The first features, of the player itself; ``hit``: bits of what it ran into."""
    out[SELF], out[SELF + 1] = 1.0, 1.0
    speed, angle = math.hypot(s[2], s[3]), s[PLAYER + 4] - heading(s[2], s[3])
    out[2], out[3], out[SPEED] = math.sin(angle), math.cos(angle), 2.0 * min(speed / FASTEST_SELF, 1.0) - 1.0
    out[BODY], out[BODY + 1] = math.sin(s[PLAYER + 4]), math.cos(s[PLAYER + 4])
    out[7], out[8] = 1.0, 1.0 if hit & FROZEN else -1.0  # not tired
    out[9], out[10], out[11] = 1.0 if hit & HIT_BALL else -1.0, 1.0 if hit & HIT_PLAYER else -1.0, -1.0
    out[CAN] = 1.0 if gap(s, PLAYER, BALL) <= KICKABLE else -1.0


@compiled
def see(s: Any, guarded: bool, hit: int, out: Any) -> None:
    """All features of a battle, float32[58] or float32[66]."""
    own(s, hit, out)
    for k in range(len(LANDMARKS)):
        place(s, LANDMARKS[k, 0], LANDMARKS[k, 1], out[FIRST + 3 * k : FIRST + 3 * k + 3])
    out[EDGES], out[EDGES + 1] = nearness(s[PLAYER], FAR_X), nearness(LENGTH - s[PLAYER], FAR_X)
    out[EDGES + 2], out[EDGES + 3] = nearness(HALF + s[PLAYER + 1], FAR_Y), nearness(HALF - s[PLAYER + 1], FAR_Y)
    out[THE_BALL], out[THE_BALL + 4] = 1.0, 1.0
    place(s, s[BALL], s[BALL + 1], out[THE_BALL + 1 : THE_BALL + 4])
    motion(s[BALL + 2], s[BALL + 3], FASTEST_BALL, 0.0, out[BALL_SPEED : BALL_SPEED + 3])
    if guarded:
        place(s, s[GOALKEEPER], s[GOALKEEPER + 1], out[ALONE : ALONE + 3])
        out[ALONE + 3], out[ALONE + 4] = math.sin(s[GOALKEEPER + 4]), math.cos(s[GOALKEEPER + 4])
        motion(s[GOALKEEPER + 2], s[GOALKEEPER + 3], FASTEST_OTHER, 0.0, out[ALONE + 5 : ALONE + 8])


@compiled
def observe(battles: Any, guarded: bool, states: Any, hits: Any, out: Any) -> None:
    """Write what is seen in these battles into their rows of float32[n, 58] or float32[n, 66]."""
    for i in battles:
        see(states[i], guarded, hits[i], out[i])
