"""The web server: uvicorn on a socket that the supervisor opened.

``python -m deploy.up.web DESCRIPTOR``. The socket outlives this process, so while it is being started again browsers
wait a moment instead of being refused, and no other program can take the port.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from webapp.lib.env import Environment

HEAD_SECONDS = 30.0
"""How long the head of a request may take. What comes after it is ``webapp.lib.bodies``' business."""
HEAD_BYTES = 64 * 1024
"""What may come that is neither a whole head nor part of a body: it is kept in memory."""
SWITCH_SECONDS = 0.0005
"""How long a view may compute before other threads get their turn. Each request has a thread, and the event loop, which
ends those that take too long, waits for its turn behind all of them."""
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class Sending:
    """A connection on which writing to somebody who has hung up is no error; asyncio's own drops it as well."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send it, unless the connection is closed or about to be."""
        if not self._transport.is_closing():
            self._transport.write(data)


class Protocol(HttpToolsProtocol):
    """HTTP that notes in the scope (``absolute_form``) a request line with a whole address, as proxies are sent, and
    closes a connection on which the head of a request does not come whole in time, or is too large. Whoever asks for
    another protocol, such as WebSocket, gets the answer of a plain request, and the connection ends. Where a connection
    has several requests, all of them learn that it was lost."""

    _patience: asyncio.TimerHandle | None = None
    _unread = 0
    _unanswered: tuple[RequestResponseCycle, ...] = ()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(Sending(transport))  # type: ignore[arg-type]  # it passes on all else
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more, and answer nothing."""
        super().connection_lost(exc)
        self._head_came()
        for cycle in self._unanswered:
            if not cycle.response_complete:
                cycle.disconnected = True
            cycle.message_event.set()

    def data_received(self, data: bytes) -> None:
        """Hang up on whoever sends a head, or lines after a body, beyond ``HEAD_BYTES``: the parser gets no more than
        may come before either ends, however much arrives at once."""
        while data and not self.transport.is_closing():
            room = HEAD_BYTES - self._unread
            if not room:
                if self._all_answered():
                    self.transport.write(_TOO_LARGE)
                self.transport.close()
                return
            piece, data = data[:room], data[room:]
            self._unread += len(piece)
            super().data_received(piece)

    def on_body(self, body: bytes) -> None:
        """What came so far is read."""
        self._unread = 0
        super().on_body(body)

    def on_message_begin(self) -> None:
        """Begin to wait for the rest of a head."""
        super().on_message_begin()
        self._await_head()

    def _await_head(self) -> None:
        if self._patience is None:
            self._patience = self.loop.call_later(HEAD_SECONDS, self._hang_up)

    def _head_came(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _hang_up(self) -> None:
        self._patience = None
        if self._all_answered():
            self.transport.close()
        else:
            self._await_head()  # an earlier request of the same connection is still being answered

    def _all_answered(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def on_headers_complete(self) -> None:
        """Note it before the request is handled: of the request line the path alone is kept."""
        self._head_came()
        self._unread = 0
        self.scope["absolute_form"] = not self.url.startswith((b"/", b"*"))  # type: ignore[typeddict-unknown-key]
        super().on_headers_complete()
        self._unanswered = (*(each for each in self._unanswered if not each.response_complete), self.cycle)
        if self.parser.should_upgrade():
            self.cycle.keep_alive = False  # the parser reads nothing that comes after such a head

    def _unsupported_upgrade_warning(self) -> None:
        """Anybody can ask for it, so it is no line of the log."""


def settings(application: Any, behind_proxy: bool = False) -> uvicorn.Config:
    """How an application is served here: over HTTP alone."""
    return uvicorn.Config(
        application,
        http=Protocol,
        ws="none",
        lifespan="off",
        timeout_graceful_shutdown=2,
        log_config=None,  # Django's settings say how to log
        access_log=False,
        proxy_headers=behind_proxy,
        server_header=False,
    )


def main(descriptor: int) -> None:
    """Serve until SIGTERM, then give open requests two seconds."""
    sys.setswitchinterval(SWITCH_SECONDS)
    behind_proxy = Environment().flag("EQUIPOISE_HTTPS", default=False)
    listener = socket.socket(fileno=descriptor)
    # Connections inherit it. Without, the kernel holds back an answer's body until its head is acknowledged: 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    uvicorn.Server(settings("webapp.asgi:application", behind_proxy)).run(sockets=[listener])


if __name__ == "__main__":
    main(int(sys.argv[1]))
