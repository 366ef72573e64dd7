"""The engine's end of the line that a program dials, and the handling of strangers on it.

``ipc``: a path in a folder that only this user may enter, so only the program can connect. ``tcp``: a free port of
127.0.0.1, for libraries without ``ipc://``. Every user of the machine can connect to that, so the engine sends nothing
before a HELLO with the one-time key. Until then at most ``STRANGERS`` connections are allowed, each of which may send
``STRANGERS_BYTES``; a longer first message is not read. Of more, those of other users are closed first, and neither the
oldest nor the newest: the program may have connected before the crowd or after it. Once the program is admitted all
others are closed, as is each new one.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
from pathlib import Path
from typing import Literal, NamedTuple

import zmq
from zmq.utils.monitor import recv_monitor_message

from engine.simulators import protocol

Transport = Literal["ipc", "tcp"]
STRANGERS, STRANGERS_BYTES = 64, 64 * 1024
GUARD_S = 0.02
_EVENTS = (
    zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED | zmq.EVENT_HANDSHAKE_SUCCEEDED
    | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
)  # fmt: skip
_BYTES_RECEIVED = struct.Struct("<128xQ")
"""``tcpi_bytes_received`` of Linux's ``struct tcp_info``."""


class Letter(NamedTuple):
    """One received message: the sender's routing id, the descriptor of its connection (-1: unknown, with libraries that
    speak ZMTP 2 or older), and the frames."""

    sender: bytes
    descriptor: int
    frames: list[memoryview]


class _Connection(NamedTuple):
    """``number`` counts connections, because descriptors are reused; ``twin`` is a second handle of the socket, None
    where its descriptor was closed before anybody looked."""

    number: int
    twin: socket.socket | None


class Line:
    """A bound ROUTER. One thread uses it; over TCP another one only closes the connections of strangers. ``unheard``:
    whether a connection ended before anybody was admitted; ``oversized``: whether one was ended on this side, for a
    message larger than what is read."""

    def __init__(self, transport: Transport, folder: Path) -> None:
        self.transport: Transport = transport
        self._context = zmq.Context(io_threads=1)
        self._socket = self._context.socket(zmq.ROUTER)
        for option, value in (
            (zmq.RCVHWM, 4), (zmq.SNDHWM, 64), (zmq.MAXMSGSIZE, protocol.MAX_FRAME_BYTES), (zmq.LINGER, 0),
            (zmq.ROUTER_MANDATORY, 1), (zmq.HANDSHAKE_IVL, 0),
        ):  # fmt: skip
            self._socket.setsockopt(option, value)
        self._monitor = self._socket.get_monitor_socket(_EVENTS)
        self._socket.bind(f"ipc://{folder}/line" if transport == "ipc" else "tcp://127.0.0.1:*")
        self.endpoint = self._socket.getsockopt_string(zmq.LAST_ENDPOINT).rstrip("\0")
        self.peer = b""
        self.refused = self.crowded = 0
        self.dialled = self.spoke = self.lost = self.unheard = self.oversized = False
        self.trouble = ""
        self._peer_number = self._numbers = 0
        self._open: dict[int, _Connection] = {}
        self._lock, self._closed = threading.Lock(), threading.Event()
        if transport == "tcp":
            threading.Thread(target=self._guard, name="simulator-line", daemon=True).start()

    def receive(self, timeout_ms: int) -> Letter | None:
        """The next message from any sender; None if none arrived in time."""
        if not self._socket.poll(timeout_ms):
            return None
        first, *rest = self._socket.recv_multipart(copy=False)
        descriptor = -1
        with contextlib.suppress(zmq.ZMQError):
            descriptor = int(first.get(zmq.SRCFD))
        return Letter(first.bytes, descriptor, [frame.buffer for frame in rest])

    def admit(self, letter: Letter) -> None:
        """Accept the sender of this letter as the program; from now on all others are ignored."""
        self.look()
        with self._lock:
            self.peer, self.oversized = letter.sender, False
            found = self._open.get(letter.descriptor)
            self._peer_number = found.number if found else 0
            self.lost = found is None and (letter.descriptor >= 0 or not self._open)
        self.look()

    def send(self, message: protocol.AnyMessage, arrays: protocol.Arrays | None = None, *, to: bytes = b"") -> None:
        """Send to the program, or ``to`` another sender. Raises zmq.ZMQError if nobody is connected or reads."""
        self._socket.send_multipart([to or self.peer, *protocol.encode(message, arrays)], zmq.DONTWAIT)

    def look(self) -> None:
        """Update the list of connections since the last look; over TCP, close those of strangers."""
        with self._lock:
            while not self._closed.is_set() and self._monitor.poll(0):
                seen = recv_monitor_message(self._monitor)
                self._note(seen["event"], int(seen["value"]))
            if self.transport == "tcp":
                self._close_strangers()

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
            too_much = not self.peer and _received(left.twin) > STRANGERS_BYTES
            may_send = not self.peer or left.number == self._peer_number
            self.oversized |= too_much or (may_send and _ended_here(left.twin))
            left.twin.close()
        nobody = not self._open if self.peer else self.transport == "ipc"
        if left.number == self._peer_number or (nobody and not self._peer_number):
            self.lost = True

    def _twin(self, descriptor: int) -> socket.socket | None:
        """A second handle of this connection, because its descriptor may be reused once it is closed."""
        with contextlib.suppress(OSError):
            twin = socket.socket(fileno=os.dup(descriptor))
            with contextlib.suppress(OSError):
                if self._address(twin) == self.endpoint:
                    return twin
            twin.close()
        return None

    def _address(self, twin: socket.socket) -> str:
        own = twin.getsockname()
        return f"ipc://{own}" if self.transport == "ipc" else f"tcp://127.0.0.1:{own[1]}"

    def _guard(self) -> None:
        while not self._closed.wait(GUARD_S):
            self.look()

    def _close_strangers(self) -> None:
        if self.peer and not self._peer_number:
            return  # the program's own connection is unknown
        strangers = [c.twin for c in self._open.values() if c.number != self._peer_number and c.twin is not None]
        crowd = [] if self.peer or len(strangers) <= STRANGERS else _crowd(strangers)
        self.crowded += len(crowd)
        for twin in strangers:
            if self.peer or twin in crowd or _received(twin) > STRANGERS_BYTES:
                with contextlib.suppress(OSError):
                    twin.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close every socket."""
        self._closed.set()
        with self._lock:
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


def _received(twin: socket.socket) -> int:
    """Bytes received over this connection; 0 if the system does not report it."""
    try:
        told = twin.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _BYTES_RECEIVED.size)
    except OSError:
        return 0
    return int(_BYTES_RECEIVED.unpack(told)[0]) if len(told) == _BYTES_RECEIVED.size else 0


def _crowd(strangers: list[socket.socket]) -> list[socket.socket]:
    """Whom to close of more than ``STRANGERS``, as they came: other users' first, from the middle of each group."""
    users, mine = _users(), os.geteuid()
    own = [twin for twin in strangers if users.get(_port(twin), mine) == mine]
    foreign = [twin for twin in strangers if twin not in own]
    excess, keep = len(strangers) - STRANGERS, STRANGERS // 2
    few = min(excess, len(foreign))
    begin = min(keep, len(foreign) - few)
    return foreign[begin : begin + few] + own[keep : keep + excess - few]


def _port(twin: socket.socket) -> int:
    """The port that the other side dialled from; 0 once it is gone."""
    try:
        return int(twin.getpeername()[1])
    except OSError:
        return 0


def _users() -> dict[int, int]:
    """Which user dials from which port of 127.0.0.1; empty where the system does not tell."""
    try:
        rows = [row.split() for row in Path("/proc/self/net/tcp").read_text().splitlines()[1:]]
    except OSError:
        return {}
    return {int(row[1].split(":")[1], 16): int(row[7]) for row in rows if row[1].startswith("0100007F:")}
