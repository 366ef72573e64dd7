"""Agents that learn side by side as drawings: who takes over from whom, and lines over rounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from engine.arrays import Bundle

MOST_ARROWS = 300
"""Beyond that, arrows would hide each other; the table has them all."""
_RADIUS, _DOT = 92.0, 13.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 616.0, 16.0, 180.0
_LATE = 1
"""Updates of an agent without its neighbour from which on a link counts as late."""


def short(value: float) -> str:
    """Three digits, with a true minus sign: "0.012", "−0.25"."""
    return f"{value:.3g}".replace("-", "−")


class Dot(NamedTuple):
    """An agent, numbered from 1."""

    number: int
    x: float
    y: float


class Arrow(NamedTuple):
    """From who sends to who takes over. ``age``: updates of the taker since; ``late``: there were some."""

    sender: int
    taker: int
    age: int
    behind: int
    late: bool
    x1: float
    y1: float
    x2: float
    y2: float


class Circle:
    """``dots``: all agents; ``arrows``: what each takes over from whom."""

    def __init__(self, agents: int, links: Bundle) -> None:
        turns = [2 * math.pi * i / agents - math.pi / 2 for i in range(agents)]
        self.dots = [Dot(i + 1, _RADIUS * math.cos(t), _RADIUS * math.sin(t)) for i, t in enumerate(turns)]
        columns = (links.arrays[name].tolist() for name in ("sender", "taker", "age", "behind"))
        self.arrows = [self._arrow(*row) for row in zip(*columns, strict=True)]

    def _arrow(self, sender: int, taker: int, age: int, behind: int) -> Arrow:
        a, b = self.dots[sender], self.dots[taker]
        length = math.hypot(b.x - a.x, b.y - a.y) or 1.0
        dx, dy = (_DOT * (b.x - a.x) / length, _DOT * (b.y - a.y) / length)
        ends = (a.x + dx, a.y + dy, b.x - 1.3 * dx, b.y - 1.3 * dy)
        return Arrow(sender + 1, taker + 1, age, behind, age >= _LATE, *ends)

    @property
    def drawn(self) -> list[Arrow]:
        """The arrows of the drawing, late ones last, so that they are seen."""
        return sorted(self.arrows, key=lambda arrow: arrow.late) if len(self.arrows) <= MOST_ARROWS else []

    @property
    def late(self) -> list[Arrow]:
        """Those over which nothing came in the taker's last update."""
        return [arrow for arrow in self.arrows if arrow.late]


class Line(NamedTuple):
    """A line of a chart, as an SVG path; ``first``: the one that counts."""

    name: str
    first: bool
    path: str


class Chart:
    """Lines over ``x``; gaps where nothing is known. ``levels`` and ``ends``: the texts of the axes; ``heads`` and
    ``rows``: the same as a table."""

    def __init__(self, x: Sequence[float], lines: Sequence[tuple[str, bool, Sequence[float | None]]]) -> None:
        known = [value for _, _, column in lines for value in column if value is not None]
        self._low, self._high = min(known, default=0.0), max(known, default=1.0)
        self._first, self._last = (x[0], x[-1]) if x else (0.0, 1.0)
        self.heads = [name for name, _, _ in lines]
        told = zip(*(["" if v is None else short(v) for v in column] for _, _, column in lines), strict=True)
        self.rows = list(zip(x, told, strict=True))
        made = [Line(name, first, self._path(x, column)) for name, first, column in lines]
        self.lines = sorted((line for line in made if line.path), key=lambda line: line.first)
        self.levels = [(short(value), self._y(value)) for value in dict.fromkeys((self._low, self._high))]
        self.ends = [(value, self._x(value)) for value in dict.fromkeys((self._first, self._last))]

    def _path(self, x: Sequence[float], column: Sequence[float | None]) -> str:
        points = [(self._x(a), self._y(b)) for a, b in zip(x, column, strict=True) if b is not None]
        return "M" + " L".join(f"{a:.1f} {b:.1f}" for a, b in points) if points else ""

    def _x(self, value: float) -> float:
        return LEFT + (RIGHT - LEFT) * (value - self._first) / max(self._last - self._first, 1e-9)

    def _y(self, value: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (value - self._low) / max(self._high - self._low, 1e-9)
