"""What can be wrong with a sheet, said so that a designer can find the place."""

from __future__ import annotations

from dataclasses import dataclass

from openpyxl.utils import get_column_letter


class SheetError(Exception):
    """The whole sheet cannot be read; the message says what to do."""


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
            return f"column {get_column_letter(self.column + 1)}" if self.column >= 0 else "the sheet"
        return f"{get_column_letter(self.column + 1)}{self.row + 1}" if self.column >= 0 else f"row {self.row + 1}"
