"""Niceness that counts beside every process of the machine."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

AUTOGROUP = Path("/proc/self/autogroup")
_TRIES, _PAUSE_S = 50, 0.1


def apply_to_session() -> None:
    """Leave for a session of its own, and give that the niceness of this process, where it has any.

    Kernels that group processes by session (``sched_autogroup_enabled``, Debian's default) share processors among
    sessions first: niceness then counts only within one, and a search would take as much from the pages as if it had
    none. Elsewhere this changes nothing.
    """
    niceness = os.getpriority(os.PRIO_PROCESS, 0)
    if niceness <= 0:
        return
    with contextlib.suppress(OSError):  # no such groups; the parent has ended, or is of another session
        if os.getsid(0) != os.getpid():
            os.setpgid(0, os.getpgid(os.getppid()))  # who leads a group of processes may not leave it for a session
            os.setsid()
        _write(str(niceness))


def _write(niceness: str) -> None:
    """The kernel takes one such change in a tenth of a second from all who are not root, and refuses the others."""
    for _ in range(_TRIES):
        with contextlib.suppress(BlockingIOError):
            AUTOGROUP.write_text(niceness)
            return
        time.sleep(_PAUSE_S)
