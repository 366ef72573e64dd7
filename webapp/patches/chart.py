"""The front of changes as a chart: how large each is, and how far from fair it leaves the game; places in per cent."""

from __future__ import annotations

from typing import NamedTuple

from webapp.changes.reading import Measured
from webapp.changes.templatetags.change_bars import BarAxis, spanning
from webapp.patches.reading import PatchesResult, PatchRow


class Dot(NamedTuple):
    """A change: ``x`` by its size, ``y`` by how far from fair it leaves the game, and the ends of the range of that."""

    row: PatchRow
    x: str
    y: str
    low: str
    high: str


class Chart(NamedTuple):
    """``line``: where effects begin to matter; ``along`` and ``up``: where the values stand that the axes name."""

    dots: list[Dot]
    line: str
    along: list[tuple[str, str]]
    up: list[tuple[str, str]]


def chart(reading: PatchesResult) -> Chart:
    """Of all rows; both axes begin at none."""
    wide = spanning([Measured(row.size) for row in reading.rows], [], "")
    tall = spanning([Measured(row.worst, row.low, row.high) for row in reading.rows], [reading.matters], "")
    dots = [
        Dot(row, f"{wide.place(row.size):.2f}%", *(_height(tall, end) for end in (row.worst, row.low, row.high)))
        for row in reading.rows
    ]
    up = [(f"{100 - float(at[:-1]):.2f}%", words) for at, words in tall.ticks]
    return Chart(dots, _height(tall, reading.matters), wide.ticks, up)


def _height(on: BarAxis, value: float) -> str:
    return f"{100 - on.place(value):.2f}%"
