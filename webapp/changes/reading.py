"""What a replay says: the numbers that were changed, and every lineup before and after, with ranges and verdicts."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from engine.arrays import Bundle
from engine.config import ObjectiveConfig
from engine.verdicts import Finding
from webapp.changes import meant
from webapp.changes.untouched import EXACTLY, apart, met_by_it
from webapp.lib.figures import column_digits, in_unit, ranged_digits, sign_of, telling, with_unit
from webapp.lib.words import lower_first, number
from webapp.studies import commanders
from webapp.studies import explore_source as source
from webapp.studies.fresh import Fresh
from webapp.studies.models import Job
from webapp.studies.patterns import MEANT
from webapp.studies.table_rows import latest
from webapp.studies.verdict_words import VerdictWords

MARKS: Mapping[str, str] = {"confirmed": "strong", "refuted": "fair", "measured": ""}
"""The verdict marks of findings; any other is ``unsure``, and none is no verdict yet."""


OPEN = ("more", "close")
"""Findings that leave a lineup undecided."""


class Number(NamedTuple):
    """A changed number of the game: of which piece (empty: of the game itself), what it is called, in which unit, and
    its value before (None: the piece is new) and after."""

    path: str
    piece: str
    name: str
    unit: str
    old: float | None
    new: float

    @property
    def title(self) -> str:
        """ "Warhorn: rally bonus"."""
        return f"{self.piece}: {lower_first(self.name)}" if self.piece else self.name

    @property
    def value(self) -> str:
        """The new value as people read it."""
        return with_unit(self.new, self.unit)

    @property
    def was(self) -> str:
        """The value before."""
        return "new" if self.old is None else with_unit(self.old, self.unit)

    @property
    def at(self) -> str:
        """ "Warhorn’s rally bonus at 18 %"."""
        what = f"{self.piece}’s {lower_first(self.name)}" if self.piece else lower_first(self.name)
        return f"{what} at {self.value}"


class Measured(NamedTuple):
    """A value and its 95 % range; None where there is none. ``first``: by the few battles before the fresh ones, which
    have no range. ``difference``: of two values, so that it lies on no side of the line."""

    value: float | None
    low: float | None = None
    high: float | None = None
    first: bool = False
    difference: bool = False

    @property
    def ends(self) -> tuple[float, float] | None:
        """Of its range, where it has one."""
        return None if self.low is None or self.high is None else (self.low, self.high)


NONE = Measured(0.0, 0.0, 0.0, difference=True)
"""The difference of a lineup that a change cannot touch, as it is exactly."""


class Lineup(NamedTuple):
    """A lineup before and after, in the objective that has the line. ``change``: the difference, after less before, of
    the same replicates. ``words``: the verdict after the change in a sentence, ``short`` in a word or two; empty while
    nothing is told. ``finding`` and ``found_before``: the verdicts, as the engine calls them. ``refitted``: what the
    new prices made other, in words; ``unfit``: they rule it out, and nothing near it keeps to the rules. ``battles``:
    fresh ones, of both versions. ``over``: after the change its whole range is over the line. ``apart``: it
    holds no piece of which a number was changed; ``untouched``: nor do the teams that it meets."""

    name: str
    teams: list[str]
    before: Measured
    after: Measured
    change: Measured
    words: str
    short: str
    mark: str
    finding: Finding | str
    found_before: Finding | str
    refitted: str
    unfit: bool
    failed: bool
    battles: int
    over: bool
    apart: bool = False
    untouched: bool = False

    @property
    def decided(self) -> bool:
        """Whether it has a verdict, from fresh battles."""
        return bool(self.finding) and self.finding not in OPEN and self.counts

    @property
    def counts(self) -> bool:
        """Whether it is counted: the rules allow it, and nothing that is meant to be so explains it."""
        return not self.unfit and self.finding != meant.FINDING

    @property
    def both(self) -> tuple[Measured, Measured, Measured]:
        """Before, after and the difference."""
        return self.before, self.after, self.change

    @property
    def missing(self) -> str:
        """Why a number of it is not there."""
        return "not allowed any more" if self.unfit else "could not be played" if self.failed else "not played yet"


@dataclass(frozen=True)
class Replayed:
    """All that the table of a ``job`` says by now."""

    job: Job
    bundle: Bundle

    @property
    def meta(self) -> dict[str, Any]:
        """What its rows and columns are."""
        return self.bundle.meta

    @property
    def under(self) -> str:
        """Who leads both sides on the other version, where that is what differs; empty where numbers do."""
        return commanders.name_under(self.job.config)

    @property
    def first(self) -> str:
        """Who leads both sides on the first version; empty for the game's own script."""
        return commanders.name_in(self.job.config)

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """What was changed."""
        return tuple(
            Number(n["path"], n["piece"], n["title"], n["unit"], n["before"], n["after"]) for n in self.meta["changes"]
        )

    @cached_property
    def measure(self) -> int:
        """Which objective is shown: the first that has a line."""
        lined = [j for j, o in enumerate(self.objectives) if o.threshold is not None]
        return lined[0] if lined else 0

    @cached_property
    def objectives(self) -> tuple[ObjectiveConfig, ...]:
        """What was measured."""
        return tuple(ObjectiveConfig.model_validate(each) for each in self.meta["objectives"])

    @property
    def objective(self) -> ObjectiveConfig:
        """The one that is shown."""
        return self.objectives[self.measure]

    @property
    def line(self) -> float | None:
        """Its line."""
        return self.objective.threshold

    @property
    def fresh(self) -> bool:
        """Whether fresh battles have told something."""
        return bool(self.meta["fresh"])

    @property
    def battles(self) -> int:
        """Battles that were asked for, of both versions."""
        return int(self.job.counters.get("battles", 0))

    @property
    def planned(self) -> int:
        """The most that it takes; where verdicts come early, fewer."""
        return int(self.meta["planned"])

    @cached_property
    def words(self) -> VerdictWords:
        """What its verdicts are called."""
        return source.words(self.job)

    @cached_property
    def lineups(self) -> list[Lineup]:
        """Every lineup that was replayed, in the order they were given."""
        so = meant.meant(self.job, len(self.meta["lineups"]))
        return [self._meant(self._lineup(i)) if so[i] else self._lineup(i) for i in range(len(so))]

    def holding(self, pieces: Collection[str]) -> list[Lineup]:
        """The lineups of which a team holds all of these pieces, as they were before the change."""
        teams = [each["teams"] for each in self.job.config["replayed"]]
        held = [any(set(pieces) <= {*map(str, team["slots"].values())} for team in each) for each in teams]
        return [each for each, holds in zip(self.lineups, held, strict=True) if holds]

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each lineup, for programs."""
        for each in self.lineups:
            yield {
                "lineup": each.name,
                **_ends("before", each.before),
                **_ends("after", each.after),
                **_ends("difference", each.change),
                "verdict": each.words or "No fresh battles yet",
                "refitted": each.refitted,
                "battles": each.battles,
                "before_led_by": self.first,
                "after_led_by": self.under or self.first,
            }

    def value_of(self, measured: Measured) -> str:
        """A value of the objective with its unit; a dash where there is none. A difference has as many digits as all
        differences, any other value so many that it and what stands beside it are told from the line."""
        return "–" if measured.value is None else self._number(measured.value, measured, self.objective.unit)

    def ends_of(self, measured: Measured) -> str:
        """The ends of its range, "1.8× to 2.1×"; empty where there is none; of a difference that cannot be any, why."""
        ends = measured.low, measured.high
        if measured.difference and measured == NONE:
            return EXACTLY
        unit = sign_of(self.objective.unit)
        return (
            " to ".join(self._number(end, measured, unit) for end in ends if end is not None)
            if None not in ends
            else ""
        )

    def _number(self, n: float, of: Measured, unit: str) -> str:
        return in_unit(number(n, self._digits(of)), unit)

    def _digits(self, of: Measured) -> int:
        if of.difference:
            return self.change_digits
        return self._in_rows.get(of) or self._digits_apart(of)

    def _digits_apart(self, of: Measured) -> int:
        return telling(of.value or 0.0, of.ends, self.digits, [] if self.line is None else [self.line])

    @cached_property
    def _in_rows(self) -> dict[Measured, int]:
        """Digits after the point of the values of every lineup: before and after have equally many."""
        known: dict[Measured, int] = {}
        for each in self.lineups:
            both = [m for m in (each.before, each.after) if m.value is not None]
            most = max(map(self._digits_apart, both), default=self.digits)
            known |= {m: max(most, known.get(m, 0)) for m in both}
        return known

    @property
    def finer(self) -> bool:
        """Whether a value has more digits than the others, as it is close to the line."""
        return any(digits > self.digits for digits in self._in_rows.values())

    @cached_property
    def digits(self) -> int:
        """After the point, of all of its values but those close to the line."""
        return ranged_digits(((m.value, m.ends) for m in self._values), self.objective.unit)

    @cached_property
    def change_digits(self) -> int:
        """After the point, of all differences."""
        return max(self.digits, column_digits((each.change.value for each in self.lineups), self.objective.unit))

    @property
    def _values(self) -> Iterator[Measured]:
        return (measured for each in self.lineups for measured in (each.before, each.after))

    def _lineup(self, i: int) -> Lineup:
        lineup, columns = self.meta["lineups"][i], self.bundle.arrays
        finding, before = (self._word("verdict", f"verdict_{when}", i) for when in ("after", "before"))
        fresh = self._fresh(i, finding)
        unfit = self._word("fit", "fit", i) == "unfit"
        away = apart(lineup["teams"], [each.piece for each in self.numbers])
        change = self._ranged("change", i)._replace(difference=True)
        untouched = away and not self._met and change.value == 0.0
        return Lineup(
            lineup["name"],
            [", ".join(parts) for parts in lineup["teams"]],
            self._measured("before", i),
            self._measured("after", i),
            NONE if untouched else change,
            UNFIT if unfit else FAILED if columns["failed"][i] else fresh.sentence(self.words) if fresh else "",
            "Not allowed any more" if unfit else "Failed" if columns["failed"][i] else
            fresh.short(self.words) if fresh else "",
            MARKS.get(finding, "unsure") if finding and not unfit else "",
            finding,
            before,
            "; ".join(map(_refit, lineup["refitted"])),
            unfit,
            bool(columns["failed"][i]),
            int(columns["battles"][i]),
            bool(columns["over_after"][i]),
            away,
            untouched,
        )  # fmt: skip

    def _meant(self, lineup: Lineup) -> Lineup:
        """A lineup that is not counted."""
        if lineup.unfit or lineup.failed:
            return lineup
        words = f"{MEANT}, so not counted"
        return lineup._replace(finding=meant.FINDING, found_before="", mark="", words=words, short=MEANT)

    @cached_property
    def _met(self) -> bool:
        return met_by_it(self.job.config)

    def _measured(self, when: str, i: int) -> Measured:
        value = self._value(when, i)
        if value is None:
            return Measured(self._value(f"first_{when}", i), first=True)
        return self._ranged(when, i)

    def _ranged(self, column: str, i: int) -> Measured:
        low, high = (self._value(f"{column}_{end}", i) for end in ("low", "high"))
        return Measured(self._value(column, i), low, high)

    def _value(self, column: str, i: int, j: int | None = None) -> float | None:
        value = float(self.bundle.arrays[column][i, self.measure if j is None else j])
        return value if math.isfinite(value) else None

    def _word(self, words: str, column: str, i: int) -> str:
        return str(self.meta["words"][words][int(self.bundle.arrays[column][i])])

    def _fresh(self, i: int, finding: str) -> Fresh | None:
        """What fresh battles say of it after the change."""
        if not finding:
            return None
        columns, of = self.bundle.arrays, self._word("open", "open_after", i)
        mean = tuple(columns["after"][i].tolist())
        battles = int(columns["samples"][i]) * int(self.meta["battles_each"])
        word: Any = finding
        return Fresh(
            mean, (None,) * len(mean), int(columns["samples"][i]), battles, word, int(columns["needs_after"][i]),
            bool(columns["over_after"][i]), of, self._gap(i, of), "", bool(columns["endless_after"][i]),
        )  # fmt: skip

    def _gap(self, i: int, of: str) -> str:
        """ "it is at 2.1×, the line at 2.0×": what is not told apart."""
        about = int(self.bundle.arrays["about_after"][i])
        value = self._value("after", i, about)
        objective = self.objectives[about]
        other = objective.threshold if of == "line" else float(self.meta["baselines"][1]["value"])
        if not of or value is None or other is None:
            return ""
        digits = telling(value, (min(value, other), max(value, other)), 1)
        here, there = (with_unit(round(each, digits), objective.unit, digits) for each in (value, other))
        return f"it is at {here}, the line at {there}" if of == "line" else (
            f"it has {here}, the median baseline team {there}"
        )  # fmt: skip


UNFIT = "At the new prices the rules do not allow it, and nothing near it either"
FAILED = "One of its battles could not be finished"


def _ends(name: str, measured: Measured) -> dict[str, float | None]:
    return {name: measured.value, f"{name}_low": measured.low, f"{name}_high": measured.high}


def _refit(refit: Mapping[str, Any]) -> str:
    """ "Bows ×3 → Pikes ×4"."""
    return f"{refit['before']} → {refit['after']}"


def read(job: Job) -> Replayed | None:
    """What the table of a replay says by now; None before there is one, and where it was lost."""
    bundle = latest(job)
    return None if bundle is None else Replayed(job, bundle)
