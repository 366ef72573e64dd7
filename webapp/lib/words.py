"""Numbers, shares, durations and times in the words of the pages. Used by templates, exports and messages alike."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import floor, isfinite

from django.utils import timezone

from engine.text import written

NBSP = "\u00a0"
UNKNOWN = "not known yet"
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float | None, digits: int | None = None) -> str:
    """1920000 → "1,920,000"; with ``digits``, that many after the point."""
    if value is None or not isfinite(value):
        return UNKNOWN
    if digits is None:
        digits = 0 if float(value).is_integer() else 1
    return written(value, f"z,.{digits}f")


def measured(value: float | None, half: float | None, digits: int) -> str:
    """A value and ``half`` of its 95 % range: "130.6 ± 12.4"; never "± 0.0", which no range is."""
    return number(value, digits) + ("" if half is None else f" ± {number(max(half, 10**-digits), digits)}")


def lower_first(text: str) -> str:
    """A title in the middle of a sentence."""
    return text[:1].lower() + text[1:]


def unbroken(version: object) -> str:
    """The name of a version whose number does not go to the next line by itself."""
    return str(version).replace(", version ", ", version\xa0")


def raised(exponent: int) -> str:
    """A whole exponent as it is printed: 3 → "³"."""
    return str(exponent).translate(_RAISED)


def power_of_ten(value: float) -> str:
    """Two digits of a large number: 113208652 → "1.1 × 10⁸"; below a million in full, rounded: 16246 → "16,000"."""
    if not isfinite(value) or value <= 0:
        return UNKNOWN
    mantissa, _, exponent = f"{value:.1e}".partition("e")
    if int(exponent) < 6:
        return f"{float(f'{value:.1e}'):,.0f}"
    return f"{mantissa} × 10{raised(int(exponent))}"


def percent(share: float | None, digits: int | None = None) -> str:
    """A share in [0, 1] as per cent: 0.065 → "6.5 %", 0.39 → "39 %"; shares near none and near all keep one digit, and
    are never written as none or all. With ``digits``, that many: shares that stand below each other have equally
    many."""
    if share is None or not isfinite(share):
        return UNKNOWN
    value = 100.0 * share
    if digits is None:
        digits = 1 if (0 < value < 10 or 99 < value < 100) and not round(value, 9).is_integer() else 0
    if 0 < value < 100 and digits:
        value = min(max(value, 10.0**-digits), 100 - 10.0**-digits)
    return f"{value:.{digits}f}{NBSP}%"


def progress(share: float) -> str:
    """How far something is, in whole per cent that are over: 0.735 → "73 %", and all only once it is over."""
    return f"{int(100 * share)}{NBSP}%"


def duration(seconds: float | None) -> str:
    """Seconds in at most two units: 14 → "14 s", 110 → "1 min 50 s", 7500 → "2 h 5 min"."""
    if seconds is None or not isfinite(seconds):
        return UNKNOWN
    whole = max(0, floor(seconds + 0.5))
    if whole < 60:
        return f"{whole}{NBSP}s" if whole or seconds <= 0 else f"under 1{NBSP}s"
    for size, name, below, below_name in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= size and (name != "d" or whole >= 2 * size):  # "36 h" says more than "1 d 12 h"
            rest = whole % size // below
            first = f"{whole // size}{NBSP}{name}"
            return f"{first} {rest}{NBSP}{below_name}" if rest else first
    return UNKNOWN


def about(seconds: float | None) -> str:
    """A duration that is a guess, rounded as people say it: 239 → "4 min". To 5 s under ten minutes, to minutes under
    two hours, then to quarters of an hour; ``said`` in static/js/job/pace.js does the same."""
    if seconds is None or not isfinite(seconds):
        return UNKNOWN
    step = 1 if seconds < 20 else 5 if seconds < 600 else 60 if seconds < 7200 else 900
    return duration(step * floor(seconds / step + 0.5))


def when(at: datetime | None, now: datetime | None = None) -> str:
    """A point in time as people say it: "today 14:32", "yesterday 18:03", "12 Nov 09:00", "12 Nov 2025"."""
    if at is None:
        return "not yet"
    local, today = timezone.localtime(at), timezone.localtime(now or timezone.now())
    if local.date() == today.date():
        return f"today {local:%H:%M}"
    if local.date() == today.date() - timedelta(days=1):
        return f"yesterday {local:%H:%M}"
    if local.year == today.year:
        return f"{local.day} {local:%b %H:%M}"
    return f"{local.day} {local:%b %Y}"


def exactly(at: datetime) -> str:
    """The same to the second, as short as it can be: "14:32:05", on other days "12 Nov 14:32:05"."""
    local, today = timezone.localtime(at), timezone.localtime()
    day = "" if local.date() == today.date() else f"{local.day} {local:%b} "
    return f"{day}{'' if local.year == today.year else f'{local:%Y} '}{local:%H:%M:%S}"


def stamp(at: datetime | None) -> str:
    """A point in time that stays right however late somebody reads it: "2026-11-21 14:32 UTC"."""
    return when(at) if at is None else f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def day(at: datetime) -> str:
    """Its day: "21 Nov 2026"."""
    return f"{at.astimezone(UTC).day} {at.astimezone(UTC):%b %Y}"


def plural(count: int, one: str, many: str | None = None) -> str:
    """A count with its noun: "1 lineup", "64 lineups"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def one_of(words: Sequence[str]) -> str:
    """ "a, b or c"."""
    return " or ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)
