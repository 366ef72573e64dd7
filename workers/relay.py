"""From a study's event lines to rows: artifacts first, then one transaction under the claim, then a wake-up."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from django.db.models import Q
from django.utils import timezone

from engine import events
from engine.events import AnyEvent, Counters
from webapp.games.commands import reference_in, without_command
from webapp.lib import disk
from webapp.lib.storage import store
from webapp.studies.journal import TIME_IS_UP, Entry, status_entry
from webapp.studies.models import Job, Status
from workers.claims import Claim, after_death
from workers.launch import Unreadable

ENVELOPE = ("schema", "job", "attempt", "sequence", "tick", "at", "kind", "arrived")
ARRIVED = "arrived"
"""Role of what has come back in the round under way."""
UNDER_WAY = (ARRIVED, "arrived_agents")
"""Roles that the round leaves only until it is complete: then they are in what it leaves itself."""
AT_A_PAUSE = ("policies", "policy", "policy_description", "members", "pool")
"""Roles that a search for players leaves when it is put aside; the first round of its going on makes them old."""
_PLACE = re.compile(r"^[a-z_]+(\.[\w-]+)+: ")
_NAMELESS = re.compile(r"^[a-z_]+(?:\.[\w-]+)*\.([\w-]+): (must )")
NEXT = "Who may register simulators can test its handshake on the Simulators page; “Try again” then goes on."
SETTLED = ("confirmed", "replayed", "worst", "worst_low", "worst_high")
"""What fresh battles at the end add to the metrics of the last round."""
COUNTED = ("evaluated", "over", "strong")
"""What the round that a stop or a pause cut off adds to them: what was played of it stays."""
BURST, A_SECOND = 50.0, 2.0
"""Lines of talk (not progress) that are kept: so many at once, and so many a second in the long run."""


class Relay:
    """Records what one attempt says. ``ended`` once the study said how it ended and that is recorded.

    ``began``: when the study said that it started. ``time_is_up``: it was told to stop by the clock, not by people.
    ``counters``: its latest totals; ``seconds_before``: those of earlier attempts; ``moved``: it has kept something.
    """

    def __init__(self, claim: Claim) -> None:
        self.claim, self.ended = claim, False
        self.began: float | None = None
        self.counters: dict[str, Any] = {}
        self.metrics: dict[str, float] = dict(claim.job.metrics)
        self.seconds_before = 0.0
        self.moved = False
        self.time_is_up = False
        self.tick = claim.job.tick
        self.checkpoint = claim.job.checkpoint
        self.previous = claim.job.previous_checkpoint
        self._entries: list[Entry] = []
        self._changes: dict[str, Any] = {}
        self._artifacts: dict[str, str] = dict(claim.job.artifacts)
        self._superseded: list[str] = []
        self._allowance, self._refilled, self._left_out = BURST, time.monotonic(), 0

    def take(self, lines: Sequence[bytes]) -> None:
        """Record event lines in one transaction. Raises Unreadable (what came before is recorded) and Superseded."""
        try:
            for line in lines:
                self._add(self._read(line))
                if self.ended:
                    break
        finally:
            self._write()

    def _read(self, line: bytes) -> AnyEvent:
        try:
            event = events.decode(line)
        except (ValueError, RecursionError) as error:
            raise Unreadable(f"{line[:80].decode(errors='replace')!r}: {error}") from error
        if message := getattr(event, "message", ""):
            text = without_command(message, reference_in(self.claim.job.config))
            event = msgspec.structs.replace(event, message=text)
        if event.schema != events.SCHEMA:
            raise Unreadable(f"event schema {event.schema} is not {events.SCHEMA}")
        left = {**getattr(event, "artifacts", {}), ARRIVED: getattr(event, ARRIVED, "")}
        for role, digest in left.items():
            if digest and not (_is_digest(digest) and store().has(digest)):
                raise Unreadable(f"the {role} of round {event.tick} is not in the store")
        return event

    def _add(self, event: AnyEvent) -> None:
        match event:
            case events.Started():
                self.began, self.seconds_before = time.monotonic(), event.counters.seconds
                self._note(event, ticks=event.ticks)
            case events.Progressed():
                self._progress(event)
            case events.Logged() | events.Incident():
                self._talk(event)
            case events.Paused():
                self._pause(event)
            case events.Stopped():
                self._stop(event)
            case events.Finished():
                self._finish(event, Status.FINISHED)
            case events.Failed():
                self._fail(event)

    def _note(self, event: AnyEvent, also: Mapping[str, Any] | None = None, **changes: Any) -> None:
        body = {key: value for key, value in msgspec.to_builtins(event).items() if key not in ENVELOPE}
        body |= also or {}
        kind = str(event.__struct_config__.tag)
        self._entries.append(Entry(kind, body, event.tick, _moment(event.at)))
        if event.counters != Counters() or not isinstance(event, events.Failed):  # else it failed before it went on
            self.counters = msgspec.to_builtins(event.counters)
            self._changes["counters"] = self.counters
        self._changes |= changes

    def _progress(self, event: events.Progressed) -> None:
        if event.tick <= self.tick:
            return  # played again after a death; the same round is already in the books
        self.tick = event.tick
        self.metrics = dict(event.metrics)
        self._forget_under_way()
        self._note(event, tick=event.tick, metrics=event.metrics)
        self._keep(event.artifacts)

    def _forget_under_way(self) -> None:
        for role in (*UNDER_WAY, *(AT_A_PAUSE if AT_A_PAUSE[0] in self._artifacts else ())):
            self._artifacts.pop(role, None)

    def _keep(self, artifacts: Mapping[str, str]) -> None:
        kept = {role: digest for role, digest in artifacts.items() if digest and role not in ("chunk", "checkpoint")}
        self._artifacts |= kept
        self._changes["artifacts"] = self._artifacts
        checkpoint = artifacts.get("checkpoint") or self.checkpoint
        if checkpoint != self.checkpoint:
            self.moved = True
            self._superseded.append(self.previous)
            self.previous, self.checkpoint = self.checkpoint, checkpoint
            self._changes |= {
                "checkpoint": checkpoint,
                "previous_checkpoint": self.previous,
                "stalled_attempts": 0,
            }

    def _talk(self, event: events.Logged | events.Incident) -> None:
        now = time.monotonic()
        self._allowance = min(BURST, self._allowance + A_SECOND * (now - self._refilled)) - 1
        self._refilled = now
        if self._allowance < 0:
            self._allowance = 0.0
            if not getattr(event, "artifacts", {}):  # else the store keeps them by this alone
                self._left_out += 1
                return
        self._own_up()
        self._note(event)
        if isinstance(event, events.Logged) and event.arrived:
            self._forget_under_way()
            self._keep({ARRIVED: event.arrived})

    def _own_up(self) -> None:
        if self._left_out:
            message = f"{self._left_out:,} more messages came too fast and were left out."
            self._entries.append(Entry("logged", {"message": message}, self.tick))
            self._left_out = 0

    def _pause(self, event: events.Paused) -> None:
        self._keep(event.artifacts)
        if self.claim.command() == Job.Command.NONE:  # resumed before it had paused, or the disk was full
            if disk.shortage():
                self._entries.append(Entry("logged", {"message": disk.PUT_ASIDE}, self.tick))
            self._entries.append(status_entry(Status.QUEUED))
            self._end(status=Status.QUEUED, message="", enqueued_at=None, stalled_attempts=0)
            return
        lasting = {role: digest for role, digest in event.artifacts.items() if role not in UNDER_WAY}
        metrics = self._with_the_last(event)
        self._note(event, {"artifacts": lasting, "metrics": metrics}, metrics=metrics)
        self._end(status=Status.PAUSED, command="", message="")

    def _stop(self, event: events.Stopped) -> None:
        self._keep(event.artifacts)
        if self.time_is_up:
            self._finish(event, Status.STOPPED, TIME_IS_UP)
        elif self.claim.command() == Job.Command.STOP:
            self._finish(event, Status.STOPPED, self.claim.job.stopped_words(self.tick))
        else:  # a signal from outside: nobody wanted the job to end
            self._die(f"Something outside the site asked the {self.claim.job.study.noun} to stop.")

    def _finish(self, event: events.Stopped | events.Finished, status: Status, message: str = "") -> None:
        if event.artifacts.keys() - {"checkpoint"}:  # else it was stopped before it went on, and has left nothing new
            self._forget_under_way()
        self._keep(event.artifacts)
        metrics = self._with_the_last(event)
        self._note(event, {"metrics": metrics}, metrics=metrics)
        self._end(
            status=status,
            summary=event.summary,
            message=message,
            command="",
            stalled_attempts=0,
            finished_at=timezone.now(),
        )

    def _with_the_last(self, event: events.Paused | events.Stopped | events.Finished) -> dict[str, float]:
        """The metrics of the last round, with what came after it."""
        names = [*SETTLED, *(name for name in COUNTED if name in self.metrics)]
        return self.metrics | {name: event.summary[name] for name in names if name in event.summary}

    def _fail(self, event: events.Failed) -> None:
        if not event.permanent:
            self._die(sentence(event.message))
            return
        message = for_people(event.message) if event.error == "ConfigError" else sentence(event.message)
        if event.error in ("SimulatorError", "EvaluationError", "AllFailed") and "imulator" in message:
            message = f"{message} {NEXT}"
        places = {"places": event.message[:4000]} if event.error == "ConfigError" else {}
        event = msgspec.structs.replace(event, message=message)
        self._note(event, places)
        ended = {"status": Status.FAILED, "message": event.message, "error": event.error[:40], "command": ""}
        self._end(**ended, finished_at=timezone.now())

    def _die(self, what: str) -> None:
        self._write()
        job = Job.objects.get(pk=self.claim.job.pk)
        entries, changes = after_death(job, what, blameless=disk.full())
        self._entries += entries
        self._end(**changes)

    def _end(self, **changes: Any) -> None:
        self._own_up()
        self._changes |= {**changes, "worker": "", "lease_until": None}
        self.ended = True

    def _write(self) -> None:
        if not (self._entries or self._changes):
            return
        entries, changes = self._entries, self._changes
        self._entries, self._changes = [], {}
        self.claim.write(entries, **changes)
        discard(self._superseded)
        self._superseded = []


def discard(digests: Sequence[str]) -> None:
    """Forget checkpoints that no job points at any more (equal searches share theirs)."""
    for digest in filter(None, digests):
        if not Job.objects.filter(Q(checkpoint=digest) | Q(previous_checkpoint=digest)).exists():
            store().discard([digest])


def for_people(message: str) -> str:
    """A ConfigError's message as sentences: without the places in the configuration that a form would point at, of
    which only the name stays where the sentence needs one."""
    return " ".join(sentence(_PLACE.sub("", _NAMELESS.sub(r"“\1” \2", part))) for part in message.split("; "))


def sentence(text: str) -> str:
    """A message with a capital letter and a full stop."""
    text = f"{text[:1].upper()}{text[1:]}"
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."


def _is_digest(text: str) -> bool:
    return len(text) == 64 and set(text) <= set("0123456789abcdef")


def _moment(at: float) -> datetime | None:
    """The study's own time of an event, unless its clock is absurd."""
    now = timezone.now()
    try:
        moment = datetime.fromtimestamp(at, UTC)
    except (OverflowError, OSError, ValueError):
        return None
    return moment if abs(now - moment) < timedelta(hours=1) else None
