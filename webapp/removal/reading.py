"""What removal tests say, in words and numbers for pages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

from webapp.lib.figures import in_unit, least_digits, sign_of, telling, with_unit
from webapp.lib.words import number, plural
from webapp.studies.models import Job
from webapp.studies.table_rows import latest

NOTHING_TOLD = "These searches do not tell: fresh battles confirm nothing that they found, with it or without."
Told = Mapping[str, Any]


class ExchangeRow(NamedTuple):
    """The average of the objective after an exchange, with its range; ``before`` it in the same lineups, and the
    ``change`` with its range. ``mark``: on which side of the line its whole range is."""

    name: str
    value: float
    low: float
    high: float
    before: float
    change: tuple[float, float, float]
    lineups: int
    battles: int
    mark: str


class Left(NamedTuple):
    """What a short search finds: ``confirmed`` of the lineups that were ``replayed``, and the ``furthest`` of them with
    its range."""

    replayed: int
    confirmed: int
    furthest: tuple[float, float, float] | None
    mark: str


class Tests:
    """The tests of one suspect as far as they are."""

    def __init__(self, meta: Told, told: Told) -> None:
        self.meta, self.told, self.objective = meta, told, meta["objective"]
        self.key, self.name = str(told["key"]), str(told["name"])

    @property
    def line(self) -> float:
        """From where on it is too much."""
        return float(self.objective["threshold"])

    @property
    def title(self) -> str:
        """Of what the line is drawn on."""
        return str(self.objective["title"])

    @property
    def toward(self) -> str:
        """What further along means."""
        return str(self.objective["toward"])

    @cached_property
    def rows(self) -> list[ExchangeRow]:
        """As it is, then every exchange that could be played."""
        rows = [each for each in self.told["rows"] if each["lineups"] and None not in each["value"]]
        return [self._row(each, first=i == 0) for i, each in enumerate(rows)]

    @property
    def lineups(self) -> int:
        """In which it was exchanged."""
        return int(self.told["lineups"])

    @property
    def alone(self) -> list[str]:
        """Which of its pieces could not be exchanged, and why, in sentences."""
        return [f"{self.meta['names'][piece]} was not exchanged: {why}." for piece, why in self.told["alone"]]

    @property
    def impossible(self) -> str:
        """Why it could not be banned."""
        return str(self.told["impossible"])

    @property
    def with_it(self) -> Left | None:
        """What a short search finds with everything allowed."""
        return self._left(self.meta["everything"])

    @property
    def without(self) -> Left | None:
        """What the same search finds where nobody may field it."""
        return self._left(self.told["without"])

    @property
    def both(self) -> list[tuple[str, Left]]:
        """What both searches find, as far as they are."""
        pairs = (("Everything allowed", self.with_it), ("Without it", self.without))
        return [(name, left) for name, left in pairs if left is not None]

    @property
    def drawn(self) -> list[tuple[str, Left]]:
        """The searches whose furthest lineups are drawn: none where fresh battles confirm nothing of either."""
        return self.both if any(left.confirmed for _, left in self.both) else []

    @property
    def reach(self) -> tuple[float, float]:
        """Where bars begin and end: they hold every range and the line."""
        ends = [end for row in self.rows for end in (row.low, row.high)]
        ends += [end for _, left in self.drawn if left.furthest for end in left.furthest]
        known = [end for end in ends if math.isfinite(end)] or [self.line]
        low, high = min(*known, self.line), max(*known, self.line)
        room = 0.06 * ((high - low) or 1.0)
        floor = self.objective["low"]
        return (low - room if floor is None else max(low - room, float(floor))), high + room

    @property
    def searched(self) -> int:
        """Lineups of each search."""
        return int(self.meta["searched"])

    @property
    def told_enough(self) -> bool:
        """Whether the ban says anything."""
        return self.with_it is not None and self.without is not None and self.sentence != NOTHING_TOLD

    @property
    def sentence(self) -> str:
        """What the ban comes to."""
        before, after = self.with_it, self.without
        if before is None or after is None:
            return ""
        here, there = (f"{left.confirmed} of {left.replayed}" for left in (before, after))
        if not after.replayed:
            return "Without it, a short search finds no lineup that keeps the rules."
        if not after.confirmed and not before.confirmed:
            return NOTHING_TOLD
        if not after.confirmed:
            return f"Without it, a short search finds nothing that fresh battles confirm; with it, {here}."
        return (
            f"Fresh battles confirm {there} of what a short search finds without it; with everything allowed, {here}."
        )

    def shown(self, value: float) -> str:
        """A value of the objective with its unit, in as many digits as all that stand in one chart. What they do not
        tell from the line is "just over" or "just under" it."""
        return self._shown(value, self.objective["unit"])

    def ends(self, low: float, high: float) -> str:
        """The ends of a range, "2.4× to 2.8×"."""
        unit = sign_of(self.objective["unit"])
        return f"{self._shown(low, unit)} to {self._shown(high, unit)}"

    def _shown(self, value: float, unit: str) -> str:
        read = round(value, self._digits)
        if not math.isfinite(value) or value == self.line or (read - self.line) * (value - self.line) > 0:
            return in_unit(number(value, self._digits), unit)
        return f"just {'over' if value > self.line else 'under'} {with_unit(self.line, unit, self._digits)}"

    @cached_property
    def _digits(self) -> int:
        """As many as tell every value, and every end of its range, from the line; one more than usual at most."""
        trios = [(row.value, row.low, row.high) for row in self.rows]
        trios += [left.furthest for _, left in self.both if left.furthest]
        usual = max(1, least_digits(self.line, self.objective["unit"]))
        each = (telling(one, (min(trio), max(trio)), usual, [self.line]) for trio in trios for one in trio)
        return min(max([usual, *each]), usual + 1)

    def _row(self, told: Told, *, first: bool) -> ExchangeRow:
        value, low, high = told["value"]
        name = "As it is" if first else " and ".join(self._swap(*pair) for pair in told["swaps"]) or "Both swapped"
        before, change = told["before"][0], tuple(told["change"])
        mark = self._mark(low, high)
        return ExchangeRow(name, value, low, high, before, change, told["lineups"], told["battles"], mark)

    def _swap(self, piece: str, other: str) -> str:
        return f"{self.meta['names'][piece]} → {self.meta['names'][other]}"

    def _left(self, told: Told | None) -> Left | None:
        if told is None:
            return None
        ends = told["furthest"]
        furthest = None if None in ends else (ends[0], ends[1], ends[2])
        return Left(told["replayed"], told["confirmed"], furthest, self._mark(*furthest[1:]) if furthest else "")

    def _mark(self, low: float, high: float) -> str:
        """The verdict mark of a range."""
        near, far = (low, high) if self.objective["direction"] == "max" else (-high, -low)
        line = self.line if self.objective["direction"] == "max" else -self.line
        return "strong" if near >= line else "fair" if far < line else "unsure"


def tests_of(job: Job | None, key: str) -> Tests | None:
    """What a job tells of a suspect by now; None where it tests others, or has told nothing yet."""
    bundle = latest(job) if job is not None else None
    if bundle is None:
        return None
    told = next((each for each in bundle.meta["suspects"] if each["key"] == key), None)
    return None if told is None else Tests(bundle.meta, told)


def every(job: Job) -> list[Tests]:
    """All suspects of a job."""
    bundle = latest(job)
    return [Tests(bundle.meta, told) for told in bundle.meta["suspects"]] if bundle else []


def found(tests: list[Tests]) -> str:
    """ "2 suspects tested"."""
    return f"{plural(len(tests), 'suspect')} tested" if tests else "Nothing was tested"
