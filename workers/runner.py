"""One attempt at a job: claim it, run its study, relay what it says, pass on commands, leave nothing behind."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

import structlog
from django.db import connection

from engine.store import first_whole
from webapp.games.models import Simulator
from webapp.lib import disk
from webapp.lib.storage import store
from webapp.studies import kinds
from webapp.studies.journal import Entry
from webapp.studies.models import Job, Status
from workers import claims, launch, process, ray
from workers.claims import RENEW_EVERY, Claim, Superseded, after_death
from workers.launch import Study, Unreadable
from workers.relay import Relay

log = structlog.get_logger(__name__)

POLL, LISTEN = 0.8, 0.4
OBEY = 30.0
"""Seconds a study has to follow a signal, or to end after it said how it ended."""
SAMPLE_TIME, SAMPLE_LONGEST = 10.0, 150.0
"""Seconds a sample plays. Where the game is slow it goes on until it tells enough, or for so many seconds in all; after
the first ten it makes room whenever other quick work waits, and goes on from its place afterwards."""
SIGNALS = {Job.Command.STOP: signal.SIGTERM, Job.Command.PAUSE: signal.SIGUSR1}


class ShuttingDown(Exception):
    """This worker was told to end."""


def run(job_id: int, engine: Sequence[str] = launch.ENGINE, obey: float = OBEY) -> None:
    """Run the job if it is free; ``engine`` is the program that studies are run with."""
    claim = claims.take(job_id, process.label(os.getpid()))
    if claim is None:
        return
    with structlog.contextvars.bound_contextvars(job=job_id, attempt=claim.attempt):
        try:
            _attempt(claim, engine, obey)
        except Superseded:
            log.warning("superseded: this attempt leaves without writing anything")


def _attempt(claim: Claim, engine: Sequence[str], obey: float) -> None:
    pool, blameless, noun = ray.address(), False, claim.job.study.noun
    try:
        with _ends_on_sigterm():
            what = _follow(claim, engine, obey)
    except ShuttingDown:
        # It may have come in the middle of a query, and PostgreSQL takes no other one on that connection.
        connection.close()
        what, blameless = "The site was shut down while the job ran.", True
    except Unreadable as error:
        log.error("unreadable event", error=str(error))
        what = f"The {noun} said something the site cannot read."
    except OSError as error:
        what, blameless = f"The {noun} could not be started here ({error.strerror}).", disk.caused(error)
    if what:
        pool_gone = ray.address() != pool or bool(claims.pool_obstacle(claim.job))
        what = f"The {claim.job.study.hands} went away." if pool_gone else what
        # On a full disk a study is told to pause, of which it dies while it still starts; or it finds no room.
        record_death(claim, what, blameless=blameless or pool_gone or disk.full())


def record_death(claim: Claim, what: str, *, blameless: bool = False) -> None:
    """The attempt ended without a word: the job goes on from its checkpoint, or has failed. Raises Superseded."""
    entries, changes = after_death(Job.objects.get(pk=claim.job.pk), what, blameless=blameless)
    claim.give_back(entries, **changes)


def _follow(claim: Claim, engine: Sequence[str], obey: float) -> str:
    """Run the study to its end; empty when that is recorded, else a sentence about its death."""
    job = claim.job
    folder = launch.prepare(job.pk, job.config)
    checkpoint = _checkpoint(claim)
    study = Study([*engine, *launch.arguments(job.pk, claim.attempt, folder, checkpoint)], folder)
    code = 0
    try:
        relay = Relay(claim)
        obeyed = _relay_all(claim, study, relay, obey)
        if relay.ended:
            study.wait(obey)
            return ""
    finally:
        code = study.close()
        if code:
            log.warning("study ended", code=code, last_words=study.last_words)
    ended = "ended unexpectedly" if obeyed else f"did not answer for {obey:g} s and was ended"
    return f"The {job.study.noun} {ended}."


def _checkpoint(claim: Claim) -> str:
    """The newest checkpoint of the job that can be read; empty to start from the beginning. One that cannot be read is
    forgotten, and the job's history says so."""
    job = claim.job
    kept = [digest for digest in (job.checkpoint, job.previous_checkpoint) if digest]
    whole = first_whole(kept, store())
    if kept and whole != kept[0]:
        on = "The job goes on from the checkpoint before." if whole else "The job starts again."
        message = f"Its newest checkpoint is missing or damaged. {on}"
        incident = Entry("incident", {"what": "lost-checkpoint", "message": message}, job.tick)
        claim.write([incident], checkpoint=whole, previous_checkpoint="")
        job.checkpoint, job.previous_checkpoint = whole, ""
    return whole


def _relay_all(claim: Claim, study: Study, relay: Relay, obey: float) -> bool:
    """Relay until the study is over; False when it had to be given up because it ignored a signal."""
    asked, asked_at, polled, renewed = "", 0.0, 0.0, time.monotonic()
    while not relay.ended:
        over = study.drained
        relay.take(study.lines(0.0 if over else LISTEN))
        now = time.monotonic()
        if over or (asked and now - asked_at > obey):
            return over
        if now - renewed > RENEW_EVERY and not relay.ended:
            claim.renew()
            renewed = now
        if now - polled > POLL and not relay.ended:
            command, polled = _wanted(claim, relay), now
            if command and command != asked:
                study.ask(SIGNALS[Job.Command(command)])
                asked, asked_at = command, now
    return True


def _wanted(claim: Claim, relay: Relay) -> str:
    """The command that people gave the job, the disk needs, or the clock gives."""
    command = claim.command() or (Job.Command.PAUSE if disk.full() else "")
    if command or not claim.job.for_form or relay.began is None:
        return command
    if time.monotonic() - relay.began < SAMPLE_TIME:
        return ""
    job = claim.job
    if kinds.of(job).tells_enough(job, relay.counters) or _played(relay) > SAMPLE_LONGEST:
        relay.time_is_up = True
        return Job.Command.STOP
    return Job.Command.PAUSE if relay.moved and _others_wait(job) else ""


def _played(relay: Relay) -> float:
    """Seconds of play, those of earlier turns included."""
    assert relay.began is not None
    return relay.seconds_before + time.monotonic() - relay.began


def _others_wait(job: Job) -> bool:
    """Whether a handshake or another sample waits for this worker."""
    if Simulator.objects.filter(test=Simulator.Test.ASKED).exists():
        return True
    return Job.objects.for_forms().filter(status=Status.QUEUED).exclude(pk=job.pk).exists()


@contextmanager
def _ends_on_sigterm() -> Iterator[None]:
    """While a study runs, SIGTERM (how Celery ends its children) raises ShuttingDown, once."""

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise ShuttingDown

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
