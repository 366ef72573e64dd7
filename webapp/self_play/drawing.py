"""The course of a population as a drawing: strength by round, and who went on from whom."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from webapp.self_play.reading import LadderPlayer, SelfPlayResult, signed
from webapp.studies.lines import Frame, ends, path

TICKS = 6
"""Rounds that the axis names, at most about."""


class Point(NamedTuple):
    """A member after a round, with the ends of its range."""

    x: float
    y: float
    low: float
    high: float


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
    """``lines``: one for each member, the leader last, so that it is drawn above the others; ``jumps``: (x, y) of whom
    somebody went on from and of who that is, a round later; ``rounds`` and ``levels``: the texts of the axes."""

    def __init__(self, reading: SelfPlayResult, rounds: int) -> None:
        leader = reading.members[0].name if reading.members else ""
        known = [p for p in reading.players if p.round and p.known]
        told = [end for p in known for end in ((p.low, p.rating, p.high) if p.name == leader else (p.rating,))]
        self._frame = Frame((0.75, max(rounds, 2) + 0.25), ends(told))
        ways: dict[str, list[LadderPlayer]] = defaultdict(list)
        for player in sorted(known, key=lambda p: p.round):
            ways[player.name].append(player)
        lines = [StrengthLine(name, name == leader, [self._point(p) for p in way]) for name, way in ways.items()]
        self.lines = sorted(lines, key=lambda line: line.first)
        self.jumps = self._jumps(known)
        step = -(-rounds // TICKS)
        self.rounds = [(f"{r:,}", self._frame.x(r)) for r in range(1, rounds + 1) if r == 1 or r % step == 0]
        low, high = self._frame.up
        self.levels = [(signed(at), self._y(at)) for at in (low, 0.0, high)]
        self.middle = self._y(0.0)

    def _jumps(self, known: list[LadderPlayer]) -> list[tuple[Point, Point]]:
        at = {(p.name, p.round): self._point(p) for p in known}
        found = [(at.get((p.copied, p.round - 1)), at[p.name, p.round]) for p in known if p.copied]
        return [(before, after) for before, after in found if before is not None]

    def _point(self, player: LadderPlayer) -> Point:
        return Point(self._frame.x(player.round), *(self._y(v) for v in (player.rating, player.low, player.high)))

    def _y(self, rating: float) -> float:
        low, high = self._frame.up
        return self._frame.y(min(max(rating, low), high))  # an end that is not known stands at the end of the picture
