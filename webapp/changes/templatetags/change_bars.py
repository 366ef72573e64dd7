"""Bars before and after a change, with their ranges and the line. ``{% load change_bars %}``."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from webapp.changes import sentences
from webapp.changes.reading import Measured, Replayed
from webapp.changes.standing import LineupsNow
from webapp.lib.figures import sign_of, with_unit
from webapp.projects.templatetags.equipoise import none

register = template.Library()

EVEN = {"×": 1.0}
"""Where bars begin, by the unit; elsewhere at 0."""
TICKS = 4
"""About so many on the axis."""
ROOM = 0.04
"""Of the axis, beyond the furthest end."""


class BarAxis(NamedTuple):
    """From ``low`` to ``high``; bars begin at ``even``; ``ticks``: the values that are written, and where they stand in
    per cent; ``unit``: theirs, where it is not written with them."""

    low: float
    high: float
    even: float
    ticks: list[tuple[str, str]]
    unit: str = ""

    def place(self, value: float) -> float:
        """Where a value is, in per cent; values beyond the axis stand at its end."""
        return 100 * min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


@register.filter
def axis(replayed: Replayed | LineupsNow) -> BarAxis:
    """An axis for all lineups of a replay."""
    both = [measured for each in replayed.lineups for measured in (each.before, each.after)]
    return spanning(both, [] if replayed.line is None else [replayed.line], replayed.objective.unit)


def spanning(measured: Iterable[Measured], lines: Iterable[float], unit: str) -> BarAxis:
    """An axis that holds all of these values with their ranges, and the lines."""
    even = EVEN.get(unit, 0.0)
    ends = [v for m in measured if m.value is not None for v in (m.value, m.low, m.high) if v is not None]
    marks = [even, *ends, *lines]
    low, high = min(marks), max(marks)
    room = ROOM * (high - low or 1.0)
    low, high = (even if low == even else low - room), high + room
    step = _step((high - low) / TICKS)
    values = [step * k for k in range(math.ceil(low / step), math.floor(high / step) + 1)]
    sign = sign_of(unit)
    found = BarAxis(low, high, even, [], "" if sign else unit)
    told = [(f"{found.place(v):.2f}%", with_unit(round(v, 6), sign)) for v in values]
    return found._replace(ticks=told)


@register.simple_tag
def before_after(on: BarAxis, before: Measured, after: Measured, line: float | None) -> SafeString:
    """A hollow bar above a filled one, whiskers for their ranges; one that still fills in is dashed and pale. The
    numbers stand in words beside it."""
    dashed = "" if line is None else _line("line", on.place(line), 0, 34)
    bars = [_bar(on, before, "before", 3), _bar(on, after, "after", 19)]
    return format_html('<svg class="change-bars" aria-hidden="true">{}{}{}</svg>', *bars, dashed)


@register.simple_tag
def change_axis(on: BarAxis) -> SafeString:
    """The axis below the bars."""
    texts = [
        format_html(
            '<text x="{}" y="14" text-anchor="{}">{}</text>', at, "start" if float(at[:-1]) < 4 else
            "end" if float(at[:-1]) > 94 else "middle", words,
        )
        for at, words in on.ticks
    ]  # fmt: skip
    return format_html('<svg class="change-axis" aria-hidden="true">{}</svg>', mark_safe("".join(texts)))


def _bar(on: BarAxis, measured: Measured, kind: str, y: float) -> SafeString:
    if measured.value is None:
        return mark_safe("")
    a, b = sorted((on.place(on.even), on.place(measured.value)))
    css = f"{kind} filling" if measured.first else kind
    bar = format_html(
        '<rect class="{}" x="{}%" y="{}" width="{}%" height="12"></rect>', css, f"{a:.2f}", y, f"{max(b - a, 0.3):.2f}"
    )
    if measured.low is None or measured.high is None:
        return bar
    low, high, middle = on.place(measured.low), on.place(measured.high), y + 6
    across = format_html(
        '<line class="whisker" x1="{}%" x2="{}%" y1="{}" y2="{}"></line>', f"{low:.2f}", f"{high:.2f}", middle, middle
    )
    caps = [_line("whisker", end, middle - 4, middle + 4) for end in (low, high)]
    return format_html("{}{}{}{}", bar, across, *caps)


def _line(css: str, at: float, top: float, bottom: float) -> SafeString:
    return format_html('<line class="{0}" x1="{1}%" x2="{1}%" y1="{2}" y2="{3}"></line>', css, f"{at:.2f}", top, bottom)


def _step(rough: float) -> float:
    """The next of 1, 2 and 5 times a power of ten."""
    size = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
    return next((m * size for m in (1, 2, 5) if m * size >= rough), 10 * size)


@register.simple_tag
def shown(found: Replayed | LineupsNow, measured: Measured, missing: str = "not known") -> str:
    """A value with its unit, or ``missing``, why there is none."""
    return none(missing) if measured.value is None else found.value_of(measured)


@register.simple_tag
def ends(found: Replayed | LineupsNow, measured: Measured) -> str:
    """The ends of its range; empty where there is none."""
    return found.ends_of(measured)


register.filter("told", sentences.head)
register.filter("also", sentences.rest)
register.filter("fixed", sentences.fixed)
register.filter("change_name", sentences.named)
