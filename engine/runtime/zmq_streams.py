"""Trajectories and weights over ZeroMQ: PUSH and PULL with small queues, PUB and SUB that keep the newest only.

Weights are one frame because ZeroMQ keeps the newest *frame* of a connection (ZMQ_CONFLATE), so neither side needs a
thread that empties queues. It keeps one frame whatever its topic; so a subscriber has one socket for each policy, and
the publisher, which sends a frame only where its topic is subscribed to, keeps one frame for each of those.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import zmq

from engine.channel import topic
from engine.errors import ActorLost
from engine.runtime.channels import READY, Frame, Message, Ticket
from engine.runtime.streams import Source
from engine.runtime.zmq_line import Bound, Inbox, Line

RECONNECT_MS = 50
_BEAT_MS, _DEAD_MS = 2_000, 20_000


def _line(
    kind: int, bound: int = 1, *, newest: bool = False, context: zmq.Context[zmq.SyncSocket] | None = None
) -> Line:
    """One that notices a peer whose machine is gone: by ZeroMQ's own heartbeats, beside those of samplers."""
    line = Line(kind, 1, bound, newest=newest, context=context)
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
    """Where the weights of ``policies`` come from."""

    def __init__(self, policies: Sequence[str], host: str = "") -> None:
        self._policies = tuple(policies)
        super().__init__(_line(zmq.PUB, newest=True), host, "train")

    def source(self) -> Source:
        """What a subscriber needs."""
        return Source(self._policies, self._endpoint, self._key)

    def publish(self, frame: Frame) -> None:
        """Send to every subscriber; the frame must not change any more."""
        self._line.socket.send(frame, copy=False)


class ZmqSubscriber:
    """Where the weights of a source's policies arrive."""

    def __init__(self, source: Source) -> None:
        context = zmq.Context(io_threads=1)
        self._lines = deque(_line(zmq.SUB, newest=True, context=context) for _ in source.policies)
        self._poller = zmq.Poller()
        for line, policy in zip(self._lines, source.policies, strict=True):
            line.socket.set(zmq.SUBSCRIBE, topic(policy))
            line.connect(source.endpoint, source.key)
            self._poller.register(line.socket, zmq.POLLIN)

    def newest(self, timeout_s: float) -> memoryview | None:
        """The newest frame of a policy that has not been given yet."""
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
