"""Agents that learn side by side as a drawing: who takes over from whom."""

from __future__ import annotations

import math
from typing import NamedTuple

from engine.arrays import Bundle

MOST_ARROWS = 300
"""Beyond that, arrows would hide each other; the table has them all."""
_RADIUS, _DOT = 92.0, 13.0
_BESIDE = 4.0
"""How far to its left an arrow lies where another one comes the other way."""
_AGE_ASIDE = 9
"""How far an arrow's age is from it."""
_LATE = 1
"""Updates of an agent without its neighbour from which on a link counts as late."""


class Dot(NamedTuple):
    """An agent, numbered from 1."""

    number: int
    x: float
    y: float


class Arrow(NamedTuple):
    """From who sends to who takes over. ``age``: updates of the taker since; ``late``: there were some; ``behind``: by
    how many updates what it took over last was older than its own, negative where it was newer."""

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
    def label(self) -> tuple[float, float]:
        """Where its age stands: a third of the way from the taker, away from those that cross it in the middle, and
        beside the arrow, on the side where none of the other direction is."""
        x, y = self.x2 - self.x1, self.y2 - self.y1
        aside = _AGE_ASIDE / (math.hypot(x, y) or 1.0)
        return (self.x1 + 2 * self.x2) / 3 + aside * y, (self.y1 + 2 * self.y2) / 3 - aside * x


class Circle:
    """``dots``: all agents; ``arrows``: what each takes over from whom."""

    def __init__(self, agents: int, links: Bundle) -> None:
        turns = [2 * math.pi * i / agents - math.pi / 2 for i in range(agents)]
        self.dots = [Dot(i + 1, _RADIUS * math.cos(t), _RADIUS * math.sin(t)) for i, t in enumerate(turns)]
        columns = (links.arrays[name].tolist() for name in ("sender", "taker", "age", "behind"))
        rows = list(zip(*columns, strict=True))
        self._pairs = {(sender, taker) for sender, taker, *_ in rows}
        self.arrows = [self._arrow(*row) for row in rows]

    def _arrow(self, sender: int, taker: int, age: int, behind: int) -> Arrow:
        a, b = self.dots[sender], self.dots[taker]
        length = math.hypot(b.x - a.x, b.y - a.y) or 1.0
        ux, uy = (b.x - a.x) / length, (b.y - a.y) / length
        aside = _BESIDE if (taker, sender) in self._pairs else 0.0
        left, start, end = (aside * uy, -aside * ux), _DOT, 1.3 * _DOT
        ends = (a.x + start * ux + left[0], a.y + start * uy + left[1],
                b.x - end * ux + left[0], b.y - end * uy + left[1])  # fmt: skip
        return Arrow(sender + 1, taker + 1, age, behind, age >= _LATE, *ends)

    @property
    def drawn(self) -> list[Arrow]:
        """The arrows of the drawing, late ones last, so that they are seen."""
        return sorted(self.arrows, key=lambda arrow: arrow.late) if len(self.arrows) <= MOST_ARROWS else []

    @property
    def late(self) -> list[Arrow]:
        """Those over which nothing came in the taker's last update."""
        return [arrow for arrow in self.arrows if arrow.late]

    @property
    def behind(self) -> int:
        """By how many updates the oldest of all that was taken over was behind who took it."""
        return max((arrow.behind for arrow in self.arrows), default=0)
