"""What is reckoned from a job's artifacts, kept in the database under all it was reckoned from.

It costs seconds of processor and is asked for by every list of jobs, so it is reckoned once: by a worker as soon as the
job has ended, not again by a process that has just started, nor by each of those who ask at the same time, in whatever
process: they wait for the first. A new version of the code that reckons it reckons anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import cache as once
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeVar, cast
from weakref import WeakValueDictionary

import structlog
from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, transaction

import engine
from engine.errors import StoreError
from webapp.lib.locks import only_one
from webapp.lib.storage import store
from webapp.studies import explore_source as source
from webapp.studies.models import Job, Reckoned
from workers.app import enqueue

log = structlog.get_logger(__name__)

T = TypeVar("T")
IN_MEMORY_S = 3600
"""Seconds for which a process that has it does not ask the database."""
STATES_KEPT = 8
"""Of each thing, so many of the latest states are kept: people compare, and move a line back."""
ASK_AGAIN_S = 60
"""Seconds after which a worker is told again."""
PATIENCE_S = 15.0
"""Seconds after which it is reckoned here though another process is still at it."""
LOCKS = 64
_CODE = (
    *sorted(Path(engine.__file__).parent.glob("*.py")),
    *sorted((Path(engine.__file__).parent / "lineups").glob("*.py")),
    *sorted(Path(__file__).parent.glob("*.py")),
)
_locks: WeakValueDictionary[tuple[int, str, str], Lock] = WeakValueDictionary()
_of_locks = Lock()


class NotYet(Exception):
    """It is not reckoned yet, and whoever asks does not wait: a worker was told to."""


_workers: ContextVar[bool] = ContextVar("left_to_workers", default=False)


@contextlib.contextmanager
def left_to_workers() -> Iterator[None]:
    """Within it nothing that takes seconds is reckoned or waited for: lists of jobs ask for many jobs, and a machine
    may be busy. What is not kept yet raises NotYet, and a worker reckons it."""
    before = _workers.set(True)
    try:
        yield
    finally:
        _workers.reset(before)


class Form(NamedTuple):
    """How something is written as JSON, and read again."""

    written: Callable[[Any], Any]
    read: Callable[[Any], Any]


def reckoned(job: Job, name: str, state: str, make: Callable[[], T], form: Form, *, slow: bool = False) -> T:
    """What ``make`` gives, or gave for the same ``state`` of the same job earlier. It is never None. ``slow``: it takes
    seconds, so lists of jobs leave it to workers. Raises NotYet there."""
    at = f"{name}-{job.pk}-{state}-{version()}"
    found: T | None = cache.get(at)
    if found is not None:
        return found
    if slow and _workers.get():
        return cast("T", _kept(job, name, f"{state}-{version()}", form))
    with _lock(job, name, state):
        found = cache.get(at)
        if found is None:
            found = _kept_or_made(job, name, f"{state}-{version()}", make, form)
            cache.set(at, found, IN_MEMORY_S)
    return found


def _kept(job: Job, name: str, state: str, form: Form) -> Any:
    """Raises NotYet, and has a worker reckon it where none was told a short time ago; StoreError and ConfigError where
    a worker could not."""
    if state in (kept := recall(job, name)):
        return form.read(kept[state])
    source.spec(job)
    for digest in source.replayed(job):
        store().get(digest)
    if cache.add(f"asked-{name}-{job.pk}-{state}", True, ASK_AGAIN_S):
        enqueue("reckon", job.pk)
    raise NotYet


def _kept_or_made(job: Job, name: str, state: str, make: Callable[[], T], form: Form) -> T:
    found: T
    if state in (kept := recall(job, name)):
        found = form.read(kept[state])
        return found
    with contextlib.ExitStack() as alone:
        with contextlib.suppress(OSError):  # another process is slow, or there is no room for a lock
            alone.enter_context(only_one(_lock_of(job, name), PATIENCE_S))
        return _made(job, name, state, make, form)


def _lock_of(job: Job, name: str) -> Path:
    """One file for many jobs, so that they do not become more and more. Whoever reckons one thing may need another, but
    never one of the same name."""
    folder = Path(settings.VAR, "cache", "reckoned")
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}-{job.pk % LOCKS}"


def _made(job: Job, name: str, state: str, make: Callable[[], T], form: Form) -> T:
    found: T
    if state in (kept := recall(job, name)):  # another process was faster
        found = form.read(kept[state])
        return found
    found = make()
    if not _whole(job):
        return found
    latest = list({**recall(job, name), state: form.written(found)}.items())[-STATES_KEPT:]
    keep(job, name, dict(latest))
    return found


def _whole(job: Job) -> bool:
    """Whether all that was played again can be read. What was reckoned without some of it must not outlast its loss."""
    try:
        for digest in source.replayed(job):
            store().get(digest)
    except StoreError:
        return False
    return True


def recall(job: Job, name: str) -> dict[str, Any]:
    """What was kept of a job under a name, by state."""
    content = Reckoned.objects.filter(job=job, name=name).values_list("content", flat=True).first()
    return {} if content is None else dict(json.loads(content))


def keep(job: Job, name: str, content: dict[str, Any]) -> None:
    """Keep it in place of what was kept. Where it cannot be written it will be reckoned again."""
    try:
        with transaction.atomic():
            Reckoned.objects.update_or_create(job=job, name=name, defaults={"content": json.dumps(content)})
    except DatabaseError as error:
        log.warning("what was reckoned of a job was not kept", job=job.pk, name=name, error=str(error))


def _lock(job: Job, name: str, state: str) -> Lock:
    with _of_locks:
        return _locks.setdefault((job.pk, name, state), Lock())


@once
def version() -> str:
    """Names the code that reckons."""
    digest = hashlib.sha256()
    for path in _CODE:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
