"""The other end of one TCP connection, as ZeroMQ speaks over it: ZMTP 3.0 (rfc.zeromq.org/spec/23) without encryption,
as a ROUTER, and the two older versions as libzmq speaks them to old libraries.

Strangers can dial TCP. libzmq takes each of them in, tells of each through a queue that must not fill up, and lets none
of them go; so over TCP the engine reads the bytes by itself, and a stranger costs it one socket.
"""

from __future__ import annotations

import contextlib
import socket
from collections import deque
from collections.abc import Callable, Generator, Sequence

from engine.simulators.protocol import Buffer

CHUNK = 2**18
MORE, LONG, COMMAND = 1, 2, 4
ROUTER, PARTNERS = b"\x06", (b"DEALER", b"REQ", b"ROUTER")
SIGNATURE = b"\xff" + (1).to_bytes(8, "big") + b"\x7f"
"""To the oldest version, this is the beginning of a message without content: a peer without a name."""
STRANGERS_FRAMES, UNSENT, CONTEXT = 64, 64, 16
"""Most frames and commands that are read where received bytes are bounded, because each takes longer than its bytes;
pieces that wait to be sent before a PING remains unanswered; and bytes of a PING that its answer repeats."""
_MECHANISM = b"NULL".ljust(20, b"\0")
_READY = b"\x05READY\x0bSocket-Type\x00\x00\x00\x06ROUTER\x08Identity\x00\x00\x00\x00"
Frame = tuple[int, bytes]
Reading = Generator[int, bytes, Frame]
"""Yields how many bytes come next, is sent these, and returns a frame: its flags and its content."""


class ConnectionEnded(Exception):
    """The connection is over: the other side has ended it, or does not speak ZMTP."""


class TooLarge(ConnectionEnded):
    """The other side sends more than is read."""


class Peer:
    """One accepted connection. ``most_bytes``: of one frame; ``most_received``: of all that is read, in at most
    ``STRANGERS_FRAMES`` frames, None: no bound; ``greeted``: whether the other side speaks ZMTP; ``messages``: those
    that have arrived whole."""

    def __init__(self, raw: socket.socket, most_bytes: int, most_received: int | None) -> None:
        self.raw, self.most_bytes, self.most_received = raw, most_bytes, most_received
        raw.setblocking(False)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.greeted = self.dismissed = False
        self.messages: deque[list[memoryview]] = deque()
        self.received = self._frames = 0
        self.unsent: deque[memoryview] = deque()
        self._ahead = bytearray()
        self._frame: Callable[[], Reading] = self._new_frame
        self._parser = self._parse()
        self._wanted = next(self._parser)
        self._write(SIGNATURE)

    def read(self) -> None:
        """Take what has arrived, up to ``CHUNK``. Raises Ended, TooLarge."""
        try:
            arrived = self.raw.recv(CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            raise ConnectionEnded from error
        if not arrived:
            raise ConnectionEnded
        self.received += len(arrived)
        if not self.dismissed:
            self._ahead += arrived
            self._take()
        if self.most_received is not None and self.received > self.most_received and not self.messages:
            raise TooLarge

    def _take(self) -> None:
        while len(self._ahead) >= self._wanted:
            part = bytes(self._ahead[: self._wanted])
            del self._ahead[: self._wanted]
            self._wanted = self._parser.send(part)

    def send(self, frames: Sequence[Buffer]) -> None:
        """Send one message; what the other side does not take yet waits in ``unsent``."""
        last = len(frames) - 1
        parts = [part for i, frame in enumerate(frames) for part in self._framed(frame, MORE if i < last else 0)]
        self._write(b"".join(parts))

    def dismiss(self) -> None:
        """Send nothing more after what was sent, and ignore what still comes."""
        self.dismissed = True
        self.messages.clear()
        self._ahead.clear()
        self.unsent.clear()
        with contextlib.suppress(OSError):
            self.raw.shutdown(socket.SHUT_WR)

    def flush(self) -> None:
        """Send as much of ``unsent`` as the other side takes; an error shows when it is read next."""
        with contextlib.suppress(OSError):
            while self.unsent:
                first = self.unsent[0]
                sent = self.raw.send(first)
                if sent < len(first):
                    self.unsent[0] = first[sent:]
                else:
                    self.unsent.popleft()

    def _write(self, data: bytes) -> None:
        self.unsent.append(memoryview(data))
        self.flush()

    def _framed(self, content: Buffer, flags: int) -> tuple[bytes, Buffer]:
        size = len(memoryview(content).cast("B"))
        if self._frame == self._old_frame:
            return b"\xff" + (size + 1).to_bytes(8, "big") + bytes([flags]), content
        return bytes([flags | LONG]) + size.to_bytes(8, "big"), content

    def _parse(self) -> Generator[int, bytes, None]:
        yield from self._greeting()
        self.greeted = True
        frames: list[memoryview] = []
        while True:
            flags, content = yield from self._frame()
            self._frames += 1
            if self.most_received is not None and self._frames > STRANGERS_FRAMES:
                raise TooLarge
            if flags & COMMAND:
                self._obey(content)
                continue
            frames.append(memoryview(content))
            if not flags & MORE:
                self.messages.append(frames)
                frames = []

    def _greeting(self) -> Generator[int, bytes, None]:
        first = yield 1
        if first != SIGNATURE[:1]:  # the oldest version: the length of its name
            self._frame = self._old_frame
            yield 1
            yield from self._content(first[0] - 1)
            return
        rest = yield 9
        if not rest[-1] & 1:
            self._frame = self._old_frame
            yield from self._content(int.from_bytes(rest[:8], "big") - 1)
            return
        self._write(b"\x03")
        revision = (yield 1)[0]
        yield from (self._new_greeting() if revision >= 3 else self._old_greeting(revision))

    def _new_greeting(self) -> Generator[int, bytes, None]:
        self._write(b"\0" + _MECHANISM + bytes(32))
        rest = yield 53
        if rest[1:21] != _MECHANISM:
            raise ConnectionEnded
        self._write(b"".join(map(bytes, self._framed(_READY, COMMAND))))
        flags, said = yield from self._frame()
        if not flags & COMMAND or not said.startswith(b"\x05READY") or _socket_type(said) not in PARTNERS:
            raise ConnectionEnded

    def _old_greeting(self, revision: int) -> Generator[int, bytes, None]:
        self._write(ROUTER)
        yield 1
        if revision == 0:
            self._frame = self._old_frame
        self._write(b"\x01\0" if revision == 0 else b"\0\0")  # no name
        yield from self._frame()

    def _new_frame(self) -> Reading:
        flags = (yield 1)[0]
        if flags & ~(MORE | LONG | COMMAND):
            raise ConnectionEnded
        size = int.from_bytes((yield 8 if flags & LONG else 1), "big")
        return flags, (yield from self._content(size))

    def _old_frame(self) -> Reading:
        size = (yield 1)[0]
        if size == 255:
            size = int.from_bytes((yield 8), "big")
        flags = (yield 1)[0] & MORE
        return flags, (yield from self._content(size - 1))

    def _content(self, size: int) -> Generator[int, bytes, bytes]:
        if size < 0:
            raise ConnectionEnded
        if size > self.most_bytes:
            raise TooLarge
        return (yield size) if size else b""

    def _obey(self, command: bytes) -> None:
        if command.startswith(b"\x04PING"):
            if len(self.unsent) <= UNSENT:
                pong = b"\x04PONG" + command[7 : 7 + CONTEXT]
                self._write(b"".join(map(bytes, self._framed(pong, COMMAND))))
        elif command.startswith(b"\x05ERROR"):
            raise ConnectionEnded


def _socket_type(ready: bytes) -> bytes:
    """The value of the property Socket-Type; empty where there is none. Names of properties may be in any case."""
    _, found, value = ready.upper().partition(b"\x0bSOCKET-TYPE")
    return value[4 : 4 + int.from_bytes(value[:4], "big")] if found else b""
