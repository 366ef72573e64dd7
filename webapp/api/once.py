"""Requests that may be sent again: one with an ``Idempotency-Key`` starts one job, however often it arrives."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.http import HttpRequest

from webapp.projects.models import Project
from webapp.studies.models import Job
from webapp.studies.pictures import person

HEADER = "Idempotency-Key"
Kept = dict[str, str]
"""What of the request is kept with its job."""


class KeyReused(Exception):
    """The key came with another request before; the message says so."""


def once(
    request: HttpRequest, project: Project, key: str, body: Mapping[str, Any], begin: Callable[[Kept], Job]
) -> tuple[Job, bool]:
    """The job that ``begin`` starts, and True; or the one that this person's earlier request of the same key started
    in this project, and False. Raises KeyReused where that one was another request."""
    if not key:
        return begin({}), True
    asked = json.dumps([request.path, body], sort_keys=True)
    kept = {"request_key": key, "request_hash": hashlib.sha256(asked.encode()).hexdigest()}
    if found := _earlier(request, project, kept):
        return found, False
    try:
        with transaction.atomic():
            return begin(kept), True
    except IntegrityError:
        # The same request arrived twice at once, and the other one was first.
        if found := _earlier(request, project, kept):
            return found, False
        raise


def _earlier(request: HttpRequest, project: Project, kept: Kept) -> Job | None:
    found = Job.objects.filter(project=project, created_by=person(request), request_key=kept["request_key"]).first()
    if found is not None and found.request_hash != kept["request_hash"]:
        raise KeyReused(
            f"This {HEADER} started job {found.pk} with another request. Send a new key for a new job, or the same "
            "request again for that one."
        )
    return found
