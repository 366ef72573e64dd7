"""Workers as seen by their driver: how they are started, and when to give one up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from engine.runtime.broadcast import Post
from engine.runtime.channels import Source, Ticket
from engine.runtime.codec import Beat

OVERLOADED = "; the machine may be overloaded"
"""Of a worker that is silent: nobody can see from outside why."""
ENDED = "its process ended suddenly: it crashed or was killed, by somebody or for want of memory"
MISSED = 2
"""Heartbeats that may be late before anybody looks why."""


class WorkerLimits(msgspec.Struct, frozen=True):
    """Seconds: between heartbeats, without a heartbeat until a worker is given up, without progress in its work, from
    its start to its first message (and, if longer than the limit on progress, from there until it is ready), and of
    waiting for a processor until that is reported. All but the first leave out when a worker could not do anything, as
    its machine was overloaded."""

    beat_s: float = 1.0
    silence_s: float = 15.0
    progress_s: float = 300.0
    start_s: float = 120.0
    capacity_s: float = 2.0


class Hired(Protocol):
    """A worker that was requested."""

    def came(self, pid: int) -> None:
        """Called when it runs as this process."""
        ...

    @property
    def ended(self) -> bool:
        """Whether its process has certainly ended."""
        ...

    def waited(self, seconds: float) -> float:
        """Of the last ``seconds`` those in which it had to wait for a processor or a disk."""
        ...

    def kill(self) -> None:
        """End it unconditionally."""
        ...


class Recruiter(Protocol):
    """Starts workers."""

    def start(self, post: Post, life: int, ticket: Ticket, source: Source | None, died: Callable[[str], None]) -> Hired:
        """Request a worker, the ``life``-th at its post, without waiting for it; ``died`` is called, from any thread,
        when it has ended. ``source``: its source of weights."""
        ...

    def short_of_capacity(self) -> str:
        """Why workers have to wait; empty if they do not."""
        ...

    def check(self) -> None:
        """Raises ActorLost when no worker can run any more."""
        ...


@dataclass(slots=True)
class Member:
    """A worker as seen by the driver. ``age``: seconds of its life in which the driver listened and it had a processor
    if it wanted one; the other times are readings of that clock. ``waited_s``: seconds in which it had none."""

    post: Post
    hired: Hired
    age: float = 0.0
    waited_s: float = 0.0
    heard_at: float = 0.0
    dealt_at: float = 0.0
    come: bool = False
    ready: bool = False
    beat: Beat = field(default_factory=lambda: Beat(0, False, 0.0))

    @property
    def silent_s(self) -> float:
        """Seconds since its last message."""
        return self.age - self.heard_at

    def live(self, seconds: float, limits: WorkerLimits) -> None:
        """The driver listened for so long. Why nothing came is looked into only once heartbeats are missing."""
        missing = self.silent_s > MISSED * limits.beat_s
        waited = min(seconds, self.hired.waited(seconds)) if missing else 0.0
        self.age += seconds - waited
        self.waited_s += waited

    def complaint(self, limits: WorkerLimits, *, holds: bool) -> str:
        """Why a connected worker must be given up; empty if it need not. ``holds``: it has work."""
        if self.silent_s > MISSED * limits.beat_s and self.hired.ended:
            return ENDED
        if self.silent_s > limits.silence_s:
            return f"it gave no sign of life for {limits.silence_s:g} s{OVERLOADED}"
        if self.beat.busy:
            patience = limits.progress_s if self.ready else max(limits.progress_s, limits.start_s)
            stuck = f"its work made no progress for {patience:g} s; it hangs, or the machine is overloaded"
            return stuck * (self.beat.quiet_s > patience)
        forgotten = holds and min(self.beat.quiet_s, self.age - self.dealt_at) > limits.silence_s
        return "it does not know of the work it was given" if forgotten else ""
