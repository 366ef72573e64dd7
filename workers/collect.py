"""Storage given back: artifacts that no row points at any more, once they are an hour old."""

from __future__ import annotations

import contextlib
import fcntl
import re
import shutil
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import structlog
from django.apps import apps
from django.db.models import CharField, JSONField, Model, Q, QuerySet
from django.utils import timezone

from engine.config import EvolveConfig, parse
from engine.errors import ConfigError
from webapp.lib.storage import store
from webapp.studies.models import Job, JobEvent, Status

log = structlog.get_logger(__name__)

OLD = 3600.0
"""Seconds: long enough for an artifact that was just written to be mentioned in an event, and that event stored."""
SAMPLES_STAY = timedelta(days=30)
_DIGEST = re.compile(r"\b[0-9a-f]{64}\b")


def collect() -> int:
    """Discard what nobody refers to; the number of artifacts that went. Random samples go after a month."""
    long_ago = timezone.now() - SAMPLES_STAY
    over = Q(finished_at__lt=long_ago) | Q(status=Status.PAUSED, created_at__lt=long_ago)
    Job.objects.filter(over, kind=Job.Kind.SAMPLE).delete()
    before = time.time() - OLD
    old = {digest for digest in store() if _age_mark(digest) < before}
    orphans = old.difference(references()) if old else set()
    store().discard(orphans)
    _sweep_drafts(before)
    _sweep_workshops(before)
    if orphans:
        log.info("storage collected", artifacts=len(orphans))
    return len(orphans)


def references() -> Iterator[str]:
    """Every hash in any row of the site. In an event, a checkpoint is no reference: the job's own two are."""
    for model in apps.get_models():
        if model.__module__.startswith("webapp.") and model is not JobEvent:
            yield from _in_rows(model)
    for body in JobEvent.objects.values_list("body", flat=True).iterator(chunk_size=500):
        artifacts = body.get("artifacts") or {}
        yield from (digest for role, digest in artifacts.items() if role != "checkpoint")


def _in_rows(model: type[Model]) -> Iterator[str]:
    fields = [f.name for f in model._meta.concrete_fields if _may_hold(f)]
    if fields:
        for row in model._default_manager.values_list(*fields).iterator(chunk_size=500):
            yield from _DIGEST.findall(repr(row))


def _may_hold(field: Any) -> bool:
    return isinstance(field, JSONField) or (isinstance(field, CharField) and (field.max_length or 0) >= 64)


def _file(digest: str) -> Path:
    return store().folder / digest[:2] / digest[2:]


def _age_mark(digest: str) -> float:
    try:
        return _file(digest).stat().st_mtime
    except FileNotFoundError:
        return float("inf")


def _sweep_drafts(before: float) -> None:
    """Files that a writer began and never finished, because it was killed."""
    for path in store().folder.glob("??/.*"):
        if path.stat().st_mtime < before:
            path.unlink(missing_ok=True)


def _sweep_workshops(before: float) -> None:
    """Where the candidates of searches lie that were stopped or thrown away: only a job that goes on, or may be asked
    to, needs its workshop. One that somebody is at stays, whoever that is."""
    needed = {_workshop(config) for config in _goes_on().values_list("config", flat=True)}
    for folder in store().folder.glob("workshops/*"):
        if folder.name not in needed and folder.stat().st_mtime < before and _nobody_at(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _goes_on() -> QuerySet[Job]:
    return Job.objects.filter(kind=Job.Kind.EVOLVE).exclude(status__in=(Status.STOPPED, Status.FINISHED))


def _workshop(config: dict[str, Any]) -> str:
    try:
        return parse(EvolveConfig, config).workshop
    except ConfigError:  # of an earlier version of the engine: it cannot go on
        return ""


def _nobody_at(folder: Path) -> bool:
    """A study holds the lock of its workshop as long as it lives."""
    with contextlib.suppress(OSError), (folder / "lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return not (folder / "lock").exists()
