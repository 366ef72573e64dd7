"""What the experiment beside a search named, and what is said of each: its suspects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engine.arrays import Bundle
from webapp.lib.words import lower_first
from webapp.studies import companion
from webapp.studies.models import Job
from webapp.worth.parts import FINE, OPEN, Line, largest, latest, lines_of

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


class Suspect(NamedTuple):
    """A piece, an amount or a pair that was named; ``halves``: the pieces of a pair, each by itself."""

    line: Line
    halves: tuple[Line, ...] = ()

    @property
    def key(self) -> str:
        """Its pieces by their ids, and the amount: the same in every experiment on the game."""
        many = f"*{self.line.least}" if self.line.least > 1 else ""
        return f"{'+'.join(self.line.pieces)}{many}"[:500]

    @property
    def good(self) -> bool:
        """Whether it is too good, not too weak."""
        return (self.line.worth or 0.0) > 0

    @property
    def alone_fine(self) -> bool:
        """Of a pair: whether each piece by itself is fine."""
        return bool(self.halves) and all(half.verdict == FINE for half in self.halves)

    @property
    def claim(self) -> str:
        """What is wrong with it, in a sentence."""
        what = "unfair" if self.halves and self.good else "too good" if self.good else "too weak"
        return f"{self.line.name}{' is' if self.line.least == 1 else ', are'} {what}."

    @property
    def effect(self) -> str:
        """How much, in a sentence."""
        points = f"{self.line.sizes[0]:.1f} points {'more' if self.good else 'less'} often"
        if self.alone_fine:
            return f"Alone, each is fine; together they win {points}."
        if self.halves:
            return f"Together they win {points} than what each brings alone explains."
        what = "it" if self.line.least == 1 else "so many"
        return f"Teams that hold {what} win {points} than teams with {self._usual}."

    @property
    def _usual(self) -> str:
        return f"the average {lower_first(self.line.category)}"


class Suspects(NamedTuple):
    """All that an experiment says: what it ``named``, how many ``lines`` are ``open`` still, and the ``largest`` effect
    of a single piece that it leaves open, in points. ``lost``: its table is gone from the store."""

    named: list[Suspect]
    open: int
    lines: int
    largest: float
    reach: float
    proved: bool
    lost: bool = False

    @property
    def many(self) -> str:
        """ "Five suspects"."""
        count = len(self.named)
        word = NUMBERS[count].capitalize() if count < len(NUMBERS) else f"{count:,}"
        return f"{word} suspect{'' if count == 1 else 's'}"

    def of(self, key: str) -> Suspect | None:
        """The one that an address asks for; the first where it asks for none that there is."""
        return next((each for each in self.named if each.key == key), self.named[0] if self.named else None)


def seen(search: Job) -> bool:
    """Whether the experiment beside a search has named what it could."""
    found = companion.of(search)
    return found is not None and found.terminal and "table" in found.artifacts


def read(experiment: Job) -> Suspects:
    """What an experiment says by now."""
    bundle = latest(experiment)
    if bundle is None:
        return Suspects([], 0, 0, 0.0, 1.0, proved=False, lost="table" in experiment.artifacts)
    lines = lines_of(bundle)
    singles = {line.pieces[0]: line for line in lines if len(line.pieces) == 1 and line.least == 1}
    named = [Suspect(line, _halves(line, singles)) for line in lines if line.stands_out]
    waits = sum(line.verdict == OPEN for line in lines)
    proved = experiment.terminal or bool(bundle.meta["proved"])
    rest = [line for line in lines if len(line.pieces) == 1 and not line.stands_out]
    return Suspects(named, waits, len(lines), largest(rest), _reach(named, bundle), proved)


def _halves(line: Line, singles: dict[str, Line]) -> tuple[Line, ...]:
    return tuple(singles[piece] for piece in line.pieces if piece in singles) if len(line.pieces) > 1 else ()


def _reach(named: Sequence[Suspect], bundle: Bundle) -> float:
    """How far bars go to both sides, in points: as far as any range of a suspect."""
    every = [line for each in named for line in (each.line, *each.halves)]
    ends = [abs(end) for line in every for end in (line.low, line.high) if end is not None]
    return max(ends, default=100 * float(bundle.meta["matters"]))
