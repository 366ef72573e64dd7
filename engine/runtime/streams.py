"""The data plane of training: trajectories up by PUSH/PULL, the newest weights down by PUB/SUB.

``engine.runtime.zmq_streams`` carries it between processes and machines, ``engine.runtime.inproc_streams`` is its twin
within one process; both keep the contract below. Every pusher has a name of 128 random bits that the puller hands out
(``expect``) and the control plane carries to it; under any other name, or one that was given up (``forget``), nobody is
heard. A pusher's first message says READY. Up, queues are bounded: a puller that does not read makes pushers wait.
Down, only the newest frame of each policy is kept: a slow subscriber skips frames and never makes anybody wait.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from engine.channel import Frame
from engine.channel import Pusher as Push
from engine.channel import Subscriber as Subscribe
from engine.runtime.channels import Message, Ticket


class Source(NamedTuple):
    """Where weights come from: the ids of the policies that are published there, an address, and its public key
    (empty: none)."""

    policies: tuple[str, ...]
    endpoint: str
    key: str = ""


class Pusher(Push, Protocol):
    """A sampler's end of the way up."""

    def close(self) -> None:
        """Close after what was sent is on its way. Safe to call twice."""
        ...


class Puller(Protocol):
    """The learner's end of the way up."""

    def expect(self) -> Ticket:
        """Let one more pusher come."""
        ...

    def pull(self, timeout_s: float, most: int = 1) -> list[Message]:
        """Up to ``most`` messages that have arrived; waits up to ``timeout_s`` for the first or for ``wake``."""
        ...

    def forget(self, name: bytes) -> None:
        """Hear no more of this pusher, not even what is already on its way."""
        ...

    def wake(self) -> None:
        """End a ``pull`` early; from any thread."""
        ...

    def close(self) -> None:
        """Close, dropping what was not read. Safe to call twice."""
        ...


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
