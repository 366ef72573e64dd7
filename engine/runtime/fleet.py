"""The learner's side of samplers at the far end of streams: hires them, hears them, watches them, replaces the lost.

Single-threaded: everything happens in ``publish`` and ``gather``. Every host but the learner's has a relay, and relays
are arranged as ``engine.runtime.tree`` plans; when a relay is lost, all that is below it is lost with it. An actor that
is hungry (it has just come, or what it waits for has passed it by) gets the newest weights once more.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

import msgspec

from engine.channel import Frame, topic_of
from engine.errors import ActorLost, SimulatorError
from engine.runtime import codec
from engine.runtime.channels import Ticket
from engine.runtime.pool import Closed, Trouble
from engine.runtime.remote import Hired
from engine.runtime.sampling import Alive, Failing, about
from engine.runtime.streams import Publisher, Puller, Source
from engine.runtime.tree import plan

STILLBORN = 3
_AGAIN_S = 0.2


class FleetLimits(msgspec.Struct, frozen=True):
    """Seconds: between heartbeats, without any before an actor is given up (a game that hangs gives none), from its
    start to its first heartbeat, and of waiting for a processor before somebody is told."""

    beat_s: float = 0.5
    silence_s: float = 60.0
    start_s: float = 180.0
    capacity_s: float = 2.0


class Post(NamedTuple):
    """A place in the fleet: sampler ``number`` on a host, or with -1 the relay of that host."""

    host: int
    number: int

    @property
    def relay(self) -> bool:
        """Whether it is a relay's."""
        return self.number < 0


class Recruiter(Protocol):
    """Whatever starts samplers and relays."""

    def sampler(self, post: Post, life: int, ticket: Ticket, source: Source, died: Callable[[str], None]) -> Hired:
        """Ask for a sampler, the ``life``-th at its post, without waiting for it."""
        ...

    def relay(self, post: Post, ticket: Ticket, source: Source, died: Callable[[str], None]) -> Hired:
        """Ask for a relay without waiting for it."""
        ...

    def short_of_capacity(self) -> str:
        """Why actors have to wait; empty when they do not."""
        ...

    def check(self) -> None:
        """Raises ActorLost when no actor can run any more."""
        ...


@dataclass(slots=True)
class _Member:
    """An actor as the learner sees it; times are of ``time.monotonic``."""

    post: Post
    hired: Hired
    heard_at: float
    come: bool = False
    ready: bool = False


class Fleet(Closed):
    """Keeps ``samplers`` samplers on ``hosts`` hosts; owns its ends of the streams. ``near`` publishes to the learner's
    own host, ``far`` (None when there is one host only) to others. ``flat``: to all of them."""

    def __init__(
        self, puller: Puller, near: Publisher, far: Publisher | None, recruiter: Recruiter, samplers: int,
        hosts: int = 1, *, flat: bool = False, limits: FleetLimits | None = None,
    ) -> None:  # fmt: skip
        self._puller, self._near, self._far, self._recruiter = puller, near, far, recruiter
        self._limits = limits or FleetLimits()
        self._parent = plan(hosts, flat).parent.tolist()
        self._sources: dict[int, tuple[Source, Source]] = {}
        posts = [Post(host, -1) for host in range(1, hosts)] + [Post(i % hosts, i) for i in range(samplers)]
        self._vacant, self._lives = posts, dict.fromkeys(posts, 0)
        self._members: dict[bytes, _Member] = {}
        self._deaths: deque[tuple[bytes, str]] = deque()
        self._troubles: list[Trouble] = []
        self._newest: dict[bytes, Frame] = {}
        self._again_at = 0.0
        self._stillborn, self._lost, self._waiting_told = 0, "", False
        self._looked_at = time.monotonic()
        self._fill()

    def publish(self, frame: Frame) -> None:
        """Weights of a policy for everybody; the frame must not change any more."""
        self._newest[topic_of(frame)] = frame
        self._near.publish(frame)
        if self._far is not None:
            self._far.publish(frame)

    def gather(self, timeout_s: float, most: int = 64) -> list[tuple[int, list[memoryview]]]:
        """Up to ``most`` messages of samplers, each with the sampler's number; waits up to ``timeout_s`` for the first;
        the others wait in the streams, which are bounded. Raises what samplers say cannot be helped, ActorLost when the
        cluster is gone or nobody can start."""
        found: list[tuple[int, list[memoryview]]] = []
        until = time.monotonic() + timeout_s
        while True:
            left = max(0.0, until - time.monotonic())
            for name, frames in self._puller.pull(min(left, self._limits.beat_s / 2), most):
                self._hear(name, frames, found)
            self._look_after()
            if found or self._lost or left == 0.0:
                return found

    def lost(self) -> str:
        """Why a sampler was lost since this was last asked, the last one of several; empty when none was."""
        lost, self._lost = self._lost, ""
        return lost

    def incidents(self) -> list[Trouble]:
        """What went wrong since the last call."""
        told, self._troubles = self._troubles, []
        return told

    def close(self) -> None:
        """End every actor and close the streams."""
        while self._members:
            self._dismiss(next(iter(self._members)))
        for end in (self._puller, self._near, self._far):
            if end is not None:
                end.close()

    def _fill(self) -> None:
        """Hire for every vacant post whose weights have somewhere to come from."""
        vacant, self._vacant = self._vacant, []
        for post in vacant:
            source = self._source(post)
            if source is None:
                self._vacant.append(post)
                continue
            ticket = self._puller.expect()
            died = partial(self._died, ticket.name)
            life = self._lives[post]
            self._lives[post] += 1
            hired = (
                self._recruiter.relay(post, ticket, source, died)
                if post.relay
                else self._recruiter.sampler(post, life, ticket, source, died)
            )
            self._members[ticket.name] = _Member(post, hired, time.monotonic())

    def _source(self, post: Post) -> Source | None:
        """Where a post gets weights from: a sampler of its host's relay, a relay of the host above."""
        above = self._parent[post.host] if post.relay else post.host
        if above > 0:
            return self._sources[above][post.relay] if above in self._sources else None
        publisher = self._far if post.relay else self._near
        return publisher.source() if publisher is not None else None

    def _died(self, name: bytes, reason: str) -> None:
        """Called by other threads."""
        self._deaths.append((name, reason))
        self._puller.wake()

    def _dismiss(self, name: bytes) -> None:
        self._puller.forget(name)
        self._members.pop(name).hired.kill()

    def _hear(self, name: bytes, frames: list[memoryview], found: list[tuple[int, list[memoryview]]]) -> None:
        member = self._members.get(name)
        if member is None:
            return
        member.heard_at, member.come = time.monotonic(), True
        if not frames:
            return
        word = about(frames)
        if word is None:
            found.append((member.post.number, frames))
        elif isinstance(word, Failing):
            self._fail(name, word)
        else:
            self._hear_life(member, word)

    def _hear_life(self, member: _Member, word: Alive) -> None:
        member.hired.came(word.pid)
        if not word.ready:
            return
        if not member.ready:
            member.ready, self._stillborn = True, 0
            if word.sources:
                self._sources[member.post.host] = (word.sources[0], word.sources[1])
                self._fill()
        if word.hungry and time.monotonic() >= self._again_at:
            self._again_at = time.monotonic() + _AGAIN_S
            for frame in tuple(self._newest.values()):
                self.publish(frame)

    def _fail(self, name: bytes, word: Failing) -> None:
        error = codec.as_error(word.broken)
        if word.permanent:
            raise error
        member = self._members[name]
        if not member.ready:
            self._stillborn += 1
            if self._stillborn >= STILLBORN:
                raise SimulatorError(f"{error} {STILLBORN} samplers in a row could not begin.", permanent=False)
        self._lose(name, str(error).rstrip("."), counted=True)

    def _look_after(self) -> None:
        """Replace actors that died, fell silent or did not come."""
        now = time.monotonic()
        absent, self._looked_at = now - self._looked_at, now
        if absent > 2 * self._limits.beat_s:
            for member in self._members.values():
                member.heard_at = min(now, member.heard_at + absent)
        while self._deaths:
            name, reason = self._deaths.popleft()
            if name in self._members:
                self._lose(name, reason)
        for name, member in list(self._members.items()):
            if name in self._members and (reason := self._complaint(member, now)):
                self._lose(name, reason)
        if absent > self._limits.beat_s / 4:
            self._recruiter.check()

    def _complaint(self, member: _Member, now: float) -> str:
        """Why an actor must be given up; empty when it need not."""
        silent, limits = now - member.heard_at, self._limits
        if member.ready:
            return f"it gave no sign of life for {limits.silence_s:g} s" * (silent > limits.silence_s)
        if not member.come and silent > limits.capacity_s and (short := self._recruiter.short_of_capacity()):
            member.heard_at = now - limits.capacity_s
            if not self._waiting_told:
                self._waiting_told = True
                self._troubles.append(Trouble("waiting-for-capacity", short))
            return ""
        return f"it did not start within {limits.start_s:g} s" * (silent > limits.start_s)

    def _lose(self, name: bytes, reason: str, *, counted: bool = False) -> None:
        member = self._members[name]
        post = member.post
        what = f"The relay of host {post.host}" if post.relay else f"Sampler {post.number + 1}"
        self._troubles.append(Trouble("lost-worker", f"{what} was lost: {reason}. Another one takes its place."))
        if not member.ready and not counted:
            self._stillborn += 1
            if self._stillborn >= STILLBORN:
                raise ActorLost(f"{STILLBORN} actors in a row ended before they could start. The last one: {reason}.")
        self._recruiter.check()
        self._vacate(name, reason)
        self._fill()

    def _vacate(self, name: bytes, reason: str) -> None:
        """Give a post up, and with a relay's all that is below it."""
        post = self._members[name].post
        self._dismiss(name)
        self._vacant.append(post)
        self._lost = self._lost if post.relay else reason
        if not post.relay:
            return
        self._sources.pop(post.host, None)
        for below, member in list(self._members.items()):
            other = member.post
            above = self._parent[other.host] if other.relay else other.host
            if above == post.host and below in self._members:
                self._vacate(below, reason)
