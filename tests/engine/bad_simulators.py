"""Programs that break ``equipoise-sim/1``, one way each: ``python -m tests.engine.bad_simulators NAME``."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import zmq

from engine.simulators import protocol
from engine.simulators.contract import Battles, GameSpec, Metric, Patch
from engine.simulators.protocol import Arrays, Hello, PlayBattles, Results, Spec
from tests.engine.sample_simulators import SPEC, Rows, Seeds, TugOfWar

ENDPOINT = os.environ.get(protocol.ENDPOINT_VARIABLE, "")
KEY = os.environ.get(protocol.KEY_VARIABLE, "")
GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(16 + 1 + 31)
"""How a DEALER of ZeroMQ begins."""
RAW = [b'{"type":"RESULTS","id":1,"arrays":[]}']


class Line:
    """The socket of a program that begins like an honest one."""

    open: list[Line] = []

    def __init__(self, **hello: Any) -> None:
        self.open.append(self)
        self.socket = zmq.Context.instance().socket(zmq.DEALER)
        self.socket.connect(ENDPOINT)
        self.send(Hello(**{"key": KEY, **hello}))

    def send(self, message: protocol.AnyMessage, arrays: Arrays | None = None) -> None:
        self.socket.send_multipart(protocol.encode(message, arrays))

    def request(self, spec: GameSpec = SPEC) -> tuple[PlayBattles, Arrays]:
        """Go through the handshake and wait for the first request."""
        self.socket.recv_multipart()
        self.send(Spec(spec=spec))
        message, arrays = protocol.decode(self.socket.recv_multipart())
        assert isinstance(message, PlayBattles)
        return message, arrays


def sleep() -> None:
    time.sleep(600)


def silent() -> None:
    sleep()


def hang() -> None:
    Line().request()
    sleep()


def heartless() -> None:
    Line(capabilities=("heartbeat",)).request()
    sleep()


def leave() -> None:
    Line(capabilities=("cancel",)).request()
    print("out of ammunition", flush=True)
    sys.exit(3)


def crash() -> None:
    Line().request()
    os.abort()


def wrong_key() -> None:
    Line(key="guess")
    sleep()


def wrong_version() -> None:
    Line(versions=(7, 9))
    sleep()


def wrong_protocol() -> None:
    Line(protocol="other-protocol")
    sleep()


def impossible_spec() -> None:
    Line().request(msgspec.structs.replace(SPEC, strength="might", pieces=(*SPEC.pieces, SPEC.pieces[0])))


def not_a_spec() -> None:
    line = Line()
    line.socket.recv_multipart()
    line.socket.send(b'{"type":"SPEC","spec":{"name":5}}')
    sleep()


def hang_up() -> None:
    line = Line()
    line.request()
    line.socket.close(0)
    sleep()


def printer() -> None:
    line = Line()
    message, arrays = line.request()
    for _ in range(200_000):
        print("x" * 100)
    line.send(Results(id=message.id), answers(arrays))
    sleep()


def junk_header() -> None:
    line = Line()
    line.request()
    line.socket.send(b"\x80\x04\x95 this is not JSON")
    sleep()


def deep_header() -> None:
    line = Line()
    line.request()
    line.socket.send(b'{"type":"RESULTS","id":1,"more":' + b"[" * 100_000 + b"]" * 100_000 + b"}")
    sleep()


def junk_bytes() -> None:
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(ENDPOINT.removeprefix("ipc://"))
        raw.sendall(b"GET / HTTP/1.1\r\nHost: engine\r\n\r\n" * 20)
        sleep()


def short_frame() -> None:
    line = Line()
    line.request()
    header = b'{"type":"RESULTS","id":1,"arrays":[{"name":"status","dtype":"uint8","shape":[8]}]}'
    line.socket.send_multipart([header, b"\0\0\0"])
    sleep()


def objects() -> None:
    line = Line()
    line.request()
    header = b'{"type":"RESULTS","id":1,"arrays":[{"name":"side","dtype":"object","shape":[1]}]}'
    line.socket.send_multipart([header, b"\0" * 8])
    sleep()


def huge_frame() -> None:
    line = Line()
    line.request()
    line.socket.send_multipart([RAW[0], bytes(protocol.MAX_FRAME_BYTES + 1)])
    sleep()


def huge_beginning() -> None:
    """Its first message claims a GiB, and begins with a MiB of it."""
    kind = socket.AF_UNIX if ENDPOINT.startswith("ipc") else socket.AF_INET
    with socket.socket(kind) as raw:
        address = ENDPOINT.partition("://")[2]
        raw.connect(address if kind == socket.AF_UNIX else (address.split(":")[0], int(address.split(":")[1])))
        begin_zmtp(raw)
        send_huge(raw)
        sleep()


def send_huge(raw: socket.socket) -> None:
    """The head of a frame of a GiB, and as much of it as the other side takes."""
    raw.setblocking(False)
    with contextlib.suppress(OSError):
        raw.send(b"\x02" + (2**30).to_bytes(8, "big") + bytes(2**20))


def half_a_spec() -> None:
    """Three faults of different kinds: a text for a number, a piece that comes twice, a metric that is not there."""
    spec = msgspec.to_builtins(msgspec.structs.replace(SPEC, strength="might", pieces=(*SPEC.pieces, SPEC.pieces[0])))
    spec["pieces"][1]["cost"] = "11"
    line = Line()
    line.socket.recv_multipart()
    line.socket.send(msgspec.json.encode({"type": "SPEC", "spec": spec}))
    sleep()


def long_spec() -> None:
    """A description of more than 10 MB, most of which is texts."""
    replace, text = msgspec.structs.replace, "once upon a time " * 117
    pieces = tuple(replace(SPEC.pieces[i % len(SPEC.pieces)], id=f"piece-{i}", text=text) for i in range(5_000))
    play(Line(), times=1, spec=replace(SPEC, pieces=pieces))


def many_faults() -> None:
    """More faults than anybody reads."""
    pieces = tuple(msgspec.structs.replace(SPEC.pieces[0], id=f"piece-{i}", cost=-1.0) for i in range(1_000))
    play(Line(), times=1, spec=msgspec.structs.replace(SPEC, pieces=pieces))


def long_error() -> None:
    """Cannot begin, and says why in more than 5 MB."""
    line = Line()
    line.socket.recv_multipart()
    line.send(protocol.Error(id=0, message="no dice " * 650_000, permanent=True))
    sleep()


RUDE = "\x1b[2J\x1b]0;owned\x07no\u202edice\u200b\n\x9b31m"
"""Clears a terminal, renames its window, turns text and breaks the line."""


def rude_beginning() -> None:
    print(RUDE, flush=True)
    line = Line()
    line.socket.recv_multipart()
    line.send(protocol.Error(id=0, message=RUDE, permanent=True))
    sleep()


def rude_answer() -> None:
    line = Line(capabilities=(RUDE,))
    line.send(protocol.Error(id=line.request()[0].id, message=RUDE, permanent=True))
    sleep()


def rude_end() -> None:
    print("z" * 50_000, flush=True)
    line = Line()
    line.request()
    line.send(protocol.Error(id=0, message="y" * 5_000_000, permanent=True))
    sleep()


def exit_134() -> None:
    Line().request()
    sys.exit(134)


def exit_127() -> None:
    Line().request()
    sys.exit(127)


def wrong_id() -> None:
    line = Line()
    message, arrays = line.request()
    line.send(Results(id=message.id + 6), answers(arrays))
    sleep()


def mute() -> None:
    """Connects without a word, so it might not speak ZeroMQ at all."""
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(ENDPOINT.removeprefix("ipc://"))
        sleep()


def listener() -> None:
    """Connects by ZeroMQ and waits to be spoken to."""
    socket = zmq.Context.instance().socket(zmq.DEALER)
    socket.connect(ENDPOINT)
    socket.recv_multipart()


def speechless() -> None:
    """Says HELLO and never describes its game."""
    Line()
    sleep()


def hung_up_early() -> None:
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(ENDPOINT.removeprefix("ipc://"))
    sleep()


def play(line: Line, times: int, spec: GameSpec = SPEC) -> None:
    """Plays honestly until BYE, whatever is asked, and sends every answer so many times."""
    message, arrays = line.request(spec)
    while True:
        for _ in range(times):
            line.send(Results(id=message.id), answers(arrays))
        decoded = protocol.decode(line.socket.recv_multipart())
        if not isinstance(decoded.message, PlayBattles):
            return
        message, arrays = decoded


def echo() -> None:
    """Sends every answer twice."""
    play(Line(), times=2)


def late() -> None:
    """Waits for the file named by GO before it dials, and then plays honestly."""
    while not os.path.exists(os.environ["GO"]):
        time.sleep(0.01)
    play(Line(), times=1)


def dials_first() -> None:
    """Dials, says so by the file named by GO, and says HELLO only when that is gone."""
    go, dial = Path(os.environ["GO"]), zmq.Context.instance().socket(zmq.DEALER)
    told = dial.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED | zmq.EVENT_DISCONNECTED)
    dial.connect(ENDPOINT)
    told.recv_multipart()
    go.touch()
    while go.exists():
        time.sleep(0.01)
    if told.poll(0):
        sys.exit(7)  # its connection was cut
    dial.send_multipart(protocol.encode(Hello(key=KEY)))
    dial.recv_multipart()
    dial.send_multipart(protocol.encode(Spec(spec=SPEC)))
    sleep()


def twice() -> None:
    """Dials a second time, with the key, and says by the file named by GO what came of it."""
    line = Line()
    message, arrays = line.request()
    second = zmq.Context.instance().socket(zmq.DEALER)
    gone = second.get_monitor_socket(zmq.EVENT_DISCONNECTED | zmq.EVENT_CLOSED)
    second.connect(ENDPOINT)
    second.send_multipart(protocol.encode(Hello(key=KEY)))
    zmq.select([second, gone], [], [])
    with open(os.environ["GO"], "w") as file:
        file.write("answered" if second.poll(0) else "closed")
    line.send(Results(id=message.id), answers(arrays))
    line.socket.recv_multipart()


def guesser() -> None:
    Line(key="guess").socket.recv_multipart()
    sys.exit(1)


def plain() -> None:
    """Offers nothing that exists."""
    play(Line(capabilities=("cancle",)), times=1)


def flood() -> None:
    line = Line()
    line.request()
    while True:
        line.send(protocol.Pong())


def endless_message() -> None:
    """Speaks ZMTP by hand: ZeroMQ itself would keep an unfinished message at home."""
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(ENDPOINT.removeprefix("ipc://"))
        begin_zmtp(raw)
        for message in (Hello(key=KEY), Spec(spec=SPEC)):
            raw.sendall(zmtp_frame(bytes(protocol.encode(message)[0]), 0))
        while True:
            raw.sendall(zmtp_frame(bytes(2**20), 1))


def zmtp_frame(body: bytes, flags: int) -> bytes:
    """``flags`` 0: a message's last frame; 1: more follow; 4: a command."""
    return bytes([flags | 2]) + len(body).to_bytes(8, "big") + body


def begin_zmtp(raw: socket.socket) -> None:
    """What a DEALER of ZeroMQ and its peer say to each other before the first message."""
    raw.sendall(GREETING)
    raw.sendall(zmtp_frame(b"\x05READY\x0bSocket-Type\x00\x00\x00\x06DEALER", 4))
    heard = b""
    while b"READY" not in heard:
        heard += raw.recv(1024)


def daemon() -> None:
    nap = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
    subprocess.Popen(nap)
    subprocess.Popen(nap, start_new_session=True)
    hang()


def moody() -> None:
    """Describes another version at each start, and ends in the middle of the first battles."""
    Line().request(msgspec.structs.replace(SPEC, version=str(time.time())))
    sys.exit(1)


def answers(arrays: Arrays) -> Arrays:
    results = TugOfWar().battles(arrays["left"], arrays["right"], arrays["seeds"], {})
    return {name: np.array(getattr(results, name)) for name in Battles._fields}


def spoiled(spoil: Callable[[Arrays], Any]) -> Callable[[], None]:
    """A program whose results are right but for one thing."""

    def program() -> None:
        line = Line()
        message, arrays = line.request()
        results = answers(arrays)
        spoil(results)
        line.send(Results(id=message.id), results)
        sleep()

    return program


def _nan(r: Arrays) -> None:
    r["side"][3, 1, 0] = np.nan


def _infinite(r: Arrays) -> None:
    r["battle"][0, 0] = np.inf


def _above(r: Arrays) -> None:
    r["side"][2, 0, 0] = 250.0


PROGRAMS: dict[str, Callable[[], None]] = {
    f.__name__: f
    for f in (
        silent, hang, heartless, leave, crash, wrong_key, wrong_version, wrong_protocol, impossible_spec, not_a_spec,
        hang_up, printer, junk_header, deep_header, junk_bytes, short_frame, objects, huge_frame, huge_beginning, flood,
        endless_message, daemon, moody, half_a_spec, long_spec, many_faults, long_error, exit_134, exit_127, wrong_id,
        mute, listener, speechless, hung_up_early, echo, plain, late, dials_first, twice, guesser,
        rude_beginning, rude_answer, rude_end,
    )
} | {
    "wrong_shape": spoiled(lambda r: r.update(side=r["side"][:, :, :2])),
    "wrong_type": spoiled(lambda r: r.update(side=r["side"].astype(np.float32))),
    "missing_array": spoiled(lambda r: r.pop("status")),
    "nan": spoiled(_nan),
    "infinite": spoiled(_infinite),
    "out_of_range": spoiled(_above),
    "wrong_status": spoiled(lambda r: r.update(status=r["status"] + 9)),
}  # fmt: skip


class Moving(TugOfWar):
    """Says that it is reproducible and counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def play(self, left: Rows, right: Rows, seeds: Seeds, patch: Patch) -> Battles:
        self.calls += 1
        return super().play(left, right, seeds + np.uint64(self.calls), patch)


class Stubborn(TugOfWar):
    """Ignores patches and seeds."""

    def play(self, left: Rows, right: Rows, seeds: Seeds, patch: Patch) -> Battles:
        return super().play(left, right, np.zeros_like(seeds), {})


class Lopsided(TugOfWar):
    """Row i depends on the whole batch: the results are centred on its mean."""

    def twist(self, found: Battles, left: Rows, right: Rows, seeds: Seeds) -> None:
        found.battle[...] += found.battle.mean() if len(seeds) else 0.0


class Liar(TugOfWar):
    """Its description has a slot for a category that has no piece, and a metric that ends before it begins."""

    def describe(self) -> GameSpec:
        metrics = (Metric("strength", "Strength", low=1.0, high=1.0), *SPEC.side_metrics[1:])
        pieces = tuple(p for p in SPEC.pieces if p.category != "charm")
        return msgspec.structs.replace(SPEC, side_metrics=metrics, pieces=pieces)


class Raiser(TugOfWar):
    """Fails in every battle."""

    def play(self, left: Rows, right: Rows, seeds: Seeds, patch: Patch) -> Battles:
        raise ZeroDivisionError("division by zero")


if __name__ == "__main__":
    PROGRAMS[sys.argv[1]]()
