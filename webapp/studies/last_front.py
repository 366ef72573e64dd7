"""The last edge that a person's searches found, as a small picture without a script, for Home."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from math import ceil, floor, inf, log10
from typing import Any, NamedTuple

from engine.arrays import unpack
from engine.errors import ConfigError, StoreError
from engine.indicators import STRONG, UNSURE
from webapp.accounts.models import User
from webapp.lib.figures import least_digits, with_unit
from webapp.lib.storage import store
from webapp.lib.words import lower_first
from webapp.studies import front
from webapp.studies.at_once import with_relatives
from webapp.studies.explore_recheck import marks_now
from webapp.studies.explore_source import Ends
from webapp.studies.front import FrontAxis
from webapp.studies.models import Job
from webapp.studies.questions import verdict_words
from webapp.studies.reckoned import NotYet, left_to_workers

LOOKED_AT = 5
"""Searches whose pictures are tried, from the latest: what is stored of one may be lost."""
FEW = 3
"""Lineups of an edge that shows something. One with fewer is shown only where no other search has more."""
KINDS = {STRONG: "strong", UNSURE: "unsure"}
ORDER = ("fair", "under", "unsure", "strong")
"""Marks from the bottom to the top."""
ROOM = 6.0
"""Percent of the picture that stays free at each end."""


class FrontMark(NamedTuple):
    """A lineup: percent from the left and from the top, and its verdict mark."""

    left: str
    top: str
    kind: str


class Tick(NamedTuple):
    """A number on an axis: percent from the left or from the top, and in words."""

    at: str
    words: str


class Picture(NamedTuple):
    """``caption``: what a mark is, in the two numbers that are drawn and no other; ``legend``: (mark, words) of what is
    drawn, empty without a line. ``line``: percent from the top, empty without one; ``tint``: where the problem area
    begins from the left and from the top, its width and its height; ``median``: percent from the left of the median
    baseline team, empty where strength does not count. ``ticks``: round numbers on the axes, across and up."""

    job: Job
    marks: list[FrontMark]
    caption: str
    legend: list[tuple[str, str]]
    across: str
    up: str
    line: str
    tint: tuple[str, str, str, str]
    median: str
    line_value: str
    ticks_across: list[Tick]
    ticks_up: list[Tick]
    fresh: bool


def last_front(person: User) -> Picture | None:
    """The picture of the latest search of this person's projects whose edge shows something, or else of the latest that
    has a round; None where there is none."""
    poor: Picture | None = None
    searches = Job.objects.filter(project__members=person, kind="search", tick__gt=0)
    for job in with_relatives(searches).order_by("-pk")[:LOOKED_AT]:
        try:
            found = _picture(job)
        except StoreError:
            continue
        if found is not None and len(found.marks) >= FEW:
            return found
        poor = poor or found
    return poor


def _picture(job: Job) -> Picture | None:
    """None where no lineup could be played. Raises StoreError."""
    fresh = front.artifact(job, "fresh", None)
    digest = fresh or front.artifact(job, "front", None) or front.artifact(job, "front", job.tick)
    if not digest:
        return None
    objectives = front.of_job(job).objectives
    x, y = front.axes(objectives)
    told: dict[str, Any] = json.loads(front.picture(job, digest, (x, y), dots=False))
    drawn = [i for i, edge in enumerate(told["edge"]) if edge]
    if not drawn:
        return None
    values = [(told["x"][i], told["y"][i]) for i in drawn]
    weighs = y.line is not None and x.column >= 0 and objectives[x.column].strength
    level = told["median"] if weighs else None
    across = _ends([a for a, _ in values], level, told["ends"]["x"])
    up = _ends([b for _, b in values], y.line, told["ends"]["y"])
    kinds = _kinds(job, digest, told, y.line)
    marks = [
        FrontMark(_share(a, across), _share(b, up, turned=True), kinds[i])
        for i, (a, b) in zip(drawn, values, strict=True)
    ]
    marks.sort(key=lambda mark: ORDER.index(mark.kind))
    line = "" if y.line is None else _share(y.line, up, turned=True)
    median = "" if level is None else _share(level, across)
    worded = "" if y.line is None else with_unit(y.line, y.unit)
    tint, legend = _tint(x, y, line, median), _legend(job, marks)
    return Picture(job, marks, _caption(x, y, bool(fresh), values), legend, _axis(x), _axis(y), line, tint, median,
                   worded, _ticks(x, across, 3), _ticks(y, up, 4, turned=True), bool(fresh))  # fmt: skip


def _tint(x: FrontAxis, y: FrontAxis, line: str, median: str) -> tuple[str, str, str, str]:
    """The problem area from the left, from the top, its width and its height: over the line and, where ``median`` says
    from where on strength counts, stronger."""
    left, width = "0", "100%"
    if median:
        left, width = (median, _beyond(median)) if x.direction == "max" else ("0", median)
    return (left, "0", width, line) if y.direction == "max" else (left, line, width, _beyond(line) if line else "")


def _beyond(place: str) -> str:
    """How much of the picture is beyond a place in it, both in percent."""
    return f"{100 - float(place.rstrip('%')):.2f}%"


def _caption(x: FrontAxis, y: FrontAxis, fresh: bool, values: Sequence[tuple[float, float]]) -> str:
    """In the two numbers of the picture: a third one that was searched for is not drawn, so nothing is said of it. On
    ``fresh`` battles a mark is beside those that have some; others that were found may look further by the search's."""
    other = "re-tested lineup" if fresh else "lineup that was found"
    rest = f"other {other} is both {y.toward} and {x.toward}."
    if len(values) > 1:
        return f"Each mark is a lineup. No {rest}"
    told = (f"{lower_first(axis.title)} {_worth(value, axis)}" for value, axis in zip(values[0], (x, y), strict=True))
    return f"The edge is one lineup, with {' and '.join(told)}: no {rest}"


def _worth(value: float, axis: FrontAxis) -> str:
    digits = least_digits(value, axis.unit)
    return with_unit(round(value, digits), axis.unit, digits)


def _kinds(job: Job, digest: str, told: Mapping[str, Any], line: float | None) -> list[str]:
    """The verdict mark of each lineup, by all that fresh battles say by now, as the explorer has it; by what the search
    said of it as long as a worker is still counting."""
    if line is None:
        return ["fair"] * len(told["id"])
    arrays = unpack(store().get(digest)).arrays
    now: dict[int, int] = {}
    with contextlib.suppress(ConfigError, NotYet), left_to_workers():
        now = marks_now(job, arrays)
    return [KINDS.get(now.get(i, verdict), "under") for i, verdict in zip(told["id"], told["verdict"], strict=True)]


def _legend(job: Job, marks: Sequence[FrontMark]) -> list[tuple[str, str]]:
    words = verdict_words(job.template, front.of_job(job))
    named = {"strong": words.strong, "unsure": words.unsure, "under": words.under}
    shown = {mark.kind for mark in marks}
    return [(kind, text) for kind, text in named.items() if kind in shown]


def _ends(values: Sequence[float], line: float | None, stops: Ends) -> tuple[float, float]:
    """The lowest and the highest of some values, and of the line across them; where they are one, the round numbers
    about it, that are not beyond where what is measured ``stops``."""
    every = [*values, *(() if line is None else (line,))]
    low, high = min(every), max(every)
    if high - low > 1e-9 * max(abs(low), abs(high)):
        return low, high
    step = 10.0 ** floor(log10(abs(low))) if low else 1.0
    floor_, cap = (-inf if stops[0] is None else stops[0]), (inf if stops[1] is None else stops[1])
    below, above = step * floor(low / step), step * (floor(low / step) + 1)
    below -= step * (low - below < step / 4)
    above += step * (above - low < step / 4)
    return max(below, floor_), min(above, cap)


def _share(value: float, ends: tuple[float, float], *, turned: bool = False) -> str:
    """Where a value lies between the ends, in percent of the picture."""
    low, high = ends
    share = (value - low) / (high - low) if high > low else 0.5
    return f"{ROOM + (100 - 2 * ROOM) * (1 - share if turned else share):.2f}%"


def _ticks(axis: FrontAxis, ends: tuple[float, float], most: int, *, turned: bool = False) -> list[Tick]:
    """At most about ``most`` round numbers between the ends, at equal distances: 1, 2 or 5 times a power of ten."""
    low, high = ends
    if not high > low:
        return [Tick(_share(low, ends), with_unit(low, axis.unit))]
    rough = (high - low) / most
    power = 10.0 ** floor(log10(rough))
    step = power * next((m for m in (1, 2, 5) if m * power >= rough), 10)
    digits = max(0, -floor(log10(step) + 1e-9))
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    values = [round(k * step, digits) for k in range(first, last + 1)]
    return [Tick(_share(each, ends, turned=turned), with_unit(each, axis.unit, digits)) for each in values]


def _axis(axis: FrontAxis) -> str:
    """ "Resource advantage (×) → more unfair"."""
    unit = f" ({axis.unit})" if axis.unit else ""
    return f"{axis.title}{unit} {'→' if axis.direction == 'max' else '←'} {axis.toward}"
