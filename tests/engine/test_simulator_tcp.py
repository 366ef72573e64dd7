"""Programs that dial TCP: the same answers as over ipc, and strangers on the port get nothing and disturb nobody."""

from __future__ import annotations

import contextlib
import select
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import zmq

from engine.errors import ConfigError, SimulatorError
from engine.mdp.vector import VectorMDP
from engine.simulators import loaders, port_line, protocol
from engine.simulators.check_command import main_check
from engine.simulators.client import ExternalSimulator
from engine.simulators.conversation import SimulatorLimits
from engine.simulators.game_loaders import load_game
from engine.simulators.line import PathLine, ProgramLine, Transport
from engine.simulators.port_line import PortLine
from engine.simulators.protocol import Error, Hello
from tests.engine.bad_simulators import GREETING, begin_zmtp, send_huge, zmtp_frame
from tests.engine.late import late_once
from tests.engine.leftovers import new_mark, none_left
from tests.engine.sample_simulators import SPEC, TugOfWar, team_rows

LEFT, RIGHT, SEEDS = team_rows(300, 1), team_rows(300, 2), np.arange(300, dtype=np.uint64)
PATIENCE_S = 60.0


def program(name: str, go: Path | None = None, mark: dict[str, str] | None = None) -> ExternalSimulator:
    """A program of ``bad_simulators`` that dials TCP."""
    command = [sys.executable, "-m", "tests.engine.bad_simulators", name]
    variables = {**(mark or {}), "GO": str(go)}
    limits = SimulatorLimits(handshake_s=PATIENCE_S)
    return ExternalSimulator(command, label=f"Simulator {name}", limits=limits, variables=variables, transport="tcp")


class Starting:
    """A program that waits for ``go()`` before it dials, while the engine already waits for it at ``address``."""

    def __init__(self, go: Path) -> None:
        self._go = go
        self.simulator = program("late", go)
        self._thread = threading.Thread(target=self.simulator.start)
        self._thread.start()
        until = time.monotonic() + PATIENCE_S
        while not self.simulator._held and time.monotonic() < until:
            time.sleep(0.005)
        self.endpoint = self.simulator._held[0]._line.endpoint
        host, port = self.endpoint.removeprefix("tcp://").split(":")
        self.address = (host, int(port))

    def go(self) -> None:
        """Let the program dial, and see that it plays as it should."""
        self._go.touch()
        self._thread.join()
        far, near = self.simulator.battles(LEFT, RIGHT, SEEDS, {}), TugOfWar().battles(LEFT, RIGHT, SEEDS, {})
        for a, b in zip(far, near, strict=True):
            np.testing.assert_array_equal(a, b)
        assert self.simulator.starts == 1


@pytest.fixture
def starting(tmp_path: Path) -> Iterator[Starting]:
    found = Starting(tmp_path / "go")
    try:
        yield found
    finally:
        found.simulator.close()


@contextlib.contextmanager
def dealer(endpoint: str) -> Iterator[tuple[zmq.Socket[bytes], zmq.Socket[bytes]]]:
    """A stranger with ZeroMQ, and the socket that tells when its connection is closed or was refused."""
    with zmq.Context() as context, context.socket(zmq.DEALER) as stranger:
        stranger.linger = 0
        gone = stranger.get_monitor_socket(zmq.EVENT_DISCONNECTED | zmq.EVENT_CLOSED)
        stranger.connect(endpoint)
        try:
            yield stranger, gone
        finally:
            stranger.disable_monitor()
            gone.close(0)


def closed(raw: socket.socket) -> bool:
    """Whether the other side ends this connection."""
    raw.settimeout(PATIENCE_S)
    with contextlib.suppress(ConnectionError):
        while raw.recv(4096):
            pass
    return True


def cut_off_while_sending(raw: socket.socket) -> bool:
    """Whether the other side ends this connection while parts of one message are sent without end. Where its buffer is
    full, only the end of what can be read tells that."""
    raw.setblocking(False)
    frame = left = zmtp_frame(bytes(2**16), 1)
    with contextlib.suppress(ConnectionError):
        while True:
            readable, writable, _ = select.select([raw], [raw], [], PATIENCE_S)
            if not readable and not writable:
                return False
            if readable and not raw.recv(4096):
                return True
            if writable:
                left = left[raw.send(left) :] or frame
    return True


def test_a_program_over_tcp_answers_exactly_as_over_ipc_and_leaves_nothing() -> None:
    mark = new_mark()
    command = [sys.executable, "-m", "engine.simulators.serve", "tests.engine.sample_simulators:TugOfWar"]
    with ExternalSimulator(command, variables=mark, transport="tcp") as simulator:
        assert simulator.describe() == SPEC
        far, near = simulator.battles(LEFT, RIGHT, SEEDS, {}), TugOfWar().battles(LEFT, RIGHT, SEEDS, {})
        for a, b in zip(far, near, strict=True):
            np.testing.assert_array_equal(a, b)
        assert simulator._held[0]._line.endpoint.startswith("tcp://127.0.0.1:")
    assert none_left(mark)


@pytest.mark.parametrize("key", ["", "guess", "0" * 32, "\u00e4"])
def test_a_stranger_without_the_key_is_refused_and_the_program_takes_its_place_undisturbed(
    starting: Starting, key: str
) -> None:
    with dealer(starting.endpoint) as (stranger, gone):
        stranger.send_multipart(protocol.encode(Hello(key=key)))
        told = protocol.decode(stranger.recv_multipart()).message
        assert isinstance(told, Error)
        assert told.code == "refused"
        assert "tug" not in told.message
        starting.go()
        assert gone.poll(PATIENCE_S * 1000)
        assert not stranger.poll(0)


def test_other_first_messages_of_strangers_are_refused_as_well(starting: Starting) -> None:
    spec = [bytes(frame) for frame in protocol.encode(protocol.Spec(spec=SPEC))]
    for frames in (spec, [b"junk"], [b""], [b"{}", b"x" * 4096], protocol.encode(protocol.Ping(id=3))):
        with dealer(starting.endpoint) as (stranger, gone):
            stranger.send_multipart(frames)
            told = protocol.decode(stranger.recv_multipart()).message
            assert isinstance(told, Error)
            assert told.code == "refused"
            assert gone.poll(PATIENCE_S * 1000)
    starting.go()


def test_nobody_can_dial_any_more_once_the_program_is_there(starting: Starting) -> None:
    starting.go()
    with dealer(starting.endpoint) as (stranger, gone):
        stranger.send_multipart(protocol.encode(Hello(key="guess")))
        assert gone.poll(PATIENCE_S * 1000)
        assert not stranger.poll(0)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(starting.address)
    starting.go()


def test_raw_connections_that_say_nothing_or_nonsense_are_closed_once_the_program_is_there(starting: Starting) -> None:
    with contextlib.ExitStack() as stack:
        raws = [stack.enter_context(socket.create_connection(starting.address)) for _ in range(4)]
        raws[1].sendall(b"GET / HTTP/1.1\r\nHost: engine\r\n\r\n" * 20)
        raws[2].sendall(b"\xff" + bytes(8) + b"\x7f\x03")
        begin_zmtp(raws[3])
        starting.go()
        assert all(closed(raw) for raw in raws)


def test_a_stranger_who_sends_without_end_is_cut_off_before_the_program_comes(starting: Starting) -> None:
    with socket.create_connection(starting.address) as raw:
        begin_zmtp(raw)
        assert cut_off_while_sending(raw)
    starting.go()


def test_a_crowd_that_never_hangs_up_does_not_keep_the_program_out(
    starting: Starting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(port_line, "STRANGERS", 2 * port_line.OLDEST)
    with contextlib.ExitStack() as stack:
        crowd = [stack.enter_context(socket.create_connection(starting.address)) for _ in range(200)]
        for raw in crowd[1::2]:
            with contextlib.suppress(OSError):  # cut already
                raw.sendall(GREETING)
        starting.go()
        assert all(closed(raw) for raw in crowd)


def test_a_crowd_with_wrong_keys_does_not_cut_off_a_program_that_dialled_before_it(tmp_path: Path) -> None:
    go = tmp_path / "go"
    simulator = program("dials_first", go)
    starting = threading.Thread(target=simulator.start)
    starting.start()
    try:
        while not go.exists():
            time.sleep(0.01)
        with zmq.Context() as context, contextlib.ExitStack() as stack:
            crowd = [stack.enter_context(context.socket(zmq.DEALER)) for _ in range(200)]
            for stranger in crowd:
                stranger.linger = 0
                stranger.connect(simulator._held[0]._line.endpoint)
                stranger.send_multipart(protocol.encode(Hello(key="guess")))
            until = time.monotonic() + PATIENCE_S
            while simulator._held[0]._line.refused < len(crowd) and time.monotonic() < until:
                time.sleep(0.01)
            go.unlink()
            starting.join()
        assert simulator.describe() == SPEC
        assert simulator.starts == 1
    finally:
        go.unlink(missing_ok=True)
        starting.join()
        simulator.close()


def test_strangers_who_come_talk_and_go_all_the_time_neither_end_the_program_nor_reach_it(starting: Starting) -> None:
    over, much = threading.Event(), zmtp_frame(b"x" * 20, 0) * 200

    def come_and_go() -> None:
        while not over.is_set():
            with contextlib.suppress(OSError), socket.create_connection(starting.address, 1.0) as raw:
                begin_zmtp(raw)
                raw.sendall(much)

    strangers = [threading.Thread(target=come_and_go, daemon=True) for _ in range(4)]
    for stranger in strangers:
        stranger.start()
    try:
        for _ in range(5):
            starting.go()
        line = starting.simulator._held[0]._line
        assert isinstance(line, PortLine)
        assert len(line._callers) == 1
    finally:
        over.set()
        for stranger in strangers:
            stranger.join(PATIENCE_S)


@pytest.mark.parametrize("transport", ["ipc", "tcp"])
def test_a_frame_that_is_too_large_is_told_from_a_program_that_hung_up(transport: Transport, tmp_path: Path) -> None:
    line: ProgramLine = PortLine() if transport == "tcp" else PathLine(tmp_path)
    address = line.endpoint.removeprefix("tcp://127.0.0.1:").removeprefix("ipc://")
    try:
        for send, told in ((socket.socket.close, False), (send_huge, True)):
            raw = socket.socket(socket.AF_UNIX if transport == "ipc" else socket.AF_INET)
            with raw:
                raw.connect(address if transport == "ipc" else ("127.0.0.1", int(address)))
                speaking = threading.Thread(target=begin_zmtp, args=(raw,), daemon=True)
                speaking.start()
                while speaking.is_alive():
                    line.look()
                line.look()
                line.unheard = False
                send(raw)
                until = time.monotonic() + PATIENCE_S
                while not line.unheard and time.monotonic() < until:
                    line.look()
                assert (line.unheard, line.oversized) == (True, told)
    finally:
        line.close()


def test_a_first_message_that_is_too_large_is_told_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    late_once(monkeypatch, "unheard")
    with pytest.raises(SimulatorError, match=r"larger than 64 KiB, which is not read; it may be of another program"):
        program("huge_beginning").describe()


def test_a_program_that_dials_a_second_time_with_its_key_is_heard_on_the_first_line_only(tmp_path: Path) -> None:
    with program("twice", tmp_path / "go") as simulator:
        assert len(simulator.battles(LEFT[:8], RIGHT[:8], SEEDS[:8], {}).status) == 8
    assert (tmp_path / "go").read_text() == "closed"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "guesser",
            "ended by itself with exit code 1; 1 message came without the key of EQUIPOISE_KEY and got an ERROR",
        ),
        ("hang_up", "broke its connection"),
        ("crash", "was killed by SIGABRT"),
        ("wrong_version", "speaks versions [7, 9] of equipoise-sim and this engine speaks [1]"),
    ],
)
def test_what_goes_wrong_over_tcp_is_named_and_leaves_nothing(name: str, said: str) -> None:
    mark = new_mark()
    with pytest.raises(SimulatorError) as caught:
        program(name, mark=mark).battles(LEFT[:8], RIGHT[:8], SEEDS[:8], {})
    assert said in str(caught.value)
    assert none_left(mark)


def test_a_game_that_is_played_move_by_move_is_the_same_over_tcp() -> None:
    command = f"{sys.executable} -m tests.engine.frozen_lake"
    seeds, moves = np.arange(4, dtype=np.uint64), [np.array([1, 0, 1, 0], np.int64)]
    told = []
    for kind in ("command", "command+tcp"):
        game: VectorMDP = load_game(f"{kind}:{command}", 4)
        with contextlib.closing(game):  # type: ignore[type-var]  # a program has close()
            steps = [game.reset(seeds), *(game.step(moves) for _ in range(5))]
            told.append([np.array(array) for step in steps for array in step.observations[0].values()])
    for over_ipc, over_tcp in zip(*told, strict=True):
        np.testing.assert_array_equal(over_ipc, over_tcp)


@pytest.mark.parametrize("arguments", [["--transport", "tcp", "python:"], ["python+tcp:"]])
def test_the_check_can_be_asked_to_use_tcp(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    *options, kind = arguments
    assert main_check([*options, f"{kind}tests.engine.sample_simulators:TugOfWar", "--battles", "8"]) == 0
    assert "ends " in capsys.readouterr().out


def test_a_reference_says_which_transport_its_program_dials() -> None:
    assert loaders.describe_reference("command+tcp:game --fast").transport == "tcp"
    assert loaders.describe_reference("command:game --fast").transport == "ipc"
    assert loaders.dialling("command:game --fast", "tcp") == "command+tcp:game --fast"
    assert loaders.dialling("python+tcp:a.b:c", "ipc") == "python:a.b:c"
    for wrong in ("builtin+tcp:herobattle", "command+udp:game", "command+:game"):
        with pytest.raises(ConfigError, match="behind"):
            loaders.describe_reference(wrong)
    with pytest.raises(ConfigError, match="dials nothing"):
        loaders.dialling("builtin:herobattle", "tcp")
