"""Making, checking and revoking tokens, ``eqp_<key>_<secret>``: the key finds the row, the secret is compared."""

from __future__ import annotations

import hashlib
from datetime import timedelta

import structlog
from django.db import DatabaseError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from webapp.accounts import throttle
from webapp.accounts.models import User
from webapp.api.models import Token, TokenAudit
from webapp.lib import disk
from webapp.lib.once import KEY_BYTES, Secret, new_secret
from webapp.lib.words import duration, plural, when
from webapp.projects.models import Project

log = structlog.get_logger(__name__)

PREFIX = "eqp"
USED_EVERY = timedelta(minutes=1)
"""How exactly the last use is known: a script that asks every second writes no row every second."""
MOST = 50
"""Tokens of one person that work at one time."""


class Denied(Exception):
    """This token lets nobody in; the message says why."""


class TooMany(Denied):
    """Too many wrong tokens came from there; ``seconds`` until another may be tried."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(f"Too many wrong tokens. Wait {duration(seconds)}, then try again; a right one is let in.")


def make(user: User, name: str, project: Project | None, days: int, given: Secret | None = None) -> tuple[Token, str]:
    """A new token, and its whole text, which can be shown only now. ``given``: of the form that asks for it; sent
    twice, it makes one token."""
    key, secret = given or new_secret()
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
        made = user.tokens.filter(key=key, digest=_digest(secret)).first()
        if made is not None and made.works:
            return made, f"{PREFIX}_{key}_{secret}"
        if made is not None:
            key, secret = new_secret()
        token = Token.objects.create(
            user=user, name=name, project=project, key=key, digest=_digest(secret),
            expires_at=timezone.now() + timedelta(days=days),
        )  # fmt: skip
        record(token, "made", user, f"{project or 'every project'}, for {plural(days, 'day')}")
    return token, f"{PREFIX}_{key}_{secret}"


def revoke(token: Token, user: User) -> None:
    """The token lets nobody in from now on."""
    with transaction.atomic():
        if Token.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
            record(token, "revoked", user)


def revoke_all(user: User, why: str) -> None:
    """Every token of this person that works lets nobody in from now on."""
    with transaction.atomic():
        for token in user.tokens.working().select_for_update():
            Token.objects.filter(pk=token.pk).update(revoked_at=timezone.now())
            record(token, "revoked", user, why)


def end_with_account(sender: object, person: User, **more: object) -> None:
    """Whoever is switched off has no tokens any more, also once they are switched on again."""
    revoke_all(person, "the account was switched off")


def record(token: Token, action: str, user: User, detail: str = "") -> None:
    """Add a line to the audit."""
    TokenAudit.objects.create(token=token, action=action, detail=detail[:4000], user=user)


def visible(user: User) -> QuerySet[Token]:
    """One's own tokens; a site operator sees, and may revoke, everybody's."""
    return Token.objects.all() if user.is_staff else Token.objects.filter(user=user)


def holder(text: str, address: str) -> Token:
    """The token whose text this is: a right one always, whatever others guessed. Raises Denied for a token that is
    wrong, revoked, over, or of somebody who may not sign in, and TooMany for guesses beyond what one address has."""
    token = _found(text)
    if token is None:
        raise _guessed(address)
    if token.revoked_at is not None:
        raise Denied(f"This token was revoked ({when(token.revoked_at)}). Make a new one under API tokens.")
    if not token.works:
        raise Denied(f"This token ended ({when(token.expires_at)}). Make a new one under API tokens.")
    if not token.user.is_active:
        raise Denied("The account of this token is switched off. Ask the site's operator.")
    _note_use(token, address)
    return token


def owner(text: str) -> int | None:
    """The number of the person whom ``holder`` would know by this token; it counts as no use, and as no guess."""
    token = _found(text)
    return token.user_id if token is not None and token.works and token.user.is_active else None


def _found(text: str) -> Token | None:
    """The token whose text this is, also one that lets nobody in any more."""
    key, secret = _parts(text)
    token = Token.objects.select_related("user", "project").filter(key=key).first()
    # Compared also where there is no such row, so that the answer takes as long.
    same = constant_time_compare(token.digest if token is not None else "", _digest(secret))
    return token if same else None


def _guessed(address: str) -> Denied:
    """What to answer to a wrong token from this address."""
    try:
        throttle.attempt(throttle.TOKENS.of(address))
    except throttle.TooMany as wait:
        return TooMany(wait.seconds)
    return Denied("This token is not known here. Copy it whole, or make a new one under API tokens.")


def _note_use(token: Token, address: str) -> None:
    """Write down when and from where it was used; while the disk is full that is dropped, so that scripts can read."""
    now = timezone.now()
    old = Q(used_at=None) | Q(used_at__lt=now - USED_EVERY) | ~Q(used_from=address)
    try:
        Token.objects.filter(old, pk=token.pk).update(used_at=now, used_from=address)
    except DatabaseError:
        if not disk.full():
            raise
        log.warning("the use of a token was not noted: the disk is full")


def _parts(text: str) -> tuple[str, str]:
    """Key and secret; empty ones where the text is no token."""
    prefix, _, rest = text.strip().partition("_")
    key, _, secret = rest.partition("_")
    return (key, secret) if prefix == PREFIX and len(key) == 2 * KEY_BYTES and secret.isascii() else ("", "")


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
