"""How individuals and the centre scored, as a drawing over decisions or over time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from webapp.lib.words import number

LEFT, RIGHT, TOP, BOTTOM = 64.0, 616.0, 16.0, 220.0
NAMES = {
    "return_es": ("evolving", "those that only evolve"),
    "return_rl": ("learning", "those that learn first"),
    "return_estimate": ("centre", "the centre, as estimated"),
    "evaluation_return": ("examined", "the centre on fresh episodes"),
}
"""What is drawn: its class and its words."""
Column = Sequence[float | None]


class Line(NamedTuple):
    """One of ``NAMES``, its points in the drawing."""

    mark: str
    words: str
    points: list[tuple[float, float]]

    @property
    def path(self) -> str:
        """As SVG has it."""
        return "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in self.points)


class Course:
    """``lines``; ``levels`` and ``places``: texts of the axes and where they stand; ``along``: what is to the right."""

    def __init__(self, columns: Mapping[str, Column], along: str, words: Callable[[float], str], title: str) -> None:
        self.along = title
        self._x = [value or 0.0 for value in columns.get(along, ())]
        drawn = {name: columns[name] for name in NAMES if any(_known(v) for v in columns.get(name, ()))}
        every = [value for column in drawn.values() for value in column if value is not None and _known(value)]
        self._low, self._high = min(every, default=0.0), max(every, default=1.0)
        self._last = max(self._x, default=1.0) or 1.0
        self.lines = [Line(*NAMES[name], self._points(column)) for name, column in drawn.items()]
        middle = (self._low + self._high) / 2
        self.levels = [(number(y, 0), self._y(y)) for y in (self._low, middle, self._high)]
        self.places = [(words(share * self._last), self._at(share * self._last)) for share in (0.0, 0.5, 1.0)]

    def _points(self, column: Column) -> list[tuple[float, float]]:
        told = zip(self._x, column, strict=True)
        return [(self._at(x), self._y(y)) for x, y in told if y is not None and _known(y)]

    def _at(self, x: float) -> float:
        return LEFT + (RIGHT - LEFT) * x / self._last

    def _y(self, y: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (y - self._low) / max(self._high - self._low, 1e-9)


def _known(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
