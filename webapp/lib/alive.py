"""Redis as the site uses it: signs of life, and a memory of it being away.

Each long-running part says in Redis that it is at work, and the health page asks. A sign expires by itself, so a part
that hangs or dies turns silent within ``LIFETIME`` seconds. It carries the id of the run, so that what an earlier start
left in Redis does not speak for this one.

Nothing that people wait for depends on Redis: whoever asks it goes on without an answer. A server that hangs costs
``PATIENCE`` seconds once, and then nothing for ``PAUSE`` seconds, whatever is asked of it in this process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cache
from typing import TypeVar

import redis
from django.conf import settings

T = TypeVar("T")

LIFETIME = 30  # the reconciler's round takes ten seconds
WORKERS = ("worker-jobs", "worker-quick")
RECONCILER = "reconciler"

PATIENCE = 2.0
"""Seconds after which an answer is given up."""
PAUSE = 5.0
"""Seconds for which a server that did not answer is left alone."""
_away_until = 0.0


@cache
def connection() -> redis.Redis:
    """This process's connections to Redis."""
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE)


def ask(question: Callable[[redis.Redis], T]) -> T:
    """What the server answers. Raises redis.RedisError, at once where it gave no answer a moment ago."""
    global _away_until
    if time.monotonic() < _away_until:
        raise redis.ConnectionError("It did not answer a moment ago.")
    try:
        return question(connection())
    except (redis.ConnectionError, redis.TimeoutError):
        _away_until = time.monotonic() + PAUSE
        raise


def believe_back() -> None:
    """Forget that the server was away, and the connections to it."""
    global _away_until
    _away_until = 0.0
    connection.cache_clear()


def _key(part: str) -> str:
    return f"equipoise:alive:{settings.RUN}:{part}"


def beat(part: str) -> None:
    """Say that ``part`` is at work, in this process. While Redis is away nothing happens: the health page says that."""
    try:
        ask(lambda server: server.set(_key(part), os.getpid(), ex=LIFETIME))
    except redis.RedisError:
        return


def silent(*parts: str) -> list[str]:
    """Those of ``parts`` that gave no sign within ``LIFETIME`` seconds; raises ``redis.RedisError``."""
    signs = ask(lambda server: server.mget([_key(part) for part in parts]))
    return [part for part, sign in zip(parts, signs, strict=True) if sign is None]
