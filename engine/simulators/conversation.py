"""The conversation with one running simulator: its process, its line, and every deadline.

The engine binds a line (``engine.simulators.line``); the program is started with its address and a random key in its
environment and must echo the key. Every wait has a deadline, which leaves out when the program waited for a processor;
memory is bounded (few queued messages, a largest frame, and a stop when this process grows while it waits). The first
failure ends the program and everything it started, and the conversation cannot be used any more.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn, TypeVar

import msgspec
import zmq

import engine
from engine.errors import Cancelled, SimulatorError
from engine.processor_waits import ProcessorWaits
from engine.simulators import protocol
from engine.simulators.line import STRANGERS_BYTES, Letter, PathLine, ProgramLine, Transport
from engine.simulators.port_line import STRANGERS, PortLine
from engine.simulators.process import ReapedProcess, Tail
from engine.simulators.protocol import Arrays, Bye, Ping
from engine.text import printable

TICK_MS = 50
SWELL_BYTES = 2**28
"""How much this process may grow while it waits for one answer: three frames of the largest size, and as much again."""
MAX_STRAYS = 256
REPORTED_AFTER_S = 1.0
LOOK_S = 1.0
"""Between two looks whether the program waits for a processor."""
ENDING_S = 3.0
"""How long a program whose line broke may take to end: how it ended says more than that its line broke."""
PRINTED = 1200
"""Characters of a program's last output in the message of a failure."""
PAGE = "engine/PROTOCOL.md"
CROWDED = (
    f"more than {STRANGERS} connections dialled its port, which every user of this machine can do, and some were cut"
)
Watch = Callable[[str, float], None]
"""Called when a wait has lasted ``REPORTED_AFTER_S``, with its purpose and the seconds left, and with "" and 0.0 when
it is over."""
T = TypeVar("T")


class NoConversation(SimulatorError):
    """The program does not answer in time, or sends unrequested answers; further requests would fail in the same
    way."""


class SimulatorLimits(msgspec.Struct, frozen=True):
    """Time limits of a simulator in seconds: for the handshake (from its start to its SPEC or GAME), for one message of
    battles, without a sign of life while it plays (simulators that promise heartbeats), to obey CANCEL, and to end
    after BYE."""

    handshake_s: float = 30.0
    request_s: float = 60.0
    silence_s: float = 30.0
    ping_every_s: float = 5.0
    cancel_s: float = 1.0
    bye_s: float = 2.0


class Wait:
    """One wait for a message: its start and deadline, its purpose, its stop condition, and what was seen meanwhile.
    ``missing``: what to say about the program if the message does not come; ``forgives``: a program on a busy machine
    has longer."""

    def __init__(
        self, seconds: float, awaited: str, missing: str, stopped: Callable[[], bool], *, forgives: bool = True
    ) -> None:
        self.seconds, self.awaited, self.missing, self.stopped = seconds, awaited, missing, stopped
        self.forgives = forgives
        self.began = self.heard = self.pinged = self.looked = time.monotonic()
        self.until = self.began + seconds
        self.resident = _resident_bytes()
        self.strays = 0
        self.reported = False


class Conversation:
    """Starts the program on construction; ends with ``close`` or the first failure."""

    def __init__(
        self,
        label: str,
        command: Sequence[str],
        limits: SimulatorLimits,
        variables: Mapping[str, str],
        *,
        transport: Transport = "ipc",
        watch: Watch | None = None,
    ) -> None:
        self.label, self._limits, self._watch = label, limits, watch
        self.capabilities: frozenset[str] = frozenset()
        self.max_batch, self.pid = 0, 0
        self.alive = True
        self._ended = False
        self._key = secrets.token_hex(16)
        self._dir = Path(tempfile.mkdtemp(prefix="equipoise-sim-"))
        self.transport: Transport = transport
        self._line: ProgramLine = PortLine() if transport == "tcp" else PathLine(self._dir)
        try:
            argv = [part.replace("{endpoint}", self._line.endpoint) for part in command]
            self._process = ReapedProcess(argv, {**variables, **self._given()}, self._dir, Tail)
            self._waits = ProcessorWaits(self._process.reaper_pid, below=True)
        except BaseException:
            self._line.close()
            with contextlib.suppress(OSError):
                (self._dir / "line").unlink(missing_ok=True)
                self._dir.rmdir()
            raise

    def _given(self) -> dict[str, str]:
        """The program's environment: the address to dial, its key, a folder for temporary files that is removed after
        its end; for Python programs also the path of the engine."""
        home = str(Path(engine.__file__).parents[1])
        search = [home, *(p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p)]
        return {
            protocol.ENDPOINT_VARIABLE: self._line.endpoint,
            protocol.KEY_VARIABLE: self._key,
            "PYTHONPATH": os.pathsep.join(search),
            "PYTHONUNBUFFERED": "1",
            "TMPDIR": str(self._dir),
        }

    def send(self, message: protocol.AnyMessage, arrays: Arrays | None = None) -> None:
        """Send one message. Raises SimulatorError when the program is gone or does not read."""
        try:
            self._line.send(message, arrays)
        except zmq.ZMQError as error:
            if self._process.wait(ENDING_S):
                self._fail(self._process.exit_text())
            self._fail(f"does not read its messages any more ({error})")

    def _stray(self, wait: Wait, what: str) -> None:
        """Count an unrequested message: a few are harmless, a stream of them is a flood."""
        wait.strays += 1
        if wait.strays > MAX_STRAYS:
            self._fail(f"floods the engine: {wait.strays} messages that nobody asked for ({what})")

    def _next(self, wait: Wait, take: Callable[[Letter, Wait], T | None]) -> T:
        """The first result of ``take`` on arriving letters that is not None."""
        while True:
            letter = self._line.receive(TICK_MS)
            if letter is None:
                self._check_line()
            elif self._line.peer and letter.sender != self._line.peer:
                self._stray(wait, "from a second connection")
            else:
                wait.heard = time.monotonic()
                taken = take(letter, wait)
                if taken is not None:
                    if self._watch is not None and wait.reported:
                        wait.reported = False
                        self._watch("", 0.0)
                    return taken
            self._check_wait(wait)

    def _check_wait(self, wait: Wait) -> None:
        now = time.monotonic()
        if wait.stopped():
            raise Cancelled(f"{self.label} was asked to stop")
        if wait.forgives and now - wait.looked > LOOK_S:
            waited, wait.looked = min(now - wait.looked, self._waits.since()), now
            wait.until, wait.heard = wait.until + waited, min(now, wait.heard + waited)
        if now > wait.until:
            self._fail(self._missing(wait), kind=NoConversation)
        if self._watch is not None and not wait.reported and now - wait.began > REPORTED_AFTER_S:
            wait.reported = True
            self._watch(wait.awaited, wait.until - now)
        if "heartbeat" in self.capabilities and self._line.peer:
            if now - wait.pinged > self._limits.ping_every_s:
                wait.pinged = now
                wait.strays -= 1
                self.send(Ping())
            if now - wait.heard > self._limits.silence_s:
                self._fail(f"gave no sign of life for {self._limits.silence_s:g} s", kind=NoConversation)
        if _resident_bytes() - wait.resident > SWELL_BYTES:
            self._fail(f"floods the engine: more than {SWELL_BYTES >> 20} MiB arrived while it waited for an answer")

    def _missing(self, wait: Wait) -> str:
        """A sentence about what did not arrive in time."""
        said = f"{wait.missing} within {wait.seconds:g} s"
        if self._line.peer:
            return said
        if not self._line.dialled:
            why = f"it never dialled the address it is given in {protocol.ENDPOINT_VARIABLE}"
        elif not self._line.spoke:
            why = f"it connected and did not speak ZeroMQ; dial {protocol.ENDPOINT_VARIABLE} with a DEALER socket"
        elif self._line.unheard:
            hung_up = "" if self._line.oversized else "it connected by ZeroMQ and hung up, or "
            large = f"a first message came that is larger than {STRANGERS_BYTES >> 10} KiB, which is not read"
            why = f"{hung_up}{large}; it may be of another program of this machine, as yours has to begin with HELLO"
        else:
            why = "it connected by ZeroMQ and then sent nothing; the program speaks first"
        return f"{said}: {why} ({PAGE}){self._refusals()}"

    def _refusals(self) -> str:
        """A sentence about refused messages, from strangers or from the program without its key."""
        n = self._line.refused
        if self._line.peer:
            return ""
        came = "1 message came" if n == 1 else f"{n} messages came"
        refused = f"; {came} without the key of {protocol.KEY_VARIABLE} and got an ERROR" if n else ""
        return refused + (f"; {CROWDED}" if self._line.crowded else "")

    def _check_line(self) -> None:
        """Called when nothing has arrived: check that the program is still running."""
        self._line.look()
        private = self.transport == "ipc"
        if self._line.lost or (private and self._line.trouble and not self._line.peer):
            self._lost_line()
        if self._process.exit_code() is None:
            return
        if self._ended:
            self._fail(self._process.exit_text() + self._refusals())
        self._ended = True  # one more round: its last messages may still be in flight

    def _lost_line(self) -> NoReturn:
        """Raise the error for a broken line, with the most exact known reason."""
        if self._process.wait(ENDING_S):
            self._fail(self._process.exit_text())
        if self._line.trouble and not self._line.peer:
            self._fail(self._line.trouble)
        if self._line.crowded:
            self._fail(f"lost its connection: {CROWDED}")
        most = protocol.MAX_FRAME_BYTES >> 20
        if self._line.oversized:
            self._fail(f"sent a frame larger than {most} MiB, which is not read")
        self._fail(f"broke its connection (this also happens when a frame is larger than {most} MiB)")

    def reject(self, what: str) -> NoReturn:
        """End a program whose answer is readable but invalid; raises SimulatorError."""
        self._fail(what)

    def _fail(self, what: str, *, permanent: bool = False, kind: type[SimulatorError] = SimulatorError) -> NoReturn:
        self.kill()
        printed = printable(self._process.output.text(0.5), PRINTED, lines=True, last=True)
        last = f" It printed last: {printed}" if printed else ""
        raise kind(f"{self.label} {what}.{last}", permanent=permanent)

    def close(self) -> None:
        """Send BYE, give the program a moment to end by itself, then make sure that it is gone."""
        if self.alive and self._line.peer:
            with contextlib.suppress(zmq.ZMQError):
                self._line.send(Bye())
                self._process.wait(self._limits.bye_s)
        self.kill()

    def kill(self) -> None:
        """End the program and everything it started at once. Safe to call twice. Its line ends first: until the program
        is gone it may still send, and what arrives is kept in memory."""
        if self.alive:
            self.alive = False
            self._line.close()
            self._process.kill()


def never() -> bool:
    """The stop condition of a wait that is never stopped."""
    return False


def _resident_bytes() -> int:
    with open("/proc/self/statm", "rb") as statm:
        return int(statm.read().split()[1]) * _PAGE


_PAGE = os.sysconf("SC_PAGE_SIZE")
