"""What this machine has."""

from __future__ import annotations

import os
from pathlib import Path

_LIMIT = Path("/sys/fs/cgroup/memory.max")


def memory() -> int:
    """Bytes of memory that processes here can have in all: the machine's, or what the container that they run in is
    limited to."""
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        return min(there, int(_LIMIT.read_text()))
    except (OSError, ValueError):  # no container, or one without a limit ("max")
        return there
