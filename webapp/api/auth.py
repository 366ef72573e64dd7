"""Who asks, by token alone: a browser's session opens nothing here, so no page of another site can start a job."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.http import Http404, HttpRequest
from ninja.security import HttpBearer

from webapp.accounts.people import signed_in
from webapp.api import tokens
from webapp.api.models import Token
from webapp.lib.sessions import SessionStore
from webapp.lib.trouble import API
from webapp.projects.access import Need, project_for
from webapp.projects.models import Project
from webapp.studies.models import Job
from webapp.studies.pictures import job_for


class Bearer(HttpBearer):
    """``Authorization: Bearer eqp_…``; makes its owner the request's user."""

    def authenticate(self, request: HttpRequest, token: str) -> Token:
        found = tokens.holder(token, str(request.META.get("REMOTE_ADDR", "")))
        request.user = found.user
        # Nothing a script does is remembered for a browser, and no cookie is sent back.
        del request.session
        return found


def sender(request: HttpRequest) -> int | None:
    """The number of the person whose token that works a request shows, below the API, or elsewhere who is signed in by
    its session; None for others. It lets nobody in: the views look for themselves."""
    if request.path_info.startswith(API):
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        return tokens.owner(text) if scheme.lower() == "bearer" else None
    request.session = SessionStore(request.COOKIES.get(settings.SESSION_COOKIE_NAME))
    return get_user(request).pk


def token_of(request: Any) -> Token:
    """The token of a request that was let in."""
    found: Token = request.auth
    return found


def project_of(request: HttpRequest, slug: str, need: Need = "read") -> Project:
    """As ``project_for``; for a token of one project every other does not exist. Raises Http404, PermissionDenied."""
    only = token_of(request).project
    if only is not None and only.slug != slug:
        raise Http404("No project of this token has this address.")
    return project_for(request, slug, need)


def job_of(request: HttpRequest, slug: str, number: int, need: Need = "read") -> Job:
    """A job of the project. Raises Http404 and PermissionDenied as ``project_of`` does."""
    project_of(request, slug, need)
    return job_for(request, slug, number, need)


def record(request: HttpRequest, action: str, job: Job) -> None:
    """Write down what a token did to a job."""
    tokens.record(token_of(request), action, signed_in(request), f"job {job.pk}, {job.title}, in {job.project}")
