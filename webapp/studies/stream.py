"""``/events/``: one stream of server-sent events a browser, for all jobs of a project (or, for scripts, of one job).

``?project=SLUG``: ``id:`` is the key of the event's row. Writers of a project queue at its row, so keys grow in the
order of commits and one number says what a reader has seen of every job. ``?job=ID``: ``id:`` is the event's number
in the job, 1, 2, 3 … Either number survives a restart of everything, so a reader that comes back with it
(``Last-Event-ID``, or ``after=`` for the next leading tab) misses nothing and gets nothing twice.

Without a number the stream begins with a ``snapshot``; ``event`` messages follow, and a ``beat`` when it is quiet.
Redis only wakes the readers. Who reads is looked up again every few seconds, so a stream ends soon after a right to
read it: membership, session, account or password. No database connection is held between two looks. One person has
``MOST_OPEN`` streams at a time; what asks for another one is refused, and asks with ``poll=1``.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from weakref import WeakSet

from asgiref.sync import sync_to_async
from django.contrib.auth import get_user
from django.db import connection
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from webapp.accounts.models import User
from webapp.accounts.people import signed_in
from webapp.lib.digits import whole
from webapp.lib.page_json import PageJson, written
from webapp.lib.trouble import trouble
from webapp.projects.access import project_for, role_in
from webapp.projects.models import Project
from webapp.studies import wire
from webapp.studies.models import ACTIVE, Job, JobEvent
from webapp.studies.wakeups import wakeups

T = TypeVar("T")

PAGE = 200
LOOK_EVERY = 2.0
"""Seconds after which a reader looks unasked; half of it while Redis is away."""
SETTLE = 0.1
"""Seconds a woken reader waits before it looks, so that a burst of events costs one look."""
BEAT_EVERY = 10.0
CHECK_EVERY = 5.0
"""Seconds after which the reader's right to read is looked up again, before anything more is told."""
RECENT = 20
MOST_OPEN = 16
"""Streams that one person may have open; a browser has one for each project."""
TOO_MANY = f"You have {MOST_OPEN} of these streams open already. Close one, or ask with poll=1."


@dataclass(eq=False)
class Reader:
    """What one reader may see, and how far it has read."""

    request: HttpRequest
    project: Project
    job: Job | None
    cursor: int | None
    known: dict[int, int] = field(default_factory=dict)
    more: bool = False

    def snapshot(self) -> dict[str, Any]:
        """The present state of the jobs, and the place in the history from which to read on."""
        mine = Job.objects.filter(project=self.project).select_related("project")
        if self.job is not None:
            job = mine.get(pk=self.job.pk)
            self.cursor, jobs = job.sequence, [job]
        else:
            last = JobEvent.objects.filter(job__project=self.project).order_by("-pk").values_list("pk", flat=True)
            # Read before the jobs: what is written in between is then told as an event, and known to be.
            self.cursor = last.first() or 0
            jobs = [*mine.filter(status__in=ACTIVE), *mine.exclude(status__in=ACTIVE)[:RECENT]]
        self.known = {job.pk: job.sequence for job in jobs}
        return {"jobs": [wire.state(job) for job in jobs]}

    def news(self) -> list[tuple[int, dict[str, Any]]]:
        """The next events, at most ``PAGE``: (id, message) each. ``more`` says whether to ask again at once."""
        if self.job is not None:
            rows = [
                (event.sequence, event) for event in self._after(sequence__gt=self.cursor).order_by("sequence")[:PAGE]
            ]
        else:
            rows = [(event.pk, event) for event in self._after(pk__gt=self.cursor).order_by("pk")[:PAGE]]
        self.more = len(rows) == PAGE
        if rows:
            self.cursor = rows[-1][0]
        return [(i, wire.message(event)) for i, event in rows if event.sequence > self.known.get(event.job_id, 0)]

    def _after(self, **where: Any) -> QuerySet[JobEvent]:
        of = {"job": self.job} if self.job else {"job__project": self.project}
        return wire.readable(JobEvent.objects.filter(**of, **where))

    def may_read(self) -> bool:
        """Whether this person is still signed in, by the present account and password, and a member."""
        now = HttpRequest()
        now.session = type(self.request.session)(self.request.session.session_key)
        person = get_user(now)
        return isinstance(person, User) and role_in(person, self.project) is not None


class Places:
    """The streams that are open, by person. One whose answer was never sent gives its place back as it is collected."""

    def __init__(self) -> None:
        self._taken: dict[int, WeakSet[Reader]] = {}

    def take(self, reader: Reader) -> bool:
        """Whether its person may have one more, which is then counted."""
        taken = self._taken.setdefault(signed_in(reader.request).pk, WeakSet())
        if len(taken) >= MOST_OPEN:
            return False
        taken.add(reader)
        return True

    @property
    def open(self) -> int:
        """How many there are, of all people."""
        return sum(len(taken) for taken in self._taken.values())

    def leave(self, reader: Reader) -> None:
        """It has ended."""
        self._taken[signed_in(reader.request).pk].discard(reader)


places = Places()


def _open(request: HttpRequest) -> Reader:
    """Check the right to read. Raises Http404 for strangers and for numbers that are none."""
    job = None
    wanted = request.GET.get("job", "")
    if wanted:
        job = Job.objects.select_related("project").filter(pk=whole(wanted) or 0).first()
        if job is None:
            raise Http404("No job of yours has this number.")
    slug = job.project.slug if job else request.GET.get("project", "")
    project = project_for(request, slug)
    seen = request.headers.get("Last-Event-ID") or request.GET.get("after", "")
    return Reader(request, project, job, whole(seen))


async def _in_thread(ask: Callable[[], T]) -> T:
    """Ask the database from a pool thread, and leave no connection open there."""

    def asking() -> T:
        try:
            return ask()
        finally:
            connection.close()

    return await sync_to_async(asking, thread_sensitive=False)()


@require_safe
async def events(request: HttpRequest) -> HttpResponseBase:
    """The stream; with ``poll=1`` what is new right now, as JSON, for where streams do not get through."""
    reader = await _in_thread(lambda: _open(request))
    if request.method == "HEAD":
        return HttpResponse(content_type="text/event-stream")
    if request.GET.get("poll"):
        return await _poll(reader)
    if not places.take(reader):
        return trouble(request, "Too many streams", TOO_MANY, status=429)
    answer = StreamingHttpResponse(_stream(reader), content_type="text/event-stream")
    answer["Cache-Control"], answer["X-Accel-Buffering"] = "no-store", "no"
    return answer


async def _poll(reader: Reader) -> PageJson:
    snapshot = await _in_thread(reader.snapshot) if reader.cursor is None else None
    news = await _in_thread(reader.news)
    answer = PageJson({"snapshot": snapshot, "events": [message for _, message in news], "cursor": reader.cursor})
    answer["Cache-Control"] = "no-store"
    return answer


def _frame(kind: str, data: dict[str, Any], number: int | None = None) -> bytes:
    head = "" if number is None else f"id: {number}\n"
    return f"{head}event: {kind}\ndata: {written(data)}\n\n".encode()


async def _stream(reader: Reader) -> AsyncIterator[bytes]:
    try:
        async for frame in _frames(reader):
            yield frame
    finally:
        places.leave(reader)


async def _frames(reader: Reader) -> AsyncIterator[bytes]:
    hub = wakeups()
    # Signing in was looked up in this request's own thread, whose connection would stay open as long as the stream.
    await sync_to_async(lambda: connection.close())()
    with hub.waiting(reader.project.pk) as woken:
        yield b"retry: 2000\n\n"
        if reader.cursor is None:
            snapshot = await _in_thread(reader.snapshot)
            yield _frame("snapshot", snapshot, reader.cursor)
        spoke = checked = time.monotonic()
        while True:
            woken.clear()
            if time.monotonic() - checked > CHECK_EVERY:
                if not await _in_thread(reader.may_read):
                    return
                checked = time.monotonic()
            news = await _in_thread(reader.news)
            if news:
                spoke = time.monotonic()
                yield b"".join(_frame("event", message, number) for number, message in news)
            if reader.more:
                continue
            now = time.monotonic()
            if now - spoke > BEAT_EVERY:
                spoke = now
                yield _frame("beat", {})
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(woken.wait(), LOOK_EVERY if hub.connected else LOOK_EVERY / 2)
                await asyncio.sleep(SETTLE)
