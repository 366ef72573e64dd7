"""How large a sheet may be; beyond it a sentence says so before any work is done."""

from __future__ import annotations

from webapp.games.errors import SheetError

MOST_BYTES = 5 * 2**20
MOST_ROWS = 20_000
MOST_COLUMNS = 200
MOST_UNPACKED = 60 * 2**20
MOST_PARTS = 2_000


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
        raise SheetError(f"This sheet has more than {MOST_ROWS:,} rows. Import it in parts.")


def check_columns(count: int) -> None:
    """Raises SheetError above 200 columns."""
    if count > MOST_COLUMNS:
        raise SheetError(
            f"This sheet has {count:,} columns; {MOST_COLUMNS} is the most. Leave out those that hold no game data."
        )
