"""What a request brings along is refused before anything of it is kept.

Django writes a whole body to the disk before it looks at who sent it and where to. So a body that says it is too large
is answered at once, and one that does not say is counted while it arrives. Whoever shows neither a session nor a token
may send ``UNKNOWN_BYTES``. A body must also arrive whole in time, however little of it comes at once. The bodies that
one address has on their way are counted, and people who are known have room there that nobody else can take. Small
bodies, as of the form in which people sign in, come at once or not at all: they have room and a time of their own, and
where that room is full the one that has waited longest makes way, so that half-sent bodies keep nobody out.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import structlog
from django.conf import settings
from django.http import Http404, HttpRequest
from django.urls import resolve

from webapp.lib.deadline import FILE_SECONDS, Application, Message, Receive, Send, has_body, written
from webapp.lib.senders import Senders, address_of, bare_request
from webapp.lib.trouble import trouble
from webapp.lib.words import duration, number

log = structlog.get_logger(__name__)

V = TypeVar("V", bound=Callable[..., Any])

UNKNOWN_BYTES = 64 * 1024
"""What somebody who is not signed in may send; also what may come with a request that only reads."""
SECONDS = 30.0
"""How long a body may take until it is whole."""
SILENCE = 30.0
"""How long nothing more of a body may come."""
MOST_AT_ONCE = 128
"""Bodies from one address that are on their way at one time; as many more of people who are known."""
SMALL_BYTES, SMALL_SECONDS = 8 * 1024, 8.0
"""A body that says it is no larger must be whole within these seconds."""
LINGER_SECONDS, LINGER_BYTES = 2.0, 32 * 2**20
"""What is still taken, and dropped, of a body that was refused: a connection that is closed while more of it arrives
loses the answer."""
_MARK = "may_send_bytes"
_WITHOUT_BODY = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


def may_send(most: int) -> Callable[[V], V]:
    """Let people who are signed in send ``most`` bytes to a view, and take ``FILE_SECONDS`` for it. An outer decorator
    of the view, beside ``may_take``."""

    def mark(view: V) -> V:
        setattr(view, _MARK, most)
        return view

    return mark


class Allowance(NamedTuple):
    """What somebody known may send to one address: ``most`` bytes within ``seconds``."""

    most: int
    seconds: float


class Refused(Exception):
    """The body is not taken; title, sentences and status of the answer."""

    def __init__(self, status: int, title: str, sentences: str) -> None:
        self.status, self.title, self.sentences = status, title, sentences
        super().__init__(sentences)


class Bodies:
    """An ASGI application that hands ``application`` only such bodies as may be sent by their ``senders``. ``below``:
    bytes that may be sent to addresses that begin so, as regular expressions; the first that fits counts."""

    def __init__(
        self,
        application: Application,
        senders: Senders,
        below: Mapping[str, int],
        seconds: float = SECONDS,
        silence: float = SILENCE,
    ) -> None:
        self._application, self.senders, self._below = application, senders, below
        self._seconds, self.silence = seconds, silence
        self._arriving: list[Body] = []

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not has_body(scope):
            await self._application(scope, receive, send)
            return
        body = Body(self, scope, receive, send)
        try:
            if await body.begin():
                await self._application(scope, body.receive, send)
        finally:
            self.arrived(body)

    async def arrives(self, body: Body) -> None:
        """Count one more body of its address. Raises Refused where too many are on their way. Who sends it is asked
        where the room that anybody may take is full: it costs a question to the database."""
        if self._full(body) and not body.small:
            body.reserved = await body.is_known()
        if self._full(body) and not body.small:
            raise too_much()
        for oldest in self._beside(body)[: 1 - MOST_AT_ONCE]:
            self.arrived(oldest)
            oldest.make_way()
        self._arriving.append(body)

    def _full(self, body: Body) -> bool:
        return len(self._beside(body)) >= MOST_AT_ONCE

    def _beside(self, body: Body) -> list[Body]:
        """What has the same room, the oldest first."""
        return [each for each in self._arriving if each.room == body.room]

    def arrived(self, body: Body) -> None:
        """The body is whole, or nobody waits for it any more."""
        if body in self._arriving:
            self._arriving.remove(body)

    def allowance(self, request: HttpRequest) -> Allowance:
        """What may be sent with this request by somebody known."""
        if request.method in _WITHOUT_BODY:
            return Allowance(UNKNOWN_BYTES, self._seconds)
        for beginning, most in self._below.items():
            if re.match(beginning, request.path_info):
                return Allowance(most, self._seconds)
        with contextlib.suppress(Http404):
            if most := getattr(resolve(request.path_info).func, _MARK, 0):
                return Allowance(most, FILE_SECONDS)
        return Allowance(settings.DATA_UPLOAD_MAX_MEMORY_SIZE, self._seconds)

    def unknown(self, small: bool) -> Allowance:
        """What anybody may send."""
        return Allowance(UNKNOWN_BYTES, min(self._seconds, SMALL_SECONDS) if small else self._seconds)


class Body:
    """One body on its way, and the answer to who sends more than they may. ``reserved``: it is counted among those of
    people who are known; ``small``: it says that it is."""

    reserved = False
    _waits: asyncio.Timeout | None = None
    _makes_way = False

    def __init__(self, bodies: Bodies, scope: Any, receive: Receive, send: Send) -> None:
        self._bodies, self._scope, self._receive, self._send = bodies, scope, receive, send
        self.address = address_of(scope)
        self.small = int(dict(scope["headers"]).get(b"content-length", SMALL_BYTES + 1)) <= SMALL_BYTES
        self._allowed, self._count, self._over = bodies.unknown(self.small), 0, False
        self._began = asyncio.get_running_loop().time()

    @property
    def room(self) -> tuple[str, bool, bool]:
        """Bodies of one room are counted together."""
        return self.address, self.reserved, self.small

    def make_way(self) -> None:
        """Refuse it as soon as it waits for more."""
        self._makes_way = True
        if self._waits is not None:
            self._waits.reschedule(0.0)

    async def begin(self) -> bool:
        """Whether to wait for it; answered already if not."""
        declared = dict(self._scope["headers"]).get(b"content-length", b"0")
        try:
            await self._bodies.arrives(self)
            await self._allow(int(declared))
        except Refused as refused:
            await self._refuse(refused)
            return False
        return True

    async def receive(self) -> Message:
        """What comes next; who is refused counts as one who has left."""
        if self._over:
            return await self._receive()
        try:
            message = await self._next()
        except Refused as refused:
            await self._refuse(refused)
            return {"type": "http.disconnect"}
        if not message.get("more_body", False):
            self._end()
        return message

    async def _next(self) -> Message:
        """The next part of it, counted. Raises Refused."""
        left = self._began + self._allowed.seconds - asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(0.0 if self._makes_way else min(left, self._bodies.silence)) as self._waits:
                message = await self._receive()
                self._count += len(message.get("body", b""))
                await self._allow(self._count)
                return message
        except TimeoutError:
            raise (too_much() if self._makes_way else self._late(left)) from None
        finally:
            self._waits = None

    async def _allow(self, size: int) -> None:
        """Raises Refused for more than may be sent to this address, or by somebody who is not known."""
        if size <= self._allowed.most:
            return
        request = bare_request(self._scope)
        allowed = self._bodies.allowance(request)
        if size > allowed.most:
            raise Refused(413, "This is too large", f"At most {_size(allowed.most)} can be sent here at a time.")
        if not await self.is_known():
            most = _size(UNKNOWN_BYTES)
            raise Refused(413, "This is too large", f"At most {most} can be sent here without being signed in.")
        self._allowed = allowed

    async def is_known(self) -> bool:
        """Whether its sender is."""
        return self.reserved or await self._bodies.senders.of(self._scope) is not None

    def _late(self, left: float) -> Refused:
        silence = self._bodies.silence
        if silence < left:
            said = f"Nothing more of what was sent came for {duration(silence)}"
        else:
            said = f"What was sent had not come whole after {duration(self._allowed.seconds)}"
        return Refused(408, "This did not come whole", f"{said}, so nothing was done with it. Send it again.")

    def _end(self) -> None:
        self._over = True
        self._bodies.arrived(self)

    async def _refuse(self, refused: Refused) -> None:
        """Answer, drop a little of what still comes, so that the answer arrives, and end the connection."""
        self._end()
        request = bare_request(self._scope)
        log.warning("body refused", method=request.method, path=request.path, status=refused.status, why=str(refused))
        head, content = written(trouble(request, refused.title, refused.sentences, refused.status))
        await self._send(head)
        await self._send({**content, "more_body": True})
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                await self._drop()
        await self._send({"type": "http.response.body", "body": b""})

    async def _drop(self) -> None:
        dropped, more = 0, True
        while more and dropped < LINGER_BYTES:
            message = await self._receive()
            dropped, more = dropped + len(message.get("body", b"")), message.get("more_body", False)


def too_much() -> Refused:
    """More bodies of one address are on their way than there is room for."""
    return Refused(429, "Too much at once", "Too much from your address is still on its way. Try again soon.")


def _size(count: int) -> str:
    return f"{number(count // 2**20)} MB" if count >= 2**20 else f"{number(count // 1024)} kB"
