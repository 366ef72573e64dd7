"""What programs dial, by hand: who is cut of too many, what ZeroMQ's older libraries say, and how it ends."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from pathlib import Path

import numpy as np
import pytest
import zmq

from engine.simulators import port_line, protocol, zmtp
from engine.simulators.line import PathLine
from engine.simulators.port_line import Caller, PortLine
from engine.simulators.protocol import Hello
from tests.engine.bad_simulators import GREETING, zmtp_frame

PATIENCE_S = 60.0
HELLO = bytes(protocol.encode(Hello())[0])
OLD = {
    "ZMTP 1": (bytes([1, 0]), bytes([1 + len(HELLO), 0])),  # a nameless identity, then messages
    "ZMTP 1, a name": (bytes([5, 0]) + b"name", bytes([1 + len(HELLO), 0])),
    "ZMTP 1, a long name": (b"\xff" + (301).to_bytes(8, "big") + bytes(301), bytes([1 + len(HELLO), 0])),
    "ZMTP 1 of libzmq 3": (b"\xff" + bytes(7) + b"\1\x7f\0\5\1\0", bytes([1 + len(HELLO), 0])),
    "ZMTP 2": (b"\xff" + bytes(7) + b"\1\x7f\1\5\0\0", bytes([0, len(HELLO)])),
}
"""How libraries of before 2013 begin, and the head of their first message."""


def dialled(line: PortLine) -> socket.socket:
    """A connection to the line, without ZeroMQ."""
    return socket.create_connection(("127.0.0.1", int(line.endpoint.split(":")[2])))


def hearing(raw: socket.socket, line: PortLine, wanted: bytes) -> bytes:
    """What the line says, up to ``wanted``."""
    raw.settimeout(0.01)
    heard, until = b"", time.monotonic() + PATIENCE_S
    while wanted not in heard and time.monotonic() < until:
        line.look()
        with contextlib.suppress(TimeoutError):
            heard += raw.recv(4096)
    assert wanted in heard
    return heard


def test_those_who_were_refused_are_cut_first_and_then_other_users_and_then_the_middle(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(port_line, "STRANGERS", 6)
    monkeypatch.setattr(port_line, "OLDEST", 2)
    with contextlib.closing(PortLine()) as line, contextlib.ExitStack() as stack:

        def dial() -> int:
            """The port that a new connection, which the line has seen, was dialled from."""
            raw = stack.enter_context(dialled(line))
            until = time.monotonic() + PATIENCE_S
            while raw.getsockname()[1] not in there() and time.monotonic() < until:
                line.look()
            return int(raw.getsockname()[1])

        def there() -> list[int]:
            return [caller.raw.getpeername()[1] for caller in line._callers.values()]

        def numbered(port: int) -> Caller:
            return next(caller for caller in line._callers.values() if caller.raw.getpeername()[1] == port)

        ports = [dial() for _ in range(6)]
        assert {port_line.dialling_user(caller.raw) for caller in line._callers.values()} == {os.geteuid()}
        ports.append(dial())  # waits until somebody has had his time
        assert sorted(there()) == sorted([*ports[:2], *ports[3:]])
        numbered(ports[4]).foreign = True
        ports.append(dial())
        assert ports[4] not in there()
        numbered(ports[0]).dismiss()
        ports.append(dial())
        assert sorted(there()) == sorted([ports[1], ports[3], *ports[5:]])
        assert line.crowded == 2


@pytest.mark.parametrize("version", OLD)
def test_a_library_that_speaks_an_older_zeromq_protocol_is_admitted_and_its_end_is_noticed(version: str) -> None:
    beginning, head = OLD[version]
    assert len(HELLO) < 254
    with contextlib.closing(PortLine()) as line:
        with dialled(line) as raw:
            raw.sendall(beginning + head + HELLO)
            letter = line.receive(60_000)
            assert letter is not None
            assert bytes(letter.frames[0]) == HELLO
            line.admit(letter)
            line.send(Hello())
            heard = hearing(raw, line, HELLO)
            before = heard[: heard.index(HELLO)]
            told = before[-8:] if version == "ZMTP 2" else before[-9:-1]  # ZMTP 1 counts the flags behind it, too
            assert before.startswith(zmtp.SIGNATURE)
            assert int.from_bytes(told, "big") == len(HELLO) + (version != "ZMTP 2")
            assert not line.lost
        until = time.monotonic() + PATIENCE_S
        while not line.lost and time.monotonic() < until:
            line.look()
        assert line.lost


def test_a_ping_of_zeromq_itself_is_answered_with_what_it_holds() -> None:
    with contextlib.closing(PortLine()) as line, dialled(line) as raw:
        raw.sendall(GREETING + zmtp_frame(b"\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER", 4))
        raw.sendall(zmtp_frame(b"\x04PING\0\1here", 4))
        hearing(raw, line, zmtp_frame(b"\x04PONGhere", 4))


@pytest.mark.parametrize("flood", [zmtp_frame(b"\x04PING\0\1here", 4), b"\4\0", b"\1\0"])
def test_of_a_strangers_flood_of_tiny_frames_only_a_few_are_read(flood: bytes) -> None:
    ready = zmtp_frame(b"\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER", 4)
    ours, theirs = socket.socketpair()
    with ours, theirs, contextlib.closing(PortLine()) as line, dialled(line):
        while not line._callers:
            line.look()
        caller = next(iter(line._callers.values()))
        theirs.sendall(GREETING + ready + flood * 2000)
        caller.raw.close()
        caller.raw = ours
        with pytest.raises(zmtp.TooLarge):
            caller.read()
        ours.close()
        heard = b"".join(iter(lambda: theirs.recv(2**16), b""))
        assert heard.count(b"PONG") <= zmtp.STRANGERS_FRAMES
        assert caller._frames == zmtp.STRANGERS_FRAMES + 1


def test_pings_of_a_program_that_never_reads_take_no_memory_without_end() -> None:
    with contextlib.closing(PortLine()) as line, dialled(line) as raw:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        raw.sendall(GREETING + zmtp_frame(b"\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER", 4))
        raw.sendall(zmtp_frame(HELLO, 0))
        letter = line.receive(60_000)
        assert letter is not None
        line.admit(letter)
        caller = next(iter(line._callers.values()))
        caller.raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        pings = memoryview(zmtp_frame(b"\x04PING\0\1" + bytes(200), 4) * 20_000)
        raw.setblocking(False)
        while pings:
            with contextlib.suppress(BlockingIOError):
                pings = pings[raw.send(pings) :]
            line.look()
        assert 0 < len(caller.unsent) <= zmtp.UNSENT + 1
        assert sum(map(len, caller.unsent)) < 2**14, "of a PING only 16 bytes are repeated"


def test_nothing_waits_to_be_sent_to_somebody_who_was_dismissed() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, contextlib.closing(PortLine()) as line, dialled(line):
        while not line._callers:
            line.look()
        caller = next(iter(line._callers.values()))
        caller._write(bytes(2**24))
        assert caller.unsent
        caller.dismiss()
        assert not caller.unsent, "what can never be sent would be tried without a pause"


WRONG = {
    "another mechanism": GREETING.replace(b"NULL", b"PLAI") + bytes(20),
    "a subscriber": GREETING + zmtp_frame(b"\x05READY\x0bSocket-Type\x00\x00\x00\x03SUB", 4),
    "no type": GREETING + zmtp_frame(b"\x05READY", 4),
    "a message at once": GREETING + zmtp_frame(HELLO, 0),
    "unknown flags": GREETING + b"\x45READY",
    "a name of minus one byte": b"\0\0",
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_connection_that_is_not_a_dealers_is_ended_unheard(wrong: str) -> None:
    with contextlib.closing(PortLine()) as line, dialled(line) as raw:
        raw.sendall(WRONG[wrong])
        until = time.monotonic() + PATIENCE_S
        while not line.unheard and time.monotonic() < until:
            assert line.receive(10) is None
        assert (line.dialled, line.spoke, line.unheard) == (True, False, True)


def test_what_a_program_does_not_read_is_neither_lost_nor_kept_without_end() -> None:
    with contextlib.closing(PortLine()) as line, zmq.Context() as context, context.socket(zmq.DEALER) as program:
        program.linger = 0
        program.setsockopt(zmq.RCVHWM, 1)
        program.connect(line.endpoint)
        program.send(HELLO)
        letter = line.receive(60_000)
        assert letter is not None
        line.admit(letter)
        big, sent = {"x": np.arange(2**18, dtype=np.int64)}, 0
        with contextlib.suppress(zmq.Again):
            while sent < 1000:
                line.send(protocol.Cancel(id=sent), big)
                sent += 1
        assert sent < 1000
        for number in range(sent):
            while not program.poll(1):
                line.look()
            decoded = protocol.decode(program.recv_multipart())
            assert decoded.message == protocol.Cancel(id=number, arrays=decoded.message.arrays)
            np.testing.assert_array_equal(decoded.arrays["x"], big["x"])


def test_a_path_can_be_closed_while_more_has_happened_on_it_than_anybody_looked_at(tmp_path: Path) -> None:
    with contextlib.closing(PathLine(tmp_path)) as line:
        for _ in range(1500):  # three events each; ZeroMQ's own queue for them holds 2,000
            with socket.socket(socket.AF_UNIX) as raw:
                raw.connect(line.endpoint.removeprefix("ipc://"))
                raw.sendall(b"x" * 20)
        with socket.socket(socket.AF_UNIX) as last:
            last.connect(line.endpoint.removeprefix("ipc://"))
            last.settimeout(PATIENCE_S)
            assert last.recv(1), "what is connected is greeted, however much is to be told"
