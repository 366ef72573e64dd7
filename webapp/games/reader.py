"""One sheet read in a process of its own: ``python -m webapp.games.reader ORDER``, the file on standard input.

The kernel ends it at its limits of processor time and memory, whatever is in the file, and the site's own processor
stays free for others. It prints lines of progress and then the answer; ``reading`` is the other end.
"""

from __future__ import annotations

import resource
import sys
from dataclasses import dataclass, field

import msgspec

from webapp.games import sheets
from webapp.games.errors import SheetError
from webapp.games.safexml import Report
from webapp.games.sheets import How, Sheet

SECONDS = 5
MEMORY = 2**30
ANSWER = b"answer\n"


@dataclass(frozen=True)
class ReadOrder:
    """``heads``: only so many rows, of every worksheet; 0: one sheet as a whole."""

    how: How = field(default_factory=How)
    heads: int = 0


@dataclass(frozen=True)
class Answer:
    """What was read, or the sentence that says why not."""

    sheets: list[Sheet] = field(default_factory=list)
    error: str = ""


def answer(order: ReadOrder, data: bytes, report: Report) -> Answer:
    """Do what is ordered."""
    try:
        if order.heads:
            return Answer(sheets.heads(data, order.heads, report))
        return Answer([sheets.read(data, order.how, report)])
    except SheetError as error:
        return Answer(error=str(error))


def _printed() -> Report:
    """Prints each whole per cent once."""
    last = -1

    def report(done: int, total: int) -> None:
        nonlocal last
        share = min(100, 100 * done // max(1, total))
        if share > last:
            last = share
            sys.stdout.buffer.write(b"%d\n" % share)
            sys.stdout.buffer.flush()

    return report


def main() -> None:
    """Read the order and the file, write the answer."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    order = msgspec.json.decode(sys.argv[1], type=ReadOrder)
    found = answer(order, sys.stdin.buffer.read(), _printed())
    sys.stdout.buffer.write(ANSWER + msgspec.msgpack.encode(found))


if __name__ == "__main__":
    main()
