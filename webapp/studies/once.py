"""Requests that may arrive again: one of a script with an ``Idempotency-Key``, or of a form, which has a key of its
own, starts one job, however often it comes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import IntegrityError, transaction
from django.http import HttpRequest

from webapp.accounts.people import signed_in
from webapp.projects.models import Project
from webapp.studies.models import Job

if TYPE_CHECKING:
    from webapp.accounts.models import User

J = TypeVar("J", bound=Job | None)
HEADER, FIELD = "Idempotency-Key", "once"
"""Where a script writes its key, and the field of a form that has one."""
_TOKEN = "csrfmiddlewaretoken"
Kept = dict[str, str]
"""What of the request is kept with its job."""


class KeyReused(Exception):
    """The key came with another request before; the message says so."""


def once(
    request: HttpRequest, project: Project, key: str, body: Mapping[str, Any], begin: Callable[[Kept], J]
) -> tuple[J | Job, bool]:
    """The job that ``begin`` starts, and True; or the one that this person's earlier request of the same key started
    in this project, and False. Raises KeyReused where that one was another request."""
    if not key:
        return begin({}), True
    kept, user = {"request_key": key, "request_hash": _hash(request, body)}, signed_in(request)
    if found := _earlier(user, project, kept):
        return found, False
    try:
        with transaction.atomic():
            return begin(kept), True
    except IntegrityError:
        # The same request arrived twice at once, and the other one was first.
        if found := _earlier(user, project, kept):
            return found, False
        raise


def once_by_form(request: HttpRequest, project: Project, begin: Callable[[Kept], J]) -> tuple[J | Job, bool]:
    """The same for a form, by the key that its page was made with and what is filled in: whoever goes back to a page
    and changes something starts another job, and two clicks on Start are one."""
    body = {name: values for name, values in request.POST.lists() if name != _TOKEN}
    key = f"form:{_hash(request, body)}" if request.POST.get(FIELD) else ""
    return once(request, project, key, body, begin)


def _hash(request: HttpRequest, body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps([request.path, body], sort_keys=True).encode()).hexdigest()


def _earlier(user: User, project: Project, kept: Kept) -> Job | None:
    found = Job.objects.filter(project=project, created_by=user, request_key=kept["request_key"]).first()
    if found is not None and found.request_hash != kept["request_hash"]:
        raise KeyReused(
            f"This {HEADER} started job {found.pk} with another request. Send a new key for a new job, or the same "
            "request again for that one."
        )
    return found
