"""Linux processes: starting children that cannot outlive their parent, and finding every process of a run.

A run marks all that it starts with ``EQUIPOISE_RUN=<id>`` in the environment, which children inherit. What is ended
is found by that mark or by descent, never by name: other people's Ray on the same machine is none of our business.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
MARK = "EQUIPOISE_RUN"
_libc = ctypes.CDLL(None, use_errno=True)


class Stat(NamedTuple):
    """One line of ``/proc/<pid>/stat``: ``state`` is ``Z`` for a process that ended and was not yet collected."""

    pid: int
    name: str
    state: str
    parent: int


def adopt_orphans() -> None:
    """Make this process the parent of every descendant whose own parent dies, instead of the system's first one."""
    if _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER) failed")


def start(command: list[str], environment: dict[str, str], log: Path, descriptors: Iterable[int] = ()) -> int:
    """Start ``command`` in a session of its own, writing to ``log``; gives its process id.

    The kernel kills it when the thread that called this ends, so call from the main thread only. ``descriptors``
    stay open in the child.
    """
    parent = os.getpid()
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    pid = os.fork()
    if pid:
        os.close(output)
        return pid
    try:
        os.setsid()
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died between the fork and the line above
            os._exit(0)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        for descriptor in descriptors:
            os.set_inheritable(descriptor, True)
        os.execve(command[0], command, environment)
    except OSError as error:
        os.write(2, f"{command[0]}: {error}\n".encode())
    finally:
        os._exit(127)


def stat(pid: int) -> Stat | None:
    """What the kernel says of a process, or None when there is none."""
    try:
        text = (PROC / str(pid) / "stat").read_text()
    except OSError:
        return None
    # The name stands in brackets and may itself hold brackets and spaces.
    name, _, rest = text.partition("(")[2].rpartition(")")
    state, parent = rest.split()[:2]
    return Stat(pid, name, state, int(parent))


def everyone() -> Iterator[Stat]:
    """Every process of the machine."""
    for entry in os.listdir(PROC):
        if entry.isdecimal() and (found := stat(int(entry))):
            yield found


def children(pid: int) -> list[Stat]:
    """The processes whose parent is ``pid``, those that ended and were not collected included."""
    return [each for each in everyone() if each.parent == pid]


def descendants(pid: int) -> list[int]:
    """Children, their children and so on."""
    offspring: dict[int, list[int]] = {}
    for each in everyone():
        offspring.setdefault(each.parent, []).append(each.pid)
    found, open_ends = [], [pid]
    while open_ends:
        below = offspring.get(open_ends.pop(), [])
        found += below
        open_ends += below
    return found


def marked(run: str) -> list[int]:
    """Processes of this user, other than this one, that were started under run ``run``."""
    wanted, user, me = f"{MARK}={run}".encode(), os.getuid(), os.getpid()
    found = []
    for entry in os.listdir(PROC):
        if not entry.isdecimal() or int(entry) == me:
            continue
        try:
            if (PROC / entry).stat().st_uid == user and wanted in (PROC / entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry))
        except OSError:  # it ended while we looked, or hides its environment
            continue
    return found


def kill(pids: Iterable[int], number: int = signal.SIGKILL) -> None:
    """Send a signal to each of ``pids`` that still exists."""
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def sweep(run: str, patience: float = 5.0) -> int:
    """Kill every process of a run; gives how many there were. Again and again, for one may be starting another."""
    ended: set[int] = set()
    deadline = time.monotonic() + patience
    while (left := marked(run)) and time.monotonic() < deadline:
        ended.update(left)
        kill(left)
        time.sleep(0.05)
    return len(ended)
