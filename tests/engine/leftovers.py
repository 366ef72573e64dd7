"""Which processes still run that carry a mark in their environment: how tests see that nothing was left behind."""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from pathlib import Path

MARK = "EQUIPOISE_TEST_MARK"


def new_mark() -> dict[str, str]:
    """A variable to start programs with."""
    return {MARK: uuid.uuid4().hex}


def marked(mark: dict[str, str]) -> list[int]:
    """Pids of running processes started with the mark, the reaper included."""
    wanted = f"{MARK}={mark[MARK]}".encode()
    found = []
    for entry in os.listdir("/proc"):
        with contextlib.suppress(OSError, ValueError):
            if wanted in Path(f"/proc/{int(entry)}/environ").read_bytes():
                found.append(int(entry))
    return found


def running(mark: dict[str, str], wanted: int, within_s: float = 10.0) -> int:
    """How many marked processes run, once that is ``wanted``: one that was just started shows its mark a bit later."""
    until = time.monotonic() + within_s
    while (found := len(marked(mark))) != wanted and time.monotonic() < until:
        time.sleep(0.02)
    return found


def none_left(mark: dict[str, str], within_s: float = 10.0) -> bool:
    """Whether every marked process has ended; waits a little for the kernel to finish."""
    until = time.monotonic() + within_s
    while marked(mark):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def descendants(pid: int) -> list[int]:
    """Pids of every process below this one."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *descendants(child)]
    return found


def named(pids: list[int], name: str) -> list[int]:
    """Those of the pids whose command line contains the name."""
    return [pid for pid in pids if name.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()]


def all_gone(pids: list[int], within_s: float = 10.0) -> bool:
    """Whether all of these processes have ended; waits a little for the kernel to finish."""
    until = time.monotonic() + within_s
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
