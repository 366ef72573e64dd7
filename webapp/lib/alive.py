"""Signs of life: each long-running part says in Redis that it is at work, and the health page asks.

A sign expires by itself, so a part that hangs or dies turns silent within ``LIFETIME`` seconds. It carries the id of
the run, so that what an earlier start left in Redis does not speak for this one.
"""

from __future__ import annotations

import os
from functools import cache

import redis
from django.conf import settings

LIFETIME = 30  # the reconciler's round takes ten seconds
WORKERS = ("worker-jobs", "worker-quick")
RECONCILER = "reconciler"


@cache
def connection() -> redis.Redis:
    """This process's connections to Redis; they give up after two seconds."""
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2)


def _key(part: str) -> str:
    return f"equipoise:alive:{settings.RUN}:{part}"


def beat(part: str) -> None:
    """Say that ``part`` is at work, in this process. While Redis is away nothing happens: the health page says that."""
    try:
        connection().set(_key(part), os.getpid(), ex=LIFETIME)
    except redis.RedisError:
        return


def silent(*parts: str) -> list[str]:
    """Those of ``parts`` that gave no sign within ``LIFETIME`` seconds; raises ``redis.RedisError``."""
    signs = connection().mget([_key(part) for part in parts])
    return [part for part, sign in zip(parts, signs, strict=True) if sign is None]
