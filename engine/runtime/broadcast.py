"""The driver's end of publishing weights: to this host directly, to every other one through its relay.

Relays form the tree of ``engine.runtime.tree``. Workers of a host without a running relay cannot get weights.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from engine.channel import Frame, Subscriber, topic_of
from engine.runtime.channels import Publisher, Source
from engine.runtime.tree import plan

_AGAIN_S = 0.2


class Post(NamedTuple):
    """A position for a worker: worker ``number`` on a host; -1: the relay of that host."""

    host: int
    number: int

    @property
    def relay(self) -> bool:
        """Whether it is the post of a relay."""
        return self.number < 0


class Broadcast:
    """``near`` publishes to the driver's own host, ``far`` (None with a single host) to others. ``flat``: directly to
    all of them, without a tree."""

    def __init__(self, near: Publisher, far: Publisher | None = None, hosts: int = 1, *, flat: bool = False) -> None:
        self._near, self._far, self._parent = near, far, plan(hosts, flat).parent.tolist()
        self._sources: dict[int, Sequence[Source]] = {}
        self._newest: dict[bytes, Frame] = {}
        self._again_at = 0.0

    def posts(self, workers: int) -> list[Post]:
        """The posts of so many workers, and of the relays that they need."""
        hosts = len(self._parent)
        return [Post(host, -1) for host in range(1, hosts)] + [Post(i % hosts, i) for i in range(workers)]

    def publish(self, frame: Frame) -> None:
        """Publish a policy's weights to all; the frame must not change afterwards."""
        self._newest[topic_of(frame)] = frame
        self._near.publish(frame)
        if self._far is not None:
            self._far.publish(frame)

    def feed(self) -> None:
        """Publish the newest weights again, for a subscriber that has just joined or has missed them."""
        if time.monotonic() >= self._again_at:
            self._again_at = time.monotonic() + _AGAIN_S
            for frame in tuple(self._newest.values()):
                self.publish(frame)

    def source(self, post: Post) -> Source | None:
        """The source of a post's weights: for a worker its host's relay, for a relay the host above; None while that is
        not running."""
        if above := self.above(post):
            return self._sources[above][post.relay] if above in self._sources else None
        publisher = self._far if post.relay else self._near
        return publisher.source() if publisher is not None else None

    def above(self, post: Post) -> int:
        """The host from which a post gets weights."""
        return int(self._parent[post.host]) if post.relay else post.host

    def opened(self, host: int, sources: Sequence[Source]) -> None:
        """The relay of a host is running, with a source for its own host, and one for those below."""
        self._sources[host] = sources

    def closed(self, host: int) -> None:
        """The relay of a host is gone."""
        self._sources.pop(host, None)

    def close(self) -> None:
        """Close this process's publishers."""
        for end in (self._near, self._far):
            if end is not None:
                end.close()


class Relay:
    """Forwards every newest frame to its own host's workers and to the hosts below."""

    def __init__(self, publishers: Sequence[Publisher]) -> None:
        self._publishers = publishers

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources for its own host and for the hosts below."""
        return tuple(publisher.source() for publisher in self._publishers)

    def stream(self, subscriber: Subscriber, beat: Callable[[bool], None]) -> Iterator[Sequence[Frame]]:
        """Relay for ever. It streams nothing."""
        while True:
            beat(False)
            if (frame := subscriber.newest(0.2)) is not None:
                for publisher in self._publishers:
                    publisher.publish(frame)
            yield ()
