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
from webapp.games.limits import (
    MOST_CELLS,
    MOST_COLUMNS,
    MOST_ROWS,
    check_cell_text,
    check_cells,
    check_columns,
    check_rows,
)
from webapp.games.safexml import Report, quiet

DELIMITERS = {";": "semicolons", ",": "commas", "\t": "tabs", "|": "vertical bars"}

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f]")
_SNIFFED_LINES, _SNIFFED = 50, 2**17
_REPORTED = 256


@dataclass(frozen=True)
class Cell:
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
    head = "".join(text[:_SNIFFED].splitlines(keepends=True)[:_SNIFFED_LINES])
    return max(DELIMITERS, key=lambda delimiter: _evenness(head, delimiter))


def _evenness(head: str, delimiter: str) -> tuple[float, int]:
    try:
        widths = [len(row) for row in rows_of(head, delimiter) if any(cell.text.strip() for cell in row)]
    except SheetError:
        widths = [line.count(delimiter) + 1 for line in head.splitlines() if line.strip()]
    widest = max(widths, default=1)
    if widest == 1:
        return 0.0, 0
    return round(widths.count(widest) / len(widths), 1), widest


def rows_of(text: str, delimiter: str, report: Report = quiet) -> list[list[Cell]]:
    """Every row as its cells. Raises SheetError at a quotation mark that never closes, and beyond the limits."""
    plain = rf"[^{re.escape(delimiter)}\r\n]*"
    cell = re.compile(rf'"(?P<quoted>[^"]*+(?:""[^"]*+)*+)"(?P<rest>{plain})|(?P<plain>{plain})')
    rows: list[list[Cell]] = [[]]
    at = cells = 0
    while True:
        match = cell.match(text, at)
        assert match is not None  # the plain branch matches the empty text
        if match["quoted"] is None and match["plain"].startswith('"'):
            line = text.count("\n", 0, at) + 1
            raise SheetError(f"The quotation mark opened in line {line} never closes. Close it and try again.")
        check_cell_text(match.end() - match.start(), len(rows) - 1)
        rows[-1].append(Cell(_unquoted(match), match.start(), match.end()))
        at = match.end()
        if text.startswith(delimiter, at):
            at += 1
            if len(rows[-1]) >= MOST_COLUMNS:
                check_columns(len(rows[-1]) + 1 + text.count(delimiter, at, _line_end(text, at)))
            continue
        at += 2 if text.startswith("\r\n", at) else 1
        cells += len(rows[-1])
        if _ended(text, at, delimiter, rows, cells):
            return rows
        if len(rows) % _REPORTED == 0:
            report(at, len(text))
        rows.append([])


def _line_end(text: str, at: int) -> int:
    found = re.compile(r"[\r\n]|$").search(text, at)
    assert found is not None
    return found.start()


def _ended(text: str, at: int, delimiter: str, rows: list[list[Cell]], cells: int) -> bool:
    """Whether the row that ended at ``at`` is the last. Raises SheetError beyond the limits."""
    if at >= len(text):
        return True
    if len(rows) >= MOST_ROWS:
        check_rows(len(rows) + text.count("\n", at) + (not text.endswith("\n")))
    if cells > MOST_CELLS:
        check_cells(cells + text.count(delimiter, at) + text.count("\n", at))
    return False


def _unquoted(match: re.Match[str]) -> str:
    if match["quoted"] is None:
        return match["plain"]
    return match["quoted"].replace('""', '"') + match["rest"]


def spliced(text: str, delimiter: str, cells: Mapping[tuple[int, int], str]) -> str:
    """``text`` with the cells at (row, column) replaced and every other character left as it is.

    A column beyond the end of a short row is reached by adding delimiters.
    """
    wanted: dict[int, dict[int, str]] = {}
    for (r, c), value in cells.items():
        wanted.setdefault(r, {})[c] = value
    rows, pieces, at = rows_of(text, delimiter), [], 0
    for r, new in sorted(wanted.items()):
        row = rows[r]
        for c in sorted(c for c in new if c < len(row)):
            quoted = text.startswith('"', row[c].start)
            pieces += [text[at : row[c].start], _quoted(new[c], delimiter, quoted)]
            at = row[c].end
        beyond = range(len(row), max(new) + 1)
        if beyond:
            tail = "".join(delimiter + _quoted(new.get(c, ""), delimiter, False) for c in beyond)
            pieces += [text[at : row[-1].end], tail]
            at = row[-1].end
    return "".join((*pieces, text[at:]))


def _quoted(new: str, delimiter: str, always: bool) -> str:
    if always or any(c in new for c in (delimiter, '"', "\r", "\n")):
        return '"' + new.replace('"', '""') + '"'
    return new
