"""Is the local Ray there? Asked before a job starts and after one died, without importing ray."""

from __future__ import annotations

import socket

from django.conf import settings


def address() -> str:
    """The address Ray last published; empty when it never did."""
    try:
        return str(settings.RAY_ADDRESS_FILE.read_text().strip())
    except FileNotFoundError:
        return ""


def answers() -> bool:
    """Whether something listens at Ray's address (``ray.init`` to a dead one would block for minutes)."""
    host, _, port = address().rpartition(":")
    if not (host and port.isdecimal()):
        return False
    try:
        socket.create_connection((host, int(port)), timeout=2).close()
    except OSError:
        return False
    return True
