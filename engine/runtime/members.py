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


class WorkerLimits(msgspec.Struct, frozen=True):
    """Seconds: between heartbeats, without a heartbeat until a worker is given up, without progress in its work, from
    its start to its first message (and, if longer than the limit on progress, from there until it is ready), and of
    waiting for a processor until that is reported."""

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
    """A worker as seen by the driver; times are from ``time.monotonic``."""

    post: Post
    hired: Hired
    heard_at: float
    dealt_at: float = 0.0
    come: bool = False
    ready: bool = False
    beat: Beat = field(default_factory=lambda: Beat(0, False, 0.0))

    def complaint(self, limits: WorkerLimits, now: float, *, holds: bool) -> str:
        """Why a connected worker must be given up; empty if it need not. ``holds``: it has work."""
        if now - self.heard_at > limits.silence_s:
            return f"it gave no sign of life for {limits.silence_s:g} s{OVERLOADED}"
        if self.beat.busy:
            patience = limits.progress_s if self.ready else max(limits.progress_s, limits.start_s)
            stuck = f"its work made no progress for {patience:g} s; it hangs, or the machine is overloaded"
            return stuck * (self.beat.quiet_s > patience)
        forgotten = holds and min(self.beat.quiet_s, now - self.dealt_at) > limits.silence_s
        return "it does not know of the work it was given" if forgotten else ""

    def forgive(self, absent: float, now: float) -> None:
        """Ignore its silence while the driver did not listen for ``absent`` seconds."""
        self.heard_at = min(now, self.heard_at + absent)
        self.dealt_at = min(now, self.dealt_at + absent)
