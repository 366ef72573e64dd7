"""Where episodes of a game begin, drawn on the game's picture: each start is a rectangle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

LEAST = 2.5
"""Width and height of a rectangle that is as narrow as a line."""
MARKS = 8
"""Colours of starts."""


def mark_of(place: int, many: int) -> int:
    """The colour of a start among so many, from 1. Where there are more than colours, those from the seventh on share
    one, and the last, which is the hard one, has its own."""
    if many <= MARKS:
        return place + 1
    return MARKS if place == many - 1 else min(place + 1, MARKS - 1)


class RangeAxis(NamedTuple):
    """The settings with the ends of a range, the numbers at the ends of the picture (``low`` may be the larger one),
    and the game's usual range."""

    first: str
    last: str
    low: float
    high: float
    usual: tuple[float, float]

    def ends(self, settings: Mapping[str, Any], size: float) -> tuple[float, float]:
        """Where the range begins in a picture of this size, and how long it is."""
        usual = dict(zip((self.first, self.last), self.usual, strict=True))
        a, b = sorted(size * (float(settings.get(name, usual[name])) - self.low) / (self.high - self.low)
                      for name in (self.first, self.last))  # fmt: skip
        return (a, b - a) if b - a >= LEAST else ((a + b - LEAST) / 2, LEAST)


class StartMark(NamedTuple):
    """A start as it is drawn; ``number``: its colour, from 1."""

    name: str
    number: int
    x: float
    y: float
    width: float
    height: float


class Picture(NamedTuple):
    """``boxes``: (x, y, width, height) of what is drawn below the starts; ``caption``: what its numbers mean. Without
    ``down`` a start is as high as the picture."""

    width: float
    height: float
    boxes: tuple[tuple[float, float, float, float], ...]
    across: RangeAxis
    down: RangeAxis | None
    caption: str

    @property
    def axes(self) -> list[RangeAxis]:
        """Both, as far as there are two."""
        return [self.across] if self.down is None else [self.across, self.down]

    def marks(self, starts: Sequence[tuple[str, Mapping[str, Any]]]) -> list[StartMark]:
        """Starts by name and settings."""
        found = []
        for i, (name, settings) in enumerate(starts):
            x, width = self.across.ends(settings, self.width)
            y, height = (0.0, self.height) if self.down is None else self.down.ends(settings, self.height)
            found.append(StartMark(name, mark_of(i, len(starts)), x, y, width, height))
        return found


_FIELD = Picture(
    105, 136, ((72, 27.7, 33, 80.6), (94, 49.7, 11, 36.6), (103.5, 54, 1.5, 28)),
    RangeAxis("ball_x_min", "ball_x_max", 0.0, 1.0, (0.0, 0.2)),
    RangeAxis("ball_y_min", "ball_y_max", -1.0, 1.0, (-0.8, 0.8)),
    "Where the ball lies. Along, 0 is the halfway line and 1 the goal line; across, −1 and 1 are the touch lines. How "
    "far from it the player begins is not drawn.",
)  # fmt: skip
PICTURES = {
    "platform": Picture(
        105, 40, ((0, 30, 27, 6), (39, 30, 27, 6), (78, 30, 27, 6)),
        RangeAxis("first", "first", 0.8, 3.5, (1.0, 1.0)), None,
        "The platform on which an episode begins. The goal is at the end of the third.",
    ),
    "goal": Picture(
        80, 120, ((58, 23.4, 22, 73.2), (78.5, 32, 1.5, 56)), RangeAxis("x_min", "x_max", 0.0, 20.0, (0.0, 0.0)),
        RangeAxis("y_min", "y_max", 15.0, -15.0, (-15.0, 15.0)),
        "Where the player begins, in metres. Along, 0 is the halfway line and 20 the goal line; across, 0 is the "
        "middle and 15 the upper edge.",
    ),
    "half-field": _FIELD,
    "half-field-keeper": _FIELD,
}  # fmt: skip
"""By the name of the game."""
