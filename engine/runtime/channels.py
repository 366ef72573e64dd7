"""The data plane between a driver and its workers: frames both ways, and the newest weights to subscribers.

One hub has many spokes. Every spoke has a name of 128 random bits that the hub issues (``expect``) and the control
plane delivers. The name authorises it to send, so messages from strangers, and from workers that were given up
(``forget``), are ignored. A spoke sends first (READY); before that the hub cannot send to it. Queues are bounded, so a
driver that does not read makes workers wait; every wait has a deadline, and ``wake`` ends a wait from another thread.

Weights go from a publisher to its subscribers. Only the newest frame of each policy is kept: a slow subscriber skips
frames and never blocks others.

``engine.runtime.zmq_channels`` implements this between processes and machines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from engine.channel import Frame
from engine.channel import Subscriber as Subscribe
from engine.errors import EngineError

READY = b"READY"
TO_SPOKE, TO_HUB = 16, 256  # messages of one spoke that may wait
MAX_FRAME_BYTES = 2**28


def sendable(frames: Sequence[Frame]) -> None:
    """Raise EngineError for a frame that no end would accept: it would be dropped, and its sender wait for ever."""
    if (largest := max((memoryview(frame).nbytes for frame in frames), default=0)) > MAX_FRAME_BYTES:
        needed, most = -(-largest // 2**20), MAX_FRAME_BYTES >> 20
        why = f"{needed} MiB have to be sent at once, and {most} can be"
        raise EngineError(f"{why}: make networks smaller, or fragments shorter, or have fewer battles played together.")


class Ticket(NamedTuple):
    """A spoke's access to its hub: address, public key (empty: none), and the spoke's name."""

    endpoint: str
    key: str
    name: bytes


class Message(NamedTuple):
    """Frames from a spoke; none if it has just connected (READY)."""

    name: bytes
    frames: list[memoryview]


class Hub(Protocol):
    """The driver's end."""

    def expect(self) -> Ticket:
        """Admit one more spoke and return its ticket."""
        ...

    def receive(self, timeout_s: float, most: int = TO_HUB) -> list[Message]:
        """Up to ``most`` messages that have arrived; waits up to ``timeout_s`` for the first or for ``wake``."""
        ...

    def send(self, name: bytes, frames: Sequence[Frame]) -> None:
        """Send without waiting. Raises ActorLost when the spoke is not connected or does not read."""
        ...

    def forget(self, name: bytes) -> None:
        """Ignore this spoke from now on, including messages in flight."""
        ...

    def wake(self) -> None:
        """End a ``receive`` early; from any thread."""
        ...

    def close(self) -> None:
        """Close, dropping what was not sent. Safe to call twice."""
        ...


class Spoke(Protocol):
    """A worker's end; used by one thread, except ``wake``."""

    def send(self, frames: Sequence[Frame], timeout_s: float) -> None:
        """Send without copying, so the frames must not change any more; waits up to ``timeout_s`` for room. Raises
        ActorLost after that."""
        ...

    def receive(self, timeout_s: float) -> list[memoryview]:
        """The next message; no frames if none arrived before the deadline or ``wake``."""
        ...

    def wake(self) -> None:
        """End a ``receive`` early; from any thread."""
        ...

    def close(self) -> None:
        """Close after sent messages have left. Safe to call twice."""
        ...


class Source(NamedTuple):
    """A source of weights: the ids of the policies published there, an address, and its public key (empty: none)."""

    policies: tuple[str, ...]
    endpoint: str
    key: str = ""


class Publisher(Protocol):
    """The sending end of weights."""

    def source(self) -> Source:
        """The source for subscribers."""
        ...

    def publish(self, frame: Frame) -> None:
        """Send the weights of one policy to every subscriber, replacing its older ones that wait for a slow subscriber;
        never waits. A later subscriber gets only weights published after it has joined."""
        ...

    def close(self) -> None:
        """Close. Safe to call twice."""
        ...


class Subscriber(Subscribe, Protocol):
    """The receiving end of weights."""

    def close(self) -> None:
        """Close. Safe to call twice."""
        ...


def message(name: bytes, frames: list[memoryview]) -> Message:
    """The message in these frames of a spoke."""
    return Message(name, [] if len(frames) == 1 and frames[0] == READY else frames)
