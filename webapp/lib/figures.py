"""Values with their 95 % ranges as the pages write them: with as many digits as it takes to tell them from a line.

``static/js/charts/format.js`` counts digits alike: keep the two in step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import ceil, copysign, floor, inf, isfinite, log10
from typing import NamedTuple

import numpy as np

from webapp.lib.words import NBSP, number, percent

FIGURES = 7
"""Digits that the 32 bits of a value hold."""
MOST = 12
PLACES = 6
ATTACHED = {"×", "°", "′"}
"""Units that stand at their number without a space."""

LEAST = {"×": 1, "%": 0, "points": 0}
"""Digits after the point that values in these units are written with at least; others by their size."""

Ends = tuple[float, float]
Test = Callable[[int], bool]


def telling(value: float, ends: Ends | None, digits: int, lines: Sequence[float] = ()) -> int:
    """Digits after the point, ``digits`` at least, by which ``value`` and the ``ends`` of its range read as they are:
    each on its side of every one of ``lines``, and the ends as two numbers."""
    numbers = [n for n in (value, *(ends or ())) if isfinite(n)]
    wanted = [_beside(n, line, digits) for n in numbers for line in lines]
    if ends is not None and -inf < ends[0] < ends[1] < inf:
        low, high = ends
        wanted.append(_kept(lambda d: round(low, d) < round(high, d), digits, low, high))
    tests = [test for test in wanted if test is not None]
    return next((d for d in range(digits, MOST + 1) if all(test(d) for test in tests)), digits)


def _beside(n: float, line: float, digits: int) -> Test | None:
    """Whether so many digits leave ``n`` on its side of the line."""
    side = 0.0 if float(np.float32(line)) == n else _sign(n - line)
    return _kept(lambda d: _sign(round(n, d) - line) == side, digits, n, line)


def _kept(test: Test, digits: int, *numbers: float) -> Test | None:
    """The test, where any number of digits passes that 32 bits hold of these numbers."""
    size = max(*(abs(n) for n in numbers), 1e-9)
    most = min(MOST, max(digits, FIGURES - 1 - floor(log10(size))))
    return test if any(test(d) for d in range(digits, most + 1)) else None


def _sign(value: float) -> float:
    return copysign(1.0, value) if value else 0.0


def places(value: float) -> int:
    """Digits after the point that a number has, up to six: 2.35 has two."""
    return len(f"{value:.{PLACES}f}".rstrip("0").partition(".")[2])


def least_digits(value: float, unit: str) -> int:
    """Digits after the point that a measured value is worth at least, by its unit or else by its size."""
    if unit in LEAST:
        return LEAST[unit]
    size = abs(value)
    return 0 if size >= 100 else 1 if size >= 10 else 2


def sized(value: float | None) -> str:
    """A measured value without a unit, in as many digits as its size is worth: 500, 21.3, 0.25."""
    return number(value, least_digits(value or 0.0, ""))


def column_digits(values: Iterable[float | None], unit: str = "") -> int:
    """Digits after the point of all values of one column, by its unit or else by the size of its typical value. A value
    has more only beside a line (``telling``), and the page says so."""
    known = [abs(value) for value in values if value is not None and isfinite(value)]
    return least_digits(float(np.median(known)) if known else 0.0, unit)


def worth_one_more(halves: Iterable[float], digits: int) -> bool:
    """Whether the typical range is so narrow that values and ranges are written with one more digit. Were that told by
    each range alone, neighbours with ranges alike would have unlike many."""
    known = [half for half in halves if isfinite(half) and half > 0]
    return bool(known) and 10.0**-digits > float(np.median(known)) / 2


def ranged_digits(values: Iterable[tuple[float | None, Ends | None]], unit: str) -> int:
    """Digits after the point of a column of values with their ranges."""
    every = list(values)
    digits = column_digits((value for value, _ in every), unit)
    return digits + worth_one_more(((ends[1] - ends[0]) / 2 for _, ends in every if ends), digits)


class ShareText(NamedTuple):
    """A share in per cent and its 95 % range, in equally many digits: "1.2 %" and "0.7 to 1.7 %"."""

    value: str
    range: str


def share_text(share: float | None, low: float, high: float) -> ShareText:
    """A share in [0, 1] with its range, in whole per cent or, where the range is narrow, with a digit more."""
    ends = (100 * low, 100 * high)
    digits = telling(100 * (share or 0.0), ends, int(worth_one_more([(ends[1] - ends[0]) / 2], 0)))
    return ShareText(
        percent(share, digits), f"{percent(low, digits).removesuffix(f'{NBSP}%')} to {percent(high, digits)}"
    )


def share_with_ends(share: float, low: float, high: float) -> str:
    """A share with its range in brackets: "58 % (42 to 74 %)"."""
    text = share_text(share, low, high)
    return f"{text.value} ({text.range})"


def exact_digits(values: Iterable[float | None]) -> int:
    """Digits after the point of a column of numbers that people chose, such as prices: as many as the finest has."""
    return max((places(value) for value in values if value is not None), default=0)


def price_digits(cost: float) -> int:
    """Digits after the point of a measured price beside what a piece costs: fine enough for a few per cent of it."""
    return 0 if cost >= 20 else 1 if cost >= 2 else 2


def price(value: float | None, cost: float | None) -> str:
    """A price beside what the piece costs, in as many digits as that has, and as it is worth."""
    return number(value, max(places(cost or 0.0), price_digits(cost or 0.0)))


def level(value: float, half: float | None, unit: str) -> str:
    """The median baseline team's strength as charts write it: as exactly as ``half`` of its 95 % range is worth (None:
    not known)."""
    worth = 0 if half is None or not isfinite(half) else ceil(-log10(half)) if half else places(value)
    digits = min(PLACES, max(least_digits(value, unit), worth))
    return with_unit(round(value, digits), unit, digits)


def with_unit(value: float, unit: str, digits: int = 0) -> str:
    """A number that somebody chose as the pages write it, with all of its digits: 2.0×, 2.35×, 20 points, 31.5 %."""
    return in_unit(number(value, max(digits, places(value), 1 if unit == "×" else 0)), unit)


def sign_of(unit: str) -> str:
    """A unit as it stands at each end of a range, and on axes: nothing where it has several words, which are told
    once."""
    return "" if " " in unit else unit


def in_unit(text: str, unit: str) -> str:
    """A number that is written already, with its unit."""
    return f"{text}{unit}" if unit in ATTACHED else f"{text}{NBSP}{unit}" if unit else text
