"""Links that let anybody read one report, ``/r/<key>-<secret>/``: the key finds the row, the secret is compared."""

from __future__ import annotations

import hashlib
import re
from datetime import timedelta

import structlog
from django.db import DatabaseError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from webapp.accounts import throttle
from webapp.accounts.models import User
from webapp.lib import disk
from webapp.lib.once import KEY_BYTES, Secret, new_secret
from webapp.reports.models import Link, Report

log = structlog.get_logger(__name__)

DAYS = ((1, "A day"), (7, "A week"), (14, "14 days"), (30, "30 days"), (90, "90 days"))
USUAL_DAYS = 14
MOST = 20
"""Links to one report that work at one time."""
_TEXT = re.compile(rf"([0-9a-f]{{{2 * KEY_BYTES}}})-([\w-]{{1,100}})", re.ASCII)


class TooManyLinks(Exception):
    """No further link can be made; the message says why and what to do."""


class Closed(Exception):
    """This link opens nothing. ``known``: it did once."""

    def __init__(self, *, known: bool) -> None:
        self.known = known
        super().__init__("This link opens nothing.")


def make(report: Report, user: User, days: int, given: Secret | None = None) -> tuple[Link, str]:
    """A new link, and the text of its address, which can be shown only now. ``given``: of the form that asks for it;
    sent twice, it makes one link. Raises TooManyLinks."""
    key, secret = given or new_secret()
    with transaction.atomic():
        Report.objects.select_for_update().get(pk=report.pk)
        made = report.links.filter(key=key, digest=_digest(secret)).first()
        if made is not None and made.works:
            return made, f"{key}-{secret}"
        if made is not None:
            key, secret = new_secret()
        if report.links.working().count() >= MOST:
            raise TooManyLinks(f"{MOST} links to this report work. Take one back first.")
        link = Link.objects.create(
            report=report, key=key, digest=_digest(secret), created_by=user,
            expires_at=timezone.now() + timedelta(days=days),
        )  # fmt: skip
    return link, f"{key}-{secret}"


def revoke(link: Link, user: User) -> None:
    """The link opens nothing from now on."""
    Link.objects.filter(pk=link.pk, revoked_at=None).update(revoked_at=timezone.now(), revoked_by=user)


def report_of(text: str, address: str) -> Report:
    """The report that a link leads to: a right one always, whatever others guessed. Raises Closed for a link that is
    wrong, taken back or over, and throttle.TooMany for guesses beyond what one address has."""
    found = _found(text)
    if found is None:
        throttle.attempt(throttle.LINKS.of(address))
        raise Closed(known=False)
    if not found.works:
        raise Closed(known=True)
    _note(found)
    return found.report


def _found(text: str) -> Link | None:
    """The link whose text this is, also one that opens nothing any more."""
    match = _TEXT.fullmatch(text)
    key, secret = match.groups() if match else ("", "")
    link = Link.objects.select_related("report__project").filter(key=key).first()
    # Compared also where there is no such row, so that the answer takes as long.
    same = constant_time_compare(link.digest if link is not None else "", _digest(secret))
    return link if same else None


def _note(link: Link) -> None:
    """Write down that it was opened; while the disk is full that is dropped, so that people can read."""
    try:
        Link.objects.filter(pk=link.pk).update(opened=F("opened") + 1, opened_at=timezone.now())
    except DatabaseError:
        if not disk.full():
            raise
        log.warning("the opening of a link was not noted: the disk is full")


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
