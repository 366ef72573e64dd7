"""Peers as an agent sees them: who there is, and a link to each neighbour that holds one message until it is read.

``engine.runtime.zmq_peers`` carries messages between processes, ``PeersHere`` within one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

import msgspec

from engine.channel import ID_BYTES, Frame, topic
from engine.errors import EngineError

VIEW = "view"
"""The topic on which a driver publishes views."""


class Member(msgspec.Struct, frozen=True):
    """An agent and how others reach it: its address and public key (empty: none), and the secret ``names``, in hex, by
    which it knows each agent that sends to it."""

    number: int
    endpoint: str = ""
    key: str = ""
    names: tuple[str, ...] = ()


class View(msgspec.Struct, frozen=True):
    """Who mixes at present. ``number`` rises with each view. ``epoch`` counts how often all agents went back to a
    ``checkpoint``, the hash of that from which an agent goes on that is new or in an older epoch. ``tick``: the round;
    ``until``: updates of each agent at its end, where agents wait for each other (0: they go on by themselves)."""

    number: int
    epoch: int
    tick: int
    until: int
    checkpoint: str
    members: tuple[Member, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """Of its members, ascending."""
        return tuple(sorted(member.number for member in self.members))

    def member(self, number: int) -> Member | None:
        """The member with this number, if there."""
        return next((member for member in self.members if member.number == number), None)

    def encode(self) -> bytes:
        """The view as a frame for subscribers."""
        return topic(VIEW) + msgspec.json.encode(self)

    @classmethod
    def decode(cls, frame: Frame) -> View:
        """The view in a frame. Raises EngineError for a malformed one."""
        try:
            return msgspec.json.decode(bytes(frame[ID_BYTES:]), type=cls)
        except (msgspec.DecodeError, ValueError) as error:
            raise EngineError(f"A message that should say who mixes cannot be read: {error}.") from error


class Peers(Protocol):
    """The links of one agent; used by one thread."""

    def member(self, agents: int) -> Member:
        """Itself, as each of so many ``agents`` reaches it."""
        ...

    def link(self, view: View, takes: Collection[int], sends: Collection[int]) -> None:
        """Take from and send to these agents of a view only. In another epoch every link is empty; in the same one,
        links that stay keep what they hold."""
        ...

    def post(self, to: int, frame: Frame) -> bool:
        """Send without waiting or copying, so the frame must not change any more; False if the one before is not
        read."""
        ...

    def unread(self) -> Collection[int]:
        """The agents whose message has arrived and is not read, of those it takes from."""
        ...

    def read(self, sender: int) -> Frame:
        """An unread message; the link has room again."""
        ...

    def wait(self, timeout_s: float) -> None:
        """Wait until a message arrives or a link has room, up to ``timeout_s``."""
        ...

    def close(self) -> None:
        """Close. Safe to call twice."""
        ...


class PeersHere:
    """Links between the agents of one process; ``board``: those of all of them, by number."""

    def __init__(self, number: int, board: dict[int, PeersHere]) -> None:
        self._number, self._board, self._epoch = number, board, -1
        self._held: dict[int, Frame] = {}
        self._takes: Sequence[int] = ()
        board[number] = self

    def member(self, agents: int) -> Member:
        """Itself."""
        return Member(self._number)

    def link(self, view: View, takes: Collection[int], sends: Collection[int]) -> None:
        """As ``Peers``."""
        kept = takes if view.epoch == self._epoch else ()
        self._epoch, self._takes = view.epoch, tuple(takes)
        self._held = {sender: frame for sender, frame in self._held.items() if sender in kept}

    def post(self, to: int, frame: Frame) -> bool:
        """As ``Peers``."""
        held = self._board[to]._held
        if self._number in held:
            return False
        held[self._number] = frame
        return True

    def unread(self) -> Collection[int]:
        """As ``Peers``."""
        return self._held.keys() & set(self._takes)

    def read(self, sender: int) -> Frame:
        """As ``Peers``."""
        return self._held.pop(sender)

    def wait(self, timeout_s: float) -> None:
        """Nothing can arrive meanwhile."""

    def close(self) -> None:
        """Nothing to close."""
