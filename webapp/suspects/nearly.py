"""What an experiment has nearly proved: how many more battles it needs, of what, and why.

Evidence that an effect matters grows with the battles of the teams that hold it, less what the bets behind it cost
(``engine.confidence``); a finding is told once it is so strong that the whole list keeps its promise (e-BH). So at the
pace so far the battles that are missing can be told. Where they are many times what was played, the effect lies too
close to what matters to be told.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engine.arrays import Bundle
from engine.confidence import FRACTIONS
from webapp.lib.words import number
from webapp.worth.parts import OPEN, POINTS, Line

ALLOWED = 0.04
"""The share of false ones that findings of an experiment may have."""
MOST = 20
"""Where it would take so many times the battles, the effect is too close to tell."""
SHOWN = 8


class Near(NamedTuple):
    """``more`` battles with it that would tell; 0: too close to tell."""

    line: Line
    more: int

    @property
    def words(self) -> str:
        """ "Needs 4,200 more battles"."""
        return f"Needs {number(self.more)} more battles" if self.more else "Too close to tell"

    @property
    def why(self) -> str:
        """What these would settle."""
        worth = self.line.worth or 0.0
        side = "too good" if worth > 0 else "too weak"
        points = f"{abs(worth):.{self.line.digits}f} points"
        seen = f"Teams that hold it {'won' if worth > 0 else 'lost'} {points} more often than usual"
        if not self.more:
            return f"{seen}, so near what matters that more battles would hardly tell."
        return f"{seen} in {number(self.line.battles)} battles: so many more with it would tell whether it is {side}."


def nearly(bundle: Bundle, lines: Sequence[Line], told: int) -> Iterator[Near]:
    """What looks as if it mattered and is not proved, the nearest to it first; of an experiment that ``told`` so
    many. Tables from before evidence was kept have none."""
    evidence = _evidence(bundle)
    many = sum(log > -math.inf for log in evidence.values())
    matters, needed = POINTS * float(bundle.meta["matters"]), math.log(max(many, 1) / (ALLOWED * (told + 1)))
    found = []
    for line in lines:
        log = evidence.get((line.pieces, line.least), -math.inf)
        if line.verdict == OPEN and line.battles and log > -math.inf and abs(line.worth or 0.0) > matters:
            found.append(Near(line, _missing(log, needed, line.battles)))
    yield from sorted(found, key=lambda near: (not near.more, near.more))[:SHOWN]


def _evidence(bundle: Bundle) -> dict[tuple[tuple[str, ...], int], float]:
    meta, columns = bundle
    if "evidence" not in columns:
        return {}
    rows = zip(columns["piece"].tolist(), columns["least"].tolist(), columns["evidence"].tolist(), strict=True)
    ids = [piece["id"] for piece in meta["pieces"]]
    return {(tuple(ids[p] for p in pair if p >= 0), int(least)): float(log) for pair, least, log in rows}


def _missing(log: float, needed: float, battles: int) -> int:
    """Battles that are missing at the pace so far, to two leading digits; 0 where they are too many."""
    cost = math.log(len(FRACTIONS))
    if log + cost <= 0:
        return 0
    missing = battles * ((needed + cost) / (log + cost) - 1)
    if missing > MOST * battles:
        return 0
    step = 10 ** max(1, math.floor(math.log10(max(missing, 1))) - 1)
    return max(step, math.ceil(missing / step) * step)
