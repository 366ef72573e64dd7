"""A table of what a job found, for programs: as JSON page by page, and as CSV whose first row are machine names."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from webapp.studies.explore_export import safe


class TableRows:
    """Rows by their names; ``heads``: those that the CSV has, in this order."""

    def __init__(self, heads: Sequence[str], rows: list[dict[str, Any]]) -> None:
        self.heads, self.rows, self.count = heads, rows, len(rows)

    def page(self, offset: int, limit: int) -> list[dict[str, Any]]:
        """Some of the rows."""
        return self.rows[offset : offset + limit]

    def csv(self) -> bytes:
        """A line for each; several values of a cell are separated by spaces, and no cell is a formula."""
        out = io.StringIO(newline="")
        writer = csv.writer(out)
        writer.writerow(self.heads)
        writer.writerows([_cell(row.get(head)) for head in self.heads] for row in self.rows)
        return out.getvalue().encode()


def _cell(value: Any) -> Any:
    if isinstance(value, list | tuple):
        value = " ".join(map(str, value))
    return safe(value) if isinstance(value, str) else value
