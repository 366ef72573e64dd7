"""The channel over ZeroMQ: a ROUTER at the hub, a DEALER at each spoke."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Sequence

import zmq

from engine.errors import ActorLost
from engine.runtime.channels import READY, TO_HUB, TO_SPOKE, Frame, Message, Ticket, message
from engine.runtime.folders import PrivateFolder

MAX_FRAME_BYTES = 2**28


class _Bell:
    """An eventfd that a poller can wait for."""

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


class Line:
    """A ZeroMQ socket with a bell beside it; ``newest``: of each line only the newest message is kept."""

    def __init__(self, kind: int, send_bound: int, receive_bound: int, *, newest: bool = False) -> None:
        self._context = zmq.Context(io_threads=1)
        self.socket = self._context.socket(kind)
        self.socket.set(zmq.LINGER, 0)
        self.socket.set(zmq.SNDHWM, send_bound)
        self.socket.set(zmq.RCVHWM, receive_bound)
        self.socket.set(zmq.MAXMSGSIZE, MAX_FRAME_BYTES)
        if newest:
            self.socket.set(zmq.CONFLATE, 1)
        self.bell = _Bell()
        self._poller = zmq.Poller()
        self._poller.register(self.socket, zmq.POLLIN)
        self._poller.register(self.bell.fd, zmq.POLLIN)

    def wait(self, timeout_s: float) -> bool:
        """Whether a message is there, after waiting for it or for the bell."""
        ready = dict(self._poller.poll(max(0, round(timeout_s * 1000))))
        if self.bell.fd in ready:
            os.eventfd_read(self.bell.fd)
        return self.socket in ready

    def close(self, linger_ms: int) -> None:
        """Close socket, context and bell. Safe to call twice."""
        self._context.destroy(linger_ms)
        self.bell.close()


class ZmqHub:
    """A hub on a path in a private folder of this machine, or with ``host`` on a TCP port of that address, where
    every byte is encrypted and only holders of a ticket get in (CURVE)."""

    def __init__(self, host: str = "") -> None:
        self._folder: PrivateFolder | None = None
        self._expected: set[bytes] = set()
        self._key = ""
        self._line = Line(zmq.ROUTER, TO_SPOKE, TO_HUB)
        socket = self._line.socket
        socket.set(zmq.ROUTER_MANDATORY, 1)
        socket.set(zmq.HANDSHAKE_IVL, 10_000)
        try:
            if host:
                public, secret = zmq.curve_keypair()
                socket.set(zmq.CURVE_SERVER, 1)
                socket.set(zmq.CURVE_SECRETKEY, secret)
                self._key = public.decode()
                socket.bind(f"tcp://{host}:*")
            else:
                self._folder = PrivateFolder("equipoise-pool-")
                socket.bind(f"ipc://{self._folder.path}/line")
            self._endpoint = socket.get_string(zmq.LAST_ENDPOINT)
        except BaseException:
            self.close()
            raise

    def expect(self) -> Ticket:
        """Let one more spoke come."""
        name = b"w" + secrets.token_bytes(16)
        self._expected.add(name)
        return Ticket(self._endpoint, self._key, name)

    def receive(self, timeout_s: float) -> list[Message]:
        """What has arrived, at most ``TO_HUB`` messages at a time."""
        arrived: list[Message] = []
        if not self._line.wait(timeout_s):
            return arrived
        for _ in range(TO_HUB):
            try:
                name, *frames = self._line.socket.recv_multipart(zmq.DONTWAIT, copy=False)
            except zmq.Again:
                break
            if name.bytes in self._expected:
                arrived.append(message(name.bytes, [frame.buffer for frame in frames]))
        return arrived

    def send(self, name: bytes, frames: Sequence[Frame]) -> None:
        """Send at once. Raises ActorLost when the spoke is not there or does not read."""
        try:
            self._line.socket.send_multipart([name, *frames], zmq.DONTWAIT)
        except zmq.ZMQError as error:
            raise ActorLost(f"A worker cannot be reached: {error}.") from error

    def forget(self, name: bytes) -> None:
        """Hear no more of this spoke."""
        self._expected.discard(name)

    def wake(self) -> None:
        """End a ``receive`` early."""
        self._line.bell.ring()

    def close(self) -> None:
        """Close, and remove the path."""
        self._line.close(0)
        if self._folder:
            self._folder.remove()


class ZmqSpoke:
    """A spoke in another process, perhaps on another machine."""

    def __init__(self, ticket: Ticket) -> None:
        self._line = Line(zmq.DEALER, TO_SPOKE, TO_SPOKE)
        socket = self._line.socket
        socket.set(zmq.ROUTING_ID, ticket.name)
        if ticket.key:
            public, secret = zmq.curve_keypair()
            socket.set(zmq.CURVE_PUBLICKEY, public)
            socket.set(zmq.CURVE_SECRETKEY, secret)
            socket.set(zmq.CURVE_SERVERKEY, ticket.key.encode())
        socket.connect(ticket.endpoint)
        socket.send(READY)

    def send(self, frames: Sequence[Frame], timeout_s: float) -> None:
        """Send, waiting up to ``timeout_s`` for room. Raises ActorLost after that."""
        self._line.socket.set(zmq.SNDTIMEO, max(0, round(timeout_s * 1000)))
        try:
            self._line.socket.send_multipart(list(frames))
        except zmq.Again as error:
            raise ActorLost(f"The driver has not read anything for {timeout_s:g} s.") from error

    def receive(self, timeout_s: float) -> list[memoryview]:
        """The next message, or no frames."""
        if not self._line.wait(timeout_s):
            return []
        return [frame.buffer for frame in self._line.socket.recv_multipart(zmq.DONTWAIT, copy=False)]

    def wake(self) -> None:
        """End a ``receive`` early."""
        self._line.bell.ring()

    def close(self) -> None:
        """Close; what was sent has a second to leave."""
        self._line.close(1000)
