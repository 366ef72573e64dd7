"""No request stays without an answer: what has not begun to answer in time is told so, and logged.

A view that does not return cannot be interrupted, for it runs in a thread. So it is left alone, and what it says later
is dropped; one that still waited for its turn (``webapp.lib.turns``) never begins. What has no body is timed from its
arrival, whatever keeps it from being looked at. The time in which a body arrives is not counted (``webapp.lib.bodies``
limits it), nor is that of an answer which is already on its way: a stream of events, or a file that a slow browser
takes. Views that make large files have more time (``may_take``).
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeVar

import structlog
from asgiref.sync import iscoroutinefunction
from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import resolve

from webapp.lib.trouble import trouble
from webapp.lib.words import duration

log = structlog.get_logger(__name__)

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[None]]
V = TypeVar("V", bound=Callable[..., Any])

SECONDS = 30.0
FILE_SECONDS = 600.0
"""What a view that makes or reads a large file may take."""
_MARK = "may_take_seconds"


def may_take(seconds: float) -> Callable[[V], V]:
    """Give a view more time than others have. The outermost decorator of the view."""

    def mark(view: V) -> V:
        setattr(view, _MARK, seconds)
        return view

    return mark


class Handler(ASGIHandler):
    """Django's handler. A StopIteration from a view becomes an error like any other: no Future can carry it, so the
    request would wait for ever."""

    def make_view_atomic(self, view: Any) -> Any:
        atomic = super().make_view_atomic(view)
        if iscoroutinefunction(atomic):
            return atomic

        def answer(*args: Any, **kwargs: Any) -> Any:
            try:
                return atomic(*args, **kwargs)
            except StopIteration as error:
                raise RuntimeError("The view looked for something that is not there.") from error

        return answer


class Exchange:
    """One request and its answer, as the server hands them over. ``received``: nothing more of the request will come.
    ``started``: the answer is on its way."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self.received, self.started = asyncio.Event(), asyncio.Event()
        self._given_up = False

    async def receive(self) -> Message:
        """What the browser sends."""
        message = await self._receive()
        if not message.get("more_body", False):
            self.received.set()
        return message

    async def send(self, message: Message) -> None:
        """Part of the answer; dropped when another one was given instead."""
        if not self._given_up:
            self.started.set()
            await self._send(message)

    async def answer_instead(self, answer: HttpResponse) -> None:
        """Answer in the view's place. The connection ends with it."""
        self._given_up = True
        for message in written(answer):
            await self._send(message)


def written(answer: HttpResponse) -> tuple[Message, Message]:
    """Head and content of an answer after which the connection ends, as they are sent."""
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in answer.items()]
    headers += [(b"content-length", str(len(answer.content)).encode()), (b"connection", b"close")]
    head = {"type": "http.response.start", "status": answer.status_code, "headers": headers}
    return head, {"type": "http.response.body", "body": answer.content}


class Deadline:
    """An ASGI application that answers within ``seconds``, whatever ``application`` does."""

    def __init__(self, application: Application, seconds: float = SECONDS) -> None:
        self._application, self._seconds = application, seconds
        self._left: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        exchange = Exchange(receive, send)
        task = asyncio.ensure_future(self._application(scope, exchange.receive, exchange.send))
        if has_body(scope):
            await _first(task, exchange.received)
        if await _first(task, exchange.started, self._seconds):
            await task
            return
        request = ASGIRequest(scope, io.BytesIO())
        longest = max(self._seconds, time_of(request))
        if await _first(task, exchange.started, longest - self._seconds):
            await task
            return
        self._left.add(task)
        task.add_done_callback(self._ended_late)
        log.error("request ended: no answer in time", method=request.method, path=request.path, seconds=longest)
        await exchange.answer_instead(_late(request, longest))

    def _ended_late(self, task: asyncio.Task[None]) -> None:
        self._left.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("a request that had been ended failed later", exc_info=error)


def has_body(scope: Any) -> bool:
    """Whether something comes after the head of a request."""
    return bool({b"content-length", b"transfer-encoding"} & dict(scope["headers"]).keys())


async def _first(task: asyncio.Future[Any], event: asyncio.Event, seconds: float | None = None) -> bool:
    """Wait until ``event`` or the end of ``task``; False when neither came within ``seconds``."""
    waiting: asyncio.Future[Any] = asyncio.ensure_future(event.wait())
    try:
        done, _ = await asyncio.wait([task, waiting], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    return bool(done)


def time_of(request: HttpRequest) -> float:
    """The seconds that the request's view was marked with; 0 for others."""
    try:
        return float(getattr(resolve(request.path_info).func, _MARK, 0.0))
    except Http404:
        return 0.0


def _late(request: ASGIRequest, seconds: float) -> HttpResponse:
    """What was only asked for can be asked for again; what was sent may still be done, by a view that nothing stops."""
    began = f"There was no answer within {duration(seconds)}, so the site stopped waiting for it."
    again = "if it happens again, tell whoever runs this site when, and on which page."
    title = "This took too long"
    if request.method in ("GET", "HEAD"):
        stays = "Jobs go on, and what was found stays. Try again in a moment;"
        return trouble(request, title, f"{began} {stays} {again}")
    done = "What you sent may be done all the same. Wait a moment and see what came of it before you send it again;"
    return trouble(request, title, f"{began} {done} {again}", look=request.path)
