"""What an experiment has nearly proved: how many more battles it needs, of what, and why.

Evidence that an effect matters grows with the battles of the teams that hold it, less what the bets behind it cost
(``engine.confidence``); a finding is told once it is so strong that the whole list keeps its promise (e-BH). The pace
so far is partly luck: the log of the evidence varies by twice its mean. So what is missing is told at a pace that three
in four exceed: in a simulation of 149 such findings it was enough for 0.77 of them (at the pace so far, for 0.42 of
190). Where that is many times what was played, the effect lies too close to what matters to be told.
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
SLOW = 0.674
"""Standard deviations below the pace so far: three in four of a normal distribution are above that."""
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
    if not evidence:
        return
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
    """Battles that are missing, to two leading digits; 0 where they are too many."""
    won = log + math.log(len(FRACTIONS))
    pace = won - SLOW * math.sqrt(2 * max(won, 0.0))
    if pace <= 0 or needed - log > MOST * pace:
        return 0
    missing = battles * (needed - log) / pace
    step = 10 ** max(1, math.floor(math.log10(max(missing, 1))) - 1)
    return max(step, math.ceil(missing / step) * step)
