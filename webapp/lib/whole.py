"""Whole numbers in what people and programs send: the number of a row, of a part of a form, of a round."""

from __future__ import annotations

MOST = 2**63 - 1
"""The largest number that a column of whole numbers holds."""


def whole(text: str, most: int = MOST) -> int | None:
    """The number that ``text`` says in plain digits, 0 to ``most``; None for any other text.

    ``str.isdigit`` alone lets through what ``int`` refuses, such as ²; and ``int`` refuses thousands of digits.
    """
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(most)):
        return None
    return found if (found := int(text)) <= most else None
