"""How large a sheet may be, so that every sheet that is accepted is read in seconds.

Each check says the limit and what the sheet has. Counts come from the file's bytes, before anything is parsed; the
counters of ``safexml.Work`` and of the tokeniser hold where those bytes lie.
"""

from __future__ import annotations

from webapp.games.errors import SheetError

MOST_BYTES = 5 * 2**20
MOST_ROWS = 20_000
MOST_COLUMNS = 200
MOST_CELLS = 300_000
"""Cells of one worksheet or text, empty ones that the file writes down included."""
MOST_CELL_TEXT = 32_767
"""Characters of one cell: what a spreadsheet can hold."""
MOST_TEXT = 10_000_000
"""Characters of all cells of one worksheet: a workbook may name one long text in every cell."""
MOST_UNPACKED = 60 * 2**20
MOST_PARTS = 2_000
MOST_WORKSHEETS = 100
MOST_FORMATS = 65_536
MOST_STRINGS = 300_000
MOST_ELEMENTS = 1_500_000
"""XML elements of all the parts that are parsed for one reading."""


def check_bytes(count: int) -> None:
    """Raises SheetError above 5 MB."""
    if count > MOST_BYTES:
        raise SheetError(
            f"This sheet is {count / 2**20:.1f} MB; {MOST_BYTES // 2**20} MB is the most. "
            "Leave out columns and worksheets that hold no game data."
        )


def check_rows(count: int) -> None:
    """Raises SheetError above 20,000 rows."""
    if count > MOST_ROWS:
        raise SheetError(f"This sheet has {count:,} rows; {MOST_ROWS:,} rows is the most. Import it in parts.")


def check_columns(count: int) -> None:
    """Raises SheetError above 200 columns."""
    if count > MOST_COLUMNS:
        raise SheetError(
            f"This sheet has {count:,} columns; {MOST_COLUMNS} is the most. Leave out those that hold no game data."
        )


def check_cells(count: int) -> None:
    """Raises SheetError above 300,000 cells."""
    if count > MOST_CELLS:
        raise SheetError(
            f"This sheet has {count:,} cells, empty ones included; {MOST_CELLS:,} is the most. "
            "Copy the columns with game data into a new sheet and import that."
        )


def check_cell_text(count: int, row: int) -> None:
    """Raises SheetError for a cell of more than 32,767 characters; ``row`` counts from 0."""
    if count > MOST_CELL_TEXT:
        raise SheetError(
            f"A cell in row {row + 1:,} holds {count:,} characters; {MOST_CELL_TEXT:,} is the most. "
            "Check whether a quotation mark is missing there."
        )


def check_text(count: int) -> None:
    """Raises SheetError above 10 million characters."""
    if count > MOST_TEXT:
        raise SheetError(
            f"The cells of this sheet hold more than {MOST_TEXT:,} characters of text. Leave out columns of notes."
        )


def check_unpacked(parts: int, count: int) -> None:
    """Raises SheetError for a workbook of more than 2,000 parts, or that unpacks to more than 60 MB."""
    if parts > MOST_PARTS:
        raise SheetError(
            f"This workbook has {parts:,} parts; {MOST_PARTS:,} is the most. Copy the sheet into a new workbook."
        )
    if count > MOST_UNPACKED:
        raise SheetError(
            f"This workbook unpacks to more than {MOST_UNPACKED // 2**20} MB: {count / 2**20:,.0f} MB. "
            "Copy the sheet into a new workbook."
        )


def check_worksheets(count: int) -> None:
    """Raises SheetError above 100 worksheets."""
    if count > MOST_WORKSHEETS:
        raise SheetError(
            f"This workbook has {count:,} worksheets; {MOST_WORKSHEETS} is the most. "
            "Copy those with game data into a new workbook."
        )


def check_formats(count: int) -> None:
    """Raises SheetError above 65,536 cell formats."""
    if count > MOST_FORMATS:
        raise SheetError(
            f"This workbook has {count:,} cell formats; {MOST_FORMATS:,} is the most. "
            "Copy the values into a new workbook and import that."
        )


def check_strings(count: int) -> None:
    """Raises SheetError above 300,000 different texts."""
    if count > MOST_STRINGS:
        raise SheetError(
            f"This workbook has {count:,} different texts; {MOST_STRINGS:,} is the most. "
            "Copy the sheet with game data into a new workbook."
        )


def check_elements(count: int) -> None:
    """Raises SheetError above 1.5 million XML elements."""
    if count > MOST_ELEMENTS:
        raise SheetError(
            f"This workbook is made of {count:,} XML elements; {MOST_ELEMENTS:,} is the most. "
            "Copy the values of the sheet into a new workbook and import that."
        )
