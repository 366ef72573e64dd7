"""The streams of training over ZeroMQ on a path and over TCP, and their in-process twins."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest
import zmq

from engine.channel import Weights, decode_weights, encode_weights
from engine.errors import EngineError
from engine.runtime.channels import Ticket
from engine.runtime.inproc_streams import InprocPublisher, InprocPuller, InprocPusher, InprocSubscriber
from engine.runtime.streams import Publisher, Puller, Pusher, Source, Subscriber
from engine.runtime.zmq_streams import ZmqPublisher, ZmqPuller, ZmqPusher, ZmqSubscriber
from tests.contracts.streams import POLICIES, StreamsContract, pulled, weights


class TestInprocStreams(StreamsContract):
    def pull(self, bound: int = 4) -> Puller:
        return InprocPuller(bound)

    def push(self, ticket: Ticket) -> Pusher:
        return InprocPusher(ticket)

    def publish(self) -> Publisher:
        return InprocPublisher(POLICIES)

    def subscribe(self, source: Source) -> Subscriber:
        return InprocSubscriber(source)


class TestZmqStreamsOnAPath(StreamsContract):
    host = ""

    def pull(self, bound: int = 4) -> Puller:
        return ZmqPuller(self.host, bound)

    def push(self, ticket: Ticket) -> Pusher:
        return ZmqPusher(ticket)

    def publish(self) -> Publisher:
        return ZmqPublisher(POLICIES, self.host)

    def subscribe(self, source: Source) -> Subscriber:
        return ZmqSubscriber(source)


class TestZmqStreamsOverTcp(TestZmqStreamsOnAPath):
    host = "127.0.0.1"


def test_only_this_user_can_reach_the_paths_and_nothing_stays_of_them() -> None:
    puller, publisher = ZmqPuller(), ZmqPublisher(POLICIES)
    for end, endpoint in ((puller, puller.expect().endpoint), (publisher, publisher.source().endpoint)):
        folder = Path(endpoint.removeprefix("ipc://")).parent
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        end.close()
        assert not folder.exists()


def test_over_tcp_nobody_pushes_or_hears_weights_without_the_key() -> None:
    puller, publisher = ZmqPuller("127.0.0.1"), ZmqPublisher(POLICIES, "127.0.0.1")
    ticket, source = puller.expect(), publisher.source()
    other = zmq.curve_keypair()[0].decode()
    strangers = [ZmqSubscriber(source._replace(key=key)) for key in ("", other)]
    mine, pusher = ZmqSubscriber(source), ZmqPusher(ticket)
    assert pulled(puller)[0].name == ticket.name
    while mine.newest(0.05) is None:
        publisher.publish(weights("left"))
    assert [stranger.newest(0.2) for stranger in strangers] == [None, None]
    for end in (mine, pusher, *strangers, puller, publisher):
        end.close()


@pytest.mark.parametrize("cut", [0, 103, 104, 170, 210, 219])
def test_a_damaged_frame_is_told_as_such(cut: int) -> None:
    frame = encode_weights(Weights("left", 0, 0, 1, {"actor": np.ones(5, np.float32)}, ("ab" * 32,)))
    assert len(frame) == 220
    with pytest.raises(EngineError, match="bytes that should be weights"):
        decode_weights(frame[:cut])
