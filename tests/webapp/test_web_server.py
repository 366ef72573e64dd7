"""What the web server itself does with connections, over real sockets."""

from __future__ import annotations

import asyncio
import socket
import struct
import time
from collections.abc import Iterator
from threading import Event, Thread
from typing import Any

import pytest
import uvicorn

from deploy.up import web

PATIENCE = 60.0


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """A server that gives the head of a request half a second."""

    async def tell(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/stream":
            await stream(receive, send)
            return
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    monkeypatch.setattr(web, "HEAD_SECONDS", 0.5)
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(web.settings(tell))
    serving = Thread(target=server.run, kwargs={"sockets": [listening]})
    serving.start()
    yield listening
    server.should_exit = True
    serving.join()


left = Event()
"""The last reader of a stream has gone."""


async def stream(receive: Any, send: Any) -> None:
    """Goes on until the reader leaves."""
    left.clear()
    await receive()
    gone = asyncio.ensure_future(receive())
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while not gone.done():
        await send({"type": "http.response.body", "body": b"more", "more_body": True})
        await asyncio.sleep(0.01)
    left.set()


WHOLE = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize(
    "sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: loc", WHOLE + b"GET / HTTP/1.1\r\nHo"],
    ids=["nothing", "half a line", "half a head", "half a second head"],
)  # fmt: skip
def test_a_connection_on_which_no_whole_head_comes_is_closed(listener: socket.socket, sent: bytes) -> None:
    with socket.create_connection(listener.getsockname(), timeout=PATIENCE) as asking:
        asking.sendall(sent)
        began = time.monotonic()
        answers = b"".join(iter(lambda: asking.recv(4096), b""))
    assert answers.count(b"HTTP/1.1 200 OK") == sent.count(WHOLE)
    assert time.monotonic() - began < 4.0  # before uvicorn itself would close a connection that nobody uses


def test_a_connection_that_is_used_again_stays(listener: socket.socket) -> None:
    with socket.create_connection(listener.getsockname(), timeout=PATIENCE) as asking:
        for _ in range(3):
            asking.sendall(WHOLE)
            assert asking.recv(4096).startswith(b"HTTP/1.1 200 OK")
            time.sleep(0.7)


@pytest.mark.parametrize(
    "beginning",
    [b"GET / HTTP/1.1\r\nX-Long: ", b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Long: "],
    ids=["a head", "lines after a body"],
)
def test_a_head_without_end_is_cut_off_before_it_fills_the_memory(listener: socket.socket, beginning: bytes) -> None:
    with socket.create_connection(listener.getsockname(), timeout=PATIENCE) as asking:
        asking.sendall(beginning)
        with pytest.raises(ConnectionError):
            asking.sendall(b"x" * 200 * 2**20)


@pytest.mark.parametrize(
    ("size", "status"), [(web.HEAD_BYTES, 200), (web.HEAD_BYTES + 1, 431), (100_000, 431), (140_000, 431)]
)
def test_a_head_of_more_than_is_said_gets_431_also_when_it_comes_at_once(
    listener: socket.socket, size: int, status: int
) -> None:
    beginning, end = b"GET / HTTP/1.1\r\nConnection: close\r\nX-Long: ", b"\r\n\r\n"
    with socket.create_connection(listener.getsockname(), timeout=PATIENCE) as asking:
        asking.sendall(beginning + b"x" * (size - len(beginning) - len(end)) + end)
        assert asking.recv(4096).startswith(b"HTTP/1.1 %d " % status)


def test_a_second_request_that_comes_with_the_end_of_a_body_is_answered(listener: socket.socket) -> None:
    body = b"x" * 3 * web.HEAD_BYTES
    first = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
    with socket.create_connection(listener.getsockname(), timeout=PATIENCE) as asking:
        asking.sendall(first + body + WHOLE)
        told = b""
        while told.count(b"HTTP/1.1 200 OK") < 2:
            more = asking.recv(4096)
            assert more, told
            told += more


@pytest.mark.parametrize("protocol", ["websocket", "h2c"])
def test_whoever_asks_for_another_protocol_gets_a_plain_answer_and_no_line_in_the_log(
    listener: socket.socket, caplog: pytest.LogCaptureFixture, protocol: str
) -> None:
    lines = ("Host: localhost", "Connection: Upgrade", f"Upgrade: {protocol}", "Sec-WebSocket-Version: 13",
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")  # fmt: skip
    with socket.create_connection(listener.getsockname(), timeout=PATIENCE) as asking:
        asking.sendall("\r\n".join(["GET /ws HTTP/1.1", *lines, "", ""]).encode())
        answer = b"".join(iter(lambda: asking.recv(4096), b""))  # it ends: nothing that follows could be read
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert answer.endswith(b"ok")
    assert not [record.getMessage() for record in caplog.records if record.levelname in ("WARNING", "ERROR")]


@pytest.mark.parametrize("behind", [b"", WHOLE, b"xxxxx"], ids=["nothing", "another request", "what is none"])
@pytest.mark.parametrize("at_once", [False, True], ids=["closes", "resets"])
def test_a_stream_whose_reader_hangs_up_ends_without_a_line_in_the_log(
    listener: socket.socket, caplog: pytest.LogCaptureFixture, behind: bytes, at_once: bool
) -> None:
    with socket.create_connection(listener.getsockname(), timeout=PATIENCE) as asking:
        asking.sendall(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n" + behind)
        assert asking.recv(4096)
        if at_once:
            asking.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert left.wait(PATIENCE)
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
