"""What an experiment has nearly proved: how many more battles it needs, of what, and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from webapp.lib.words import number
from webapp.worth.parts import POINTS, WorthLine

SHOWN = 8


class Near(NamedTuple):
    """``more`` battles with it that would tell; 0: none do."""

    line: WorthLine
    more: int

    @property
    def words(self) -> str:
        """ "Needs 4,200 more battles"."""
        return (
            f"Needs {number(self.more)} more battles"
            if self.more
            else "Cannot be told"
            if self.hidden
            else "Too close to tell"
        )

    @property
    def hidden(self) -> float:
        """What battles that the game did not finish may hide, in points, where no more battles tell for that."""
        return POINTS * self.line.missing.hidden if self.line.missing else 0.0

    @property
    def why(self) -> str:
        """What these would settle."""
        worth = self.line.worth or 0.0
        side = "too good" if worth > 0 else "too weak"
        points = f"{abs(worth):.{self.line.digits}f} points"
        often = f"{points} {'more' if worth > 0 else 'less'} often than {self.line.against}"
        seen = f"Teams that hold {self.line.held} won {often}"
        if self.hidden:
            return f"{seen}, and battles that the game did not finish may hide {self.hidden:.1f} points."
        if not self.more:
            return f"{seen}, so near what matters that more battles would hardly tell."
        more = f"that many more with {self.line.held} would tell whether it is {side}"
        return f"{seen} in {number(self.line.battles)} battles: {more}."


def nearly(lines: Iterable[WorthLine]) -> list[Near]:
    """What looks as if it mattered and is not proved, the nearest to it first."""
    found = [Near(line, line.missing.more) for line in lines if line.missing and line.missing.matters and line.battles]
    return sorted(found, key=lambda near: (not near.more, near.more))[:SHOWN]
