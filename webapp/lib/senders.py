"""Who sends a request: asked of the database in threads of its own, and remembered for a few seconds.

It lets nobody in, and keeps nobody out: views look for themselves. It says whose share of the site a request takes.
"""

from __future__ import annotations

import hashlib
import io
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import structlog
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.db import DatabaseError, connections
from django.http import HttpRequest

from webapp.lib.trouble import API

log = structlog.get_logger(__name__)

REMEMBERED_SECONDS = 10.0
MOST_REMEMBERED = 4096
THREADS = 2
"""Questions that are asked at a time, however many requests arrive."""
_SHOWN_BY = (b"cookie", b"authorization")


def bare_request(scope: Any) -> ASGIRequest:
    """A request without its query, which may not be text, and without its body."""
    return ASGIRequest({**scope, "query_string": b""}, io.BytesIO())


def address_of(scope: Any) -> str:
    """Where a request comes from."""
    return str((scope.get("client") or ("",))[0])


class Senders:
    """``ask``: the number of the person who sends a request, and None where nobody known does."""

    def __init__(self, ask: Callable[[HttpRequest], int | None]) -> None:
        self._ask = ask
        self._threads = ThreadPoolExecutor(THREADS, "senders")
        self._remembered: OrderedDict[bytes, tuple[int, float]] = OrderedDict()

    async def of(self, scope: Any) -> int | None:
        """Who sends it. Only who is known is remembered, so that nobody can fill the memory with made-up names."""
        shown = b"\0".join(value for name, value in scope["headers"] if name in _SHOWN_BY)
        if not shown:
            return None
        key = hashlib.sha256(shown + (b"\1" if scope["path"].startswith(API) else b"\2")).digest()
        person, until = self._remembered.get(key, (None, 0.0))
        if time.monotonic() < until:
            return person
        asking = sync_to_async(self._asked, thread_sensitive=False, executor=self._threads)
        found: int | None = await asking(bare_request(scope))
        if found is not None:
            self._remember(key, found)
        return found

    def _asked(self, request: HttpRequest) -> int | None:
        """None where the database gives no answer: the view will say so."""
        try:
            return self._ask(request)
        except DatabaseError as error:
            log.warning("who sends a request could not be looked up", path=request.path, error=str(error))
            return None
        finally:
            connections.close_all()

    def _remember(self, key: bytes, person: int) -> None:
        self._remembered[key] = (person, time.monotonic() + REMEMBERED_SECONDS)
        self._remembered.move_to_end(key)
        if len(self._remembered) > MOST_REMEMBERED:
            self._remembered.popitem(last=False)
