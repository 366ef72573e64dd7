"""The ZeroMQ channel on a path and over TCP, and the in-process twin."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import zmq

from engine.errors import StoreError
from engine.problem import LineupContext, Request, TrainingContext
from engine.runtime import codec
from engine.runtime.channels import Hub, Spoke, Ticket
from engine.runtime.folders import PrivateFolder
from engine.runtime.zmq_channels import ZmqHub, ZmqSpoke
from tests.contracts.channel import BOUND, ChannelContract, receive
from tests.contracts.evaluators import answer, requests
from tests.contracts.inproc_channel import InprocHub, InprocSpoke
from tests.contracts.pool import same


class TestInprocChannel(ChannelContract):
    def open(self, bound: int = BOUND) -> Hub:
        return InprocHub(bound)

    def dial(self, ticket: Ticket) -> Spoke:
        return InprocSpoke(ticket)


class TestZmqChannelOnAPath(ChannelContract):
    def open(self, bound: int = BOUND) -> Hub:
        return ZmqHub(bound=bound)

    def dial(self, ticket: Ticket) -> Spoke:
        return ZmqSpoke(ticket)


class TestZmqChannelOverTcp(ChannelContract):
    def open(self, bound: int = BOUND) -> Hub:
        return ZmqHub("127.0.0.1", bound)

    def dial(self, ticket: Ticket) -> Spoke:
        return ZmqSpoke(ticket)


def test_only_this_user_can_reach_a_path_and_nothing_stays_of_it() -> None:
    hub = ZmqHub()
    folder = Path(hub.expect().endpoint.removeprefix("ipc://")).parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (folder / "line").is_socket()
    hub.close()
    assert not folder.exists()


def test_over_tcp_nobody_gets_in_without_the_key_even_under_an_expected_name() -> None:
    hub = ZmqHub("127.0.0.1")
    ticket = hub.expect()
    plain = ZmqSpoke(ticket._replace(key=""))
    wrong = ZmqSpoke(ticket._replace(key=zmq.curve_keypair()[0].decode()))
    assert hub.receive(0.5) == []
    spoke = ZmqSpoke(ticket)
    assert receive(hub)[0].name == ticket.name
    for end in (plain, wrong, spoke, hub):
        end.close()


def test_the_folder_of_a_killed_process_is_swept_and_that_of_a_living_one_is_not() -> None:
    code = (
        "import time; from engine.runtime.folders import PrivateFolder; "
        "print(PrivateFolder('equipoise-test-').path, flush=True); time.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    left = Path(process.stdout.readline().strip())
    mine = PrivateFolder("equipoise-test-")
    assert left.exists()
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    another = PrivateFolder("equipoise-test-")
    assert not left.exists()
    assert mine.path.exists()
    mine.remove()
    another.remove()
    assert not list(Path(tempfile.gettempdir()).glob("equipoise-test-*"))


def test_requests_and_evaluations_survive_the_wire_bit_for_bit() -> None:
    asked = requests(50)
    arrived = codec.decode_requests(codec.encode_requests(asked))
    for before, after in zip(asked, arrived, strict=True):
        assert before.genome.dtype == after.genome.dtype
        assert before.genome.tolist() == after.genome.tolist()
        assert before._replace(genome=None) == after._replace(genome=None)
    answers = [answer(request) for request in asked]
    told = np.arange(6.0).reshape(-1, len(answers[0].objectives))
    answers.append(answers[0]._replace(id=50, values=told))
    answers.append(answers[0]._replace(id=51, values=told, limits=told[:2], record=np.arange(12.0).reshape(3, 4),
                                       sums=told + 1))  # fmt: skip
    *_, one, other = codec.decode_evaluations(codec.encode_evaluations(answers))
    assert (one.limits, one.record) == (None, None)
    for name in ("values", "limits", "record", "sums"):
        assert np.array_equal(getattr(other, name), getattr(answers[-1], name))
    assert np.array_equal(one.values, told)
    known = np.arange(6.0).reshape(2, 3)
    recorded = [asked[0]._replace(record=record) for record in (known, None, np.empty((0, 0)))]
    found = [request.record for request in codec.decode_requests(codec.encode_requests(recorded))]
    assert np.array_equal(found[0], known)
    assert found[1] is None
    assert found[2] is not None, "nothing is recorded yet, and replicates are to be told"
    assert found[2].shape == (0, 0)
    further = asked[0]._replace(id=51, candidate=3, context=TrainingContext("a" * 64, artifacts={"trained": "b" * 64}))
    assert codec.decode_requests(codec.encode_requests([*asked, further]))[-1][2:] == further[2:]
    for before, after in zip(answers, codec.decode_evaluations(codec.encode_evaluations(answers)), strict=True):
        same(before, after)


def test_a_damaged_message_is_told_as_such() -> None:
    data = codec.encode_requests(requests(3))
    with pytest.raises(StoreError):
        codec.decode_requests(data[: len(data) // 2])


def test_one_request_without_words_or_anchors_survives_the_wire() -> None:
    request = Request(2**62, requests(1)[0].genome, 0, 1, 0, LineupContext(fidelity=""))
    (arrived,) = codec.decode_requests(codec.encode_requests([request]))
    assert arrived._replace(genome=None) == request._replace(genome=None)
