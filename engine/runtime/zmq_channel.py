"""The channel over ZeroMQ: a ROUTER at the hub, a DEALER at each spoke."""

from __future__ import annotations

from collections.abc import Sequence

import zmq

from engine.errors import ActorLost
from engine.runtime.channels import READY, TO_HUB, TO_SPOKE, Frame, Message, Ticket
from engine.runtime.zmq_line import Inbox, Line


class ZmqHub(Inbox):
    """A hub on a path of this machine, or with ``host`` on a TCP port of that address."""

    def __init__(self, host: str = "") -> None:
        line = Line(zmq.ROUTER, TO_SPOKE, TO_HUB)
        line.socket.set(zmq.ROUTER_MANDATORY, 1)
        super().__init__(line, host, "pool")

    def receive(self, timeout_s: float) -> list[Message]:
        """What has arrived, at most ``TO_HUB`` messages at a time."""
        return self.arrived(timeout_s, TO_HUB)

    def send(self, name: bytes, frames: Sequence[Frame]) -> None:
        """Send at once. Raises ActorLost when the spoke is not there or does not read."""
        try:
            self._line.socket.send_multipart([name, *frames], zmq.DONTWAIT)
        except zmq.ZMQError as error:
            raise ActorLost(f"A worker cannot be reached: {error}.") from error


class ZmqSpoke:
    """A spoke in another process, perhaps on another machine."""

    def __init__(self, ticket: Ticket) -> None:
        self._line = Line(zmq.DEALER, TO_SPOKE, TO_SPOKE)
        self._line.socket.set(zmq.ROUTING_ID, ticket.name)
        self._line.connect(ticket.endpoint, ticket.key)
        self._line.socket.send(READY)

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
