"""A pool of workers at the far end of a channel, whatever starts them: deals batches, watches, replaces the lost.

Single-threaded: everything happens in ``submit`` and ``finished``. Heartbeats wait in the channel while the driver is
busy elsewhere, so time away is never held against a worker.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import msgspec

from engine.errors import ActorLost, EngineError
from engine.problem import Evaluation, Request
from engine.runtime import codec
from engine.runtime.channels import Hub, Ticket
from engine.runtime.codec import Beat, Broken, Crashed, Done, Ready, Work
from engine.runtime.ledger import HELD, Ledger
from engine.runtime.pool import Closed, Trouble, Verdicts

STILLBORN = 3


class Limits(msgspec.Struct, frozen=True):
    """Seconds: between heartbeats, without any before a worker is given up, without progress in its work, from its
    start to its first word, and of waiting for a processor before somebody is told."""

    beat_s: float = 1.0
    silence_s: float = 15.0
    progress_s: float = 300.0
    start_s: float = 120.0
    capacity_s: float = 2.0


class Hired(Protocol):
    """A worker that was asked for."""

    def came(self, pid: int) -> None:
        """It lives as this process."""
        ...

    def kill(self) -> None:
        """End it, whatever it does."""
        ...


class Launcher(Protocol):
    """Whatever starts workers."""

    def start(self, ticket: Ticket, died: Callable[[str], None]) -> Hired:
        """Ask for a worker without waiting for it; ``died`` is called, from any thread, when it has ended."""
        ...

    def short_of_capacity(self) -> str:
        """Why workers have to wait; empty when they do not."""
        ...

    def check(self) -> None:
        """Raises ActorLost when no worker can run any more."""
        ...


@dataclass(slots=True)
class _Member:
    """A worker as the pool sees it; times are of ``time.monotonic``."""

    hired: Hired
    heard_at: float
    dealt_at: float = 0.0
    come: bool = False
    ready: bool = False
    beat: Beat = field(default_factory=lambda: Beat(0, False, 0.0))


class RemotePool(Closed):
    """Keeps ``workers`` workers of a launcher busy over a hub; owns both ends."""

    def __init__(self, hub: Hub, launcher: Launcher, workers: int, batch_ms: int, limits: Limits) -> None:
        self._hub, self._launcher, self._limits = hub, launcher, limits
        self._ledger = Ledger(workers, batch_ms / 1000)
        self._verdicts = Verdicts()
        self._members: dict[bytes, _Member] = {}
        self._deaths: deque[tuple[bytes, str]] = deque()
        self._told: list[Evaluation] = []
        self._shape = (0, 0)
        self._stillborn = 0
        self._error: EngineError | None = None
        self._looked_at = self._checked_at = time.monotonic()
        self._waiting_told = False
        for _ in range(workers):
            self._hire()

    @property
    def room(self) -> int:
        """How many more requests keep every worker busy."""
        return self._ledger.room

    def submit(self, requests: Sequence[Request]) -> None:
        """Accept requests and send out what workers can take."""
        self._ledger.add(requests)
        self._deal()

    def finished(self, timeout: float) -> list[Evaluation]:
        """Evaluations since the last call; see ``Pool``."""
        until = time.monotonic() + timeout
        while self._ledger.outstanding or self._told:
            left = max(0.0, until - time.monotonic())
            for message in self._hub.receive(min(left, self._limits.beat_s / 2) if not self._told else 0.0):
                self._hear(*message)
            self._look_after()
            self._deal()
            if self._error:
                raise self._error
            if self._told or left == 0.0:
                break
        told, self._told = self._told, []
        return told

    def incidents(self) -> list[Trouble]:
        """What went wrong since the last call."""
        return self._verdicts.told()

    def close(self) -> None:
        """Kill every worker and close the channel."""
        while self._members:
            self._dismiss(next(iter(self._members)))
        self._hub.close()

    def _hire(self) -> None:
        ticket = self._hub.expect()
        self._members[ticket.name] = _Member(
            self._launcher.start(ticket, partial(self._died, ticket.name)), time.monotonic()
        )

    def _died(self, name: bytes, reason: str) -> None:
        """Called by other threads."""
        self._deaths.append((name, reason))
        self._hub.wake()

    def _dismiss(self, name: bytes) -> None:
        self._hub.forget(name)
        self._members.pop(name).hired.kill()

    def _hear(self, name: bytes, frames: Sequence[memoryview]) -> None:
        member = self._members.get(name)
        if member is None:
            return
        member.heard_at = time.monotonic()
        if not frames:
            member.come = True
            return
        header = codec.header(frames)
        if isinstance(header, Ready):
            member.ready = True
            self._shape, self._verdicts.noun = (header.objectives, header.metrics), header.noun
            self._stillborn = 0
        elif isinstance(header, Beat):
            member.beat = header
            member.hired.came(header.pid)
        elif isinstance(header, Broken):
            self._error = codec.as_error(header)
        else:
            self._hear_result(name, header, frames)

    def _hear_result(self, name: bytes, header: codec.Header, frames: Sequence[memoryview]) -> None:
        if isinstance(header, Done) and self._ledger.finish(name, header.batch, header.seconds):
            self._deal()  # before the answers are unpacked: the worker waits
            evaluations = codec.decode_evaluations(frames[1])
            self._verdicts.passed(evaluations)
            self._told += evaluations
        elif isinstance(header, Crashed):
            self._verdicts.troubles.append(Trouble("lost-simulator", header.reason))
            condemned = self._ledger.hand_back(name, header.batch, header.reason)
            self._told += self._verdicts.condemn(condemned, *self._shape)

    def _deal(self) -> None:
        """One batch to each worker, then a second to each, as far as the ledger gives any."""
        for _ in range(HELD):
            for name, member in list(self._members.items()):
                batch = self._ledger.deal(name) if member.ready else None
                if batch is None:
                    continue
                member.dealt_at = time.monotonic()
                try:
                    self._hub.send(name, codec.message(Work(batch.number), codec.encode_requests(batch.requests)))
                except ActorLost as error:
                    self._lose(name, str(error))

    def _forgive_absence(self, now: float) -> None:
        """Nobody listened, between two calls or because the machine stood still: silence in that time means nothing."""
        absent = now - self._looked_at
        self._looked_at = now
        if absent > 2 * self._limits.beat_s:
            for member in self._members.values():
                member.heard_at = min(now, member.heard_at + absent)
                member.dealt_at = min(now, member.dealt_at + absent)

    def _look_after(self) -> None:
        """Replace workers that died, fell silent or make no progress."""
        now = time.monotonic()
        self._forgive_absence(now)
        while self._deaths:
            name, reason = self._deaths.popleft()
            if name in self._members:
                self._lose(name, reason)
        for name, member in list(self._members.items()):
            reason = self._complaint(name, member, now) if member.come else self._late(member, now)
            if reason:
                self._lose(name, reason)
        if now - self._checked_at > self._limits.beat_s / 2:
            self._launcher.check()
            self._checked_at = time.monotonic()

    def _complaint(self, name: bytes, member: _Member, now: float) -> str:
        """Why a worker that has come must be given up; empty when it need not."""
        limits = self._limits
        if now - member.heard_at > limits.silence_s:
            return f"it gave no sign of life for {limits.silence_s:g} s"
        if member.beat.busy:
            return f"its work made no progress for {limits.progress_s:g} s" * (member.beat.quiet_s > limits.progress_s)
        forgotten = self._ledger.holds(name) and min(member.beat.quiet_s, now - member.dealt_at) > limits.silence_s
        return "it does not know of the work it was given" if forgotten else ""

    def _late(self, member: _Member, now: float) -> str:
        """Why a worker that has not come must be given up; waiting for a processor is no reason, but is told once."""
        if now - member.heard_at < self._limits.capacity_s:
            return ""
        short = self._launcher.short_of_capacity()
        if short:
            member.heard_at = max(member.heard_at, now - self._limits.capacity_s)
            if not self._waiting_told:
                self._waiting_told = True
                self._verdicts.troubles.append(Trouble("waiting-for-capacity", short))
            return ""
        return f"it did not start within {self._limits.start_s:g} s" * (now - member.heard_at > self._limits.start_s)

    def _lose(self, name: bytes, reason: str) -> None:
        """Give a worker up: its work goes to others, another one is hired."""
        member = self._members[name]
        n = sum(len(batch.requests) for batch in self._ledger.holds(name))
        self._dismiss(name)
        plural = f"{n} {self._verdicts.noun}s go" if n > 1 else f"{self._verdicts.noun} goes"
        rest = f" Its {plural} to another one." if n else ""
        self._verdicts.troubles.append(Trouble("lost-worker", f"A worker was lost: {reason}.{rest}"))
        self._told += self._verdicts.condemn(self._ledger.lose(name, reason), *self._shape)
        if not member.ready:
            self._stillborn += 1
            if self._stillborn >= STILLBORN:
                raise ActorLost(f"{STILLBORN} workers in a row ended before they could start. The last one: {reason}.")
        self._launcher.check()
        self._hire()
