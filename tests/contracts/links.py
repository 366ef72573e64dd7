"""What links between peers promise; those over ZeroMQ and those within a process inherit these tests."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator

import pytest

from engine.peers import Peers, View

PATIENCE_S = 20.0
AGENTS = 3


class LinksContract(ABC):
    """Inherit, and implement ``make``."""

    @abstractmethod
    def make(self, number: int) -> Peers:
        """The links of an agent, not linked yet."""

    @pytest.fixture
    def agents(self) -> Iterator[list[Peers]]:
        """Three agents in a ring, in epoch 0."""
        self.everybody = [self.make(number) for number in range(AGENTS)]
        self.members = [peers.member(AGENTS) for peers in self.everybody]
        self.ring(View(1, 0, 0, 0, "", tuple(self.members)))
        yield self.everybody
        for peers in self.everybody:
            peers.close()

    def ring(self, view: View) -> None:
        for i in view.numbers:
            self.one(view, i)

    def one(self, view: View, number: int) -> None:
        """Put one agent into its place in the ring of a view."""
        there = view.numbers
        place = there.index(number)
        takes, sends = there[place - 1], there[(place + 1) % len(there)]
        self.everybody[number].link(view, [takes], [sends])

    def heard(self, peers: Peers, sender: int) -> bytes:
        """The next message of a sender, once it has arrived."""
        self.until(peers, lambda: sender in peers.unread())
        return bytes(peers.read(sender))

    def until(self, peers: Peers, done: object) -> None:
        until = time.monotonic() + PATIENCE_S
        while not done():  # type: ignore[operator]
            assert time.monotonic() < until, "nothing arrived"
            peers.wait(0.2)

    def posted(self, peers: Peers, to: int, frame: bytes) -> None:
        """Send a message, once there is room."""
        self.until(peers, lambda: peers.post(to, frame))

    def test_messages_arrive_whole_and_in_order(self, agents: list[Peers]) -> None:
        large = bytes(range(256)) * 4096
        for k in range(20):
            for i in range(AGENTS):
                self.posted(agents[i], (i + 1) % AGENTS, b"%d from %d" % (k, i) + large)
            for i in range(AGENTS):
                sender = (i - 1) % AGENTS
                assert self.heard(agents[i], sender) == b"%d from %d" % (k, sender) + large
                assert not agents[i].unread()

    def test_a_link_has_no_room_until_its_message_is_read(self, agents: list[Peers]) -> None:
        assert agents[0].post(1, b"first")
        assert not agents[0].post(1, b"second")
        self.until(agents[1], lambda: agents[1].unread())
        assert not agents[0].post(1, b"second"), "it has arrived, and is not read"
        assert agents[1].read(0) == b"first"
        self.posted(agents[0], 1, b"third")
        assert self.heard(agents[1], 0) == b"third"

    def test_what_was_sent_before_all_went_back_is_neither_read_nor_in_the_way(self, agents: list[Peers]) -> None:
        assert agents[0].post(1, b"old")
        self.until(agents[1], lambda: agents[1].unread())
        again = View(2, 1, 0, 0, "", tuple(self.members))
        self.one(again, 1)
        assert not agents[1].unread()
        self.one(again, 0)
        assert agents[0].post(1, b"new")
        assert self.heard(agents[1], 0) == b"new"
        self.until(agents[0], lambda: agents[0].post(1, b"newer"))
        assert not agents[0].post(1, b"newest")

    def test_a_ring_closes_round_one_who_is_gone_and_opens_for_another(self, agents: list[Peers]) -> None:
        agents[1].close()
        self.ring(View(2, 0, 0, 0, "", (self.members[0], self.members[2])))
        self.posted(agents[0], 2, b"past the gap")
        assert self.heard(agents[2], 0) == b"past the gap"
        self.everybody[1] = self.make(1)
        self.members[1] = self.everybody[1].member(AGENTS)
        self.ring(View(3, 0, 0, 0, "", tuple(self.members)))
        self.posted(agents[0], 1, b"welcome")
        assert self.heard(self.everybody[1], 0) == b"welcome"
        self.posted(self.everybody[1], 2, b"thanks")
        assert self.heard(agents[2], 1) == b"thanks"

    def test_who_misses_a_view_without_its_link_has_room_again_once_the_link_is_back(self, agents: list[Peers]) -> None:
        assert agents[0].post(1, b"before")
        self.until(agents[1], lambda: agents[1].unread())
        self.one(View(2, 0, 0, 0, "", (self.members[1], self.members[2])), 1)
        assert not agents[1].unread()
        everybody = View(3, 0, 0, 0, "", tuple(self.members))
        self.one(everybody, 1)
        self.one(everybody, 0)
        self.posted(agents[0], 1, b"after")
        assert self.heard(agents[1], 0) == b"after"

    def test_every_wait_ends_at_its_deadline(self, agents: list[Peers]) -> None:
        began = time.monotonic()
        agents[0].wait(0.05)
        assert time.monotonic() - began < PATIENCE_S
