"""Storage given back: artifacts that no row points at any more, once they are an hour old."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import structlog
from django.apps import apps
from django.conf import settings
from django.db.models import CharField, JSONField, Model, Q
from django.utils import timezone

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
    Job.objects.for_forms().filter(over).delete()
    before, kept = time.time() - OLD, store()
    gone = kept.discard(set(kept).difference(references()), before)
    kept.sweep(before)
    _drop_leases()
    if gone:
        log.info("storage collected", artifacts=gone)
    return gone


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


def _drop_leases() -> None:
    """Trainings of searches that were stopped or thrown away: only a job that goes on, or may be asked to, needs its
    own. A lease is named after its study, and one that somebody holds is renewed all the time."""
    goes_on = Job.objects.exclude(status__in=(Status.STOPPED, Status.FINISHED))
    needed = set(goes_on.values_list("config_hash", flat=True))
    for lease in store().leases():
        if lease.age > OLD and lease.name.rpartition("-")[0] not in needed:
            store().take(lease.name).drop()
    shutil.rmtree(settings.STORE_DIR / "workshops", ignore_errors=True)  # where trainings were before there were leases
