"""Which process holds a job, written so that another process can tell whether it still lives."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def started(pid: int) -> int | None:
    """When process ``pid`` started, in clock ticks since boot; None when there is none, or only its zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if fields[0] in (b"Z", b"X") else int(fields[19])


def _here() -> str:
    """This machine since its last start, and the process numbers that are seen here (containers have their own)."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:8]
    return f"{socket.gethostname()[:60]} {boot} {os.stat('/proc/self/ns/pid').st_ino}"


def label(pid: int) -> str:
    """Names process ``pid`` of this machine, for all time."""
    return f"{_here()} {pid} {started(pid)}"


def find(name: str) -> int | None:
    """The number of the process so labelled, when it runs here."""
    pid, _, start = name.removeprefix(_here()).strip().partition(" ")
    return int(pid) if name.startswith(f"{_here()} ") and str(started(int(pid))) == start else None


def gone(name: str) -> bool:
    """Whether the process so labelled is known to have ended; False for what cannot be seen from here."""
    return name.startswith(f"{_here()} ") and find(name) is None
