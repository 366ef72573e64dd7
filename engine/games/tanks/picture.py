"""What a tank sees as a picture: a map of 128 × 128 around it, itself in the middle and looking upwards; compiled.

Its four layers show the own team, the enemies, neutral tanks (each the brighter the more life it has, and shells), and
walls with obstacles, as TanksWorld's do: 120 pixels are 100 metres.
"""

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
    SQUAD,
    TANKS,
    X,
    Y,
    compiled,
)

SIZE, LAYERS = 128, 4
SCALE = 1.2  # pixels a metre
NOSE, TAIL, SHELL = 6.0, 3.0, 1.5  # pixels
FRIENDS, ENEMIES, NEUTRAL, WALLS = range(LAYERS)


@compiled
def dot(front: float, right: float, radius: float, shade: int, out: Any) -> None:
    """A disc; ``front`` and ``right`` in pixels from the middle."""
    row, col = SIZE / 2.0 - front, SIZE / 2.0 + right
    for r in range(max(int(row - radius), 0), min(int(row + radius) + 1, SIZE)):
        for c in range(max(int(col - radius), 0), min(int(col + radius) + 1, SIZE)):
            if (r + 0.5 - row) ** 2 + (c + 0.5 - col) ** 2 <= radius * radius:
                out[r, c] = shade


@compiled
def wedge(front: float, right: float, turned: float, shade: int, out: Any) -> None:
    """A wedge that looks where a tank does: long before its middle, short and wider behind."""
    row, col = SIZE / 2.0 - front, SIZE / 2.0 + right
    cos, sin = np.cos(turned), np.sin(turned)
    for r in range(max(int(row - NOSE), 0), min(int(row + NOSE) + 1, SIZE)):
        for c in range(max(int(col - NOSE), 0), min(int(col + NOSE) + 1, SIZE)):
            ahead, aside = row - (r + 0.5), c + 0.5 - col
            along, across = ahead * cos - aside * sin, ahead * sin + aside * cos
            if -TAIL / 2.0 <= along <= NOSE and abs(across) <= TAIL * (NOSE - along) / (NOSE + TAIL / 2.0):
                out[r, c] = shade


@compiled
def walls(i: int, tanks: Any, stones: Any, out: Any) -> None:
    """Everything outside, and obstacles."""
    cos, sin = np.cos(tanks[i, ANGLE]), np.sin(tanks[i, ANGLE])
    for r in range(SIZE):
        front = (SIZE / 2.0 - (r + 0.5)) / SCALE
        for c in range(SIZE):
            right = (c + 0.5 - SIZE / 2.0) / SCALE
            x, y = tanks[i, X] + front * cos + right * sin, tanks[i, Y] + front * sin - right * cos
            if abs(x) > HALF or abs(y) > HALF:
                out[r, c] = 255
    for k in range(len(stones)):
        x, y = stones[k, X] - tanks[i, X], stones[k, Y] - tanks[i, Y]
        dot((x * cos + y * sin) * SCALE, (x * sin - y * cos) * SCALE, stones[k, RADIUS] * SCALE, 255, out)


@compiled
def draw(i: int, tanks: Any, shells: Any, stones: Any, out: Any) -> None:
    """What tank ``i`` sees, uint8[4, 128, 128]; black once it is dead."""
    out[:] = 0
    if tanks[i, HEALTH] <= 0.0:
        return
    cos, sin = np.cos(tanks[i, ANGLE]), np.sin(tanks[i, ANGLE])
    walls(i, tanks, stones, out[WALLS])
    for j in range(TANKS):
        layer = NEUTRAL if j >= FIGHTERS else (FRIENDS if j // SQUAD == i // SQUAD else ENEMIES)
        if tanks[j, HEALTH] > 0.0:
            x, y = tanks[j, X] - tanks[i, X], tanks[j, Y] - tanks[i, Y]
            shade = int(127.0 + 128.0 * tanks[j, HEALTH] / LIFE)
            turned = tanks[j, ANGLE] - tanks[i, ANGLE]
            wedge((x * cos + y * sin) * SCALE, (x * sin - y * cos) * SCALE, turned, shade, out[layer])
        if j < FIGHTERS and shells[j, LEFT] > 0.0:
            x, y = shells[j, X] - tanks[i, X], shells[j, Y] - tanks[i, Y]
            dot((x * cos + y * sin) * SCALE, (x * sin - y * cos) * SCALE, SHELL, 255, out[layer])


@compiled
def draw_rows(i: int, battles: Any, tanks: Any, shells: Any, stones: Any, out: Any) -> None:
    """Draw what tank ``i`` sees in these battles into their rows of uint8[n, 4, 128, 128]."""
    for n in battles:
        draw(i, tanks[n], shells[n], stones[n], out[n])
