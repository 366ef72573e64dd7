"""What a re-check of the shortlist plays: as much as its sentences say is needed, as far as one can wait for it. The
page says how many battles that is, and about how long it takes, before anybody presses the button."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from webapp.lib.words import duration, number, plural
from webapp.studies.explore_shortlist import FixedList, Shortlist
from webapp.studies.models import Job

FIRST = 32
"""Times that a re-check plays each pairing of a lineup that none has played yet."""
MOST = 4096
"""And at most of any lineup, in one re-check."""
LONGEST_S = 600.0
"""Seconds for which what one re-check plays is cut down; never below ``FIRST`` times."""
START_S = 10.0
"""Seconds that its workers take to come up."""


class Replay(NamedTuple):
    """``lineups`` and how many ``times`` each pairing of them is played; ``battles`` in all, in about so many
    ``seconds`` (None: not known), of the ``asked`` ones that their sentences say are needed."""

    lineups: list[FixedList]
    times: list[int]
    battles: int
    asked: int
    seconds: float | None
    again: bool

    @property
    def label(self) -> str:
        """For the button."""
        return (
            f"Re-check {number(len(self.lineups))}: {number(self.battles)} {'more' if self.again else 'fresh'} battles"
        )

    @property
    def sentences(self) -> str:
        """In a sentence or two, before the click."""
        what = f"{plural(len(self.lineups), 'lineup')} again, on {number(self.battles)} {self._kind} battles"
        said = f"A re-check now plays {what}{self._time}."
        if self.battles < self.asked:
            rest = number(_rounded(self.asked - self.battles))
            return f"{said} That is what one re-check takes on; press again for the rest, about {rest} battles."
        return said

    @property
    def started(self) -> str:
        """Once it was pressed."""
        return f"Playing {plural(len(self.lineups), 'lineup')} again on {number(self.battles)} {self._kind} battles."

    @property
    def _kind(self) -> str:
        return "more fresh" if self.again else "fresh"

    @property
    def _time(self) -> str:
        if self.seconds is None:
            return "; how long that takes is not known yet"
        return ", in under a minute" if self.seconds < 60 else f", in about {duration(60 * round(self.seconds / 60))}"


def replay(shortlist: Shortlist, *, again: bool = False) -> Replay:
    """What is not told yet, each lineup as often as its sentence says; with ``again`` what is told, as often as before,
    which makes its ranges narrower."""
    lineups = [shortlist.all[i] for i in (shortlist.settled if again else shortlist.due)]
    each = max(1.0, shortlist.each)
    wanted = [_wanted(listed, each, again=again) for listed in lineups]
    pace = _pace(shortlist.job)
    times = _bounded(wanted, None if pace is None else pace * LONGEST_S / each)
    battles = round(sum(times) * each)
    seconds = None if pace is None else START_S + battles / pace
    return Replay(lineups, times, battles, round(sum(wanted) * each), seconds, again)


def _wanted(listed: FixedList, each: float, *, again: bool) -> int:
    if listed.fresh is None:
        return FIRST
    return max(2, listed.fresh.samples if again else math.ceil(listed.fresh.needs / each))


def _bounded(wanted: Sequence[int], most: float | None) -> list[int]:
    """The same, but that the ones played most often are cut to what all of them together may come to."""
    bound = MOST
    while most is not None and bound > FIRST and sum(min(each, bound) for each in wanted) > most:
        bound = max(FIRST, bound * 3 // 4)
    return [min(each, bound) for each in wanted]


def _pace(job: Job) -> float | None:
    """Battles a second that the search really played, of all its workers together; None before it has."""
    counters = job.counters
    played, seconds = counters.get("battles", 0) - counters.get("cached", 0), counters.get("seconds", 0.0)
    return played / seconds if played > 0 and seconds > 0 else None


def _rounded(battles: int) -> int:
    """To two leading digits."""
    step = 10 ** max(0, len(str(battles)) - 2)
    return -(-battles // step) * step
