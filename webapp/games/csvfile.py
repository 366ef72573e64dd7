"""Text tables (CSV, TSV, a paste from a spreadsheet): read with the exact place of each cell, and changed in place.

Python's csv module forgets where a cell stood, and an export of "the same sheet with only the changed cells" needs
just that; so one tokeniser serves both ways, and a test holds it against the csv module.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from dataclasses import dataclass

from webapp.games.errors import SheetError
from webapp.games.limits import check_rows

DELIMITERS = {";": "semicolons", ",": "commas", "\t": "tabs", "|": "vertical bars"}

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f]")
_SNIFFED_LINES = 50


@dataclass(frozen=True)
class Span:
    """A cell: its text, and where it stands in the file's text, quotes included."""

    text: str
    start: int
    end: int


def decode(data: bytes) -> tuple[str, str]:
    """The text and the name of its encoding. Raises SheetError when the bytes are no text."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return _decoded(data, encoding), encoding
    for encoding in ("utf-8", "cp1252"):
        try:
            return _decoded(data, encoding), encoding
        except SheetError:
            if encoding == "cp1252":
                raise
    raise AssertionError("unreachable")


def _decoded(data: bytes, encoding: str) -> str:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise SheetError(
            "This file is not a table of text. Save the sheet as CSV (UTF-8) or as an Excel workbook (.xlsx)."
        ) from error
    if _CONTROLS.search(text):
        raise SheetError(
            "This file holds characters that no table has. Save the sheet as CSV (UTF-8) or as an Excel workbook."
        )
    return text


def encode(text: str, encoding: str) -> bytes:
    """The text as bytes again, with the byte order mark it had."""
    return text.encode(encoding, errors="replace")


def sniff(text: str) -> str:
    """The delimiter: the one that cuts the first lines into the most columns of equal number."""
    declared = re.match(r"sep=(.)\r?\n", text)
    if declared and declared[1] in DELIMITERS:
        return declared[1]
    head = "".join(text.splitlines(keepends=True)[:_SNIFFED_LINES])
    return max(DELIMITERS, key=lambda delimiter: _evenness(head, delimiter))


def _evenness(head: str, delimiter: str) -> tuple[float, int]:
    try:
        widths = [len(row) for row in rows_of(head, delimiter) if any(cell.text.strip() for cell in row)]
    except SheetError:
        widths = [len(line.split(delimiter)) for line in head.splitlines() if line.strip()]
    widest = max(widths, default=1)
    if widest == 1:
        return 0.0, 0
    return round(widths.count(widest) / len(widths), 1), widest


def rows_of(text: str, delimiter: str) -> list[list[Span]]:
    """Every row as its cells. Raises SheetError at a quotation mark that never closes, or with too many rows."""
    plain = rf"[^{re.escape(delimiter)}\r\n]*"
    cell = re.compile(rf'"(?P<quoted>[^"]*+(?:""[^"]*+)*+)"(?P<rest>{plain})|(?P<plain>{plain})')
    rows: list[list[Span]] = [[]]
    at = 0
    while True:
        match = cell.match(text, at)
        assert match is not None  # the plain branch matches the empty text
        if match["quoted"] is None and match["plain"].startswith('"'):
            line = text.count("\n", 0, at) + 1
            raise SheetError(f"The quotation mark opened in line {line} never closes. Close it and try again.")
        rows[-1].append(Span(_unquoted(match), match.start(), match.end()))
        at = match.end()
        if text.startswith(delimiter, at):
            at += 1
            continue
        at += 2 if text.startswith("\r\n", at) else 1
        if at >= len(text):
            return rows
        check_rows(len(rows))
        rows.append([])


def _unquoted(match: re.Match[str]) -> str:
    if match["quoted"] is None:
        return match["plain"]
    return match["quoted"].replace('""', '"') + match["rest"]


def spliced(text: str, delimiter: str, cells: Mapping[tuple[int, int], str]) -> str:
    """``text`` with the cells at (row, column) replaced and every other character left as it is.

    A column beyond the end of a short row is reached by adding delimiters.
    """
    edits = []
    rows = rows_of(text, delimiter)
    for r in sorted({row for row, _ in cells}):
        row, new = rows[r], {c: value for (i, c), value in cells.items() if i == r}
        for c in sorted(new.keys() & set(range(len(row)))):
            quoted = text.startswith('"', row[c].start)
            edits.append((row[c].start, row[c].end, _quoted(new[c], delimiter, quoted)))
        beyond = range(len(row), max(new) + 1)
        if beyond:
            tail = "".join(delimiter + _quoted(new.get(c, ""), delimiter, False) for c in beyond)
            edits.append((row[-1].end, row[-1].end, tail))
    for start, end, value in sorted(edits, reverse=True):
        text = text[:start] + value + text[end:]
    return text


def _quoted(new: str, delimiter: str, always: bool) -> str:
    if always or any(c in new for c in (delimiter, '"', "\r", "\n")):
        return '"' + new.replace('"', '""') + '"'
    return new
