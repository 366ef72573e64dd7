"""A study as a process: in a session of its own, dead when its worker dies, and never outlived by its children."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

from django.conf import settings

from engine import process_group
from workers import process

PR_SET_PDEATHSIG = 1
CHUNK = 1 << 16
LONGEST_LINE = 1 << 20
TAIL = 16_384
SECRETS = ("EQUIPOISE_SECRET_KEY", "DATABASE_URL", "REDIS_URL")
"""Left out of a study's environment: below it run simulators that other people wrote. The keys of a store stay."""

_libc = ctypes.CDLL(None, use_errno=True)


class Unreadable(Exception):
    """The study broke the contract of its event stream; the message says how."""


ENGINE = (sys.executable, "-m", "engine")


def arguments(job: int, attempt: int, folder: Path, checkpoint: str) -> list[str]:
    """What the engine is told about one attempt; ``--events`` and its descriptor are added when it is started."""
    argv = ["run", "--job-dir", str(folder), "--store", settings.STORE, "--job", str(job)]
    argv += ["--attempt", str(attempt), *(["-m", "tensorboard=true"] if settings.TENSORBOARD else [])]
    return [*argv, "--resume", checkpoint] if checkpoint else argv


def prepare(job: int, config: Mapping[str, object]) -> Path:
    """The job's folder, with its study in it and nothing of an earlier attempt alive."""
    folder = Path(settings.JOBS_DIR) / str(job)
    folder.mkdir(parents=True, exist_ok=True)
    sweep(folder)
    draft = folder / f".study.{os.getpid()}"
    draft.write_text(json.dumps(config))
    draft.replace(folder / "study.json")
    return folder


def sweep(folder: Path) -> None:
    """Kill what an earlier attempt left behind on this machine: its worker may be frozen, or was killed."""
    holder = folder / "process"
    with contextlib.suppress(FileNotFoundError):
        if (pid := process.find(holder.read_text())) is not None:
            process_group.kill(pid)
    holder.unlink(missing_ok=True)


def _end_with_parent(parent: int) -> None:
    """In the child, before it becomes the study: die with the worker, and be the first to go when memory is short."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")


class Study:
    """One running study: its lines, its signals, its end."""

    def __init__(self, line: Sequence[str], folder: Path) -> None:
        events, theirs = os.pipe()
        environment = {name: value for name, value in os.environ.items() if name not in SECRETS}
        environment["EQUIPOISE_RAY_ADDRESS_FILE"] = str(settings.RAY_ADDRESS_FILE)
        parent = os.getpid()
        try:
            self.child = subprocess.Popen(
                [*line, "--events", str(theirs)],
                cwd=settings.BASE_DIR,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=[theirs],
                start_new_session=True,
                preexec_fn=lambda: _end_with_parent(parent),
            )
        except BaseException:
            os.close(events)
            raise
        finally:
            os.close(theirs)
        (folder / "process").write_text(process.label(self.child.pid))
        assert self.child.stdout is not None
        self.events, self.output = events, self.child.stdout.fileno()
        self._rest, self._tail = b"", deque[bytes](maxlen=8)
        self._selector = selectors.DefaultSelector()
        for descriptor in (self.events, self.output):
            os.set_blocking(descriptor, False)
            self._selector.register(descriptor, selectors.EVENT_READ)

    def lines(self, timeout: float) -> list[bytes]:
        """Whole event lines that came within ``timeout`` seconds. Raises Unreadable for one that is too long."""
        ready = {key.fd for key, _ in self._selector.select(timeout)}
        if self.output in ready and (said := self._read(self.output)):
            self._tail.append(said[-TAIL // 4 :])
        if self.events not in ready:
            return []
        *whole, self._rest = (self._rest + self._read(self.events)).split(b"\n")
        if max(map(len, (*whole, self._rest))) > LONGEST_LINE:
            raise Unreadable(f"An event was longer than {LONGEST_LINE:,} bytes.")
        return [line for line in whole if line.strip()]

    def _read(self, descriptor: int) -> bytes:
        try:
            data = os.read(descriptor, CHUNK)
        except BlockingIOError:
            return b""
        if not data:
            self._selector.unregister(descriptor)
        return data

    @property
    def drained(self) -> bool:
        """Whether the study has ended and every line it wrote was read (a grandchild may hold the pipe open)."""
        return self._ended() and not any(key.fd == self.events for key, _ in self._selector.select(0))

    def _ended(self) -> bool:
        # Not reaped here: as long as it is a zombie its process group's number cannot go to somebody else.
        return os.waitid(os.P_PID, self.child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def wait(self, seconds: float) -> None:
        """Give the study some time to end by itself."""
        deadline = time.monotonic() + seconds
        while not self._ended() and time.monotonic() < deadline:
            self.lines(0.1)

    def ask(self, number: signal.Signals) -> None:
        """Send a signal to the study itself (its children are its own business)."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.child.pid, number)

    def close(self) -> int:
        """Kill the whole process group and free everything; the study's exit code (negative: the signal)."""
        process_group.kill(self.child.pid)
        code = self.child.wait()
        self._selector.close()
        os.close(self.events)
        assert self.child.stdout is not None
        self.child.stdout.close()
        return code

    @property
    def last_words(self) -> str:
        """The end of what the study wrote to its standard output and error."""
        return b"".join(self._tail)[-TAIL:].decode(errors="replace")
