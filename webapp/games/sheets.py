"""A designer's sheet as rows of cells, whatever it came as: CSV, a paste from a spreadsheet, or an Excel workbook."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from functools import cached_property

from webapp.games import csvfile, xlsxfile, xlsxparts
from webapp.games.errors import CellProblem, SheetError
from webapp.games.limits import check_bytes
from webapp.games.safexml import Report, Work, quiet

TEXT, XLSX = "text", "xlsx"
Cell = str | float


@dataclass(frozen=True)
class How:
    """How to read a sheet; empty values are found out. ``header`` counts from 0; -1: find it."""

    delimiter: str = ""
    worksheet: str = ""
    header: int = -1


@dataclass(frozen=True)
class Sheet:
    """``rows`` are all rows of the file in its own numbering; ``header`` is the row with the column names.

    ``percents``: number cells that the spreadsheet shows as per cent (0.3 stands for 30 %).
    ``problems``: cells that hold no plain value, by (row, column).
    """

    kind: str
    rows: list[list[Cell]]
    header: int
    delimiter: str = ""
    encoding: str = ""
    worksheet: str = ""
    worksheets: tuple[str, ...] = ()
    percents: frozenset[tuple[int, int]] = frozenset()
    problems: dict[tuple[int, int], CellProblem] = field(default_factory=dict)

    @cached_property
    def columns(self) -> list[str]:
        """The column names, spaces trimmed."""
        return [str(cell).strip() for cell in self.rows[self.header]]

    @cached_property
    def body(self) -> list[int]:
        """The numbers of the rows below the header that hold anything."""
        return [r for r in range(self.header + 1, len(self.rows)) if any(str(c).strip() for c in self.rows[r])]

    def cell(self, row: int, column: int) -> Cell:
        """The cell, "" beyond the end of a short row."""
        cells = self.rows[row]
        return cells[column] if 0 <= column < len(cells) else ""

    @property
    def facts(self) -> str:
        """How it was read, in one line."""
        if self.kind == XLSX:
            return f"worksheet {self.worksheet}, column names in row {self.header + 1}"
        between = csvfile.DELIMITERS.get(self.delimiter, "commas")
        words = {"utf-8-sig": "UTF-8", "utf-8": "UTF-8", "utf-16": "UTF-16", "cp1252": "Windows text"}
        where = f", column names in row {self.header + 1}" if self.header else ""
        return f"{between} between columns, {words.get(self.encoding, self.encoding)}{where}"


def kind_of(data: bytes) -> str:
    """Whether the bytes are a workbook or text."""
    return XLSX if xlsxparts.looks_like(data) else TEXT


def read(data: bytes, how: How | None = None, report: Report = quiet) -> Sheet:
    """The sheet in these bytes; ``report`` is told how far. Raises SheetError, whose message says what to do."""
    how = how or How()
    if not data.strip():
        raise SheetError("There is nothing in this sheet.")
    check_bytes(len(data))
    if kind_of(data) == XLSX:
        grid, worksheets = xlsxfile.read(data, how.worksheet, Work(report))
        return _of_grid(grid, worksheets, how.header)
    text, encoding = csvfile.decode(data)
    delimiter = how.delimiter or csvfile.sniff(text)
    rows: list[list[Cell]] = [[span.text for span in row] for row in csvfile.rows_of(text, delimiter, report)]
    return Sheet(TEXT, rows, _header(rows, how.header), delimiter=delimiter, encoding=encoding)


def heads(data: bytes, rows: int, report: Report = quiet) -> list[Sheet]:
    """The first rows of each worksheet of a workbook that can be read as a sheet; of text, none."""
    if kind_of(data) != XLSX:
        return []
    found = []
    for grid in xlsxfile.heads(data, rows, Work(report)):
        with contextlib.suppress(SheetError):
            found.append(_of_grid(grid, (), -1))
    return found


def _of_grid(grid: xlsxfile.Grid, worksheets: tuple[str, ...], header: int) -> Sheet:
    return Sheet(
        XLSX, grid.rows, _header(grid.rows, header), worksheet=grid.worksheet, worksheets=worksheets,
        percents=grid.percents, problems=grid.problems,
    )  # fmt: skip


def _header(rows: list[list[Cell]], wanted: int) -> int:
    """The row with the column names: the wanted one, else the first with at least two filled cells."""
    if 0 <= wanted < len(rows):
        return wanted
    filled = [sum(bool(str(cell).strip()) for cell in row) for row in rows]
    found = next((r for r, count in enumerate(filled) if count > 1), None)
    if found is None:
        raise SheetError(
            "Only one column was found. The sheet needs one column with names or ids, and one with numbers."
        )
    if not any(filled[found + 1 :]):
        raise SheetError("The sheet has column names but no rows below them.")
    return found
