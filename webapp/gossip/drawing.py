"""Agents that learn side by side as a drawing: who takes over from whom."""

from __future__ import annotations

import math
from typing import NamedTuple

from engine.arrays import Bundle

MOST_ARROWS = 300
"""Beyond that, arrows would hide each other; the table has them all."""
_RADIUS, _DOT = 92.0, 13.0
_LATE = 1
"""Updates of an agent without its neighbour from which on a link counts as late."""


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

    @property
    def middle(self) -> tuple[float, float]:
        """Where its age stands."""
        return (self.x1 + self.x2) / 2, (self.y1 + self.y2) / 2


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
