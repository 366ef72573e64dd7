"""The channels over ZeroMQ: a ROUTER at the hub and a DEALER at each spoke; PUB and SUB for weights.

Weights are one frame because ZeroMQ keeps the newest *frame* of a connection (ZMQ_CONFLATE), so neither side needs a
thread to empty queues. It keeps one frame regardless of topic; so a subscriber has one socket for each policy, and the
publisher, which sends a frame only to subscribers of its topic, keeps one frame for each of these.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import zmq

from engine.channel import Frame, topic
from engine.errors import ActorLost
from engine.runtime.channels import READY, TO_HUB, TO_SPOKE, Message, Source, Ticket
from engine.runtime.zmq_line import Bound, Inbox, ZmqLine

RECONNECT_MS = 50
_BEAT_MS, _DEAD_MS = 2_000, 20_000


class ZmqHub(Inbox):
    """A hub on a path of this machine, or with ``host`` on a TCP port of that address; ``bound`` messages of each spoke
    may wait here, and one more at its end."""

    def __init__(self, host: str = "", bound: int = TO_HUB) -> None:
        line = ZmqLine(zmq.ROUTER, TO_SPOKE, bound)
        line.socket.set(zmq.ROUTER_MANDATORY, 1)
        super().__init__(line, host, "pool")

    def receive(self, timeout_s: float, most: int = TO_HUB) -> list[Message]:
        """Messages that have arrived."""
        return self.arrived(timeout_s, most)

    def send(self, name: bytes, frames: Sequence[Frame]) -> None:
        """Send at once. Raises ActorLost when the spoke is not there or does not read."""
        try:
            self._line.socket.send_multipart([name, *frames], zmq.DONTWAIT)
        except zmq.ZMQError as error:
            raise ActorLost(f"A worker cannot be reached: {error}.") from error


class ZmqSpoke:
    """A spoke in another process, perhaps on another machine."""

    def __init__(self, ticket: Ticket) -> None:
        self._line = ZmqLine(zmq.DEALER, 1, TO_SPOKE)
        self._line.socket.set(zmq.ROUTING_ID, ticket.name)
        self._line.connect(ticket.endpoint, ticket.key)
        self._line.socket.send(READY)

    def send(self, frames: Sequence[Frame], timeout_s: float) -> None:
        """Send, waiting up to ``timeout_s`` for room. Raises ActorLost after that."""
        self._line.socket.set(zmq.SNDTIMEO, max(0, round(timeout_s * 1000)))
        try:
            self._line.socket.send_multipart(list(frames), copy=False)
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
        """Close; sent messages have a second to leave."""
        self._line.close(1000)


def _weights_line(kind: int, context: zmq.Context[zmq.SyncSocket] | None = None) -> ZmqLine:
    """A line that keeps only the newest message, and detects by ZeroMQ's heartbeats that a peer's machine is gone."""
    line = ZmqLine(kind, 1, 1, newest=True, context=context)
    line.socket.set(zmq.HEARTBEAT_IVL, _BEAT_MS)
    line.socket.set(zmq.HEARTBEAT_TIMEOUT, _DEAD_MS)
    line.socket.set(zmq.RECONNECT_IVL, RECONNECT_MS)
    return line


class ZmqPublisher(Bound):
    """Publishes the weights of ``policies``."""

    def __init__(self, policies: Sequence[str], host: str = "") -> None:
        self._policies = tuple(policies)
        super().__init__(_weights_line(zmq.PUB), host, "train")

    def source(self) -> Source:
        """The source for subscribers."""
        return Source(self._policies, self._endpoint, self._key)

    def publish(self, frame: Frame) -> None:
        """Send to every subscriber; the frame must not change any more."""
        self._line.socket.send(frame, copy=False)


class ZmqSubscriber:
    """Receives the weights of a source's policies."""

    def __init__(self, source: Source) -> None:
        context = zmq.Context(io_threads=1)
        self._lines = deque(_weights_line(zmq.SUB, context) for _ in source.policies)
        self._poller = zmq.Poller()
        for line, policy in zip(self._lines, source.policies, strict=True):
            line.socket.set(zmq.SUBSCRIBE, topic(policy))
            line.connect(source.endpoint, source.key)
            self._poller.register(line.socket, zmq.POLLIN)

    def newest(self, timeout_s: float) -> memoryview | None:
        """The newest frame of a policy that was not returned before."""
        if timeout_s and not self._poller.poll(round(timeout_s * 1000)):
            return None
        for _ in range(len(self._lines)):
            line = self._lines[0]
            self._lines.rotate(-1)
            try:
                return line.socket.recv(zmq.DONTWAIT, copy=False).buffer
            except zmq.Again:
                continue
        return None

    def close(self) -> None:
        """Close."""
        for line in self._lines:
            line.close(0)
