"""The course of a population as a drawing: strength by round, and who went on from whom."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import NamedTuple

from webapp.self_play.reading import Player, Reading, signed

LEFT, RIGHT, TOP, BOTTOM = 64.0, 616.0, 16.0, 220.0
TICKS = 6
"""Rounds that the axis names, at most about."""


class Point(NamedTuple):
    """A member after a round, with the ends of its range."""

    x: float
    y: float
    low: float
    high: float


class Line(NamedTuple):
    """A member's way; ``first``: it leads."""

    member: str
    first: bool
    points: list[Point]

    @property
    def path(self) -> str:
        """As SVG has it."""
        return "M" + " L".join(f"{p.x:.1f} {p.y:.1f}" for p in self.points)


class Course:
    """``lines``: one for each member, the leader last, so that it is drawn above the others; ``jumps``: (x, y) of whom
    somebody went on from and of who that is, a round later; ``rounds`` and ``levels``: the texts of the axes."""

    def __init__(self, reading: Reading, rounds: int) -> None:
        self._rounds = max(rounds, 2)
        leader = reading.members[0].name if reading.members else ""
        known = [p for p in reading.players if p.round and p.known]
        ends = [end for p in known for end in ((p.low, p.rating, p.high) if p.name == leader else (p.rating,))]
        told = [end for end in ends if math.isfinite(end)]
        self._low, self._high = min(told, default=0.0), max(told, default=1.0)
        ways: dict[str, list[Player]] = defaultdict(list)
        for player in sorted(known, key=lambda p: p.round):
            ways[player.name].append(player)
        lines = [Line(name, name == leader, [self._point(p) for p in way]) for name, way in ways.items()]
        self.lines = sorted(lines, key=lambda line: line.first)
        self.jumps = self._jumps(known)
        step = -(-rounds // TICKS)
        self.rounds = [(f"{r:,}", self._x(r)) for r in range(1, rounds + 1) if r == 1 or r % step == 0]
        self.levels = [(signed(at), self._y(at)) for at in (self._low, 0.0, self._high)]
        self.middle = self._y(0.0)

    def _jumps(self, known: list[Player]) -> list[tuple[Point, Point]]:
        at = {(p.name, p.round): self._point(p) for p in known}
        found = [(at.get((p.copied, p.round - 1)), at[p.name, p.round]) for p in known if p.copied]
        return [(before, after) for before, after in found if before is not None]

    def _point(self, player: Player) -> Point:
        return Point(self._x(player.round), *(self._y(v) for v in (player.rating, player.low, player.high)))

    def _x(self, round_: int) -> float:
        return LEFT + 12 + (RIGHT - LEFT - 24) * (round_ - 1) / (self._rounds - 1)

    def _y(self, rating: float) -> float:
        within = min(max(rating, self._low), self._high)  # an end that is not known stands at the end of the picture
        return BOTTOM - (BOTTOM - TOP) * (within - self._low) / max(self._high - self._low, 1e-9)
