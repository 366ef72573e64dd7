"""Links between peers over ZeroMQ: each has a ROUTER, on which its neighbours' DEALERs dial in.

A message goes one way; that it was read comes back on the same link and makes room for the next. So a link holds one
message, order is kept, and whoever waits sleeps in a poll of all its sockets. Both directions name the epoch, so what
was sent before all went back to a checkpoint is neither read nor taken for room.
"""

from __future__ import annotations

import contextlib
import os
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


@dataclass(slots=True)
class _Link:
    """To a neighbour; ``room``: it has read what was sent last."""

    ticket: Ticket
    line: ZmqLine
    room: bool = True

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
        self._held: dict[int, tuple[int, memoryview]] = {}
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
                link.room = True
        self._epoch, self._takes = view.epoch, frozenset(takes)
        self._held = {
            sender: held
            for sender, held in self._held.items()
            if held[0] > self._epoch or (held[0] == self._epoch and sender in self._takes)
        }

    def post(self, to: int, frame: Frame) -> bool:
        """As ``engine.peers.Peers``."""
        self._collect()
        link = self._links[to]
        if not link.room:
            return False
        sendable([frame])
        try:
            link.line.socket.send_multipart([self._said, frame], zmq.DONTWAIT, copy=False)
        except zmq.Again:
            return False
        link.room = False
        return True

    def unread(self) -> Collection[int]:
        """As ``engine.peers.Peers``."""
        self._collect()
        return {sender for sender, (epoch, _) in self._held.items() if epoch == self._epoch and sender in self._takes}

    def read(self, sender: int) -> Frame:
        """As ``engine.peers.Peers``."""
        _, frame = self._held.pop(sender)
        with contextlib.suppress(zmq.ZMQError):  # the sender has gone; whoever takes its place has room
            self._line.socket.send_multipart([self._names[sender], self._said], zmq.DONTWAIT)
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
        return self._epoch.to_bytes(8, "little")

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
            if len(frames) == 2:
                self._held[self._names.index(name)] = int.from_bytes(frames[0], "little"), frames[1]
        for link in self._links.values():
            with contextlib.suppress(zmq.Again):
                while True:
                    read = link.line.socket.recv(zmq.DONTWAIT)
                    link.room = link.room or int.from_bytes(read, "little") == self._epoch
