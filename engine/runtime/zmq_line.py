"""The parts of our ZeroMQ endpoints: a socket whose waits can be ended, an address, tickets.

On one machine an address is a path in a private folder; with ``host`` it is a TCP port of that address, with encryption
and access for ticket holders only (CURVE).
"""

from __future__ import annotations

import os
import secrets
import threading

import zmq

from engine.runtime.channels import MAX_FRAME_BYTES, Message, Ticket, message
from engine.runtime.folders import PrivateFolder

_HANDSHAKE_MS = 10_000


class _Bell:
    """An eventfd for a poller."""

    def __init__(self) -> None:
        self.fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._lock = threading.Lock()

    def ring(self) -> None:
        """Wake the poller; nothing happens once the bell is closed."""
        with self._lock:
            if self.fd >= 0:
                os.eventfd_write(self.fd, 1)

    def close(self) -> None:
        """Close, so that a late ring cannot reach a file that reuses the number."""
        with self._lock:
            if self.fd >= 0:
                os.close(self.fd)
                self.fd = -1


class ZmqLine:
    """A ZeroMQ socket with a bell; ``newest``: keep only the newest message. Lines that share a ``context`` are closed
    together."""

    def __init__(
        self, kind: int, send_bound: int, receive_bound: int, *, newest: bool = False,
        context: zmq.Context[zmq.SyncSocket] | None = None,
    ) -> None:  # fmt: skip
        self._context = context or zmq.Context(io_threads=1)
        self.socket = self._context.socket(kind)
        self.socket.set(zmq.LINGER, 0)
        self.socket.set(zmq.SNDHWM, send_bound)
        self.socket.set(zmq.RCVHWM, receive_bound)
        self.socket.set(zmq.MAXMSGSIZE, MAX_FRAME_BYTES)
        self.socket.set(zmq.HANDSHAKE_IVL, _HANDSHAKE_MS)
        if newest:
            self.socket.set(zmq.CONFLATE, 1)
        self.bell = _Bell()
        self._poller = zmq.Poller()
        self._poller.register(self.socket, zmq.POLLIN)
        self._poller.register(self.bell.fd, zmq.POLLIN)

    def connect(self, endpoint: str, key: str) -> None:
        """Dial a bound end."""
        if key:
            public, secret = zmq.curve_keypair()
            self.socket.set(zmq.CURVE_PUBLICKEY, public)
            self.socket.set(zmq.CURVE_SECRETKEY, secret)
            self.socket.set(zmq.CURVE_SERVERKEY, key.encode())
        self.socket.connect(endpoint)

    def wait(self, timeout_s: float) -> bool:
        """Wait for a message or the bell; returns whether there is a message."""
        ready = dict(self._poller.poll(max(0, round(timeout_s * 1000))))
        if self.bell.fd in ready:
            os.eventfd_read(self.bell.fd)
        return self.socket in ready

    def close(self, linger_ms: int) -> None:
        """Close socket, context and bell. Safe to call twice."""
        self._context.destroy(linger_ms)
        self.bell.close()


class Bound:
    """An end that others dial: on a path in a folder named after ``purpose``, or on a TCP port of ``host``."""

    def __init__(self, line: ZmqLine, host: str, purpose: str) -> None:
        self._line, self._key = line, ""
        self._folder = None if host else PrivateFolder(f"equipoise-{purpose}-")
        try:
            if host:
                public, secret = zmq.curve_keypair()
                line.socket.set(zmq.CURVE_SERVER, 1)
                line.socket.set(zmq.CURVE_SECRETKEY, secret)
                self._key = public.decode()
            line.socket.bind(f"tcp://{host}:*" if self._folder is None else f"ipc://{self._folder.path}/line")
            self._endpoint = line.socket.get_string(zmq.LAST_ENDPOINT)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close, and remove the path. Safe to call twice."""
        self._line.close(0)
        if self._folder:
            self._folder.remove()


class Inbox(Bound):
    """A bound end that accepts only expected senders; the first frame of a message is its sender's name."""

    def __init__(self, line: ZmqLine, host: str, purpose: str) -> None:
        self._expected: set[bytes] = set()
        super().__init__(line, host, purpose)

    def expect(self) -> Ticket:
        """Admit one more sender and return its ticket."""
        name = b"w" + secrets.token_bytes(16)
        self._expected.add(name)
        return Ticket(self._endpoint, self._key, name)

    def forget(self, name: bytes) -> None:
        """Ignore this sender from now on."""
        self._expected.discard(name)

    def arrived(self, timeout_s: float, most: int) -> list[Message]:
        """Up to ``most`` messages that have arrived; waits up to ``timeout_s`` for the first."""
        found: list[Message] = []
        if not self._line.wait(timeout_s):
            return found
        for _ in range(most):
            try:
                name, *frames = self._line.socket.recv_multipart(zmq.DONTWAIT, copy=False)
            except zmq.Again:
                break
            if name.bytes in self._expected:
                found.append(message(name.bytes, [frame.buffer for frame in frames]))
        return found

    def wake(self) -> None:
        """End a wait early; from any thread."""
        self._line.bell.ring()
