"""The formats of a workbook's cells, as far as they change what a number means: per cent, or a date."""

from __future__ import annotations

import re

from webapp.games import limits
from webapp.games.safexml import Done, Walk, Work

PLAIN, PERCENT, DATE = "", "%", "date"

_BUILT_IN = {9: PERCENT, 10: PERCENT} | dict.fromkeys((*range(14, 23), *range(27, 37), *range(45, 48)), DATE)
_BUILT_IN |= dict.fromkeys(range(50, 59), DATE)
_LITERAL = re.compile(r'"[^"]*"|[\\_*].|\[(?!(?:hh?|mm?|ss?)\])[^\]]*\]')
_LONGEST = 255


class Formats:
    """What the numbers of the cell formats stand for, by the format's place in the workbook's list."""

    def __init__(self, xml: bytes, work: Work) -> None:
        limits.check_formats(xml.count(b"<xf ") + xml.count(b"<xf>") + xml.count(b"<xf/") + xml.count(b":xf "))
        limits.check_formats(xml.count(b"<numFmt ") + xml.count(b":numFmt "))
        self._kinds: list[str] = []
        self._written = 0
        self._codes: dict[int, str] = {}
        self._within = ""
        if xml:
            Walk(self._start, self._end, frozenset(), work).run(xml, b"cellXfs")

    def kind(self, style: str | None) -> str:
        """Of the format with this number; of numbers without a format, or with one that is not there, PLAIN."""
        place = int(style) if style else 0
        return self._kinds[place] if 0 <= place < len(self._kinds) else PLAIN

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name in ("numFmts", "cellXfs"):
            self._within = name
        elif name == "numFmt" and self._within == "numFmts":
            self._written += 1
            limits.check_formats(self._written)
            self._codes[int(attributes["numFmtId"])] = _kind(attributes.get("formatCode", "")[:_LONGEST])
        elif name == "xf" and self._within == "cellXfs":
            limits.check_formats(len(self._kinds) + 1)
            number = int(attributes.get("numFmtId", "0"))
            self._kinds.append(self._codes.get(number) or _BUILT_IN.get(number, PLAIN))

    def _end(self, name: str, text: str) -> None:
        if name == self._within:
            self._within = ""
            if name == "cellXfs":
                raise Done


def _kind(code: str) -> str:
    if "%" in code:
        return PERCENT
    bare = _LITERAL.sub("", code).lower().replace("general", "")
    return DATE if re.search("[dmyhs]", bare) else PLAIN
