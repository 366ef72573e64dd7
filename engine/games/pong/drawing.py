"""Pictures of Pong."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.games.pong import kernel
from engine.games.pong.kernel import compiled

PAPER, PADDLES, DOT = 0, 160, 255  # shades
THICK = 0.03  # half a paddle's thickness
PLACES = (kernel.BALL_X, kernel.BALL_Y, kernel.PADDLE, kernel.PADDLE + 1)
"""The columns of the state that a picture shows."""


@compiled
def column(x: float, size: int) -> int:
    """The first pixel whose centre is at x or beyond."""
    return min(max(int(np.ceil((x + 1.0) * 0.5 * size - 0.5)), 0), size)


@compiled
def block(out: Any, x: float, y: float, half_x: float, half_y: float, shade: int) -> None:
    """Fill the pixels whose centres are within a rectangle; y points up."""
    size = out.shape[0]
    for row in range(column(-y - half_y, size), column(-y + half_y, size)):
        for col in range(column(x - half_x, size), column(x + half_x, size)):
            out[row, col] = shade


@compiled
def draw(ball_x: float, ball_y: float, own: float, other: float, out: Any) -> None:
    """One frame uint8[size, size]: own paddle on the left."""
    out[:] = PAPER
    block(out, -kernel.LINE, own, THICK, kernel.HALF, PADDLES)
    block(out, kernel.LINE, other, THICK, kernel.HALF, PADDLES)
    block(out, ball_x, ball_y, kernel.BALL, kernel.BALL, DOT)


@compiled
def draw_rows(side: int, history: Any, battles: Any, out: Any) -> None:
    """Draw one seat's view of these battles into their rows of uint8[n, frames, size, size], from positions
    float64[n, frames, 4]."""
    sign = 1.0 if side == 0 else -1.0
    for i in battles:
        for f in range(history.shape[1]):
            seen = history[i, f]
            draw(seen[0] * sign, seen[1], seen[2 + side], seen[3 - side], out[i, f])


def draw_one(state: NDArray[np.float64], size: int) -> NDArray[np.uint8]:
    """A battle's state from the view of seat 0."""
    out = np.empty((size, size), np.uint8)
    ball_x, ball_y, own, other = state[list(PLACES)]
    draw(ball_x, ball_y, own, other, out)
    return out
