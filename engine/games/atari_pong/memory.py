"""What the console's memory says of Pong.

Bytes as Anand et al. list them (2019, "Unsupervised State Representation Learning in Atari"); where they are on the
screen was measured: of the field's 160 × 160 points the ball is at (byte − 48.5, byte − 47), the middle of the agent's
paddle at byte − 40.5, of the other one's at byte − 41.5, and the paddles stand in columns 141.5 and 17.5.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

POINTS = (13, 14)
"""Bytes of the points of the console's player and of the agent."""
BALL_X, BALL_Y, OWN, OTHER, SPEED = 49, 54, 51, 50, 58
"""Bytes of the ball, of both paddles, and of the ball's way across: 1 and 2 to the left, 255 and 254 to the right."""
STICK = np.array([0, 0, 1, -1, 1, -1])
"""Where each action pushes the stick: 1 up, -1 down. Actions are nothing, fire, right, left, and both with fire; Pong's
paddle goes up for right."""
_MIDDLE, _LINES = 79.5, (141.5 - 17.5) / 2 / 0.92


def ball_and_paddle(memory: NDArray[np.uint8]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How far down the field ball and agent's paddle are [n], the middle of each, in its points; of bytes [n, 128]."""
    seen = memory.astype(np.float64)
    return seen[..., BALL_Y] - 47.0, seen[..., OWN] - 40.5


def placed(memory: NDArray[np.uint8]) -> NDArray[np.float64]:
    """float64[6] for a drawing, of bytes [128]: the ball's x and y, the agent's and the other paddle's y (all from −1
    to 1, y points up) and both sides' points. The agent is drawn on the left, as in every other game, so x is turned
    round. While there is no ball it lies in the middle."""
    ball, own = ball_and_paddle(memory)
    there = memory[BALL_X] > 0
    x = (_MIDDLE - (memory[BALL_X] - 48.5)) / _LINES if there else 0.0
    y = (_MIDDLE - ball) / 80 if there else 0.0
    other, points = memory[OTHER] - 41.5, memory[list(POINTS)]
    return np.array([x, y, (_MIDDLE - own) / 80, (_MIDDLE - other) / 80, points[1], points[0]], np.float64)
