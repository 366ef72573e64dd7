"""One simulator program as a process: run under a reaper, with a short tail of its output, and reliably ended."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Generic, Protocol, TypeVar

from engine import process_group
from engine.errors import SimulatorError

REAPER = Path(__file__).with_name("reaper.py")
KEPT_VARIABLES = (
    "PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "VIRTUAL_ENV",
    "NUMBA_NUM_THREADS", "NUMBA_CACHE_DIR", "OMP_NUM_THREADS",
    "EQUIPOISE_RUN",  # no secret, but a mark by which the next start finds processes left over from a power cut
)  # fmt: skip
"""The only variables of the engine's environment that a simulator gets: no secrets, tokens or settings of the site."""

TAIL_BYTES = 4096


class Tail:
    """Reads a pipe to its end in a thread and keeps only the last bytes, so a program may print without limit."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._kept = b""
        self._thread = threading.Thread(target=self._read, name="simulator-output", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with self._stream:
            while chunk := os.read(self._stream.fileno(), 65536):
                self._kept = (self._kept + chunk)[-TAIL_BYTES:]

    def text(self, wait_s: float = 0.0) -> str:
        """The last printed lines; waits up to ``wait_s`` for the end of the output first."""
        self._thread.join(wait_s)
        return self._kept.decode("utf-8", "replace").strip()


class Output(Protocol):
    """Reader of a program's standard output and error; it must never block the program."""

    def text(self, wait_s: float = 0.0) -> str:
        """The last printed lines."""
        ...


OutputT = TypeVar("OutputT", bound=Output)


class ReapedProcess(Generic[OutputT]):
    """A running program and everything it started.

    The program sees only ``KEPT_VARIABLES`` and ``variables``, reads nothing from standard input, and dies with
    this process, however that ends (``engine.simulators.reaper``), along with ``private_dir`` where one is given.
    Raises SimulatorError (permanent) where the program does not exist.
    """

    def __init__(
        self,
        command: Sequence[str],
        variables: Mapping[str, str],
        private_dir: Path | None,
        output: Callable[[IO[bytes]], OutputT],
    ) -> None:
        if not command or shutil.which(command[0]) is None:
            name = command[0] if command else "an empty command"
            raise SimulatorError(
                f"{name} is not a program on this machine; install it or correct the command", permanent=True
            )
        environment = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ} | dict(variables)
        self._killing = threading.Lock()
        life_read, self._life = os.pipe()
        self._report, report_write = os.pipe()
        self._how = ""
        given = (life_read, report_write)
        reaper = [sys.executable, "-I", "-S", str(REAPER), *map(str, given), str(private_dir or ""), "--", *command]
        try:
            self._process = subprocess.Popen(
                reaper, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                env=environment, pass_fds=given, start_new_session=True,
            )  # fmt: skip
        except BaseException:
            os.close(self._life)
            os.close(self._report)
            raise
        finally:
            for descriptor in given:
                os.close(descriptor)
        assert self._process.stdout is not None
        self.output = output(self._process.stdout)

    @property
    def reaper_pid(self) -> int:
        """The pid of the reaper, which is the parent of the program."""
        return self._process.pid

    def exit_code(self) -> int | None:
        """The program's exit code (128 + signal when it was killed), None while it runs."""
        return self._process.poll()

    def memory(self) -> int:
        """Resident bytes of the program itself (the reaper's first child), 0 when it has ended."""
        with contextlib.suppress(OSError, IndexError):
            children = Path(f"/proc/{self.reaper_pid}/task/{self.reaper_pid}/children").read_text().split()
            return int(Path(f"/proc/{children[0]}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return 0

    def exit_text(self) -> str:
        """How the program ended, in words."""
        code = self._process.wait()
        self._read_report()
        how, _, number = self._how.partition(" ")
        if how == "unstarted":
            return "could not be started"
        if how == "signal" or code < 0:  # below 0: the reaper was killed, and with it the program
            return f"was killed by {_signal_name(int(number or -code))}"
        return f"ended by itself with exit code {code}{_as_a_shell_says(code)}"

    def _read_report(self) -> None:
        """Read the reaper's report, once; the reaper has ended."""
        if self._report >= 0:
            self._how = os.read(self._report, 64).decode().partition("\n")[0]
            os.close(self._report)
            self._report = -1

    def wait(self, timeout_s: float) -> bool:
        """Wait for the program to end by itself; False if it still runs after ``timeout_s``."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout_s)
        return self._process.returncode is not None

    def kill(self) -> None:
        """End the program and everything it started. Safe to call twice and from two threads."""
        with self._killing:
            if self._life >= 0:
                os.close(self._life)
                self._life = -1
            self._end()

    def _end(self) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5.0)
        if self._process.returncode is None:
            process_group.kill(self._process.pid)
            self._process.wait()
        self._read_report()


def _signal_name(number: int) -> str:
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"


def _as_a_shell_says(code: int) -> str:
    """Text for an exit code by which shells and similar programs report that a command was killed."""
    with contextlib.suppress(ValueError):
        return f" (a shell ends with this code when {signal.Signals(code - 128).name} killed what it ran)"
    return ""
