"""The right to run code on this site, and the record of who gave and took rights of people.

A simulator is a program that runs on the site's machines with the site's rights. Site operators decide for each person
who may register one; no role in a project brings it, because anybody may make a project and give roles there.
"""

from __future__ import annotations

from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.models import Session
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.dispatch import Signal
from django.utils import timezone

from webapp.accounts.models import CodeRight, PersonAudit, User

switched = Signal()
"""An account was switched off, or on: sent with the ``person``."""


def operators_only(user: User | AnonymousUser) -> None:
    """Raises PermissionDenied for whoever may not manage the people of this site."""
    if not user.is_staff:
        raise PermissionDenied("Only a site operator manages the people of this site.")


def may_run_code(user: User) -> bool:
    """Site operators, and people to whom one of them gave the right."""
    return user.is_staff or CodeRight.objects.filter(person_id=user.pk).exists()


def grant(person: User, by: User | None, why: str = "") -> None:
    """Give the right; nothing happens where it is there already. ``by`` is None for the demo's own people."""
    with transaction.atomic():
        if CodeRight.objects.get_or_create(person=person, defaults={"granted_by": by})[1]:
            record(person, "may register simulators", by, why)


def withdraw(person: User, by: User, why: str = "") -> None:
    """Take the right back; nothing happens where it is not there."""
    with transaction.atomic():
        if CodeRight.objects.filter(person=person).delete()[0]:
            record(person, "may not register simulators any more", by, why)


def record(person: User, action: str, by: User | None, detail: str = "") -> None:
    """Add a line to the audit."""
    PersonAudit.objects.create(person=person, name=str(person)[:150], action=action, user=by, detail=detail[:4000])


def record_changes(person: User, before: User, by: User) -> None:
    """Add a line for each right that an operator gave or took, and for a new password. Whoever was switched off is
    signed out for good: switched on again they sign in anew, in every browser."""
    if person.is_staff != before.is_staff:
        record(person, "is a site operator" if person.is_staff else "is no site operator any more", by)
    if person.is_active != before.is_active:
        record(person, "may sign in" if person.is_active else "may not sign in any more", by)
        end_sessions(person)
        switched.send(User, person=person)
    if person.password != before.password:
        record(person, "has a new password", by)


def end_sessions(person: User) -> None:
    """Sign somebody out in every browser."""
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        if session.get_decoded().get(SESSION_KEY) == str(person.pk):
            session.delete()
