"""``/health/``: is everything up, and if not, which part is missing."""

from __future__ import annotations

import socket
from collections.abc import Callable

import redis
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from webapp.lib import alive, disk
from webapp.lib.ray_starts import too_slow
from webapp.lib.turns import never_waits
from webapp.lib.words import plural

OK = "ok"


def database() -> str:
    """The database answers and its tables are there."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM django_migrations LIMIT 1")
    except DatabaseError:
        return "does not answer, or was not migrated"
    return OK


def redis_server() -> str:
    """The Redis-compatible server answers."""
    try:
        alive.ask(lambda server: server.ping())
    except redis.RedisError:
        return "does not answer"
    return OK


def ray() -> str:
    """Ray's address was published and something listens there."""
    try:
        host, port = settings.RAY_ADDRESS_FILE.read_text().strip().rsplit(":", 1)
        socket.create_connection((host, int(port)), timeout=2).close()
    except FileNotFoundError:
        tries = too_slow()
        return (
            f"has not started: the machine is too busy, {plural(tries, 'try', 'tries')} took too long"
            if tries
            else ("has not started")
        )
    except (OSError, ValueError):
        return "does not answer"
    return OK


def sign_of(*parts: str) -> Callable[[], str]:
    """A check that every one of ``parts`` gave a sign of life."""

    def check() -> str:
        try:
            missing = alive.silent(*parts)
        except redis.RedisError:
            return "unknown while the Redis-compatible server is away"
        return f"no sign of {' and '.join(missing)}" if missing else OK

    return check


def room() -> str:
    """There is room for what jobs write. Which folder it is, only people who are signed in are told."""
    found = disk.shortage()
    if found is None:
        return OK
    return f"{found.head.removeprefix('The disk is ')} {found.what}. {found.megabytes} MB must be freed."


CHECKS: dict[str, Callable[[], str]] = {
    "database": database,
    "redis": redis_server,
    "ray": ray,
    "workers": sign_of(*alive.WORKERS),
    "reconciler": sign_of(alive.RECONCILER),
    "disk": room,
}


@never_waits
@login_not_required
@never_cache
@require_safe
def health(request: HttpRequest) -> JsonResponse:
    """200 when every part is up, else 503; either way each part's state, in words. Open to everyone."""
    parts = {name: check() for name, check in CHECKS.items()}
    healthy = all(state == OK for state in parts.values())
    return JsonResponse({"ok": healthy, "parts": parts}, status=200 if healthy else 503)
