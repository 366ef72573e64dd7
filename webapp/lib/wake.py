"""Wake-ups: "something of this project was written". They carry no facts: losing one costs a second, not an event."""

from __future__ import annotations

import time

import redis

from webapp.lib import alive

PATTERN = "equipoise:wake:*"
PAUSE = 5.0
_silent_until = 0.0


def channel(project: int) -> str:
    """Where the wake-ups of one project are published."""
    return PATTERN.replace("*", str(project))


def wake(project: int) -> None:
    """Wake the readers of a project; nothing happens while Redis is away, for they look at the database anyway.

    After a failure it is left alone for ``PAUSE`` seconds: a server that hangs must not slow every write down.
    """
    global _silent_until
    if time.monotonic() < _silent_until:
        return
    try:
        alive.connection().publish(channel(project), 1)
    except redis.RedisError:
        _silent_until = time.monotonic() + PAUSE
