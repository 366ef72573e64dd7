"""How many requests this process answered, and how soon: numbers for ``/metrics`` (``webapp.api.metrics``).

They are counted outside everything else, so requests that were refused or given up are there, too. A request is told by
the part of the site that it is for, never by its address, which names projects.
"""

from __future__ import annotations

import time
from typing import Any

from django.conf import settings
from django.http import Http404
from django.urls import resolve
from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector

from webapp.lib.deadline import Application, Message, Receive, Send

STATIC, ELSEWHERE = "static", "elsewhere"
METHODS = frozenset({"GET", "HEAD", "POST", "OPTIONS"})
REGISTRY = CollectorRegistry()
"""Everything that ``/metrics`` tells."""
ProcessCollector(registry=REGISTRY)
_ANSWERED = Counter(
    "equipoise_requests", "Requests answered since the web server began, by part of the site, method and status.",
    ("part", "method", "status"), registry=REGISTRY,
)  # fmt: skip
_SECONDS = Histogram(
    "equipoise_request_seconds", "From the arrival of a request to the beginning of its answer, waits included.",
    ("part",), registry=REGISTRY, buckets=(0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30),
)  # fmt: skip


class Counted:
    """An ASGI application that counts what ``application`` answers."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        began = time.monotonic()

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                _count(scope, message["status"], time.monotonic() - began)
            await send(message)

        await self._application(scope, receive, counted)


def _count(scope: Any, status: int, seconds: float) -> None:
    part, method = part_of(scope["path"]), scope["method"]
    _ANSWERED.labels(part, method if method in METHODS else "other", str(status)).inc()
    _SECONDS.labels(part).observe(seconds)


def part_of(path: str) -> str:
    """The app whose page an address is, or the page's own name where it belongs to none."""
    if path.startswith(settings.STATIC_URL):
        return STATIC
    try:
        found = resolve(path)
    except Http404:
        return ELSEWHERE
    return found.namespace or found.url_name or ELSEWHERE
