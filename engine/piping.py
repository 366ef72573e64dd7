"""Programs whose output is read by another one, which may stop reading: ``check-simulator … | head``."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable

NOBODY_READS = 128 + signal.SIGPIPE
"""Exit code of a program whose output nobody reads any more, as shells give it for one that SIGPIPE ended."""


def until_nobody_reads(main: Callable[[], int]) -> int:
    """Run ``main``; when whoever reads its output has left, end it without a word. Its exit code."""
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
        # Python flushes standard output once more at the end, and would complain about that.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOBODY_READS
    return code


def _reader_has_left() -> bool:
    poll = select.poll()
    poll.register(sys.stdout.fileno(), select.POLLOUT)
    return any(happened & select.POLLERR for _, happened in poll.poll(0))
