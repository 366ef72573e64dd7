"""One running simulator: its process, the socket it dialled, and every way it can misbehave turned into a sentence.

The engine binds a ROUTER on a path in a private directory; the program is started with the path and a random key in
its environment and must echo the key. Every wait has a deadline; memory is bounded (few queued messages, a largest
frame, and a stop when this process swells while it waits). After the first failure the program and everything it
started is gone and the connection is of no more use.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import msgspec
import zmq
from zmq.utils.monitor import recv_monitor_message

import engine
from engine.errors import Cancelled, SimulatorError
from engine.mdp.checks import game_problems
from engine.mdp.interface import MDPSpec
from engine.simulators import checks, protocol
from engine.simulators.contract import GameSpec
from engine.simulators.process import LeashedProcess, Tail
from engine.simulators.protocol import Arrays, Bye, Cancel, Decoded, Error, Game, Hello, Ping, Pong, Spec

TICK_MS = 50
SWELL_BYTES = 2**30
MAX_STRAYS = 256
_TROUBLE = zmq.EVENT_DISCONNECTED | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL


class OtherGame(SimulatorError):
    """The program's game is played move by move and not as battles of lineups, or the reverse."""


class Limits(msgspec.Struct, frozen=True):
    """How long a simulator may take, in seconds: to introduce itself, for one message of battles, without a sign of
    life while it plays (simulators that promise heartbeats), to obey CANCEL, and to end after BYE."""

    handshake_s: float = 30.0
    request_s: float = 60.0
    silence_s: float = 30.0
    ping_every_s: float = 5.0
    cancel_s: float = 5.0
    bye_s: float = 2.0


class _Wait:
    """One wait for a message: until when, for what, who may stop it, and what was seen meanwhile."""

    def __init__(self, until: float, missing: str, stopped: Callable[[], bool]) -> None:
        self.until, self.missing, self.stopped = until, missing, stopped
        self.heard = self.pinged = time.monotonic()
        self.resident = _resident_bytes()
        self.strays = 0


_HELLO = (
    f": it has to dial the address it is given in {protocol.ENDPOINT_VARIABLE} and speak first "
    "(engine/README.md, The simulator protocol, on one page)"
)


class Connection:
    """Starts the program on construction; ``handshake`` next, then ``request`` as often as wanted, then ``close``."""

    def __init__(self, label: str, command: Sequence[str], limits: Limits, variables: Mapping[str, str]) -> None:
        self.label, self._limits = label, limits
        self.capabilities: frozenset[str] = frozenset()
        self.max_batch, self.pid = 0, 0
        self.alive = True
        self._peer = b""
        self._ended = False
        self._key = secrets.token_hex(16)
        self._dir = Path(tempfile.mkdtemp(prefix="equipoise-sim-"))
        endpoint = f"ipc://{self._dir}/line"
        self._context = zmq.Context(io_threads=1)
        self._listen(endpoint)
        try:
            argv = [part.replace("{endpoint}", endpoint) for part in command]
            self._process = LeashedProcess(argv, {**variables, **self._given(endpoint)}, self._dir, Tail)
        except BaseException:
            self._close_sockets()
            with contextlib.suppress(OSError):
                (self._dir / "line").unlink(missing_ok=True)
                self._dir.rmdir()
            raise

    def _listen(self, endpoint: str) -> None:
        self._socket = self._context.socket(zmq.ROUTER)
        for option, value in (
            (zmq.RCVHWM, 4), (zmq.SNDHWM, 64), (zmq.MAXMSGSIZE, protocol.MAX_FRAME_BYTES), (zmq.LINGER, 0),
            (zmq.ROUTER_MANDATORY, 1), (zmq.HANDSHAKE_IVL, 5000),
        ):  # fmt: skip
            self._socket.setsockopt(option, value)
        self._monitor = self._socket.get_monitor_socket(_TROUBLE)
        self._socket.bind(endpoint)
        self._poller = zmq.Poller()
        self._poller.register(self._socket, zmq.POLLIN)
        self._poller.register(self._monitor, zmq.POLLIN)

    def _given(self, endpoint: str) -> dict[str, str]:
        """What the program is told through its environment: where to dial, its key, a folder for temporary files that
        is removed after its end; Python programs also find the engine."""
        home = str(Path(engine.__file__).parents[1])
        search = [home, *(p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p)]
        return {
            protocol.ENDPOINT_VARIABLE: endpoint,
            protocol.KEY_VARIABLE: self._key,
            "PYTHONPATH": os.pathsep.join(search),
            "PYTHONUNBUFFERED": "1",
            "TMPDIR": str(self._dir),
        }

    def handshake(self) -> GameSpec:
        """HELLO both ways, then SPEC. Raises SimulatorError (permanent where starting again cannot help)."""
        described = self._introduction("SPEC")
        if not isinstance(described, Spec):
            self._fail_to_describe(described, Game, "SPEC")
        self._check_description(checks.spec_problems(described.spec))
        return described.spec

    def handshake_game(self) -> MDPSpec:
        """HELLO both ways, then GAME. Raises SimulatorError as ``handshake`` does."""
        described = self._introduction("GAME")
        if not isinstance(described, Game):
            self._fail_to_describe(described, Spec, "GAME")
        self._check_description(game_problems(described.spec))
        return described.spec

    def _fail_to_describe(self, said: protocol.AnyMessage, other: type[Spec | Game], wanted: str) -> NoReturn:
        """It introduced itself with something else; ``other``: the description of a game of the other sort."""
        kind = OtherGame if isinstance(said, other) else SimulatorError
        self._fail(f"answered HELLO with {protocol.type_name(said)} instead of {wanted}", permanent=True, kind=kind)

    def _check_description(self, problems: Sequence[str]) -> None:
        if problems:
            more = f" (and {len(problems) - 5} more)" if len(problems) > 5 else ""
            self._fail("describes a game that cannot be: " + "; ".join(problems[:5]) + more, permanent=True)

    def _introduction(self, wanted: str) -> protocol.AnyMessage:
        until = time.monotonic() + self._limits.handshake_s
        message = self._next(
            _Wait(until, f"did not say HELLO within {self._limits.handshake_s:g} s{_HELLO}", _never)
        ).message
        if not isinstance(message, Hello):
            self._fail(f"began with {protocol.type_name(message)} instead of HELLO", permanent=True)
        self._welcome(message)
        described = self._next(_Wait(until, f"did not send its {wanted}", _never)).message
        if isinstance(described, Error):
            self._fail(f"cannot begin: {described.message.rstrip('.')}", permanent=described.permanent)
        return described

    def _welcome(self, hello: Hello) -> None:
        if hello.protocol != protocol.PROTOCOL:
            self._refuse(f"speaks {hello.protocol!r}, not {protocol.PROTOCOL!r}")
        if not secrets.compare_digest(hello.key.encode(), self._key.encode()):
            self._refuse(f"did not repeat the key it was given in {protocol.KEY_VARIABLE}")
        common = set(hello.versions) & set(protocol.VERSIONS)
        if not common:
            spoken, ours = list(hello.versions), list(protocol.VERSIONS)
            self._refuse(f"speaks versions {spoken} of {protocol.PROTOCOL} and this engine speaks {ours}")
        self.capabilities = frozenset(hello.capabilities)
        self.max_batch, self.pid = max(hello.max_batch, 0), hello.pid or self._process.leash_pid
        self.send(Hello(versions=(max(common),), capabilities=tuple(sorted(self.capabilities))))

    def _refuse(self, why: str) -> NoReturn:
        with contextlib.suppress(zmq.ZMQError):
            refusal = Error(code="refused", message=f"the program {why}", permanent=True)
            self._socket.send_multipart([self._peer, *protocol.encode(refusal)], zmq.DONTWAIT)
        self._fail(why, permanent=True)

    def send(self, message: protocol.AnyMessage, arrays: Arrays | None = None) -> None:
        """Send one message. Raises SimulatorError when the program is gone or does not read any more."""
        try:
            self._socket.send_multipart([self._peer, *protocol.encode(message, arrays)], zmq.DONTWAIT)
        except zmq.ZMQError as error:
            if self._process.wait(0.5):
                self._fail(self._process.exit_text())
            self._fail(f"does not read its messages any more ({error})")

    def request(self, message: protocol.Request, arrays: Arrays, stopped: Callable[[], bool]) -> Decoded:
        """Send a request and wait for its answer; ``stopped`` is asked about 20 times a second.

        Raises SimulatorError when the answer is ERROR or does not come in time, Cancelled once ``stopped`` said so
        (the program has then obeyed CANCEL, or is gone).
        """
        self.send(message, arrays)
        count = len(next(iter(arrays.values())))
        doing = f"{protocol.type_name(message)} of {count:,} battle{'s' if count != 1 else ''}"
        until = time.monotonic() + message.deadline_ms / 1000
        try:
            wait = _Wait(until, f"did not answer {doing} within {message.deadline_ms / 1000:g} s", stopped)
            decoded = self._answer(message.id, wait)
        except Cancelled:
            self._cancel(message.id)
            raise
        if isinstance(decoded.message, Error):
            error = decoded.message
            raise SimulatorError(f"{self.label} could not play {doing}: {error.message}", permanent=error.permanent)
        return decoded

    def _cancel(self, request: int) -> None:
        until = time.monotonic() + self._limits.cancel_s
        with contextlib.suppress(SimulatorError):
            self.send(Cancel(id=request))
            self._answer(request, _Wait(until, "did not obey CANCEL", _never))

    def _answer(self, request: int, wait: _Wait) -> Decoded:
        while True:
            decoded = self._next(wait)
            message = decoded.message
            if isinstance(message, Error) and message.id == 0:
                self._fail(f"gave up: {message.message}", permanent=message.permanent)
            if getattr(message, "id", 0) == request:
                return decoded
            self._stray(wait, protocol.type_name(message))

    def _stray(self, wait: _Wait, what: str) -> None:
        """Late answers to cancelled requests are normal; a stream of messages nobody asked for is a flood."""
        wait.strays += 1
        if wait.strays > MAX_STRAYS:
            self._fail(f"floods the engine: {wait.strays} messages that nobody asked for ({what})")

    def _next(self, wait: _Wait) -> Decoded:
        """The next message that is not about keeping the line alive."""
        while True:
            events = dict(self._poller.poll(TICK_MS))
            if self._socket in events:
                decoded = self._receive(wait)
                wait.heard = time.monotonic()
                if decoded is not None:
                    return decoded
            elif self._monitor in events:
                self._lost_line()
            else:
                self._check_process()
            self._check_wait(wait)

    def _receive(self, wait: _Wait) -> Decoded | None:
        first, *rest = self._socket.recv_multipart(copy=False)
        identity, frames = first.bytes, [frame.buffer for frame in rest]
        self._peer = self._peer or identity
        if identity != self._peer:
            self._stray(wait, "from a second connection")
            return None
        try:
            decoded = protocol.decode(frames)
        except SimulatorError as error:
            self._fail(f"sent a message that cannot be read: {error}")
        if isinstance(decoded.message, Ping):
            self.send(Pong(id=decoded.message.id))
        if isinstance(decoded.message, Ping | Pong):
            self._stray(wait, protocol.type_name(decoded.message))
            return None
        if isinstance(decoded.message, Bye):
            self._fail("said BYE in the middle of its work")
        return decoded

    def _check_wait(self, wait: _Wait) -> None:
        now = time.monotonic()
        if wait.stopped():
            raise Cancelled(f"{self.label} was asked to stop")
        if now > wait.until:
            self._fail(wait.missing)
        if "heartbeat" in self.capabilities and self._peer:
            if now - wait.pinged > self._limits.ping_every_s:
                wait.pinged = now
                wait.strays -= 1
                self.send(Ping())
            if now - wait.heard > self._limits.silence_s:
                self._fail(f"gave no sign of life for {self._limits.silence_s:g} s")
        if _resident_bytes() - wait.resident > SWELL_BYTES:
            self._fail(f"floods the engine: more than {SWELL_BYTES >> 20} MiB arrived while it waited for an answer")

    def _check_process(self) -> None:
        if self._process.exit_code() is None:
            return
        if self._ended:
            self._fail(self._process.exit_text())
        self._ended = True  # one more round: its last words may still be on the way

    def _lost_line(self) -> None:
        """The monitor saw the line break: name the reason as exactly as can be known."""
        event = recv_monitor_message(self._monitor)["event"]
        if self._process.wait(0.5):
            self._fail(self._process.exit_text())
        if event != zmq.EVENT_DISCONNECTED:
            self._fail(f"wrote something that is not ZeroMQ to the line of {protocol.PROTOCOL}")
        most = protocol.MAX_FRAME_BYTES >> 20
        self._fail(f"broke its connection (this also happens when a frame is larger than {most} MiB)")

    def reject(self, what: str) -> NoReturn:
        """End a program whose answer, though readable, cannot be used; raises SimulatorError."""
        self._fail(what)

    def _fail(self, what: str, *, permanent: bool = False, kind: type[SimulatorError] = SimulatorError) -> NoReturn:
        self.kill()
        printed = self._process.output.text(0.5)
        last = f" It printed last: {printed[-1200:]}" if printed else ""
        raise kind(f"{self.label} {what}.{last}", permanent=permanent)

    def close(self) -> None:
        """Say BYE, give the program a moment to end by itself, then make sure that it is gone."""
        if self.alive and self._peer:
            with contextlib.suppress(zmq.ZMQError):
                self._socket.send_multipart([self._peer, *protocol.encode(Bye())], zmq.DONTWAIT)
                self._process.wait(self._limits.bye_s)
        self.kill()

    def kill(self) -> None:
        """End the program and everything it started, now. Safe to call twice."""
        if self.alive:
            self.alive = False
            self._process.kill()
            self._close_sockets()

    def _close_sockets(self) -> None:
        self._socket.disable_monitor()
        self._monitor.close(0)
        self._socket.close(0)
        self._context.term()


def _never() -> bool:
    return False


def _resident_bytes() -> int:
    with open("/proc/self/statm", "rb") as statm:
        return int(statm.read().split()[1]) * _PAGE


_PAGE = os.sysconf("SC_PAGE_SIZE")
