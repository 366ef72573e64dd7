"""Trajectories and weights over ZeroMQ: PUSH and PULL with small queues, PUB and SUB that keep the newest only.

On one machine an end is a path in a private folder; with ``host`` a TCP port of that address, where every byte is
encrypted and only holders of a ticket get in (CURVE). Weights are one frame because ZeroMQ keeps the newest *frame* of
a line (ZMQ_CONFLATE), so neither side needs a thread that empties queues.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import zmq

from engine.errors import ActorLost
from engine.runtime.channels import READY, Frame, Message, Ticket, message
from engine.runtime.folders import PrivateFolder
from engine.runtime.streams import Source
from engine.runtime.zmq_channel import Line

RECONNECT_MS = 50
_BEAT_MS, _DEAD_MS = 2_000, 20_000


def _bind(line: Line, host: str, folder: PrivateFolder | None) -> Source:
    """Bind and say where."""
    public = b""
    if host:
        public, secret = zmq.curve_keypair()
        line.socket.set(zmq.CURVE_SERVER, 1)
        line.socket.set(zmq.CURVE_SECRETKEY, secret)
    line.socket.bind(f"tcp://{host}:*" if folder is None else f"ipc://{folder.path}/line")
    return Source(line.socket.get_string(zmq.LAST_ENDPOINT), public.decode())


def _connect(line: Line, endpoint: str, key: str) -> None:
    if key:
        public, secret = zmq.curve_keypair()
        line.socket.set(zmq.CURVE_PUBLICKEY, public)
        line.socket.set(zmq.CURVE_SECRETKEY, secret)
        line.socket.set(zmq.CURVE_SERVERKEY, key.encode())
    line.socket.set(zmq.RECONNECT_IVL, RECONNECT_MS)
    line.socket.connect(endpoint)


def _watch(line: Line) -> None:
    """Notice a peer whose machine is gone: ZeroMQ's own heartbeats, beside those of samplers."""
    line.socket.set(zmq.HEARTBEAT_IVL, _BEAT_MS)
    line.socket.set(zmq.HEARTBEAT_TIMEOUT, _DEAD_MS)
    line.socket.set(zmq.HANDSHAKE_IVL, 10_000)


class ZmqPuller:
    """Where trajectories arrive; ``bound`` messages of each pusher may wait here, and one more at its end."""

    def __init__(self, host: str = "", bound: int = 2) -> None:
        self._expected: set[bytes] = set()
        self._folder = None if host else PrivateFolder("equipoise-train-")
        self._line = Line(zmq.PULL, 1, bound)
        _watch(self._line)
        try:
            self._source = _bind(self._line, host, self._folder)
        except BaseException:
            self.close()
            raise

    def expect(self) -> Ticket:
        """Let one more pusher come."""
        name = secrets.token_bytes(16)
        self._expected.add(name)
        return Ticket(*self._source, name)

    def pull(self, timeout_s: float, most: int = 1) -> list[Message]:
        """What has arrived."""
        arrived: list[Message] = []
        if not self._line.wait(timeout_s):
            return arrived
        for _ in range(most):
            try:
                name, *frames = self._line.socket.recv_multipart(zmq.DONTWAIT, copy=False)
            except zmq.Again:
                break
            if name.bytes in self._expected:
                arrived.append(message(name.bytes, [frame.buffer for frame in frames]))
        return arrived

    def forget(self, name: bytes) -> None:
        """Hear no more of this pusher."""
        self._expected.discard(name)

    def wake(self) -> None:
        """End a ``pull`` early."""
        self._line.bell.ring()

    def close(self) -> None:
        """Close, and remove the path."""
        self._line.close(0)
        if self._folder:
            self._folder.remove()


class ZmqPusher:
    """A sampler's end, in another process, perhaps on another machine."""

    def __init__(self, ticket: Ticket) -> None:
        self._name = ticket.name
        self._line = Line(zmq.PUSH, 1, 1)
        _watch(self._line)
        _connect(self._line, ticket.endpoint, ticket.key)
        self.push([READY], 1.0)

    def push(self, frames: Sequence[Frame], timeout_s: float) -> None:
        """Send without copying; the frames must not change any more. Raises ActorLost when there is no room in time."""
        self._line.socket.set(zmq.SNDTIMEO, max(0, round(timeout_s * 1000)))
        try:
            self._line.socket.send_multipart([self._name, *frames], copy=False)
        except zmq.Again as error:
            raise ActorLost(f"The learner has not read anything for {timeout_s:g} s.") from error

    def close(self) -> None:
        """Close; what was sent has a second to leave."""
        self._line.close(1000)


class ZmqPublisher:
    """Where weights come from."""

    def __init__(self, host: str = "") -> None:
        self._folder = None if host else PrivateFolder("equipoise-train-")
        self._line = Line(zmq.PUB, 1, 1, newest=True)
        _watch(self._line)
        try:
            self._source = _bind(self._line, host, self._folder)
        except BaseException:
            self.close()
            raise

    def source(self) -> Source:
        """What a subscriber needs."""
        return self._source

    def publish(self, frame: Frame) -> None:
        """Send to every subscriber; the frame must not change any more."""
        self._line.socket.send(frame, copy=False)

    def close(self) -> None:
        """Close, and remove the path."""
        self._line.close(0)
        if self._folder:
            self._folder.remove()


class ZmqSubscriber:
    """Where weights arrive."""

    def __init__(self, source: Source) -> None:
        self._line = Line(zmq.SUB, 1, 1, newest=True)
        _watch(self._line)
        self._line.socket.set(zmq.SUBSCRIBE, b"")
        _connect(self._line, source.endpoint, source.key)

    def newest(self, timeout_s: float) -> memoryview | None:
        """The newest frame not given yet."""
        if timeout_s and not self._line.wait(timeout_s):
            return None
        try:
            return self._line.socket.recv(zmq.DONTWAIT, copy=False).buffer
        except zmq.Again:
            return None

    def close(self) -> None:
        """Close."""
        self._line.close(0)
