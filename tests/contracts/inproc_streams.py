"""The twins of the ZeroMQ ends that carry weights, within one process: the same contract between threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from weakref import WeakSet, WeakValueDictionary

from engine.channel import Frame, topic, topic_of
from engine.runtime.channels import Source

_publishers: WeakValueDictionary[str, InprocPublisher] = WeakValueDictionary()


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
