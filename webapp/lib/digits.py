"""Numbers in what people and programs send: the number of a row, of a part of a form, of a round; or a bound."""

from __future__ import annotations

import math
import re

_FRACTION = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_LONGEST = 40
MOST = 2**63 - 1
"""The largest number that a column of whole numbers holds."""


def whole(text: str, most: int = MOST) -> int | None:
    """The number that ``text`` says in plain digits, 0 to ``most``; None for any other text.

    ``str.isdigit`` alone lets through what ``int`` refuses, such as ²; and ``int`` refuses thousands of digits.
    """
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(most)):
        return None
    return found if (found := int(text)) <= most else None


def fraction(text: str) -> float | None:
    """The number that ``text`` says as browsers write it, such as -0.5 or 1e-7; None for any other text.

    ``float`` alone lets through what nobody means: nan, inf, 1_0 and the digits of other alphabets.
    """
    if len(text) > _LONGEST or not _FRACTION.fullmatch(text):
        return None
    found = float(text)
    return found if math.isfinite(found) else None
