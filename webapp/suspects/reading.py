"""What the experiment beside a search named, and what is said of each: its suspects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engine.arrays import Bundle
from engine.config.patterns import Pattern
from engine.worth.findings_in_words import unfinished
from engine.worth.verdicts import OPEN, UNTESTED
from webapp.lib.words import lower_first
from webapp.studies import companion, patterns
from webapp.studies.models import Job
from webapp.studies.table_rows import latest
from webapp.worth.furthest import Furthest, furthest, furthest_pair
from webapp.worth.nearly import Near, nearly
from webapp.worth.parts import POINTS, ROOM, WorthLine, lines_of

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


class Suspect(NamedTuple):
    """A piece, an amount or a pair that was named; ``halves``: the pieces of a pair, each by itself."""

    line: WorthLine
    halves: tuple[WorthLine, ...] = ()

    @property
    def key(self) -> str:
        """Its pieces by their ids, and the amount: the same in every experiment on the game."""
        return self.line.key

    @property
    def pattern(self) -> Pattern:
        """It, as studies have it."""
        side = "strongest" if self.good else "weakest"
        return Pattern.model_validate({"pieces": self.line.pieces, "least": self.line.least, "side": side})

    @property
    def good(self) -> bool:
        """Whether it is too good, not too weak."""
        return (self.line.worth or 0.0) > 0

    @property
    def alone_fine(self) -> bool:
        """Of a pair: whether each piece by itself is fine."""
        return self.line.alone_fine

    @property
    def meant(self) -> str:
        """That nothing is wrong with it, as it is intended, in a sentence."""
        return f"{self.line.name}{' is' if self.line.least == 1 else ', are'} {lower_first(patterns.MEANT)}."

    @property
    def claim(self) -> str:
        """What is wrong with it, in a sentence."""
        what = "too good" if self.good else "too weak"
        if self.halves:
            return f"{self.line.name} are {what} together."
        return f"{self.line.name}{' is' if self.line.least == 1 else ', are'} {what}."

    @property
    def effect(self) -> str:
        """How much, in a sentence."""
        points = f"{self.line.sizes[0]:.{self.line.digits}f} points {'more' if self.good else 'less'} often"
        told = f"eams that hold {self.line.held} win {points} than {self.line.against}."
        return f"Alone, each is fine; t{told}" if self.alone_fine else f"T{told}"


class Suspects(NamedTuple):
    """All that an experiment says: what it ``named``, how many ``lines`` are ``open`` still, and the ``furthest``
    effect of a single piece that it leaves open, and that of a pair. ``intended``: what it also named, and somebody
    means to be so; ``near``: what is nearly proved; ``untested``: single pieces of which nothing can be said.
    ``lost``: its table is gone from the store; ``unfinished``: what the game did not finish, in words."""

    named: list[Suspect]
    open: int
    lines: int
    furthest: Furthest
    reach: float
    proved: bool
    lost: bool = False
    intended: tuple[Suspect, ...] = ()
    near: tuple[Near, ...] = ()
    untested: int = 0
    furthest_pair: Furthest = Furthest()
    unfinished: str = ""

    @property
    def many(self) -> str:
        """ "Four suspects and one intended"; empty where no other is left."""
        count = len(self.named)
        rest = f" and {_number(len(self.intended))} intended" if self.intended else ""
        return f"{_number(count).capitalize()} suspect{'' if count == 1 else 's'}{rest}" if count else ""

    def of(self, key: str) -> Suspect | None:
        """The one that an address asks for; the first where it asks for none that there is."""
        every = [*self.named, *self.intended]
        return next((each for each in every if each.key == key), every[0] if every else None)


def _number(count: int) -> str:
    return NUMBERS[count] if count < len(NUMBERS) else f"{count:,}"


def fits(search: Job, pattern: Pattern) -> bool:
    """Whether a pattern can be why lineups of a search are over the line. Of several teams it can; a single one is
    useless by what is too weak, and too good for its price by what is too good."""
    if int(search.config.get("lineups", {}).get("teams", 2)) > 1:
        return True
    return (pattern.side == "weakest") == (search.template == "useless")


def seen(search: Job) -> bool:
    """Whether the experiment beside a search has named what it could."""
    found = companion.of(search)
    return found is not None and found.terminal and "table" in found.artifacts


def read(experiment: Job) -> Suspects:
    """What an experiment says by now."""
    bundle = latest(experiment)
    if bundle is None:
        return Suspects([], 0, 0, Furthest(), 1.0, proved=False, lost="table" in experiment.artifacts)
    lines = lines_of(bundle)
    singles = {line.pieces[0]: line for line in lines if len(line.pieces) == 1 and line.least == 1}
    told = [Suspect(line, _halves(line, singles)) for line in lines if line.stands_out]
    meant = {pattern.key for pattern in patterns.meant_by_now(experiment)}
    named = [each for each in told if each.key not in meant]
    if (search := experiment.accompanies) is not None:  # what the search asked for comes first
        named.sort(key=lambda each: not fits(search, each.pattern))
    intended = tuple(each for each in told if each.key in meant)
    waits = sum(line.verdict == OPEN for line in lines)
    proved = experiment.terminal or bool(bundle.meta["proved"])
    rest = [line for line in lines if len(line.pieces) == 1 and not line.stands_out]
    near = tuple(nearly(lines)) if proved else ()
    untested = sum(line.verdict == UNTESTED and line.least == 1 for line in rest)
    reach = _reach(told, bundle)
    return Suspects(
        named, waits, len(lines), furthest(rest), reach, proved, intended=intended, near=near, untested=untested,
        furthest_pair=furthest_pair(lines, bundle), unfinished=unfinished(bundle),
    )  # fmt: skip


def _halves(line: WorthLine, singles: dict[str, WorthLine]) -> tuple[WorthLine, ...]:
    return tuple(singles[piece] for piece in line.pieces if piece in singles) if len(line.pieces) > 1 else ()


def _reach(named: Sequence[Suspect], bundle: Bundle) -> float:
    """How far bars go to both sides, in points: a little further than any range of a suspect."""
    every = [line for each in named for line in (each.line, *each.halves)]
    ends = [abs(end) for line in every for end in (line.low, line.high) if end is not None]
    return ROOM * max(ends, default=POINTS * float(bundle.meta["matters"]))
