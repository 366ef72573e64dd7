"""Programs whose output goes where it may not be taken: to a reader that stops reading (``check-simulator … | head``),
or to a file on a full disk."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
from collections.abc import Callable

NOBODY_READS = 128 + signal.SIGPIPE
"""Exit code of a program whose output nobody reads any more, as shells give it for one that SIGPIPE ended."""
NOT_WRITTEN = 1
"""Exit code of a program whose output could not be written."""


def until_nobody_reads(main: Callable[[], int]) -> int:
    """Run ``main``; when whoever reads its output has left, end it without a word, and with a sentence when its output
    cannot be written. Its exit code."""
    try:
        try:
            code = main()
        except SystemExit:  # a help text was printed, for example
            sys.stdout.flush()
            raise
        sys.stdout.flush()
    except BrokenPipeError:
        if not _reader_has_left():
            raise  # a program that this one wrote to has ended, which is another story
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
    """Why nothing can be printed; None when a line can be. Python keeps no note of which file an error came from."""
    try:
        print(flush=True)
    except OSError as error:
        return error
    return None


def _drop_output() -> None:
    """Python flushes standard output once more at the end, and would complain about that."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
