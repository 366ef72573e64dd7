"""What carries weights over ZeroMQ on a path and over TCP, and the in-process twins."""

from __future__ import annotations

import stat
import struct
from pathlib import Path

import numpy as np
import pytest
import zmq

from engine.channel import Weights, decode_weights, encode_weights
from engine.errors import EngineError
from engine.runtime.channels import Publisher, Source, Subscriber
from engine.runtime.zmq_channels import ZmqPublisher, ZmqSubscriber
from tests.contracts.inproc_streams import InprocPublisher, InprocSubscriber
from tests.contracts.streams import POLICIES, StreamsContract, weights


class TestInprocStreams(StreamsContract):
    def publish(self) -> Publisher:
        return InprocPublisher(POLICIES)

    def subscribe(self, source: Source) -> Subscriber:
        return InprocSubscriber(source)


class TestZmqStreamsOnAPath(StreamsContract):
    host = ""

    def publish(self) -> Publisher:
        return ZmqPublisher(POLICIES, self.host)

    def subscribe(self, source: Source) -> Subscriber:
        return ZmqSubscriber(source)


class TestZmqStreamsOverTcp(TestZmqStreamsOnAPath):
    host = "127.0.0.1"


def test_only_this_user_can_reach_the_path_and_nothing_stays_of_it() -> None:
    publisher = ZmqPublisher(POLICIES)
    folder = Path(publisher.source().endpoint.removeprefix("ipc://")).parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    publisher.close()
    assert not folder.exists()


def test_over_tcp_nobody_hears_weights_without_the_key() -> None:
    publisher = ZmqPublisher(POLICIES, "127.0.0.1")
    source = publisher.source()
    other = zmq.curve_keypair()[0].decode()
    strangers = [ZmqSubscriber(source._replace(key=key)) for key in ("", other)]
    mine = ZmqSubscriber(source)
    while mine.newest(0.05) is None:
        publisher.publish(weights("left"))
    assert [stranger.newest(0.2) for stranger in strangers] == [None, None]
    for end in (mine, *strangers, publisher):
        end.close()


@pytest.mark.parametrize("cut", [0, 103, 104, 170, 210, 219])
def test_a_damaged_frame_is_told_as_such(cut: int) -> None:
    frame = encode_weights(Weights("left", 0, 0, 1, {"actor": np.ones(5, np.float32)}, ("ab" * 32,)))
    assert len(frame) == 220
    with pytest.raises(EngineError, match="bytes that should be weights"):
        decode_weights(frame[:cut])


@pytest.mark.parametrize(("at", "value"), [(88, -1), (88, 2**62), (96, -1), (96, 2**62), (192, -1), (192, 2**62)])
def test_a_frame_whose_counts_cannot_be_is_told_as_such_and_no_vector_reads_another_ones_numbers(
    at: int, value: int
) -> None:
    vectors = {"actor": np.ones(5, np.float32), "critic": np.zeros(3, np.float32)}
    frame = bytearray(encode_weights(Weights("left", 0, 0, 1, vectors, ("ab" * 32,))))
    struct.pack_into("<q", frame, at, value)
    if at == 192:  # so that the sum of both lengths is what it was
        struct.pack_into("<q", frame, at + 32, 8 - value)
    with pytest.raises(EngineError, match="bytes that should be weights"):
        decode_weights(bytes(frame))
