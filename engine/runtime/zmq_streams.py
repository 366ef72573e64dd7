"""Trajectories and weights over ZeroMQ: PUSH and PULL with small queues, PUB and SUB that keep the newest only.

Weights are one frame because ZeroMQ keeps the newest *frame* of a line (ZMQ_CONFLATE), so neither side needs a thread
that empties queues.
"""

from __future__ import annotations

from collections.abc import Sequence

import zmq

from engine.errors import ActorLost
from engine.runtime.channels import READY, Frame, Message, Ticket
from engine.runtime.streams import Source
from engine.runtime.zmq_line import Bound, Inbox, Line

RECONNECT_MS = 50
_BEAT_MS, _DEAD_MS = 2_000, 20_000


def _line(kind: int, bound: int = 1, *, newest: bool = False) -> Line:
    """One that notices a peer whose machine is gone: by ZeroMQ's own heartbeats, beside those of samplers."""
    line = Line(kind, 1, bound, newest=newest)
    line.socket.set(zmq.HEARTBEAT_IVL, _BEAT_MS)
    line.socket.set(zmq.HEARTBEAT_TIMEOUT, _DEAD_MS)
    line.socket.set(zmq.RECONNECT_IVL, RECONNECT_MS)
    return line


class ZmqPuller(Inbox):
    """Where trajectories arrive; ``bound`` messages of each pusher may wait here, and one more at its end."""

    def __init__(self, host: str = "", bound: int = 2) -> None:
        super().__init__(_line(zmq.PULL, bound), host, "train")

    def pull(self, timeout_s: float, most: int = 1) -> list[Message]:
        """What has arrived."""
        return self.arrived(timeout_s, most)


class ZmqPusher:
    """A sampler's end, in another process, perhaps on another machine."""

    def __init__(self, ticket: Ticket) -> None:
        self._name = ticket.name
        self._line = _line(zmq.PUSH)
        self._line.connect(ticket.endpoint, ticket.key)
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


class ZmqPublisher(Bound):
    """Where weights come from."""

    def __init__(self, host: str = "") -> None:
        super().__init__(_line(zmq.PUB, newest=True), host, "train")

    def source(self) -> Source:
        """What a subscriber needs."""
        return Source(self._endpoint, self._key)

    def publish(self, frame: Frame) -> None:
        """Send to every subscriber; the frame must not change any more."""
        self._line.socket.send(frame, copy=False)


class ZmqSubscriber:
    """Where weights arrive."""

    def __init__(self, source: Source) -> None:
        self._line = _line(zmq.SUB, newest=True)
        self._line.socket.set(zmq.SUBSCRIBE, b"")
        self._line.connect(source.endpoint, source.key)

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
