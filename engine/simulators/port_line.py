"""The engine's end of a line over TCP: a free port of 127.0.0.1, for libraries without ``ipc://``.

Every user of the machine can dial the port, so the engine says nothing before a HELLO with the one-time key, judges the
first message of a connection alone, and reads at most ``STRANGERS_BYTES`` of it until then. Of more than ``STRANGERS``
connections these are cut first: those that were refused, then those of other users, and then those that have had their
time, which neither the oldest ones nor the newest are: the program may have dialled before the crowd or after it. Where
nobody can be cut, the others wait in the system's queue. Once the program is admitted nobody else is: the port is given
up, all other connections are closed, and nothing that strangers do reaches the engine any more.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import socket
import struct
import time
from collections import deque
from functools import cached_property

import zmq

from engine.simulators import protocol
from engine.simulators.line import STRANGERS_BYTES, Letter, ProgramLine
from engine.simulators.zmtp import ConnectionEnded, Peer, TooLarge

STRANGERS, OLDEST = 256, 32
TURN_S = 0.2
"""How long one of many connections is listened to at least."""
QUEUE, UNSENT = 4096, 64
LOOK_S = 0.02


class Caller(Peer):
    """A connection with its number."""

    def __init__(self, raw: socket.socket, number: int) -> None:
        super().__init__(raw, protocol.MAX_FRAME_BYTES, STRANGERS_BYTES)
        self.sender = number.to_bytes(8, "big")
        self.until = time.monotonic() + TURN_S

    @cached_property
    def foreign(self) -> bool:
        """Whether another user dials; False where the system does not tell."""
        return dialling_user(self.raw) not in (None, os.geteuid())


class PortLine(ProgramLine):
    """A listening port. One thread uses it."""

    def __init__(self) -> None:
        super().__init__()
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(QUEUE)
        self._listener.setblocking(False)
        self.endpoint = f"tcp://127.0.0.1:{self._listener.getsockname()[1]}"
        self._callers: dict[int, Caller] = {}
        self._ready: deque[Caller] = deque()
        self._program: Caller | None = None
        self._numbers = 0

    def receive(self, timeout_ms: int) -> Letter | None:
        """As ``ProgramLine.receive``."""
        until = time.monotonic() + timeout_ms / 1000
        while (letter := self._letter()) is None:
            left = until - time.monotonic()
            self._move(max(0.0, min(left, LOOK_S) if self._program is None else left))
            if left <= 0:
                return self._letter()
        return letter

    def admit(self, letter: Letter) -> None:
        """As ``ProgramLine.admit``."""
        self.peer, self.oversized = letter.sender, False
        self._listener.close()
        for descriptor, caller in list(self._callers.items()):
            if caller.sender != letter.sender:
                self._end(descriptor)
            else:
                self._program = caller
                caller.most_received = None
        self._ready = deque([self._program] if self._program and self._program.messages else [])
        self.lost = self._program is None

    def dismiss(self, letter: Letter) -> None:
        """As ``ProgramLine.dismiss``."""
        for caller in self._callers.values():
            if caller.sender == letter.sender:
                caller.dismiss()

    def send(self, message: protocol.AnyMessage, arrays: protocol.Arrays | None = None, *, to: bytes = b"") -> None:
        """As ``ProgramLine.send``."""
        for caller in self._callers.values():
            if caller.sender == (to or self.peer):
                if len(caller.unsent) > UNSENT:
                    raise zmq.Again
                caller.send(protocol.encode(message, arrays))
                return
        raise zmq.ZMQError(errno.EHOSTUNREACH)

    def look(self) -> None:
        """As ``ProgramLine.look``."""
        if not self._ready:
            self._move(0.0)

    def close(self) -> None:
        """Close every socket."""
        self._listener.close()
        for caller in self._callers.values():
            caller.raw.close()
        self._callers.clear()
        self._ready.clear()

    def _letter(self) -> Letter | None:
        while self._ready:
            caller = self._ready.popleft()
            if not caller.messages:
                continue  # it was cut
            frames = caller.messages.popleft()
            if caller.messages and caller is self._program:
                self._ready.appendleft(caller)
            return Letter(caller.sender, caller.raw.fileno(), frames)
        return None

    def _move(self, seconds: float) -> None:
        """Wait so long for bytes and connections, and take what comes."""
        waiting = select.poll()
        listener = self._listener.fileno()
        if listener >= 0 and (len(self._callers) < STRANGERS or self._whom_to_cut() is not None):
            waiting.register(listener, select.POLLIN)
        for descriptor, caller in self._callers.items():
            waiting.register(
                descriptor, (0 if caller.messages else select.POLLIN) | (select.POLLOUT if caller.unsent else 0)
            )
        for descriptor, seen in waiting.poll(1000 * seconds):
            if descriptor == listener:
                self._accept()
            elif descriptor in self._callers:
                self._exchange(descriptor, seen)

    def _exchange(self, descriptor: int, seen: int) -> None:
        caller = self._callers[descriptor]
        if seen & select.POLLOUT:
            caller.flush()
        if caller.messages or not seen & ~select.POLLOUT:
            return
        try:
            caller.read()
        except ConnectionEnded as end:
            self._note_end(caller, isinstance(end, TooLarge))
            self._end(descriptor)
        self.spoke |= caller.greeted
        if caller.messages:
            self._ready.append(caller)

    def _note_end(self, caller: Caller, too_large: bool) -> None:
        if caller is self._program:
            self.lost = True
        elif not caller.dismissed:
            self.unheard = True
        self.oversized |= too_large and not caller.dismissed

    def _end(self, descriptor: int) -> None:
        self._callers.pop(descriptor).raw.close()

    def _accept(self) -> None:
        for _ in range(STRANGERS):
            too_many = self._whom_to_cut() if len(self._callers) >= STRANGERS else None
            if too_many is None and len(self._callers) >= STRANGERS:
                return
            try:
                raw, _ = self._listener.accept()
            except OSError:
                return
            if too_many is not None:
                self._cut(too_many)
            self.dialled = True
            self._numbers += 1
            self._callers[raw.fileno()] = Caller(raw, self._numbers)

    def _cut(self, descriptor: int) -> None:
        """End one of too many connections."""
        self.crowded += not self._callers[descriptor].dismissed
        self._callers[descriptor].messages.clear()
        self._end(descriptor)

    def _whom_to_cut(self) -> int | None:
        """Which of too many connections; None if each has a right to stay for now."""
        refused = [d for d, caller in self._callers.items() if caller.dismissed]
        foreign = [] if refused else [d for d, caller in self._callers.items() if caller.foreign]
        if refused or foreign:
            group = refused or foreign
            return group[min(OLDEST, len(group) - 1)]
        middle = list(self._callers.items())[OLDEST]
        return middle[0] if middle[1].until < time.monotonic() else None


def dialling_user(accepted: socket.socket) -> int | None:
    """Who has dialled this connection of 127.0.0.1, by Linux's sock_diag(7); None where the system does not tell."""
    with contextlib.suppress(OSError, AttributeError, struct.error):
        own, peer = accepted.getsockname(), accepted.getpeername()
        ends = struct.pack("!HH4s12x4s12x", peer[1], own[1], socket.inet_aton(peer[0]), socket.inet_aton(own[0]))
        request = struct.pack("=BBBxI", socket.AF_INET, socket.IPPROTO_TCP, 0, 0xFFFFFFFF) + ends
        request += struct.pack("=III", 0, 0xFFFFFFFF, 0xFFFFFFFF)  # any interface, no cookie
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as asked:
            asked.settimeout(1.0)
            asked.sendto(struct.pack("=IHHII", 16 + len(request), _BY_FAMILY, 1, 1, 0) + request, (0, 0))
            answer = asked.recv(8192)
        if struct.unpack_from("=IH", answer)[1] == _BY_FAMILY and answer[17] == _ESTABLISHED:
            return int(struct.unpack_from("=I", answer, 80)[0])
    return None


_SOCK_DIAG, _BY_FAMILY, _ESTABLISHED = 4, 20, 1
