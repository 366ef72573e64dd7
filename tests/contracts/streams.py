"""What the ends that carry weights promise; those over ZeroMQ and their in-process twins inherit these tests."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
import pytest

from engine.channel import Weights, decode_weights, encode_weights
from engine.runtime.channels import Publisher, Source, Subscriber

PATIENCE_S = 20.0
POLICIES = ("left", "left-2", "right")


def weights(policy: str, version: int = 0, more: int = 0) -> bytes:
    """A frame of weights, of ``more`` numbers."""
    return bytes(encode_weights(Weights(policy, 0, 0, version, {"actor": np.zeros(more, np.float32)})))


class StreamsContract(ABC):
    """Inherit, and implement the ends."""

    @abstractmethod
    def publish(self) -> Publisher:
        """The learner's end of the way down."""

    @abstractmethod
    def subscribe(self, source: Source) -> Subscriber:
        """A sampler's end of it."""

    @pytest.fixture
    def publisher(self) -> Iterator[Publisher]:
        """One that is closed at the end."""
        publisher = self.publish()
        yield publisher
        publisher.close()

    def heard(self, publisher: Publisher, subscriber: Subscriber, frame: bytes) -> memoryview:
        """Publish until it has arrived: a subscriber may come late."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            publisher.publish(frame)
            if (found := subscriber.newest(0.1)) is not None:
                return found
        raise AssertionError("nothing arrived")

    def test_every_wait_ends_at_its_deadline(self, publisher: Publisher) -> None:
        subscriber = self.subscribe(publisher.source())
        began = time.monotonic()
        assert subscriber.newest(0.05) is None
        assert subscriber.newest(0.0) is None
        assert 0.04 < time.monotonic() - began < PATIENCE_S
        subscriber.close()

    def test_weights_reach_every_subscriber_bit_for_bit(self, publisher: Publisher) -> None:
        rng = np.random.default_rng(1)
        vectors = {name: rng.standard_normal(n).astype(np.float32) for name, n in (("actor", 100_000), ("target", 3))}
        frame = bytes(encode_weights(Weights("left", 2, 3, 2**40, vectors, ("ab" * 32, "cd" * 32))))
        for _ in range(3):
            subscriber = self.subscribe(publisher.source())
            found = decode_weights(self.heard(publisher, subscriber, frame))
            assert (found.policy, *found.moment) == ("left", 2, 3, 2**40)
            assert found.snapshots == ("ab" * 32, "cd" * 32)
            assert list(found.vectors) == ["actor", "target"]
            for name, numbers in vectors.items():
                np.testing.assert_array_equal(found.vectors[name], numbers)
            subscriber.close()

    def test_a_slow_subscriber_gets_the_newest_only_and_makes_nobody_wait(self, publisher: Publisher) -> None:
        slow, quick = self.subscribe(publisher.source()), self.subscribe(publisher.source())
        for subscriber in (slow, quick):
            self.heard(publisher, subscriber, weights("left"))
        last, seen = 200, 0
        began = time.monotonic()
        for i in range(1, last + 1):
            publisher.publish(weights("left", i, 2**18))
        assert time.monotonic() - began < PATIENCE_S / 2
        for subscriber in (slow, quick):
            number, taken = 0, 0
            while number < last:
                frame = subscriber.newest(PATIENCE_S)
                assert frame is not None
                newer = decode_weights(frame).version
                assert newer >= number
                number, taken = newer, taken + 1
            seen = max(seen, taken)
            assert subscriber.newest(0.05) is None
        assert seen < last / 2
        slow.close(), quick.close()

    def test_the_newest_weights_of_each_policy_are_kept_however_often_another_s_are_published(
        self, publisher: Publisher
    ) -> None:
        """Also of one whose id begins as another's."""
        subscriber, rare = self.subscribe(publisher.source()), ("left", "left-2")
        for policy in POLICIES:
            self.heard(publisher, subscriber, weights(policy))
        for policy in rare:
            publisher.publish(weights(policy, 1))
        for i in range(1, 101):
            publisher.publish(weights("right", i, 2**16))
        newest = dict.fromkeys(POLICIES, 0)
        while newest != {"left": 1, "left-2": 1, "right": 100}:
            frame = subscriber.newest(PATIENCE_S)
            assert frame is not None, newest
            newest[decode_weights(frame).policy] = decode_weights(frame).version
        assert subscriber.newest(0.05) is None
        subscriber.close()

    def test_no_policy_makes_another_wait_for_its_turn(self, publisher: Publisher) -> None:
        subscriber, seen = self.subscribe(publisher.source()), []
        for policy in POLICIES:
            self.heard(publisher, subscriber, weights(policy))
        until = time.monotonic() + PATIENCE_S
        while {"left", "left-2", "right"} - set(seen):
            assert time.monotonic() < until
            for policy in POLICIES:
                publisher.publish(weights(policy, 1))
            frame = subscriber.newest(PATIENCE_S)
            assert frame is not None
            seen.append(decode_weights(frame).policy)
        subscriber.close()

    def test_a_policy_that_the_source_does_not_name_is_not_heard(self, publisher: Publisher) -> None:
        subscriber = self.subscribe(publisher.source()._replace(policies=("right",)))
        publisher.publish(weights("left"))
        found = decode_weights(self.heard(publisher, subscriber, weights("right", 3)))
        assert (found.policy, found.version) == ("right", 3)
        publisher.publish(weights("left"))
        while (frame := subscriber.newest(0.2)) is not None:
            assert decode_weights(frame).policy == "right"
        subscriber.close()

    def test_both_ends_may_be_closed_twice(self) -> None:
        publisher = self.publish()
        subscriber = self.subscribe(publisher.source())
        for end in (subscriber, publisher) * 2:
            end.close()
