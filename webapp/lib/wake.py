"""Wake-ups: "something of this project was written". They carry no facts: losing one costs a second, not an event."""

from __future__ import annotations

import contextlib

import redis

from webapp.lib import alive

PATTERN = "equipoise:wake:*"


def channel(project: int) -> str:
    """Where the wake-ups of one project are published."""
    return PATTERN.replace("*", str(project))


def wake(project: int) -> None:
    """Wake the readers of a project; nothing happens while Redis is away, for they look at the database anyway."""
    with contextlib.suppress(redis.RedisError):
        alive.ask(lambda server: server.publish(channel(project), 1))
