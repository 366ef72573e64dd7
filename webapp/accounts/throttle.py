"""Slowing down whoever guesses passwords, without letting a stranger lock somebody out."""

from __future__ import annotations

from datetime import datetime, timedelta
from math import ceil

from django.db.models import Q
from django.utils import timezone

from webapp.accounts.models import SignInFailure

WINDOW = timedelta(minutes=15)
PER_NAME_AND_ADDRESS = 5
PER_ADDRESS = 30
PER_NAME = 50


def _plain(name: str) -> str:
    return name.strip().lower()[:254]


def _until(matching: Q, limit: int, now: datetime) -> datetime | None:
    """When the oldest of the last ``limit`` failures leaves the window; None below the limit."""
    recent = SignInFailure.objects.filter(matching, at__gt=now - WINDOW).order_by("-at").values_list("at", flat=True)
    times = list(recent[:limit])
    return times[-1] + WINDOW if len(times) == limit else None


def minutes_to_wait(name: str, address: str) -> int:
    """Whole minutes until this name may be tried again from this address; 0 when it may be now."""
    now = timezone.now()
    by_name, by_address = Q(name=_plain(name)), Q(address=address)
    limits = ((by_name & by_address, PER_NAME_AND_ADDRESS), (by_address, PER_ADDRESS), (by_name, PER_NAME))
    ends = [end for matching, limit in limits if (end := _until(matching, limit, now))]
    return ceil((max(ends) - now).total_seconds() / 60) if ends else 0


def note_failure(name: str, address: str) -> None:
    """Remembers a wrong password, and forgets those that no longer count."""
    SignInFailure.objects.filter(at__lt=timezone.now() - WINDOW).delete()
    SignInFailure.objects.create(name=_plain(name), address=address)


def forget(name: str, address: str) -> None:
    """The right password was given: earlier slips from this address no longer count."""
    SignInFailure.objects.filter(name=_plain(name), address=address).delete()
