"""The end of a process that leads a group, and of all that it started and that did not leave the group."""

from __future__ import annotations

import contextlib
import os
import signal


def kill(leader: int) -> None:
    """Kill the group of the process ``leader``; nothing where all of it has ended."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
