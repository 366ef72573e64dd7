"""The twins of the ZeroMQ streams within one process: the same contract between threads."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Sequence
from weakref import WeakSet, WeakValueDictionary

from engine.channel import topic, topic_of
from engine.errors import ActorLost
from engine.runtime.channels import READY, Frame, Message, Ticket, message
from engine.runtime.inproc_channel import Box
from engine.runtime.streams import Source

_pullers: WeakValueDictionary[str, InprocPuller] = WeakValueDictionary()
_publishers: WeakValueDictionary[str, InprocPublisher] = WeakValueDictionary()


class InprocPuller:
    """The twin of ``ZmqPuller``; ``bound`` messages may wait."""

    def __init__(self, bound: int = 2) -> None:
        self._endpoint = f"here://{id(self):x}"
        self._expected: set[bytes] = set()
        self.inbox = Box(bound)
        _pullers[self._endpoint] = self

    def expect(self) -> Ticket:
        """Let one more pusher come."""
        name = secrets.token_bytes(16)
        self._expected.add(name)
        return Ticket(self._endpoint, "", name)

    def pull(self, timeout_s: float, most: int = 1) -> list[Message]:
        """What has arrived."""
        return [message(*item) for item in self.inbox.take(most, timeout_s) if item.name in self._expected]

    def forget(self, name: bytes) -> None:
        """Hear no more of this pusher."""
        self._expected.discard(name)

    def wake(self) -> None:
        """End a ``pull`` early."""
        self.inbox.wake()

    def close(self) -> None:
        """Nobody can come any more."""
        _pullers.pop(self._endpoint, None)


class InprocPusher:
    """The twin of ``ZmqPusher``."""

    def __init__(self, ticket: Ticket) -> None:
        puller = _pullers.get(ticket.endpoint)
        if puller is None:
            raise ActorLost("The learner of this sampler is gone.")
        self._puller, self._name = puller, ticket.name
        self.push([READY], 1.0)

    def push(self, frames: Sequence[Frame], timeout_s: float) -> None:
        """Send, waiting up to ``timeout_s`` for room. Raises ActorLost after that."""
        if not self._puller.inbox.put(Message(self._name, [memoryview(bytes(f)) for f in frames]), timeout_s):
            raise ActorLost(f"The learner has not read anything for {timeout_s:g} s.")

    def close(self) -> None:
        """Nothing is held."""


class InprocPublisher:
    """The twin of ``ZmqPublisher``."""

    def __init__(self, policies: Sequence[str]) -> None:
        self._source = Source(tuple(policies), f"here://{id(self):x}")
        self._subscribers: WeakSet[InprocSubscriber] = WeakSet()
        _publishers[self._source.endpoint] = self

    def source(self) -> Source:
        """What a subscriber needs."""
        return self._source

    def join(self, subscriber: InprocSubscriber) -> None:
        """One more subscriber."""
        self._subscribers.add(subscriber)

    def publish(self, frame: Frame) -> None:
        """Send to every subscriber."""
        data = memoryview(bytes(frame))
        for subscriber in list(self._subscribers):
            subscriber.put(data)

    def close(self) -> None:
        """Nobody can come any more."""
        _publishers.pop(self._source.endpoint, None)
        self._subscribers.clear()


class InprocSubscriber:
    """The twin of ``ZmqSubscriber``."""

    def __init__(self, source: Source) -> None:
        self._topics = {topic(policy) for policy in source.policies}
        self._frames: dict[bytes, memoryview] = {}
        self._changed = threading.Condition()
        if publisher := _publishers.get(source.endpoint):
            publisher.join(self)

    def put(self, frame: memoryview) -> None:
        """A newer frame."""
        with self._changed:
            if (name := topic_of(frame)) in self._topics:
                self._frames[name] = frame
                self._changed.notify_all()

    def newest(self, timeout_s: float) -> memoryview | None:
        """The newest frame of a policy that has not been given yet."""
        until = time.monotonic() + timeout_s
        with self._changed:
            while not self._frames and (left := until - time.monotonic()) > 0:
                self._changed.wait(left)
            return self._frames.pop(next(iter(self._frames))) if self._frames else None

    def close(self) -> None:
        """Nothing is held."""
