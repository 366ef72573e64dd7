"""Who asks."""

from __future__ import annotations

from django.http import HttpRequest

from webapp.accounts.models import User


def signed_in(request: HttpRequest) -> User:
    """The signed-in person; the sign-in middleware let nobody else through."""
    assert isinstance(request.user, User)
    return request.user
