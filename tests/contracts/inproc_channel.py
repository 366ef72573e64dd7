"""The twin of the ZeroMQ channel within one process: the same contract between threads."""

from __future__ import annotations

import secrets
import threading
from collections import deque
from collections.abc import Sequence
from weakref import WeakValueDictionary

from engine.channel import Frame
from engine.errors import ActorLost
from engine.runtime.channels import READY, TO_HUB, TO_SPOKE, Message, Ticket, message


class Box:
    """A bounded queue of messages between threads, whose reader can be woken."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._items: deque[Message] = deque()
        self._woken = False
        self._changed = threading.Condition()

    def put(self, item: Message, timeout_s: float) -> bool:
        """Whether there was room in time."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._items) < self._bound, timeout_s):
                return False
            self._items.append(item)
            self._changed.notify_all()
            return True

    def take(self, most: int, timeout_s: float) -> list[Message]:
        """Up to ``most`` messages, after waiting for the first one or ``wake``."""
        with self._changed:
            self._changed.wait_for(lambda: self._items or self._woken, timeout_s)
            self._woken = False
            taken = [self._items.popleft() for _ in range(min(most, len(self._items)))]
            self._changed.notify_all()
            return taken

    def wake(self) -> None:
        """End a ``take`` early."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()


_hubs: WeakValueDictionary[str, InprocHub] = WeakValueDictionary()


class InprocHub:
    """The twin of ``ZmqHub`` within one process."""

    def __init__(self, bound: int = TO_HUB) -> None:
        self._endpoint = f"here://{id(self):x}"
        self._expected: set[bytes] = set()
        self.inbox = Box(bound)
        self._spokes: dict[bytes, Box] = {}
        _hubs[self._endpoint] = self

    def expect(self) -> Ticket:
        """Let one more spoke come."""
        name = secrets.token_bytes(16)
        self._expected.add(name)
        return Ticket(self._endpoint, "", name)

    def join(self, name: bytes) -> Box:
        """A spoke has come; its inbox."""
        return self._spokes.setdefault(name, Box(TO_SPOKE))

    def leave(self, name: bytes) -> None:
        """A spoke is gone."""
        self._spokes.pop(name, None)

    def receive(self, timeout_s: float, most: int = TO_HUB) -> list[Message]:
        """What has arrived."""
        arrived = self.inbox.take(most, timeout_s)
        return [message(*item) for item in arrived if item.name in self._expected]

    def send(self, name: bytes, frames: Sequence[Frame]) -> None:
        """Send at once. Raises ActorLost when the spoke is not there or does not read."""
        box = self._spokes.get(name)
        if box is None or not box.put(Message(name, [memoryview(bytes(frame)) for frame in frames]), 0.0):
            raise ActorLost("A worker cannot be reached: it is not there, or it does not read.")

    def forget(self, name: bytes) -> None:
        """Hear no more of this spoke."""
        self._expected.discard(name)

    def wake(self) -> None:
        """End a ``receive`` early."""
        self.inbox.wake()

    def close(self) -> None:
        """Nobody can join any more."""
        _hubs.pop(self._endpoint, None)


class InprocSpoke:
    """The twin of ``ZmqSpoke`` within one process."""

    def __init__(self, ticket: Ticket) -> None:
        hub = _hubs.get(ticket.endpoint)
        if hub is None:
            raise ActorLost("The hub of this worker is closed.")
        self._hub, self._name = hub, ticket.name
        self._inbox = hub.join(ticket.name)
        self.send([READY], 1.0)

    def send(self, frames: Sequence[Frame], timeout_s: float) -> None:
        """Send, waiting up to ``timeout_s`` for room. Raises ActorLost after that."""
        if not self._hub.inbox.put(Message(self._name, [memoryview(bytes(frame)) for frame in frames]), timeout_s):
            raise ActorLost(f"The driver has not read anything for {timeout_s:g} s.")

    def receive(self, timeout_s: float) -> list[memoryview]:
        """The next message, or no frames."""
        arrived = self._inbox.take(1, timeout_s)
        return arrived[0].frames if arrived else []

    def wake(self) -> None:
        """End a ``receive`` early."""
        self._inbox.wake()

    def close(self) -> None:
        """Leave the hub."""
        self._hub.leave(self._name)
