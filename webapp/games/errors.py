"""What can be wrong with a sheet, said so that a designer can find the place."""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST_PROBLEMS = 200
"""More are not looked for: a sheet with so many is the wrong sheet, or its columns are matched incorrectly."""

_FORMULA = re.compile(r"\s*(?:=|@[A-Za-z]|[+-](?:\(|[A-Za-z.]+\(|\$?[A-Za-z]{1,3}\$?[0-9]))")


class SheetError(Exception):
    """The whole sheet cannot be read; the message says what to do."""


def column_letters(column: int) -> str:
    """The name of a column, counted from 0, as a spreadsheet writes it: A, Z, AA."""
    letters, number = "", column + 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


@dataclass(frozen=True)
class CellProblem:
    """One thing wrong in one place: ``row`` and ``column`` count from 0 over the sheet as it was given; -1: none."""

    row: int
    column: int
    text: str
    message: str

    @property
    def place(self) -> str:
        """The place as a spreadsheet names it: ``D7``, ``row 7``, ``column D``."""
        if self.row < 0:
            return f"column {column_letters(self.column)}" if self.column >= 0 else "the sheet"
        return f"{column_letters(self.column)}{self.row + 1}" if self.column >= 0 else f"row {self.row + 1}"


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would calculate this text: ``=A1+B2``, ``+A1``, ``@SUM(A1)``."""
    return bool(_FORMULA.match(text))


def formula_hint(result: str = "") -> str:
    """What is said of a formula in a cell; ``result``: what it gave when the workbook was saved."""
    gave = f" (it gave {result})" if result else ""
    return (
        f"is a formula{gave}, and only values can be imported. In your spreadsheet, copy the cells and paste them back "
        "as values (in Excel: Paste Special, Values), then import the sheet again."
    )
