"""Excel worksheets, read as values in one stream: what is not a cell is passed over, and nothing is built of it."""

from __future__ import annotations

import datetime
import math
import re
import zipfile
from dataclasses import dataclass

from webapp.games import limits
from webapp.games.errors import MOST_PROBLEMS, CellProblem, SheetError, formula_hint
from webapp.games.safexml import Done, Walk, Work
from webapp.games.xlsxformats import DATE, PERCENT, Formats
from webapp.games.xlsxparts import Outline, opened, outline

_DATED = "was turned into a date or time by the spreadsheet. Format the cell as a number and type it again."
_SPREADSHEET_COLUMNS = 16_384
_WORDS = {"0": "FALSE", "1": "TRUE"}
_LAST_ROW = re.compile(rb'<(?:[\w.-]+:)?row\b[^>]*?\br="(\d{1,9})"')


@dataclass(frozen=True)
class Grid:
    """One worksheet's cells, str or float, in the file's own rows and columns; ``percents``: cells shown as per cent;
    ``problems``: cells that hold something else (formulas, dates), by (row, column)."""

    worksheet: str
    rows: list[list[str | float]]
    percents: frozenset[tuple[int, int]]
    problems: dict[tuple[int, int], CellProblem]


class Book:
    """An open workbook: its formats and shared texts are read once for all its worksheets."""

    def __init__(self, archive: zipfile.ZipFile, work: Work) -> None:
        self.archive, self.work = archive, work
        self.outline: Outline = outline(archive, work)
        work.total += sum(self._size(part) for part in (self.outline.strings, self.outline.styles))
        self.formats = Formats(self._part(self.outline.styles), work)
        self.strings = _strings(self._part(self.outline.strings), work)

    @property
    def worksheets(self) -> tuple[str, ...]:
        return tuple(self.outline.worksheets)

    def grid(self, worksheet: str = "", rows: int = 0) -> Grid:
        """The cells of the named worksheet, else of the first; of its first ``rows`` rows only, where that is given.

        Raises SheetError, and ``UNREADABLE`` for damaged ones."""
        name = worksheet if worksheet in self.outline.worksheets else self.worksheets[0]
        part = self.outline.worksheets[name]
        self.work.total += self._size(part)
        xml = self.archive.read(part)
        if not rows:
            limits.check_cells(_tags(xml, b"c"))
        return _Reader(self, name, rows).run(xml)

    def _size(self, part: str) -> int:
        return self.archive.getinfo(part).file_size if part else 0

    def _part(self, part: str) -> bytes:
        return self.archive.read(part) if part else b""


def read(data: bytes, worksheet: str = "", work: Work | None = None) -> tuple[Grid, tuple[str, ...]]:
    """One worksheet's values (the named one, else the first visible one), and the titles of all. Raises SheetError."""
    with opened(data) as archive:
        book = Book(archive, work or Work())
        return book.grid(worksheet), book.worksheets


def _tags(xml: bytes, name: bytes) -> int:
    """How many elements of this name the bytes hold: at C's speed, before anything is parsed."""
    plain = sum(xml.count(b"<" + name + end) for end in (b" ", b">", b"/"))
    return plain or sum(xml.count(b":" + name + end) for end in (b" ", b">", b"/"))


def _strings(xml: bytes, work: Work) -> list[str]:
    """The texts that cells name by number; runs of one text are joined, phonetic hints left out."""
    limits.check_strings(_tags(xml, b"si"))
    found: list[str] = []
    runs: list[str] = []
    hints = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal hints
        hints += name == "rPh"
        if name == "si":
            runs.clear()

    def end(name: str, text: str) -> None:
        nonlocal hints
        hints -= name == "rPh"
        if name == "t" and not hints:
            runs.append(text)
        elif name == "si":
            found.append("".join(runs))

    if xml:
        Walk(start, end, frozenset({"t"}), work).run(xml)
    return found


def column_of(place: str) -> int:
    """The column of a place such as AB12, from 0."""
    number = 0
    for letter in place.rstrip("0123456789")[:4].upper():
        number = number * 26 + ord(letter) - 64
    return number - 1


class _Reader:
    """Reads one worksheet's part up to the end of its cells."""

    def __init__(self, book: Book, worksheet: str, most: int) -> None:
        self.book, self.worksheet, self.most = book, worksheet, most
        self.rows: list[list[str | float]] = []
        self.percents: set[tuple[int, int]] = set()
        self.problems: dict[tuple[int, int], CellProblem] = {}
        self.filled: dict[int, int] = {}
        self.columns: dict[str, int] = {}
        self.row, self.column, self.cells, self.characters = -1, -1, 0, 0
        self.line: list[str | float] = []
        self.last = 0
        self.attributes: dict[str, str] = {}
        self.value, self.formula, self.runs = "", "", list[str]()
        self.hints = 0

    def run(self, xml: bytes) -> Grid:
        last = _LAST_ROW.match(xml, max(0, xml.rfind(b"<row "), xml.rfind(b":row ")))
        self.last = int(last[1]) if last else 0
        Walk(self.start, self.end, frozenset({"v", "f", "t"}), self.book.work).run(xml, b"sheetData")
        return Grid(self.worksheet, self.rows, frozenset(self.percents), self.problems)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "c":
            self.cells += 1
            if self.cells > limits.MOST_CELLS:
                limits.check_cells(self.cells)
            place = attributes.get("r")
            self.column = self._column(place) if place else self.column + 1
            self.attributes, self.value, self.formula = attributes, "", ""
            self.runs.clear()
        elif name == "row":
            self.row = int(attributes["r"]) - 1 if "r" in attributes else self.row + 1
            self.column, self.line = -1, []
            if self.most and self.row >= self.most:
                raise Done
        elif name == "rPh":
            self.hints += 1

    def _column(self, place: str) -> int:
        letters = place.rstrip("0123456789")
        if letters not in self.columns:
            self.columns[letters] = column_of(letters)
        return self.columns[letters]

    def end(self, name: str, text: str) -> None:
        if name == "v":
            self.value = text
        elif name == "c":
            self._cell()
        elif name == "row":
            self._row()
        elif name == "t" and not self.hints:
            self.runs.append(text)
        elif name == "f":
            self.formula = f"={text}" if text else "={…}"
        elif name == "rPh":
            self.hints -= 1
        elif name == "sheetData":
            raise Done

    def _row(self) -> None:
        if not self.line:
            return
        limits.check_columns(len(self.line))
        if self.row < len(self.rows):
            raise ValueError("rows out of order")
        if self.row >= limits.MOST_ROWS:
            limits.check_rows(max(self.row + 1, self.last))
        self.rows += [[] for _ in range(self.row - len(self.rows))]
        self.rows.append(self.line)

    def _cell(self) -> None:
        if not (self.value or self.runs or self.formula):
            return
        value = self._value()
        if value == "":
            return
        if isinstance(value, str):
            self._text(len(value))
        elif self.book.formats.kind(self.attributes.get("s")) == PERCENT:
            self.percents.add((self.row, self.column))
        if self.column != len(self.line):
            self._gap(self.column - len(self.line))
        self.line.append(value)

    def _text(self, count: int) -> None:
        self.characters += count
        if count > limits.MOST_CELL_TEXT or self.characters > limits.MOST_TEXT:
            limits.check_cell_text(count, self.row)
            limits.check_text(self.characters)

    def _gap(self, count: int) -> None:
        if count < 0:
            raise ValueError("cells out of order")
        if self.column >= _SPREADSHEET_COLUMNS:
            limits.check_columns(self.column + 1)
        self.line += [""] * count

    def _value(self) -> str | float:
        kind = self.attributes.get("t", "n")
        if self.formula:
            result = self.book.strings[int(self.value)] if kind == "s" else self.value
            return self._problem(self.formula[:60], formula_hint(result[:40]))
        if kind == "n":
            return self._number()
        if kind == "s":
            return self.book.strings[int(self.value)]
        if kind == "e":
            return self._problem(self.value, "holds a spreadsheet error.")
        if kind == "d":
            return self._problem(self.value, _DATED)
        if kind == "b":
            return _WORDS.get(self.value, self.value)
        return "".join(self.runs) or self.value

    def _number(self) -> str | float:
        number = float(self.value)
        if not math.isfinite(number):
            return self.value
        if self.book.formats.kind(self.attributes.get("s")) == DATE:
            return self._problem(_date(number, self.book.outline.from_1904), _DATED)
        return number

    def _problem(self, text: str, message: str) -> str:
        count = self.filled[self.column] = self.filled.get(self.column, 0) + 1
        if count <= MOST_PROBLEMS:
            self.problems[self.row, self.column] = CellProblem(self.row, self.column, text[:60], message)
        return text


def _date(number: float, from_1904: bool) -> str:
    """The day and time that a number stands for in a spreadsheet."""
    start = datetime.datetime(1904, 1, 1) if from_1904 else datetime.datetime(1899, 12, 30)
    try:
        found = start + datetime.timedelta(days=number)
    except OverflowError:
        return str(number)
    return str(found.time() if 0 <= number < 1 else found.date() if number == int(number) else found)


def heads(data: bytes, rows: int, work: Work | None = None) -> list[Grid]:
    """The first rows of every visible worksheet that can be read. Raises SheetError for the workbook as a whole."""
    found = []
    with opened(data) as archive:
        book = Book(archive, work or Work())
        for name in book.worksheets:
            try:
                found.append(book.grid(name, rows))
            except SheetError:
                limits.check_elements(book.work.elements)
    return found
