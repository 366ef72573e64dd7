"""The engine's end of the line that a program dials, over ``ipc``: a path in a folder that only this user may enter, so
only the program can connect. ``engine.simulators.port_line`` is the same over TCP."""

from __future__ import annotations

import contextlib
import os
import socket
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Literal, NamedTuple

import zmq
from zmq.utils.monitor import recv_monitor_message

from engine.simulators import protocol

Transport = Literal["ipc", "tcp"]
STRANGERS_BYTES = 64 * 1024
_EVENTS = (
    zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED | zmq.EVENT_HANDSHAKE_SUCCEEDED
    | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
)  # fmt: skip


class Letter(NamedTuple):
    """One received message: the sender's routing id, the descriptor of its connection (-1: unknown, with libraries that
    speak ZMTP 2 or older), and the frames."""

    sender: bytes
    descriptor: int
    frames: list[memoryview]


class ProgramLine(ABC):
    """What a program dials. ``peer``: the sender that is admitted; ``refused``: messages of others; ``crowded``: how
    many connections were cut because there were too many; ``dialled``, ``spoke``: whether anybody connected, and by
    ZeroMQ; ``unheard``: whether a connection ended before anybody was admitted; ``oversized``: whether one was ended on
    this side, for a message larger than what is read; ``lost``: whether the program's has ended."""

    endpoint: str

    def __init__(self) -> None:
        self.peer = b""
        self.refused = self.crowded = 0
        self.dialled = self.spoke = self.lost = self.unheard = self.oversized = False
        self.trouble = ""

    @abstractmethod
    def receive(self, timeout_ms: int) -> Letter | None:
        """The next message from any sender; None if none arrived in time."""

    @abstractmethod
    def admit(self, letter: Letter) -> None:
        """Accept the sender of this letter as the program; from now on all others are ignored."""

    @abstractmethod
    def dismiss(self, letter: Letter) -> None:
        """Listen no more to the sender of this letter."""

    @abstractmethod
    def send(self, message: protocol.AnyMessage, arrays: protocol.Arrays | None = None, *, to: bytes = b"") -> None:
        """Send to the program, or ``to`` another sender. Raises zmq.ZMQError if nobody is connected or reads."""

    @abstractmethod
    def look(self) -> None:
        """Update what is known of connections since the last look."""

    @abstractmethod
    def close(self) -> None:
        """Close every socket."""


class _Connection(NamedTuple):
    """``number`` counts connections, because descriptors are reused; ``twin`` is a second handle of the socket, None
    where its descriptor was closed before anybody looked."""

    number: int
    twin: socket.socket | None


class PathLine(ProgramLine):
    """A ROUTER that is bound to the path ``line`` in ``folder``. One thread uses it."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._context = zmq.Context(io_threads=1)
        self._socket = self._context.socket(zmq.ROUTER)
        for option, value in (
            (zmq.RCVHWM, 4), (zmq.SNDHWM, 64), (zmq.MAXMSGSIZE, protocol.MAX_FRAME_BYTES), (zmq.LINGER, 0),
            (zmq.ROUTER_MANDATORY, 1), (zmq.HANDSHAKE_IVL, 0),
        ):  # fmt: skip
            self._socket.setsockopt(option, value)
        self._monitor = self._watched()
        self._socket.bind(f"ipc://{folder}/line")
        self.endpoint = self._socket.getsockopt_string(zmq.LAST_ENDPOINT).rstrip("\0")
        self._peer_number = self._numbers = 0
        self._open: dict[int, _Connection] = {}

    def _watched(self) -> zmq.Socket[bytes]:
        """What tells of connections. Without a bound: ZeroMQ would wait for room, and nothing could end it, where a
        program connects and hangs up all the time."""
        address = "inproc://connections"
        self._socket.monitor(address, _EVENTS)
        monitor = self._context.socket(zmq.PAIR)
        monitor.setsockopt(zmq.RCVHWM, 0)
        monitor.connect(address)
        return monitor

    def receive(self, timeout_ms: int) -> Letter | None:
        """As ``ProgramLine.receive``."""
        if not self._socket.poll(timeout_ms):
            return None
        first, *rest = self._socket.recv_multipart(copy=False)
        descriptor = -1
        with contextlib.suppress(zmq.ZMQError):
            descriptor = int(first.get(zmq.SRCFD))
        return Letter(first.bytes, descriptor, [frame.buffer for frame in rest])

    def admit(self, letter: Letter) -> None:
        """As ``ProgramLine.admit``."""
        self.look()
        self.peer, self.oversized = letter.sender, False
        found = self._open.get(letter.descriptor)
        self._peer_number = found.number if found else 0
        self.lost = found is None and (letter.descriptor >= 0 or not self._open)

    def dismiss(self, letter: Letter) -> None:
        """As ``ProgramLine.dismiss``: the program is about to end, and nobody else can connect."""

    def send(self, message: protocol.AnyMessage, arrays: protocol.Arrays | None = None, *, to: bytes = b"") -> None:
        """As ``ProgramLine.send``."""
        self._socket.send_multipart([to or self.peer, *protocol.encode(message, arrays)], zmq.DONTWAIT)

    def look(self) -> None:
        """As ``ProgramLine.look``."""
        while not self._socket.closed and self._monitor.poll(0):
            seen = recv_monitor_message(self._monitor)
            self._note(seen["event"], int(seen["value"]))

    def _note(self, event: int, value: int) -> None:
        if event == zmq.EVENT_ACCEPTED:
            self.dialled = True
            self._numbers += 1
            self._open[value] = _Connection(self._numbers, self._twin(value))
        elif event == zmq.EVENT_HANDSHAKE_SUCCEEDED:
            self.spoke = True
        elif event == zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL:
            self.trouble = f"wrote something that is not ZeroMQ to the line of {protocol.PROTOCOL}"
        elif event == zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL:
            self.trouble = "connected and hung up before it spoke ZeroMQ"
        else:
            self._gone(value)

    def _gone(self, descriptor: int) -> None:
        left = self._open.pop(descriptor, None)
        if left is None:
            return
        self.unheard |= not self.peer
        if left.twin is not None:
            may_send = not self.peer or left.number == self._peer_number
            self.oversized |= may_send and _ended_here(left.twin)
            left.twin.close()
        if left.number == self._peer_number or (not self._open and not self._peer_number):
            self.lost = True

    def _twin(self, descriptor: int) -> socket.socket | None:
        """A second handle of this connection, because its descriptor may be reused once it is closed."""
        with contextlib.suppress(OSError):
            twin = socket.socket(fileno=os.dup(descriptor))
            with contextlib.suppress(OSError):
                if f"ipc://{twin.getsockname()}" == self.endpoint:
                    return twin
            twin.close()
        return None

    def close(self) -> None:
        """As ``ProgramLine.close``."""
        self._socket.disable_monitor()
        self._monitor.close(0)
        self._socket.close(0)
        for connection in self._open.values():
            if connection.twin is not None:
                connection.twin.close()
        self._open.clear()
        self._context.term()


def _ended_here(twin: socket.socket) -> bool:
    """Whether ZeroMQ has ended the connection on this side: the other side has not hung up, or what it sent before was
    not read. After the handshake it does so for nothing but a frame that is too large."""
    try:
        return bool(twin.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
    except BlockingIOError:
        return True
    except OSError:
        return False
