"""How the site's Redis-compatible server (``engine.runtime.redis_server``) is started."""

from __future__ import annotations

import contextlib
import socket
from datetime import datetime
from pathlib import Path

from engine.runtime import redis_server
from engine.runtime.redis_server import answers

__all__ = ["answers", "command", "set_aside", "write_down"]


def command(data: Path, listener: Path) -> list[str]:
    """A server that keeps its data in ``data`` and listens on the unix socket ``listener``, and nowhere else.

    The append-only file is synced every second: a kill loses nothing, a power cut at most a second, and the database is
    the queue's truth anyway.
    """
    return redis_server.command(listener, data, {"appendonly": "yes", "appendfsync": "everysec"})


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
