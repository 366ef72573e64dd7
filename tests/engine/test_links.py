"""Links between peers on a path, over TCP, and within one process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from engine.errors import EngineError
from engine.peers import Member, Peers, PeersHere, View
from engine.runtime import zmq_peers
from engine.runtime.zmq_peers import ZmqPeers
from tests.contracts.links import LinksContract


class TestLinksOnAPath(LinksContract):
    def make(self, number: int) -> Peers:
        return ZmqPeers(number)


class TestLinksOverTcp(LinksContract):
    def make(self, number: int) -> Peers:
        return ZmqPeers(number, "127.0.0.1")


class TestLinksWithinAProcess(LinksContract):
    @pytest.fixture(autouse=True)
    def board(self) -> None:
        self.shared: dict[int, PeersHere] = {}

    def make(self, number: int) -> Peers:
        return PeersHere(number, self.shared)


def test_a_wait_sleeps_until_a_message_comes_and_costs_no_processor_time() -> None:
    pair = [ZmqPeers(number) for number in range(2)]
    view = View(1, 0, 0, 0, "", tuple(peers.member(2) for peers in pair))
    for number, peers in enumerate(pair):
        peers.link(view, [1 - number], [1 - number])
    timer = threading.Timer(0.5, lambda: pair[1].post(0, b"now"))
    timer.start()
    began, spent = time.monotonic(), time.thread_time()
    pair[0].wait(20.0)
    assert 0.4 < time.monotonic() - began < 10.0
    assert time.thread_time() - spent < 0.1
    assert pair[0].unread() == {1}
    timer.join()
    for peers in pair:
        peers.close()
        peers.close()


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[ZmqPeers]]:
    """Two agents that send to each other, and soon send again what is not acknowledged."""
    monkeypatch.setattr(zmq_peers, "AGAIN_S", 0.2)
    both = [ZmqPeers(number) for number in range(2)]
    view = View(1, 0, 0, 0, "", tuple(peers.member(2) for peers in both))
    for number, peers in enumerate(both):
        peers.link(view, [1 - number], [1 - number])
    yield both
    for peers in both:
        peers.close()


def until(done: Callable[[], bool], *each: ZmqPeers) -> None:
    """Wait, as all of these do."""
    end = time.monotonic() + 20.0
    while not done():
        assert time.monotonic() < end
        for peers in each:
            peers.wait(0.02)


def test_a_message_that_is_lost_on_its_way_is_sent_again(pair: list[ZmqPeers]) -> None:
    one, other = pair
    assert one.post(1, b"lost")
    until(lambda: bool(other.unread()), other)
    other._held.clear()
    until(lambda: bool(one.unread() or other.unread()), one, other)
    assert other.read(0) == b"lost"
    until(lambda: one.post(1, b"next"), one)
    until(lambda: bool(other.unread()), other)
    assert other.read(0) == b"next"


def test_what_was_read_is_not_read_again_though_nobody_heard_that_it_was(
    pair: list[ZmqPeers], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = pair
    assert one.post(1, b"once")
    until(lambda: bool(other.unread()), other)
    monkeypatch.setattr(ZmqPeers, "_acknowledge", lambda *lost: None)
    assert other.read(0) == b"once"
    monkeypatch.undo()
    assert not one.post(1, b"twice")
    until(lambda: bool(other.unread()) or one.post(1, b"twice"), one, other)
    until(lambda: bool(other.unread()), one, other)
    assert other.read(0) == b"twice"


def test_a_neighbour_that_stood_still_until_its_connection_was_cut_is_sent_to_again(
    pair: list[ZmqPeers],
) -> None:
    one, other = pair
    assert one.post(1, b"before")
    until(lambda: bool(other.unread()), other)
    assert other.read(0) == b"before"
    until(lambda: one.post(1, b"on its way"), one)
    link = one._links[1]
    link.line.socket.disconnect(link.ticket.endpoint)
    link.line.connect(link.ticket.endpoint, link.ticket.key)
    until(lambda: bool(one.unread() or other.unread()), one, other)
    assert other.read(0) == b"on its way"
    until(lambda: not other.unread() and one.post(1, b"after"), one, other)  # it acknowledges again
    until(lambda: bool(other.unread()), one, other)
    assert other.read(0) == b"after"


def test_a_stranger_is_not_heard() -> None:
    one, other, stranger = (ZmqPeers(number) for number in range(3))
    here = one.member(3)
    view = View(1, 0, 0, 0, "", (here, other.member(3), stranger.member(3)))
    one.link(view, [1, 2], [])
    forged = Member(0, here.endpoint, here.key, ("00" * 17,) * 3)
    stranger.link(View(1, 0, 0, 0, "", (forged,)), [], [0])
    other.link(view, [], [0])
    assert stranger.post(0, b"let me in")
    assert other.post(0, b"mine")
    one.wait(20.0)
    until = time.monotonic() + 0.3
    while time.monotonic() < until:
        one.wait(0.1)
    assert one.unread() == {1}
    for peers in (one, other, stranger):
        peers.close()


def test_a_view_comes_through_whole_and_a_damaged_one_is_told() -> None:
    view = View(7, 1, 2, 30, "ab" * 32, (Member(1, "ipc://x", "", ("aa", "bb")), Member(0)))
    assert View.decode(view.encode()) == view
    assert view.numbers == (0, 1)
    assert view.member(2) is None
    with pytest.raises(EngineError, match="cannot be read"):
        View.decode(view.encode()[:-1])
