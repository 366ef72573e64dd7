"""The table of what a job found: as the study has it, and as rows for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from engine.arrays import Bundle, unpack
from engine.errors import StoreError
from webapp.lib.storage import store
from webapp.studies.explore_export import safe, sheet
from webapp.studies.models import Job


def newest(job: Job, role: str) -> str:
    """The hash of what the last round that left anything in a role left there; empty where none did."""
    rounds = job.events.filter(kind="progressed", **{f"body__artifacts__{role}__isnull": False})
    body = rounds.order_by("-tick").values_list("body", flat=True).first()
    return str(body["artifacts"][role]) if body else ""


def latest(job: Job) -> Bundle | None:
    """A job's table as far as it is; None before there is one, and where it was lost."""
    kept = job.artifacts.get("table", "")
    digest = kept if kept and not job.active else newest(job, "table") or kept
    try:
        return unpack(store().get(digest)) if digest else None
    except StoreError:
        return None


class TableRows:
    """Rows by their names, as JSON page by page, as CSV and as a workbook; ``heads``: the columns in this order, which
    are the first row."""

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

    def xlsx(self, title: str) -> bytes:
        """The same as a workbook of one sheet: numbers stay numbers."""
        from openpyxl import Workbook  # many processes of the site never write one

        book, out = Workbook(write_only=True), io.BytesIO()
        rows = ([_cell(row.get(head)) for head in self.heads] for row in self.rows)
        sheet(book, title, list(self.heads), rows, (36,))
        book.save(out)
        return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, list | tuple):
        value = " ".join(map(str, value))
    return safe(value) if isinstance(value, str) else value
