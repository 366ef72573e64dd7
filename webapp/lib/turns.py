"""So many views are at work at a time; other requests wait for their turn.

A view that has begun cannot be stopped, and all views share one interpreter with the event loop, so it is bounded how
many begin. There are rooms: of people who are known, of everybody else, of views that make or read large files, and
of the health page, which so answers whatever the others do. In each room one person, or of everybody else one address,
has a share of the turns and no more, and those who wait have their turns one sender after the other: whoever sends a
thousand requests waits for them alone. A turn begins when the request has come whole and ends when its answer begins,
so slow uploads, downloads and streams of events have none. Who leaves before their turn came, or has waited as long as
a view may take (``webapp.lib.deadline``), is struck out, and their view never begins.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import Any, TypeVar

import structlog
from django.http import Http404
from django.urls import resolve

from webapp.lib.deadline import SECONDS, Application, Message, Receive, Send, time_of, written
from webapp.lib.senders import Senders, address_of, bare_request
from webapp.lib.trouble import trouble

log = structlog.get_logger(__name__)

V = TypeVar("V", bound=Callable[..., Any])

MOST_WAITING = 128
"""Requests of one sender that wait in one room. What comes beyond is refused."""
LEFT_SECONDS = 60.0
"""How long a view keeps its turn once nobody waits for its answer: one that never returns must not keep it for good."""
_MARK = "never_waits_for_views"


def never_waits(view: V) -> V:
    """Give a view turns of its own. The outermost decorator of the view."""
    setattr(view, _MARK, True)
    return view


class TooMany(Exception):
    """A sender has ``MOST_WAITING`` requests waiting already."""


class Room:
    """``most`` views at work at a time, of one sender at most ``share``."""

    def __init__(self, most: int, share: int) -> None:
        self._most, self._share = most, share
        self._at_work: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    def ask(self, sender: str) -> asyncio.Future[None]:
        """Done when the turn has come. Whoever has it gives it back by ``leave``. Raises TooMany."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        own = self._waiting.setdefault(sender, deque())
        if len(own) >= MOST_WAITING:
            raise TooMany
        own.append(turn)
        self._call()
        return turn

    def leave(self, sender: str, turn: asyncio.Future[None]) -> None:
        """Give a turn back, or wait for it no more."""
        if turn.done():
            self._at_work[sender] -= 1
            self._at_work += Counter()  # forget those of whom none is at work
        else:
            self._strike(sender, turn)
        self._call()

    def _call(self) -> None:
        """Begin what has room, one sender after the other."""
        while self._at_work.total() < self._most:
            sender = next((each for each in self._waiting if self._at_work[each] < self._share), None)
            if sender is None:
                return
            turn = self._waiting[sender][0]
            self._strike(sender, turn)
            if sender in self._waiting:
                self._waiting.move_to_end(sender)
            self._at_work[sender] += 1
            turn.set_result(None)

    def _strike(self, sender: str, turn: asyncio.Future[None]) -> None:
        self._waiting[sender].remove(turn)
        if not self._waiting[sender]:
            del self._waiting[sender]


class Turns:
    """An ASGI application that lets ``application`` begin only so much at a time."""

    def __init__(self, application: Application, senders: Senders, left: float = LEFT_SECONDS) -> None:
        self._application, self._senders, self.left = application, senders, left
        self._people, self._anybody = Room(8, 3), Room(4, 2)
        self._files, self._apart = Room(4, 2), Room(4, 2)

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        visit = Visit(self, scope, receive, send)
        try:
            await self._application(scope, visit.receive, visit.send)
        finally:
            visit.end()

    async def place(self, scope: Any) -> tuple[Room, str]:
        """The room of a request, and whose share of it is taken."""
        request = bare_request(scope)
        if _is_apart(request.path_info):
            return self._apart, address_of(scope)
        person = await self._senders.of(scope)
        if person is None:
            return self._anybody, address_of(scope)
        return self._files if time_of(request) > SECONDS else self._people, str(person)


class Visit:
    """One request on its way to its view and back."""

    def __init__(self, turns: Turns, scope: Any, receive: Receive, send: Send) -> None:
        self._turns, self._scope, self._receive, self._send = turns, scope, receive, send
        self._leaving: asyncio.Future[Message] | None = None
        self._started = asyncio.Event()
        self._give_back: Callable[[], None] | None = None
        self._patience: asyncio.TimerHandle | None = None

    async def receive(self) -> Message:
        """What the browser sends; the end of it once the view may begin. That the browser has left is told until then,
        and again when the answer is on its way, which ends a stream: a view at work cannot be interrupted."""
        if self._leaving is not None:
            left = await asyncio.shield(self._leaving)
            await self._started.wait()
            return left
        message = await self._receive()
        if message["type"] == "http.disconnect" or message.get("more_body", False):
            return message
        self._leaving = asyncio.ensure_future(self._receive())
        return message if await self._may_begin(self._leaving) else {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Part of the answer, which the view has made."""
        self._started.set()
        self._end_turn()
        await self._send(message)

    def end(self) -> None:
        """Nothing more happens to this request."""
        self._end_turn()
        if self._leaving is not None:
            self._leaving.cancel()

    async def _may_begin(self, leaving: asyncio.Future[Message]) -> bool:
        """Wait for the turn; False for whoever leaves before, and whoever was refused."""
        room, sender = await self._turns.place(self._scope)
        try:
            turn = room.ask(sender)
        except TooMany:
            await self._refuse()
            return False
        self._give_back = lambda: room.leave(sender, turn)
        first: list[asyncio.Future[Any]] = [turn, leaving]
        await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        if leaving.done():
            self._end_turn()
            return False
        leaving.add_done_callback(self._nobody_waits)
        return True

    def _nobody_waits(self, leaving: asyncio.Future[Message]) -> None:
        if self._give_back is not None and not leaving.cancelled():
            self._patience = asyncio.get_running_loop().call_later(self._turns.left, self._let_alone)

    def _let_alone(self) -> None:
        log.error("a view is still at work, though nobody waits for it any more", path=self._scope["path"])
        self._end_turn()

    def _end_turn(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
        if self._give_back is not None:
            self._give_back()
            self._give_back = None

    async def _refuse(self) -> None:
        request = bare_request(self._scope)
        log.warning("too many requests of one sender wait", method=request.method, path=request.path)
        said = "Too many of your requests are waiting for an answer already. Try again soon."
        for message in written(trouble(request, "Too much at once", said, status=429)):
            await self._send(message)


def _is_apart(path: str) -> bool:
    try:
        return bool(getattr(resolve(path).func, _MARK, False))
    except Http404:
        return False
