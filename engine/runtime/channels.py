"""The data plane between a driver and its workers: frames both ways, and the newest weights to whoever wants them.

One hub has many spokes. Every spoke has a name of 128 random bits that the hub hands out (``expect``) and the control
plane carries to it: the name is the right to speak, so strangers, and workers that were given up (``forget``), are not
heard. A spoke speaks first (READY); before that the hub cannot send to it. Queues are bounded, so a driver that does
not read makes workers wait; every wait has a deadline, ``wake`` ends a wait from another thread.

Weights go from a publisher to its subscribers. Only the newest frame of each policy is kept: a slow subscriber skips
frames and never makes anybody wait.

``engine.runtime.zmq_channels`` carries all of it between processes and machines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from engine.channel import Frame
from engine.channel import Subscriber as Subscribe

READY = b"READY"
TO_SPOKE, TO_HUB = 16, 256  # messages of one spoke that may wait


class Ticket(NamedTuple):
    """What a spoke needs to reach its hub: where, with which public key (empty: none), and under which name."""

    endpoint: str
    key: str
    name: bytes


class Message(NamedTuple):
    """Frames from a spoke; none at all when it has just come (READY)."""

    name: bytes
    frames: list[memoryview]


class Hub(Protocol):
    """The driver's end."""

    def expect(self) -> Ticket:
        """Let one more spoke come."""
        ...

    def receive(self, timeout_s: float, most: int = TO_HUB) -> list[Message]:
        """Up to ``most`` messages that have arrived; waits up to ``timeout_s`` for the first or for ``wake``."""
        ...

    def send(self, name: bytes, frames: Sequence[Frame]) -> None:
        """Send at once. Raises ActorLost when the spoke is not there or does not read."""
        ...

    def forget(self, name: bytes) -> None:
        """Hear no more of this spoke, not even what is already on its way."""
        ...

    def wake(self) -> None:
        """End a ``receive`` early; from any thread."""
        ...

    def close(self) -> None:
        """Close, dropping what was not sent. Safe to call twice."""
        ...


class Spoke(Protocol):
    """A worker's end; used by one thread, but for ``wake``."""

    def send(self, frames: Sequence[Frame], timeout_s: float) -> None:
        """Send without copying, so the frames must not change any more; waits up to ``timeout_s`` for room. Raises
        ActorLost after that."""
        ...

    def receive(self, timeout_s: float) -> list[memoryview]:
        """The next message; no frames when none came before the deadline or ``wake``."""
        ...

    def wake(self) -> None:
        """End a ``receive`` early; from any thread."""
        ...

    def close(self) -> None:
        """Close after what was sent is on its way. Safe to call twice."""
        ...


class Source(NamedTuple):
    """Where weights come from: the ids of the policies that are published there, an address, and its public key
    (empty: none)."""

    policies: tuple[str, ...]
    endpoint: str
    key: str = ""


class Publisher(Protocol):
    """The end that weights come from."""

    def source(self) -> Source:
        """What a subscriber needs."""
        ...

    def publish(self, frame: Frame) -> None:
        """Send the weights of one policy to every subscriber at once, replacing those of it that wait for a slow one;
        never waits. A subscriber that comes later gets only what is published then."""
        ...

    def close(self) -> None:
        """Close. Safe to call twice."""
        ...


class Subscriber(Subscribe, Protocol):
    """The end where weights arrive."""

    def close(self) -> None:
        """Close. Safe to call twice."""
        ...


def message(name: bytes, frames: list[memoryview]) -> Message:
    """The message that these frames of a spoke are."""
    return Message(name, [] if len(frames) == 1 and frames[0] == READY else frames)
