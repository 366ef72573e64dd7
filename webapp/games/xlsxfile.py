"""Excel workbooks: looked over before they are opened, then read as values.

A workbook is a zip of XML written by strangers. Before openpyxl sees it: the unpacked size is bounded (zip bombs), a
document type is refused (entity attacks), macros and links to other files are refused.
"""

from __future__ import annotations

import datetime
import io
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from webapp.games.errors import CellProblem, SheetError
from webapp.games.limits import MOST_COLUMNS, MOST_PARTS, MOST_ROWS, MOST_UNPACKED, check_columns, check_rows

UNREADABLE = (
    zipfile.BadZipFile, zlib.error, ElementTree.ParseError, expat.ExpatError, InvalidFileException, LookupError,
    ValueError, TypeError, AttributeError, ArithmeticError, OSError, EOFError, RuntimeError,
)  # fmt: skip
"""What zipfile, the XML parsers and openpyxl raise on damaged workbooks."""

_OLD = b"\xd0\xcf\x11\xe0"
_DAMAGED = "This workbook cannot be read. Open it in your spreadsheet, save it again as .xlsx and import that."


@dataclass(frozen=True)
class Workbook:
    """One worksheet's cells, str or float, in the file's own rows and columns; ``percents``: cells shown as per cent;
    ``problems``: cells that hold something else (formulas, dates), by (row, column)."""

    worksheets: tuple[str, ...]
    worksheet: str
    rows: list[list[str | float]]
    percents: frozenset[tuple[int, int]]
    problems: dict[tuple[int, int], CellProblem]


def looks_like(data: bytes) -> bool:
    """Whether the bytes are a zip, or the older binary format that ``check`` explains."""
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06", _OLD))


def check(data: bytes) -> None:
    """Refuse what must not be opened. Raises SheetError."""
    if data.startswith(_OLD):
        raise SheetError("This is an older or password-protected workbook. Save it as .xlsx without a password.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_parts(archive)
    except UNREADABLE as error:
        raise SheetError(_DAMAGED) from error


def _check_parts(archive: zipfile.ZipFile) -> None:
    parts = archive.infolist()
    names = [part.filename for part in parts]
    if "[Content_Types].xml" not in names or "xl/workbook.xml" not in names:
        raise SheetError("This is not an Excel workbook. Save the sheet as .xlsx or as CSV.")
    if len(parts) > MOST_PARTS or sum(part.file_size for part in parts) > MOST_UNPACKED:
        raise SheetError(
            f"This workbook unpacks to more than {MOST_UNPACKED // 2**20} MB. Copy the sheet into a new workbook."
        )
    if any(name.lower().endswith("vbaproject.bin") or name.startswith("xl/macrosheets/") for name in names):
        raise SheetError("This workbook holds macros. Save it as .xlsx, without macros.")
    if any(name.startswith("xl/externalLinks/") for name in names):
        raise SheetError(
            "This workbook links to other files. In Excel: Data, Edit links, Break link; then save and import it again."
        )
    for part in parts:
        if part.filename.lower().endswith((".xml", ".rels", ".vml")):
            _check_xml(archive, part)


class _Root(Exception):
    """The first element was reached: no document type can follow."""


def _check_xml(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> None:
    def refuse(*_: Any) -> None:
        raise SheetError("This workbook holds XML definitions that no spreadsheet writes, so it is not opened.")

    def declared(version: str, encoding: str | None, standalone: int) -> None:
        if (encoding or "utf-8").lower() not in {"utf-8", "us-ascii"}:
            refuse()

    def root(*_: Any) -> None:
        raise _Root

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler, parser.EntityDeclHandler = refuse, refuse
    parser.XmlDeclHandler, parser.StartElementHandler = declared, root
    with archive.open(part) as file:
        # zipfile stops at the size the directory states, so a lying size cannot unpack more than was counted.
        head = file.read(2)
        if head in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in head:
            refuse()
        try:
            parser.Parse(head, False)
            while chunk := file.read(65536):
                parser.Parse(chunk, False)
        except _Root:
            return


def read(data: bytes, worksheet: str = "") -> Workbook:
    """One worksheet's values: the named one, else the first visible one. Raises SheetError."""
    check(data)
    try:
        return _read(data, worksheet)
    except UNREADABLE as error:
        raise SheetError(_DAMAGED) from error


def _read(data: bytes, wanted: str) -> Workbook:
    book = load_workbook(io.BytesIO(data), read_only=True, keep_links=False)
    sheets = {sheet.title: sheet for sheet in book.worksheets if sheet.sheet_state == "visible"}
    if not sheets:
        raise SheetError("This workbook has no visible worksheet.")
    name = wanted if wanted in sheets else next(iter(sheets))
    rows: list[list[str | float]] = []
    percents: set[tuple[int, int]] = set()
    problems: dict[tuple[int, int], CellProblem] = {}
    for r, cells in enumerate(_cells(sheets[name])):
        row: list[str | float] = []
        for c, cell in enumerate(cells):
            value = _value(cell, r, c, problems)
            if isinstance(value, float) and "%" in (cell.number_format or ""):
                percents.add((r, c))
            row.append(value)
        while row and row[-1] == "":
            row.pop()
        check_columns(len(row))
        rows.append(row)
    while rows and not rows[-1]:
        rows.pop()
    check_rows(len(rows))
    return Workbook(tuple(sheets), name, rows, frozenset(percents), problems)


def _cells(sheet: Any) -> Iterator[tuple[Any, ...]]:
    """Rows as tuples of cells, bounded whatever size the file says it has."""
    sheet.reset_dimensions()
    rows: Iterator[tuple[Any, ...]] = sheet.iter_rows(max_row=MOST_ROWS + 2, max_col=MOST_COLUMNS + 1)
    return rows


def _value(cell: Any, r: int, c: int, problems: dict[tuple[int, int], CellProblem]) -> str | float:
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if cell.data_type == "f":
        text = f"={str(value).lstrip('=')}" if isinstance(value, str) else "={…}"
        message = "holds a formula. Copy the column and paste it back as values, then import again."
        problems[r, c] = CellProblem(r, c, text[:60], message)
        return text
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta):
        message = "was turned into a date or time by the spreadsheet. Format the cell as a number and type it again."
        problems[r, c] = CellProblem(r, c, str(value), message)
    elif cell.data_type == "e":
        problems[r, c] = CellProblem(r, c, str(value), "holds a spreadsheet error.")
    return str(value)
