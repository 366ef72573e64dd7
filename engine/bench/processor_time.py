"""Processor time of this process and of all below it: Ray's workers and the games that they play, too."""

from __future__ import annotations

import os
from pathlib import Path

_PARENT, _FIRST, _LAST = 1, 11, 15
"""Places of the parent, and of user and system time (its own and of its ended children), after the name."""


def spent() -> float:
    """Seconds so far; what a process took that ended is its parent's."""
    every = {int(path.name): fields for path in Path("/proc").iterdir() if (fields := _fields(path))}
    own = below = {os.getpid()}
    while below:
        below = {pid for pid, fields in every.items() if int(fields[_PARENT]) in below}
        own |= below
    ticks = sum(int(ticks) for pid in own for ticks in every[pid][_FIRST:_LAST])
    return ticks / os.sysconf("SC_CLK_TCK")


def _fields(path: Path) -> list[str]:
    """The numbers that follow the name of a process; empty for what is none, or ended meanwhile."""
    try:
        return (path / "stat").read_text().rpartition(")")[2].split() if path.name.isdecimal() else []
    except OSError:
        return []
