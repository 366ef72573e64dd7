"""The course of a population as a drawing: strength by round, and who went on from whom."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import NamedTuple

from webapp.self_play.reading import ROOM, LadderPlayer, SelfPlayResult, signed
from webapp.studies.lines import Frame, ends, path, several

TICKS = 6
"""Rounds that the axis names, at most about."""
LEAST = 20.0
"""Points of strength that are left free above and below all that is drawn, at least."""
SHAFT, HEAD = 18.0, 4.0
"""Of an arrow towards an open end: its length from the middle of a mark, and half the width of its head."""


class Point(NamedTuple):
    """A member after a round, with the ends of its range as far as they are known; ``open``: arrows, as SVG has them,
    towards those that are not."""

    x: float
    y: float
    low: float
    high: float
    open: tuple[str, ...]


class StrengthLine(NamedTuple):
    """A member's way; ``first``: it leads."""

    member: str
    first: bool
    points: list[Point]

    @property
    def path(self) -> str:
        """As SVG has it."""
        return path([(p.x, p.y) for p in self.points])


class StrengthCurves:
    """``leader``: the member that stands highest now; ``lines``: one for each member, that of the leader last, so that
    it is drawn above the others; ``jumps``: (x, y) of whom somebody went on from and of who that is, a round later;
    ``rounds`` and ``levels``: the texts of the axes; ``open_ended``: whether somebody's range has an open end."""

    def __init__(self, reading: SelfPlayResult, rounds: int) -> None:
        self.leader = leader = reading.members[0].name if reading.members else ""
        known = [p for p in reading.players if p.round and p.known]
        ratings = [end for p in known for end in ((p.low, p.rating, p.high) if p.name == leader else (p.rating,))]
        self._frame = Frame((0.75, max(rounds, 2) + 0.25), _with_room(*ends(ratings)))
        ways: dict[str, list[LadderPlayer]] = defaultdict(list)
        for player in sorted(known, key=lambda p: p.round):
            ways[player.name].append(player)
        lines = [StrengthLine(name, name == leader, [self._point(p) for p in way]) for name, way in ways.items()]
        self.lines = sorted(lines, key=lambda line: line.first)
        self.jumps = self._jumps(known)
        step = -(-rounds // TICKS)
        self.rounds = [(f"{r:,}", self._frame.x(r)) for r in range(1, rounds + 1) if r == 1 or r % step == 0]
        self.levels = [(signed(at), self._frame.y(at)) for at in several(*self._frame.up)]
        self.middle = self._frame.y(0.0)
        self.open_ended = any(point.open for line in self.lines for point in line.points)

    def _jumps(self, known: list[LadderPlayer]) -> list[tuple[Point, Point]]:
        at = {(p.name, p.round): self._point(p) for p in known}
        found = [(at.get((p.copied, p.round - 1)), at[p.name, p.round]) for p in known if p.copied]
        return [(before, after) for before, after in found if before is not None]

    def _point(self, player: LadderPlayer) -> Point:
        x, y = self._frame.x(player.round), self._frame.y(player.rating)
        low, high = (self._frame.y(end) if math.isfinite(end) else y for end in (player.low, player.high))
        ways = [way for end, way in ((player.high, -1.0), (player.low, 1.0)) if not math.isfinite(end)]
        return Point(x, y, low, high, tuple(_arrow(x, y, way) for way in ways))


def _with_room(low: float, high: float) -> tuple[float, float]:
    room = max(ROOM * (high - low), LEAST)
    return low - room, high + room


def _arrow(x: float, y: float, way: float) -> str:
    """From a mark upwards (``way`` -1) or downwards (1)."""
    tip = y + way * SHAFT
    back = tip - way * HEAD
    return f"{path([(x, y), (x, tip)])} {path([(x - HEAD, back), (x, tip), (x + HEAD, back)])}"
