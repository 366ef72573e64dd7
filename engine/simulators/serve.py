"""Serve any Python object with the ``LineupSimulator`` methods, or a game that is played tick by tick, over
``equipoise-sim/1``, in a process of its own.

``python -m engine serve-simulator module:factory --connect ipc:///path`` dials the engine; the key is taken from the
environment. Sockets belong to a second thread, which handles PING and CANCEL while a battle is played. A simulator may
have a thread-safe ``cancel()`` that makes a running ``battles`` raise ``Cancelled``, a ``close()`` that is called at
the end, and ``max_batch``, the largest number of battles in one call.
"""

from __future__ import annotations

import argparse
import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Protocol, cast

import zmq

from engine.errors import EngineError, SimulatorError
from engine.mdp.vector import VectorMDP
from engine.piping import until_nobody_reads
from engine.simulators import entry_points, protocol
from engine.simulators.contract import LineupSimulator
from engine.simulators.protocol import Arrays, Bye, Cancel, Decoded, Error, Hello, Ping, Pong
from engine.simulators.serve_game import Again, GamePlayer
from engine.simulators.serve_lineups import LineupPlayer
from engine.starting import StartSetting

HELLO_WAIT_S = 60.0
HANG_UP_S = 2.0
Answer = tuple[protocol.AnyMessage, Arrays]


class Refused(EngineError):
    """The engine did not accept this simulator; the message says why."""


class Unmade(EngineError):
    """The simulator could not be made; the message says why."""


class _Line:
    """The socket thread: moves messages between the engine and the player's queue."""

    def __init__(self, endpoint: str, hello: Hello, on_cancel: Callable[[], None] | None) -> None:
        self._endpoint, self._hello, self._on_cancel = endpoint, hello, on_cancel
        self.work: queue.SimpleQueue[Decoded | None] = queue.SimpleQueue()
        self.welcome: queue.SimpleQueue[Hello | Refused] = queue.SimpleQueue()
        self._out: queue.SimpleQueue[list[protocol.Buffer]] = queue.SimpleQueue()
        self.cancelled: set[int] = set()
        self.playing = 0
        self._welcomed = False
        self._wake_in, self._wake_out = os.pipe()
        self._thread = threading.Thread(target=self._run, name="equipoise-line", daemon=True)
        self._thread.start()

    def send(self, message: protocol.AnyMessage, arrays: Arrays | None = None) -> None:
        """Queue one message for the engine."""
        self._out.put(protocol.encode(message, arrays))
        os.write(self._wake_out, b".")

    def finish(self) -> None:
        """Send what is queued and close the socket."""
        self._out.put([])
        os.write(self._wake_out, b".")
        self._thread.join(2.0)

    def _run(self) -> None:
        with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
            socket.linger = 1000
            socket.setsockopt(zmq.MAXMSGSIZE, protocol.MAX_FRAME_BYTES)
            gone = socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
            socket.connect(self._endpoint)
            poller = zmq.Poller()
            for readable in (socket, gone, self._wake_in):
                poller.register(readable, zmq.POLLIN)
            hello_until = time.monotonic() + HELLO_WAIT_S
            socket.send_multipart(protocol.encode(self._hello))
            while True:
                ready = dict(poller.poll(1000))
                if self._wake_in in ready and not self._flush(socket):
                    break
                if socket in ready:
                    self._receive(socket.recv_multipart())
                elif gone in ready or (not self._welcomed and time.monotonic() > hello_until):
                    self._hang_up()
                    break
            socket.disable_monitor()
            gone.close(0)

    def _flush(self, socket: zmq.Socket[bytes]) -> bool:
        for _ in os.read(self._wake_in, 4096):
            frames = self._out.get()
            if not frames:
                return False
            socket.send_multipart(frames, copy=False)
        return True

    def _receive(self, frames: list[bytes]) -> None:
        try:
            decoded = protocol.decode(frames)
        except SimulatorError as error:
            self.send(Error(code="bad-request", message=str(error)))
            return
        message = decoded.message
        if isinstance(message, Hello):
            self._welcomed = True
            self.welcome.put(message)
        elif isinstance(message, Ping):
            self.send(Pong(id=message.id))
        elif isinstance(message, Cancel):
            self.cancelled.add(message.id)
            if self._on_cancel and self.playing == message.id:
                self._on_cancel()
        elif isinstance(message, Bye):
            self.work.put(None)
        elif isinstance(message, Error):
            self.welcome.put(Refused(message.message))
        else:
            self.work.put(decoded)

    def _hang_up(self) -> None:
        """Called when the engine is gone: give the player a moment to stop, then exit even in the middle of a
        battle."""
        self.welcome.put(Refused(f"the engine at {self._endpoint} does not answer or has gone away"))
        self.work.put(None)
        if self._on_cancel and self.playing:
            self._on_cancel()
        until = time.monotonic() + HANG_UP_S
        while self.playing and time.monotonic() < until:
            time.sleep(0.05)
        if self.playing:
            os._exit(1)


class Responder(Protocol):
    """Turns one request into one answer; only messages of the types in ``requests`` are requests."""

    requests: tuple[type[protocol.Message], ...]

    def answer(self, decoded: Decoded) -> Answer:
        """The answer; any exception becomes an ERROR message."""
        ...


def serve(
    simulator: LineupSimulator | VectorMDP, endpoint: str, key: str, name: str = "",
    starts: Sequence[StartSetting] = (), again: Again | None = None,
) -> None:  # fmt: skip
    """Dial ``endpoint``, answer the engine's requests, return after its BYE. ``starts``, ``again``: as ``GamePlayer``.

    Raises Refused when the engine does not answer, does not accept the key or version, or goes away.
    """
    player: Responder
    introduction: protocol.Game | protocol.Spec
    if hasattr(simulator, "step"):
        player = GamePlayer(cast("VectorMDP", simulator), starts, again)
        introduction = player.introduction
    else:
        introduction = protocol.Spec(spec=simulator.describe())
        player = LineupPlayer(simulator, introduction.spec)
    on_cancel = getattr(simulator, "cancel", None)
    if on_cancel is not None and isinstance(player, GamePlayer):
        on_cancel = player.cancel
    hello = Hello(
        key=key, name=name or introduction.spec.name, pid=os.getpid(), capabilities=("replay", "cancel", "heartbeat"),
        max_batch=int(getattr(simulator, "max_batch", 0)),
    )  # fmt: skip
    line = _Line(endpoint, hello, on_cancel)
    try:
        welcome = line.welcome.get()
        if isinstance(welcome, Refused):
            raise welcome
        line.send(introduction)
        _play(line, player)
    finally:
        line.finish()
        close = getattr(player.game if isinstance(player, GamePlayer) else simulator, "close", None)
        if close is not None:
            close()


def decline(endpoint: str, key: str, name: str, why: str) -> None:
    """Dial ``endpoint`` only to report why the simulator could not be made."""
    line = _Line(endpoint, Hello(key=key, name=name, pid=os.getpid()), None)
    try:
        if isinstance(line.welcome.get(), Hello):
            line.send(Error(code="failed", message=why, permanent=True))
    finally:
        line.finish()


def _play(line: _Line, player: Responder) -> None:
    while (decoded := line.work.get()) is not None:
        message = decoded.message
        if not isinstance(message, player.requests) or not isinstance(message, protocol.Request):
            line.send(Error(code="bad-request", message=f"{protocol.type_name(message)} is not a request"))
            continue
        if message.id in line.cancelled:
            line.cancelled.discard(message.id)
            line.send(Error(id=message.id, code="cancelled", message="cancelled before it was begun"))
            continue
        line.playing = message.id
        answer, arrays = player.answer(decoded)
        line.playing = 0
        line.send(answer, arrays)


def main_serve(argv: list[str]) -> int:
    """``serve-simulator``: 0 after BYE, 1 with a sentence on standard error otherwise."""
    parser = argparse.ArgumentParser(
        prog="python -m engine serve-simulator", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("entry_point", metavar="module:factory", help="a callable that makes the simulator")
    parser.add_argument("--connect", default=os.environ.get(protocol.ENDPOINT_VARIABLE, ""), help="ipc:// or tcp://")
    options = parser.parse_args(argv)
    if not options.connect:
        parser.error(f"say where the engine listens: --connect, or {protocol.ENDPOINT_VARIABLE}")
    key = os.environ.get(protocol.KEY_VARIABLE, "")
    try:
        point = options.entry_point
        made = _made(point)
        serve(made, options.connect, key, point, entry_points.starts_of(point), partial(_anew, point))
    except Unmade as error:
        if key:  # an engine waits for an answer
            decline(options.connect, key, options.entry_point, str(error))
        else:
            print(error, file=sys.stderr)
        return 1
    except EngineError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _made(entry_point: str) -> LineupSimulator | VectorMDP:
    """The object that the entry point makes. Raises Unmade with one line for its author."""
    try:
        return entry_points.build(entry_point)
    except EngineError as error:
        raise Unmade(str(error)) from error
    except Exception as error:  # the entry of a process: a factory may raise anything
        at = traceback.extract_tb(error.__traceback__)[-1]
        where = "" if at.filename == entry_points.__file__ else f" ({at.filename}, line {at.lineno})"
        raise Unmade(f"{entry_point} raised {type(error).__name__}: {error}{where}") from error


def _anew(entry_point: str, start: Mapping[str, float]) -> VectorMDP:
    """The same game, whose episodes begin as ``start`` says."""
    return cast("VectorMDP", entry_points.build(entry_point, start))


if __name__ == "__main__":
    sys.exit(until_nobody_reads(lambda: main_serve(sys.argv[1:])))
