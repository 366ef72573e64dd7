"""What every channel promises; the ZeroMQ channel and its in-process twin inherit these tests."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

import pytest

from engine.errors import ActorLost
from engine.runtime.channels import Hub, Message, Spoke, Ticket

PATIENCE_S = 20.0
BOUND = 256


def receive(hub: Hub, n: int = 1) -> list[Message]:
    """n messages, in the order in which they came."""
    arrived: list[Message] = []
    until = time.monotonic() + PATIENCE_S
    while len(arrived) < n:
        assert time.monotonic() < until, f"{n - len(arrived)} of {n} messages did not come"
        arrived += hub.receive(1.0)
    return arrived


def words(message: Message) -> list[bytes]:
    """The frames as bytes."""
    return [bytes(frame) for frame in message.frames]


def flood(send: Callable[[], None]) -> None:
    """Send far more than any bound allows."""
    for _ in range(2000):
        send()


class ChannelContract(ABC):
    """Inherit, and implement ``open`` and ``dial``."""

    @abstractmethod
    def open(self, bound: int = BOUND) -> Hub:
        """A hub, where so many messages of each spoke may wait."""

    @abstractmethod
    def dial(self, ticket: Ticket) -> Spoke:
        """A spoke of such a hub."""

    @pytest.fixture
    def hub(self) -> Iterator[Hub]:
        """A hub that is closed at the end."""
        hub = self.open()
        yield hub
        hub.close()

    def join(self, hub: Hub, ticket: Ticket | None = None) -> tuple[bytes, Spoke]:
        """A spoke that has come."""
        ticket = ticket or hub.expect()
        spoke = self.dial(ticket)
        assert receive(hub) == [Message(ticket.name, [])]
        return ticket.name, spoke

    def test_frames_arrive_whole_and_in_order_both_ways(self, hub: Hub) -> None:
        name, spoke = self.join(hub)
        large = bytes(range(256)) * 4096
        for i in range(5):
            hub.send(name, [b"%d" % i, large, b""])
            spoke.send([b"%d" % i, b"", large], 1.0)
        for i in range(5):
            assert [bytes(frame) for frame in spoke.receive(PATIENCE_S)] == [b"%d" % i, large, b""]
        assert [words(message) for message in receive(hub, 5)] == [[b"%d" % i, b"", large] for i in range(5)]
        spoke.close()

    def test_every_message_tells_which_spoke_sent_it(self, hub: Hub) -> None:
        spokes = dict(self.join(hub) for _ in range(3))
        for name, spoke in spokes.items():
            spoke.send([name], 1.0)
            hub.send(name, [name])
        assert {message.name: words(message) for message in receive(hub, 3)} == {name: [name] for name in spokes}
        for name, spoke in spokes.items():
            assert [bytes(frame) for frame in spoke.receive(PATIENCE_S)] == [name]
            spoke.close()

    def test_nothing_can_be_sent_before_a_spoke_has_come(self, hub: Hub) -> None:
        with pytest.raises(ActorLost):
            hub.send(hub.expect().name, [b"too early"])

    def test_a_stranger_is_not_heard(self, hub: Hub) -> None:
        _, spoke = self.join(hub)
        stranger = self.dial(hub.expect()._replace(name=b"a stranger's name"))
        stranger.send([b"let me in"], 1.0)
        spoke.send([b"mine"], 1.0)
        assert [words(message) for message in receive(hub)] == [[b"mine"]]
        assert hub.receive(0.2) == []
        stranger.close()
        spoke.close()

    def test_a_forgotten_spoke_is_not_heard_even_with_what_it_sent_before(self, hub: Hub) -> None:
        gone, late = self.join(hub)
        stays, spoke = self.join(hub)
        late.send([b"late"], 1.0)
        time.sleep(0.1)
        hub.forget(gone)
        late.send([b"later"], 1.0)
        spoke.send([b"mine"], 1.0)
        assert [message.name for message in receive(hub)] == [stays]
        assert hub.receive(0.2) == []
        late.close()
        spoke.close()

    def test_every_wait_ends_at_its_deadline(self, hub: Hub) -> None:
        _, spoke = self.join(hub)
        began = time.monotonic()
        assert hub.receive(0.05) == []
        assert spoke.receive(0.05) == []
        assert 0.09 < time.monotonic() - began < PATIENCE_S
        spoke.close()

    def test_a_wait_can_be_ended_by_another_thread(self, hub: Hub) -> None:
        _, spoke = self.join(hub)
        for end in (hub, spoke):
            began = time.monotonic()
            timer = threading.Timer(0.1, end.wake)
            timer.start()
            assert end.receive(PATIENCE_S) == []
            assert time.monotonic() - began < PATIENCE_S / 2
            timer.join()
        spoke.close()

    def test_a_spoke_that_does_not_read_is_set_apart_instead_of_filling_the_memory(self, hub: Hub) -> None:
        name, spoke = self.join(hub)
        with pytest.raises(ActorLost):
            flood(lambda: hub.send(name, [bytes(100_000)]))
        spoke.close()

    def test_a_hub_that_does_not_read_is_set_apart_instead_of_filling_the_memory(self, hub: Hub) -> None:
        _, spoke = self.join(hub)
        with pytest.raises(ActorLost, match="not read"):
            flood(lambda: spoke.send([bytes(100_000)], 0.05))
        spoke.close()

    def test_a_hub_that_does_not_read_makes_spokes_wait_until_there_is_room_again(self) -> None:
        hub = self.open(bound=4)
        _, spoke = self.join(hub)
        sent = 0

        def send() -> None:
            nonlocal sent
            spoke.send([bytes(2**20)], 0.2)
            sent += 1

        with pytest.raises(ActorLost, match="not read"):
            flood(send)
        assert sent <= 25, "the queues, and what the system's own buffers hold"
        assert len(hub.receive(PATIENCE_S, 1)) == 1, "the rest waits in the queues"
        receive(hub, sent - 1)
        spoke.send([b"there is room again"], PATIENCE_S)
        for end in (spoke, hub):
            end.close()

    def test_both_ends_may_be_closed_twice_and_woken_afterwards(self) -> None:
        hub = self.open()
        _, spoke = self.join(hub)
        for end in (spoke, hub, spoke, hub):
            end.close()
            end.wake()
