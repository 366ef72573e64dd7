"""How long processes wait for a processor or a disk though they have something to do. Who is silent meanwhile does not
hang: its machine is overloaded.

Linux counts for each thread how long it was ready and did not run (``schedstat``), but only once it runs again; until
then its state tells. Where a system has no such count, the state alone does.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")


class _Thread(NamedTuple):
    """What the system says of a thread: its state (R: runs or is ready, D: waits for a disk), the ticks that it has run
    for, and the seconds that it was ready and did not run."""

    state: str
    ran: int
    ready_s: float


class ProcessorWaits:
    """Of a process of this machine; ``below``: and of all that it started."""

    def __init__(self, pid: int, *, below: bool = False) -> None:
        self._pid, self._below = pid, below
        self._seen: dict[Path, _Thread] = {}
        self._looked_at = time.monotonic()

    def since(self) -> float:
        """Seconds since the last look in which a thread waited, the one that waited longest. The first look only
        notes how things stand."""
        now = time.monotonic()
        passed, self._looked_at = now - self._looked_at, now
        before, self._seen = self._seen, dict(self._threads(self._pid))
        known = ((before[at], thread) for at, thread in self._seen.items() if at in before)
        return max((_waited(*both, passed) for both in known), default=0.0)

    def _threads(self, pid: int) -> Iterator[tuple[Path, _Thread]]:
        """Of a process that has ended: none."""
        with contextlib.suppress(OSError):
            for task in (PROC / str(pid) / "task").iterdir():
                with contextlib.suppress(OSError, ValueError, IndexError):
                    yield task, _read(task)
                if self._below:
                    with contextlib.suppress(OSError):
                        for child in (task / "children").read_text().split():
                            yield from self._threads(int(child))


def _read(task: Path) -> _Thread:
    fields = (task / "stat").read_text().rpartition(")")[2].split()
    ready_s = 0.0
    with contextlib.suppress(OSError, ValueError, IndexError):
        ready_s = int((task / "schedstat").read_text().split()[1]) / 1e9
    return _Thread(fields[0], int(fields[11]) + int(fields[12]), ready_s)


def _waited(before: _Thread, now: _Thread, passed: float) -> float:
    """Seconds of those that passed: all, if it did not get on in between."""
    if now == before and now.state in "RD":
        return passed
    return min(passed, now.ready_s - before.ready_s)


def crowd() -> float:
    """How many threads of this machine want each of its processors; 1 where none has to wait."""
    try:
        return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    except OSError:
        return 1.0
