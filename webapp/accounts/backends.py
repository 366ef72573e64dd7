"""Signing in with the user name or the email address, in any case of letters."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.http import HttpRequest

from webapp.accounts.models import User


def find_user(name: str) -> User | None:
    """The person who goes by ``name``: a user name first, else an email address."""
    return User.objects.filter(username__iexact=name).first() or User.objects.filter(email__iexact=name).first()


class NameOrEmailBackend(ModelBackend):
    """Django's own check, so a name nobody has takes as long to refuse as a wrong password."""

    def authenticate(
        self, request: HttpRequest | None, username: str | None = None, password: str | None = None, **kwargs: Any
    ) -> Any:
        name = (username or "").strip()
        user = find_user(name)
        return super().authenticate(request, username=user.username if user else name, password=password, **kwargs)
