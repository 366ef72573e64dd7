"""The driver's side of workers behind a channel, independent of how they are started: deals requests to them, receives
their answers and streams, watches them, and replaces lost ones.

Single-threaded: everything happens in its methods. Heartbeats wait in the channel while the driver is busy elsewhere,
so its absence is never held against a worker. Where weights are published, every host except the driver's has a relay,
which is a worker, too; when a relay is lost, all workers below it are lost with it, without blame.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from functools import partial

from engine.channel import Frame, Streamed
from engine.errors import ActorLost, EngineError, SimulatorError
from engine.problem import Evaluation, Request
from engine.runtime import codec
from engine.runtime.broadcast import Broadcast, Post
from engine.runtime.channels import TO_HUB, Hub, sendable
from engine.runtime.codec import Beat, Broken, Crashed, Done, Ready, Stream, Work
from engine.runtime.ledger import HELD, Ledger
from engine.runtime.members import MISSED, OVERLOADED, Member, Recruiter, WorkerLimits
from engine.runtime.outcomes import Closed, Streams, Trouble, Verdicts

STILLBORN = 3


class Supervisor(Closed):
    """Keeps ``workers`` workers of a recruiter busy; owns its ends of the channels. ``title``: the word for a worker in
    messages; ``succeeded``: see ``engine.runtime.pool.open_pool``. Raises ActorLost when the cluster is gone or no
    worker can start."""

    def __init__(
        self, hub: Hub, recruiter: Recruiter, workers: int, *, broadcast: Broadcast | None = None,
        batch_ms: int = 100, limits: WorkerLimits | None = None, title: str = "Worker", succeeded: bool = False,
    ) -> None:  # fmt: skip
        self._hub, self._recruiter, self._broadcast, self._title = hub, recruiter, broadcast, title
        self._limits = limits or WorkerLimits()
        self._ledger = Ledger(workers, batch_ms / 1000)
        self._verdicts = Verdicts(succeeded=succeeded)
        self._vacant = broadcast.posts(workers) if broadcast else [Post(0, i) for i in range(workers)]
        self._lives = dict.fromkeys(self._vacant, 0)
        self._members: dict[bytes, Member] = {}
        self._deaths: deque[tuple[bytes, str]] = deque()
        self._answers: list[Evaluation] = []
        self._streams = Streams()
        self._shape, self._stillborn, self._lost, self._shortage_reported = (0, 0), 0, "", False
        self._error: EngineError | None = None
        self._looked_at = self._checked_at = time.monotonic()
        self._listened = 0.0
        self._fill()

    @property
    def room(self) -> int:
        """How many more requests keep every worker busy."""
        return self._ledger.room

    @property
    def working(self) -> set[int]:
        """The numbers of the workers that are ready; of those that are lost or begin, none."""
        return {member.post.number for member in self._members.values() if member.ready and not member.post.relay}

    def submit(self, requests: Sequence[Request]) -> None:
        """Accept requests and send out what workers can take."""
        self._ledger.add(requests)
        self._deal()

    def publish(self, frame: Frame) -> None:
        """Publish a policy's weights to all; the frame must not change afterwards. Raises EngineError for one that is
        too large."""
        sendable([frame])
        if self._broadcast:
            self._broadcast.publish(frame)

    def finished(self, timeout: float) -> list[Evaluation]:
        """Evaluations since the last call; see ``Pool``."""
        until = time.monotonic() + timeout
        while self._ledger.outstanding or self._answers:
            left = max(0.0, until - time.monotonic())
            self._attend(0.0 if self._answers else left, TO_HUB)
            if self._answers or left == 0.0:
                break
        answers, self._answers = self._answers, []
        return answers

    def gather(self, timeout_s: float, most: int = 64) -> list[Streamed]:
        """Streamed items; see ``Pool``. Also returns when a worker is lost. Further items wait in the channel, which is
        bounded."""
        until = time.monotonic() + timeout_s
        while True:
            left = max(0.0, until - time.monotonic())
            self._attend(0.0 if self._streams else left, most)
            if self._streams or self._lost or left == 0.0:
                return self._streams.take(most)

    def lost(self) -> str:
        """Why a worker was lost since the last call (the last one of several); empty if none was."""
        lost, self._lost = self._lost, ""
        return lost

    def incidents(self) -> list[Trouble]:
        """The incidents since the last call."""
        return self._verdicts.take_troubles()

    def close(self) -> None:
        """Kill every worker and close the channels."""
        while self._members:
            self._dismiss(next(iter(self._members)))
        self._hub.close()
        if self._broadcast:
            self._broadcast.close()

    def _attend(self, timeout_s: float, most: int) -> None:
        """Receive messages, replace lost workers, deal waiting requests."""
        for message in self._hub.receive(min(timeout_s, self._limits.beat_s / 2), most):
            self._hear(*message)
        self._look_after()
        self._deal()
        if self._error:
            raise self._error

    def _fill(self) -> None:
        """Start a worker for every vacant post that has a source of weights."""
        vacant, self._vacant = self._vacant, []
        for post in vacant:
            source = self._broadcast.source(post) if self._broadcast else None
            if self._broadcast and source is None:
                self._vacant.append(post)
                continue
            ticket, life = self._hub.expect(), self._lives[post]
            self._lives[post] += 1
            hired = self._recruiter.start(post, life, ticket, source, partial(self._died, ticket.name))
            self._members[ticket.name] = Member(post, hired)

    def _died(self, name: bytes, reason: str) -> None:
        """Called by other threads."""
        self._deaths.append((name, reason))
        self._hub.wake()

    def _dismiss(self, name: bytes) -> None:
        self._hub.forget(name)
        self._members.pop(name).hired.kill()

    def _hear(self, name: bytes, frames: list[memoryview]) -> None:
        member = self._members.get(name)
        if member is None:
            return
        member.heard_at, member.come = member.age, True
        if not frames:
            return
        header = codec.header(frames)
        if isinstance(header, Stream):
            self._streams.add(Streamed(frames[1:], header.request, header.place, member.post.number))
        elif isinstance(header, Beat):
            self._hear_beat(member, header)
        elif isinstance(header, Ready):
            self._hear_ready(member, header)
        elif isinstance(header, Broken):
            self._fail(name, header)
        else:
            self._hear_result(name, header, frames)

    def _hear_beat(self, member: Member, beat: Beat) -> None:
        member.beat = beat
        member.hired.came(beat.pid)
        if beat.hungry and self._broadcast:
            self._broadcast.feed()

    def _hear_ready(self, member: Member, ready: Ready) -> None:
        member.ready, self._stillborn = True, 0
        member.hired.came(ready.pid)
        if self._broadcast and ready.sources:
            self._broadcast.opened(member.post.host, ready.sources)
            self._fill()
        else:
            self._shape, self._verdicts.noun = (ready.objectives, ready.metrics), ready.noun

    def _hear_result(self, name: bytes, header: codec.Header, frames: Sequence[memoryview]) -> None:
        if isinstance(header, Done) and self._ledger.finish(name, header.batch, header.seconds):
            self._deal()  # before unpacking the answers, because the worker waits
            evaluations = codec.decode_evaluations(frames[1])
            self._verdicts.passed(evaluations)
            self._take_answers(evaluations)
        elif isinstance(header, Crashed):
            self._verdicts.troubles.append(Trouble("lost-simulator", header.reason))
            condemned = self._ledger.hand_back(name, header.batch, header.reason)
            self._take_answers(self._verdicts.condemn(condemned, *self._shape))

    def _take_answers(self, evaluations: Sequence[Evaluation]) -> None:
        self._streams.answered(evaluations)
        self._answers += evaluations

    def _fail(self, name: bytes, broken: Broken) -> None:
        """Handle a worker that cannot continue: replace it, unless the error is permanent or no worker can start."""
        error = codec.as_error(broken)
        if not broken.permanent and not self._members[name].ready:
            self._stillborn += 1
            if self._stillborn >= STILLBORN:
                error = SimulatorError(f"{error} {STILLBORN} workers in a row could not begin.")
        if broken.permanent or self._stillborn >= STILLBORN:
            self._error = error
        else:
            self._lose(name, str(error).rstrip("."), counted=True)

    def _deal(self) -> None:
        """Send one batch to each worker, then a second one to each, as long as the ledger has any."""
        if not self._ledger.outstanding:
            return
        for _ in range(HELD):
            for name, member in list(self._members.items()):
                batch = self._ledger.deal(name) if member.ready and not member.post.relay else None
                if batch is None:
                    continue
                member.dealt_at = member.age
                try:
                    self._hub.send(name, codec.message(Work(batch.number), codec.encode_requests(batch.requests)))
                except ActorLost as error:
                    self._lose(name, str(error))

    def _age(self, now: float) -> None:
        """Let the workers' clocks go on. What they sent while the driver did not listen waits in the channel, so that
        counts hardly: between two calls, during a suspend, or where the driver itself waits for a processor."""
        self._listened += min(now - self._looked_at, MISSED * self._limits.beat_s)
        self._looked_at = now
        if self._listened < self._limits.beat_s / 2:
            return
        for member in self._members.values():
            member.live(self._listened, self._limits)
        self._listened = 0.0
        members, most = self._members.values(), self._limits.start_s
        if members and all(not member.ready and member.waited_s > most for member in members):
            who = f"{self._title}s have waited for a processor for {most:g} s"
            self._report_shortage(f"{who} and could not begin: other programs keep this machine busy.")

    def _look_after(self) -> None:
        """Replace workers that have died, are silent or make no progress."""
        now = time.monotonic()
        self._age(now)
        # Workers die with what runs them, and to replace one calls it: a call to a dead Ray ends this process.
        if self._deaths or now - self._checked_at > self._limits.beat_s / 2:
            self._recruiter.check()
            self._checked_at = time.monotonic()
        while self._deaths:
            name, reason = self._deaths.popleft()
            if name in self._members:
                self._lose(name, reason)
        for name, member in list(self._members.items()):
            if name not in self._members:
                continue  # lost with its relay
            holds = bool(self._ledger.holds(name))
            reason = member.complaint(self._limits, holds=holds) if member.come else self._late(member)
            if reason:
                self._lose(name, reason)

    def _late(self, member: Member) -> str:
        """Why to give up a worker that has not connected; waiting for a processor is no reason, but is reported
        once."""
        if member.silent_s < self._limits.capacity_s:
            return ""
        short = self._recruiter.short_of_capacity()
        if short:
            member.heard_at = max(member.heard_at, member.age - self._limits.capacity_s)
            self._report_shortage(short)
            return ""
        late = f"it did not start within {self._limits.start_s:g} s{OVERLOADED}"
        return late * (member.silent_s > self._limits.start_s)

    def _report_shortage(self, why: str) -> None:
        """Say, once, why workers have to wait."""
        if not self._shortage_reported:
            self._shortage_reported = True
            self._verdicts.troubles.append(Trouble("waiting-for-capacity", why))

    def _lose(self, name: bytes, reason: str, *, counted: bool = False) -> None:
        """Give up a worker: others take its work, and a new one its post."""
        member = self._members[name]
        n = sum(len(batch.requests) for batch in self._ledger.holds(name))
        plural = f"{n} {self._verdicts.noun}s go" if n > 1 else f"{self._verdicts.noun} goes"
        rest = f"Its {plural} to another one." if n else "Another one takes its place."
        who = (
            f"The relay of host {member.post.host}" if member.post.relay else f"{self._title} {member.post.number + 1}"
        )
        self._verdicts.troubles.append(Trouble("lost-worker", f"{who} was lost: {reason}. {rest}"))
        condemned = self._ledger.lose(name, reason)
        self._vacate(name, reason)
        self._take_answers(self._verdicts.condemn(condemned, *self._shape))
        if not member.ready and not counted:
            self._stillborn += 1
            if self._stillborn >= STILLBORN:
                raise ActorLost(f"{STILLBORN} workers in a row ended before they could start. The last one: {reason}.")
        self._recruiter.check()
        self._fill()

    def _vacate(self, name: bytes, reason: str) -> None:
        """Vacate a post and, if it is a relay's, all posts below it."""
        post = self._members[name].post
        self._ledger.put_back(name)
        self._dismiss(name)
        self._vacant.append(post)
        self._lost = self._lost if post.relay else reason
        if not post.relay or self._broadcast is None:
            return
        self._broadcast.closed(post.host)
        for below, member in list(self._members.items()):
            if self._broadcast.above(member.post) == post.host and below in self._members:
                self._vacate(below, reason)
