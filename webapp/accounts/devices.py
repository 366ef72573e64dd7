"""Browsers in which somebody signed in before: a signed cookie names the browser and who signed in there.

It opens nothing. It only lets the throttle count wrong passwords of this browser apart from those of everybody else,
so that nobody can keep a person out of a browser of their own (OWASP, "Device cookies").
"""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponseBase

from webapp.accounts.models import User

KEPT = timedelta(days=180)
MOST = 8
"""People that one browser remembers; the earliest is forgotten first."""
_SALT = "webapp.accounts.devices"


def known(request: HttpRequest, user: User) -> str:
    """The name of the browser when ``user`` signed in there before; else empty."""
    read = _read(request)
    return str(read["device"]) if user.pk in read["people"] else ""


def remember(request: HttpRequest, response: HttpResponseBase, user: User) -> None:
    """Let the browser remember that ``user`` signed in there."""
    read = _read(request)
    people = [*(pk for pk in read["people"] if pk != user.pk), user.pk][-MOST:]
    response.set_cookie(
        settings.DEVICE_COOKIE_NAME,
        signing.dumps({"device": read["device"] or secrets.token_urlsafe(16), "people": people}, salt=_SALT),
        max_age=KEPT,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _read(request: HttpRequest) -> dict[str, Any]:
    try:
        found = signing.loads(request.COOKIES.get(settings.DEVICE_COOKIE_NAME, ""), salt=_SALT, max_age=KEPT)
    except signing.BadSignature:
        found = {}
    return {"device": "", "people": [], **found}
