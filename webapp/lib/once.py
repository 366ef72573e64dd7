"""Requests that may arrive again: one of a script with an ``Idempotency-Key``, or of a form, which has a key of its
own, makes one row, however often it comes. The row keeps ``request_key`` and ``request_hash``, and its table takes each
key of a person once."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from django.core.exceptions import BadRequest
from django.db import IntegrityError, transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

M = TypeVar("M", bound=Model)
J = TypeVar("J")
HEADER, FIELD = "Idempotency-Key", "once"
"""Where a script writes its key, and the field of a form that has one."""
_TOKEN = "csrfmiddlewaretoken"
Kept = dict[str, str]
"""What of the request is kept with its row."""


class EmptyForm(BadRequest):
    """A form came without any of its fields, as no page sends it; the message says so."""

    def __init__(self) -> None:
        super().__init__("This form was empty. Nothing was started.")


class KeyReused(Exception):
    """The key came with another request before; the message says so."""


def once(
    request: HttpRequest, earlier: QuerySet[M], key: str, body: Mapping[str, Any], begin: Callable[[Kept], J]
) -> tuple[J | M, bool]:
    """What ``begin`` makes, and True; or which of the person's ``earlier`` rows the same request has made, and False.
    Raises KeyReused where the key came with another request."""
    if not key:
        return begin({}), True
    kept = {"request_key": key, "request_hash": _hash(request, body)}
    if found := _made(earlier, kept):
        return found, False
    try:
        with transaction.atomic():
            return begin(kept), True
    except IntegrityError:
        # The same request arrived twice at once, and the other one was first.
        if found := _made(earlier, kept):
            return found, False
        raise


def once_by_form(request: HttpRequest, earlier: QuerySet[M], begin: Callable[[Kept], J]) -> tuple[J | M, bool]:
    """The same for a form, by the key that its page was made with and what is filled in: whoever goes back to a page
    and changes something makes another row, and two clicks are one. Raises EmptyForm."""
    body = filled(request)
    key = f"form:{_hash(request, body)}" if request.POST.get(FIELD) else ""
    return once(request, earlier, key, body, begin)


def filled(request: HttpRequest) -> dict[str, list[str]]:
    """The fields of a form, but for its token against forgery. Raises EmptyForm where there is none."""
    body = {name: values for name, values in request.POST.lists() if name != _TOKEN}
    if not body and not request.FILES:
        raise EmptyForm
    return body


class Secret(NamedTuple):
    """What a link or a token is made of: the key, which finds its row, and the secret, which is kept nowhere."""

    key: str
    secret: str


KEY_BYTES, SECRET_BYTES = 6, 32


def new_secret() -> Secret:
    """One that nobody has seen."""
    return Secret(secrets.token_hex(KEY_BYTES), secrets.token_urlsafe(SECRET_BYTES))


def secret_of_form(request: HttpRequest) -> Secret:
    """The same one however often this form comes, so that both clicks on a button can be told the same secret; another
    one for every other form. From the form alone, without the site's own key, nobody can work it out."""
    body = filled(request)
    if not request.POST.get(FIELD):
        return new_secret()
    message = f"{request.user.pk} {_hash(request, body)}"
    made = salted_hmac("webapp.lib.once.secret_of_form", message, algorithm="sha512").digest()
    secret = base64.urlsafe_b64encode(made[KEY_BYTES : KEY_BYTES + SECRET_BYTES]).decode().rstrip("=")
    return Secret(made[:KEY_BYTES].hex(), secret)


def _hash(request: HttpRequest, body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps([request.path, body], sort_keys=True).encode()).hexdigest()


def _made(earlier: QuerySet[M], kept: Kept) -> M | None:
    found = earlier.filter(request_key=kept["request_key"]).first()
    if found is not None and getattr(found, "request_hash") != kept["request_hash"]:  # noqa: B009  (no field of Model)
        noun = found._meta.verbose_name
        raise KeyReused(
            f"This {HEADER} started {noun} {found.pk} with another request. Send a new key for a new {noun}, or the "
            "same request again for that one."
        )
    return found
