"""Reading sheets without holding up the site: large ones in a process of their own, with progress and an end.

What was read last is kept, for each step of an import is a page of the same sheet.
"""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO

import msgspec
from django.conf import settings

from webapp.games import reader, sheets, xlsxparts
from webapp.games.errors import SheetError
from webapp.games.limits import check_bytes
from webapp.games.reader import Answer, ReadOrder
from webapp.games.safexml import quiet
from webapp.games.sheets import How, Sheet

SMALL = 2**17
"""Bytes, unpacked, that are read faster than a process starts."""
AT_ONCE = 2
WAIT, LIMIT = 20, 60
"""Seconds on the clock to wait for others' sheets, and for one's own on a busy machine."""
_KEPT, _TICKETS = 3, 200

_ENDED = "The import was stopped."
_BUSY = "Other people's sheets are being read at the moment. Try again in a few seconds."
_SLOW = (
    f"This sheet takes more than {reader.SECONDS} seconds of processor time to read, and that is the most. "
    "Copy the columns with game data into a new sheet and import that."
)
_LATE = f"The site is busy and did not read this sheet within {LIMIT} seconds. Try again in a moment."
_FAILED = "This sheet needs more memory than one sheet may. Copy the columns with game data into a new sheet."

_slots = threading.BoundedSemaphore(AT_ONCE)
_lock = threading.Lock()
_kept: OrderedDict[tuple[str, How], Sheet] = OrderedDict()


@dataclass
class Progress:
    """How far a reading is, in per cent, for the page that waits for it; ``stop`` ends it."""

    share: int = 0
    stopped: bool = False
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def stop(self) -> None:
        """End the reading now, or before it begins."""
        self.stopped = True
        if self.process is not None:
            self.process.kill()


_tickets: OrderedDict[str, Progress] = OrderedDict()


def progress(ticket: str) -> Progress:
    """The reading with this ticket: the page that waits for it, and the request that does it, ask for the same."""
    with _lock:
        found = _tickets.setdefault(ticket, Progress())
        _tickets.move_to_end(ticket)
        while len(_tickets) > _TICKETS:
            _tickets.popitem(last=False)
        return found


def read(data: bytes, how: How | None = None, under: Progress | None = None) -> Sheet:
    """The sheet in these bytes. Raises SheetError, whose message says what to do."""
    key = hashlib.sha256(data).hexdigest(), how or How()
    with _lock:
        if (found := _kept.get(key)) is not None:
            _kept.move_to_end(key)
            return found
    sheet = _answered(ReadOrder(key[1]), data, under or Progress())[0]
    with _lock:
        _kept[key] = sheet
        while len(_kept) > _KEPT:
            _kept.popitem(last=False)
    return sheet


def heads(data: bytes, rows: int) -> list[Sheet]:
    """The first rows of each worksheet that can be read. Raises SheetError for the workbook as a whole."""
    return _answered(ReadOrder(heads=rows), data, Progress())


def _answered(order: ReadOrder, data: bytes, under: Progress) -> list[Sheet]:
    check_bytes(len(data))
    if under.stopped:
        raise SheetError(_ENDED)
    size = xlsxparts.unpacked(data) if sheets.kind_of(data) == sheets.XLSX else len(data)
    found = reader.answer(order, data, quiet) if size <= SMALL else _in_a_process(order, data, under)
    if found.error:
        raise SheetError(found.error)
    return found.sheets


def _in_a_process(order: ReadOrder, data: bytes, under: Progress) -> Answer:
    if not _slots.acquire(timeout=WAIT):
        raise SheetError(_BUSY)
    try:
        with _reader(order, under) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            _sent(process.stdin, data)
            answer = _followed(process.stdout, under)
    finally:
        _slots.release()
    if under.stopped:
        raise SheetError(_ENDED)
    if process.returncode or not answer:
        ended = {-signal.SIGXCPU: _SLOW, -signal.SIGKILL: _LATE}
        raise SheetError(ended.get(process.returncode, _FAILED))
    return msgspec.msgpack.decode(answer, type=Answer)


@contextmanager
def _reader(order: ReadOrder, under: Progress) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "webapp.games.reader", msgspec.json.encode(order).decode()]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=settings.BASE_DIR
    ) as process:
        clock = threading.Timer(LIMIT, process.kill)
        clock.daemon = True
        clock.start()
        under.process = process
        try:
            if under.stopped:
                process.kill()
            yield process
        finally:
            clock.cancel()


def _sent(stdin: IO[bytes], data: bytes) -> None:
    """It may be ended before it has read everything: its exit status says so."""
    try:
        stdin.write(data)
        stdin.close()
    except BrokenPipeError:
        pass


def _followed(stdout: IO[bytes], under: Progress) -> bytes:
    """Note the progress it prints; its answer, empty when it was ended before."""
    for line in stdout:
        if line == reader.ANSWER:
            return stdout.read()
        under.share = int(line)
    return b""
