"""Links between peers over ZeroMQ: each has a ROUTER, on which its neighbours' DEALERs dial in.

A message goes one way; that it was read comes back on the same link and makes room for the next. So a link holds one
message, order is kept, and whoever waits sleeps in a poll of all its sockets. Both directions name the epoch, so what
was sent before all went back to a checkpoint is neither read nor taken for room.

A connection that is cut, as when one end stood still for a while, loses what is on its way: a message, or that one was
read. Both carry a number, so what nobody has acknowledged for a while is sent again, and what comes twice is read once.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Collection
from dataclasses import dataclass

import zmq

from engine.channel import Frame
from engine.errors import EngineError
from engine.peers import Member, View
from engine.runtime.channels import TO_HUB, TO_SPOKE, Ticket, sendable
from engine.runtime.zmq_line import Inbox, ZmqLine

HOST = "EQUIPOISE_HOST"
"""Environment variable: the address of an actor's host where there are several."""
_BEAT_MS, _DEAD_MS = 2_000, 20_000
AGAIN_S, _SELDOM_S = 5.0, 60.0
"""Seconds after which an unread message is sent again, and at most between two such times, as each is twice as long as
the one before."""
_HEAD = 24
"""Bytes ahead of a message, and of what says that it was read: its epoch, the sender's life, and its number in that."""


@dataclass(slots=True)
class _Link:
    """To a neighbour. ``sent``: the head and the frame of the message that it has not read, None where it has read all;
    ``again_at``: when that is sent again, and ``pause``: the seconds before."""

    ticket: Ticket
    line: ZmqLine
    sent: tuple[bytes, Frame] | None = None
    again_at: float = 0.0
    pause: float = AGAIN_S

    def send(self) -> None:
        """Send what is not read. Raises zmq.Again where the line is full."""
        assert self.sent is not None
        self.line.socket.send_multipart(self.sent, zmq.DONTWAIT, copy=False)
        self.again_at = time.monotonic() + self.pause

    def close(self) -> None:
        self.line.socket.close(0)
        self.line.bell.close()


class ZmqPeers(Inbox):
    """The links of agent ``number``, on a path of this machine, or with ``host`` on a TCP port of that address."""

    def __init__(self, number: int, host: str | None = None) -> None:
        line = ZmqLine(zmq.ROUTER, TO_SPOKE, TO_HUB)
        line.socket.set(zmq.ROUTER_MANDATORY, 1)
        line.socket.set(zmq.ROUTER_HANDOVER, 1)  # who takes a dead neighbour's place has its name
        super().__init__(line, os.environ.get(HOST, "") if host is None else host, "peers")
        self._number, self._epoch = number, -1
        self._names: list[bytes] = []
        self._takes: frozenset[int] = frozenset()
        self._life, self._count = secrets.token_bytes(8), 0
        self._held: dict[int, tuple[bytes, memoryview]] = {}
        self._last: dict[int, bytes] = {}  # the head of what was read last, by sender
        self._links: dict[int, _Link] = {}
        self._dialling = zmq.Context(io_threads=1)
        self._all = zmq.Poller()
        self._all.register(line.socket, zmq.POLLIN)

    def member(self, agents: int) -> Member:
        """Itself, with a name for each agent."""
        self._names = [self.expect().name for _ in range(agents)]
        return Member(self._number, self._endpoint, self._key, tuple(name.hex() for name in self._names))

    def link(self, view: View, takes: Collection[int], sends: Collection[int]) -> None:
        """As ``engine.peers.Peers``."""
        tickets = {to: self._ticket(view, to) for to in sends}
        for to in [to for to, link in self._links.items() if tickets.get(to) != link.ticket]:
            self._hang_up(to)
        for to in tickets.keys() - self._links.keys():
            self._dial(to, tickets[to])
        if view.epoch != self._epoch:
            for link in self._links.values():
                link.sent = None
        self._epoch, self._takes = view.epoch, frozenset(takes)
        for sender, (head, _) in [*self._held.items()]:
            if _epoch_of(head) < self._epoch:
                del self._held[sender]
            elif _epoch_of(head) == self._epoch and sender not in self._takes:
                self.read(sender)  # whoever missed this view may be linked again, and waits for room

    def post(self, to: int, frame: Frame) -> bool:
        """As ``engine.peers.Peers``."""
        self._collect()
        link = self._links[to]
        if link.sent is not None:
            return False
        sendable([frame])
        self._count += 1
        link.sent, link.pause = (self._said + self._life + self._count.to_bytes(8, "big"), frame), AGAIN_S
        try:
            link.send()
        except zmq.Again:
            link.sent = None
        return link.sent is not None

    def unread(self) -> Collection[int]:
        """As ``engine.peers.Peers``."""
        self._collect()
        now = {sender for sender, (head, _) in self._held.items() if _epoch_of(head) == self._epoch}
        return now & self._takes

    def read(self, sender: int) -> Frame:
        """As ``engine.peers.Peers``."""
        head, frame = self._held.pop(sender)
        self._last[sender] = head
        self._acknowledge(sender, head)
        return frame

    def wait(self, timeout_s: float) -> None:
        """As ``engine.peers.Peers``."""
        self._all.poll(max(0, round(timeout_s * 1000)))

    def close(self) -> None:
        """Close. Safe to call twice."""
        for to in list(getattr(self, "_links", ())):
            self._hang_up(to)
        super().close()

    @property
    def _said(self) -> bytes:
        return self._epoch.to_bytes(8, "big")

    def _ticket(self, view: View, to: int) -> Ticket:
        member = view.member(to)
        if member is None:
            raise EngineError(f"Agent {to + 1} is not there, and agent {self._number + 1} should send to it.")
        return Ticket(member.endpoint, member.key, bytes.fromhex(member.names[self._number]))

    def _dial(self, to: int, ticket: Ticket) -> None:
        line = ZmqLine(zmq.DEALER, TO_SPOKE, TO_SPOKE, context=self._dialling)
        line.socket.set(zmq.ROUTING_ID, ticket.name)
        line.socket.set(zmq.HEARTBEAT_IVL, _BEAT_MS)
        line.socket.set(zmq.HEARTBEAT_TIMEOUT, _DEAD_MS)
        line.connect(ticket.endpoint, ticket.key)
        self._links[to] = _Link(ticket, line)
        self._all.register(line.socket, zmq.POLLIN)

    def _hang_up(self, to: int) -> None:
        link = self._links.pop(to)
        self._all.unregister(link.line.socket)
        link.close()

    def _collect(self) -> None:
        """Take what has arrived: messages, and that own ones were read."""
        for name, frames in self.arrived(0.0, TO_HUB):
            if len(frames) == 2 and len(frames[0]) == _HEAD:
                self._came(self._names.index(name), bytes(frames[0]), frames[1])
        for link in self._links.values():
            with contextlib.suppress(zmq.Again):
                while True:
                    read = link.line.socket.recv(zmq.DONTWAIT)
                    if link.sent is not None and read == link.sent[0]:
                        link.sent = None
            if link.sent is not None and time.monotonic() >= link.again_at:
                link.pause = min(2 * link.pause, _SELDOM_S)
                with contextlib.suppress(zmq.Again):
                    link.send()

    def _came(self, sender: int, head: bytes, frame: memoryview) -> None:
        last = self._last.get(sender, b"")
        if last[: _HEAD - 8] == head[: _HEAD - 8] and head <= last:  # again: that it was read did not arrive
            self._acknowledge(sender, head)
        else:
            self._held[sender] = head, frame

    def _acknowledge(self, sender: int, head: bytes) -> None:
        with contextlib.suppress(zmq.ZMQError):  # the sender has gone, or asks again
            self._line.socket.send_multipart([self._names[sender], head], zmq.DONTWAIT)


def _epoch_of(head: bytes) -> int:
    return int.from_bytes(head[:8], "big")
