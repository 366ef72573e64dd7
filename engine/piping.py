"""Clean exits for programs whose output cannot be written: the reader of the pipe has gone
(``check-simulator … | head``), or the disk is full."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
from collections.abc import Callable

NOBODY_READS = 128 + signal.SIGPIPE
"""Exit code when the reader of the output has gone, as shells report it for a program that SIGPIPE ended."""
NOT_WRITTEN = 1
"""Exit code when the output could not be written."""


def until_nobody_reads(main: Callable[[], int]) -> int:
    """Run ``main`` and return its exit code. End it silently when the reader of its output has gone, and with a message
    when its output cannot be written."""
    try:
        try:
            code = main()
        except SystemExit:  # a help text was printed, for example
            sys.stdout.flush()
            raise
        sys.stdout.flush()
    except BrokenPipeError:
        if not _reader_has_left():
            raise  # the broken pipe leads to another program, not to standard output
        _drop_output()
        return NOBODY_READS
    except OSError as error:
        refusal = _refusal() if error.filename is None else None
        if refusal is None:
            raise  # another file could not be written
        _drop_output()
        with contextlib.suppress(OSError):  # errors may go to the same full disk
            print(f"The output cannot be written: {refusal.strerror}.", file=sys.stderr)
        return NOT_WRITTEN
    return code


def _reader_has_left() -> bool:
    poll = select.poll()
    poll.register(sys.stdout.fileno(), select.POLLOUT)
    return any(happened & select.POLLERR for _, happened in poll.poll(0))


def _refusal() -> OSError | None:
    """Why standard output cannot be written; None when it can. Python's errors do not say which file they are about."""
    try:
        print(flush=True)
    except OSError as error:
        return error
    return None


def _drop_output() -> None:
    """Redirect standard output, because Python flushes it once more at exit and would report an error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
