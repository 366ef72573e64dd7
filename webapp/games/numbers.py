"""Numbers as designers type them: decimal points or commas, thousands separators, units behind the number.

A text such as ``1,234`` has two readings (1.234 and 1234). Which one is meant is never guessed from the cell itself:
either other cells of the same sheet settle it, or the designer is asked. Where only whole numbers make sense it has
one.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable
from typing import Literal, NamedTuple

from webapp.lib.first import first

MOST = 1e12
"""Beyond it, above or below, nobody means to go."""
LEAST = sys.float_info.min
"""Nearer to zero than this a number has lost digits."""

Mark = Literal[".", ","]
MARKS: tuple[Mark, Mark] = (".", ",")

_SPACES = " \t\u00a0\u2007\u2009\u202f"
_LONGEST = 40
_SIGN, _EXPONENT = r"[+-]?", r"(?:[eE][+-]?[0-9]{1,3})?"


def _pattern(mark: Mark) -> re.Pattern[str]:
    other = "," if mark == "." else "."
    separator = rf"[{re.escape(other)}'’{_SPACES}]"
    grouped = rf"[1-9][0-9]{{0,2}}(?P<separator>{separator})[0-9]{{3}}(?:(?P=separator)[0-9]{{3}})*"
    return re.compile(rf"{_SIGN}(?:{grouped}|[0-9]+|(?=\{mark}))(?:\{mark}[0-9]+)?{_EXPONENT}")


_PATTERNS = {mark: _pattern(mark) for mark in MARKS}


def _read(text: str, mark: Mark) -> float | None:
    if not _PATTERNS[mark].fullmatch(text):
        return None
    other = "," if mark == "." else "."
    kept = "".join(c for c in text if c not in f"{other}'’{_SPACES}")
    value = float(kept.replace(mark, "."))
    return value if math.isfinite(value) else None


def sensible(value: float, most: float = MOST) -> bool:
    """Whether somebody can mean this number: finite, no larger than ``most``, and zero or not next to it."""
    return math.isfinite(value) and abs(value) <= most and (value == 0 or abs(value) >= LEAST)


class Split(NamedTuple):
    """A cell cut into what stands before the number, the number, and what stands behind it."""

    before: str
    number: str
    after: str


def split(text: str, unit: str = "") -> Split:
    """Cut spaces and a unit (the attribute's own, or a percent sign when that is its unit) off the number."""
    body = text.strip(_SPACES + "\r\n")
    lead = text[: text.index(body)] if body else text
    number = body
    if unit and body.casefold().endswith(unit.casefold()):
        number = body[: len(body) - len(unit)].rstrip(_SPACES)
    return Split(lead, number, text[len(lead) + len(number) :])


def readings(text: str, unit: str = "") -> dict[Mark, float]:
    """The value of ``text`` under each decimal mark it can be read with: none, one, or two."""
    number = split(text, unit).number.replace("−", "-")
    if not number or len(number) > _LONGEST:
        return {}
    found = {mark: _read(number, mark) for mark in MARKS}
    return {mark: value for mark, value in found.items() if value is not None}


def ambiguous(text: str, unit: str = "") -> bool:
    """Whether the two decimal marks give different values."""
    return len(set(readings(text, unit).values())) > 1


def evidence(texts: Iterable[str]) -> set[Mark]:
    """The decimal marks that texts with only one reading prove to be in use."""
    marks: set[Mark] = set()
    for text in texts:
        found = readings(text)
        if len(found) == 1:
            marks |= found.keys()
    return marks


def value_of(text: str, mark: Mark | None, unit: str = "") -> float | None:
    """The number ``text`` stands for; ``mark`` settles the texts that have two readings. None: not a number, or
    two readings and no ``mark``."""
    found = readings(text, unit)
    if len(set(found.values())) == 1:
        return first(found.values())
    return found.get(mark) if mark else None


def whole_of(text: str, unit: str = "") -> float | None:
    """The number ``text`` stands for where a whole one is wanted: three digits behind a separator are then thousands.
    What can only be a fraction is read as one. None: not a number."""
    return max(readings(text, unit).values(), key=abs, default=None)


def field_text(value: float) -> str:
    """``shown``, for a field: the shortest text that reads back as exactly ``value`` without anybody being asked. A
    fraction of three digits gets a zero: 1.125 could be thousands, 1.1250 cannot."""
    text = shown(value)
    number, e, exponent = text.partition("e")
    return f"{number}0{e}{exponent}" if ambiguous(text) else text


def question(text: str, unit: str = "") -> str:
    """What the designer is asked about a text with two readings; empty for any other."""
    if not ambiguous(text, unit):
        return ""
    point, comma = map(field_text, readings(text, unit).values())
    return f"{text} can mean {point} or {comma}. Type it as one of these."


def shown(value: float, mark: Mark = ".") -> str:
    """The shortest text that reads back as exactly ``value``; whole numbers without a fraction."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return repr(float(value)).replace(".", mark)


def rewritten(text: str, value: float, mark: Mark, unit: str = "") -> str:
    """``text`` with its number replaced by ``value``, in the same style, unit and spaces kept."""
    before, _, after = split(text, unit)
    return f"{before}{shown(value, mark)}{after}"
