"""Slowing down whoever guesses passwords, tokens or links, without letting a stranger lock somebody out.

Each kind of attempt fills a bucket that drains with time; a full one takes the next attempt only once there is room. An
attempt is counted before its password is looked at, in the transaction that found room for it: however many arrive
together, no more are judged than fit. The right password takes its attempt out again.
"""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil

from django.db import transaction
from django.utils import timezone

from webapp.accounts.models import Attempts

WINDOW = timedelta(minutes=15)
"""What a full bucket takes to drain, unless its limit says otherwise."""


@dataclass(frozen=True)
class Limit:
    """So many wrong attempts of one kind are taken at once; after that one in each ``window / most``."""

    kind: str
    most: int
    window: timedelta = WINDOW

    def of(self, *what: str) -> Bucket:
        """The bucket of one name, address or device. Only its hash is kept: a name may be a mistyped password."""
        parts = "\x00".join([self.kind, *(part.strip().lower() for part in what)])
        return Bucket(hashlib.sha256(parts.encode()).hexdigest(), self.window, self.window / self.most)


@dataclass(frozen=True)
class Bucket:
    """Wrong attempts of one kind, found by ``key``. Each fills it for ``step`` longer, to ``window`` at most."""

    key: str
    window: timedelta
    step: timedelta


NAME_AND_ADDRESS = Limit("name and address", 5)
NAME_AND_DEVICE = Limit("name and device", 5)
OLD_PASSWORD = Limit("old password", 5)
NAME = Limit("name", 50)
NAME_AND_NETWORK = Limit("name and network", 1, timedelta(days=1))
"""The first attempt at a name from a network in a day: judged also while strangers elsewhere keep ``NAME`` full."""
ADDRESS = Limit("address", 300)
TOKENS = Limit("tokens", 30)
LINKS = Limit("links", 30)
MOST_REMOVED = 500
"""Drained rows that one attempt removes."""


class TooMany(Exception):
    """No room for another attempt; ``seconds`` until there is."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(f"Too many wrong attempts; the next is taken in {seconds} s.")


def network(address: str) -> str:
    """The neighbourhood of an address, which one party may have to itself: 256 addresses of IPv4, in IPv6 a /48."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if found.version == 6 and found.ipv4_mapped:
        found = found.ipv4_mapped
    return str(ipaddress.ip_network((found, 24 if found.version == 4 else 48), strict=False))


def attempt(*buckets: Bucket) -> None:
    """Count one more in each bucket. Raises TooMany, and counts nothing, when one of them is full."""
    _remove_drained()
    with transaction.atomic():
        rows, now = _locked(buckets), _now()
        filled = {bucket: max(rows[bucket.key].empty_at, now) + bucket.step for bucket in buckets}
        longest = max(until - bucket.window - now for bucket, until in filled.items())
        if longest > timedelta(0):
            raise TooMany(ceil(longest.total_seconds()))
        _fill(rows, filled)


def forgive(*buckets: Bucket) -> None:
    """The attempt was right: take it out of each bucket again."""
    with transaction.atomic():
        rows, now = _locked(buckets), _now()
        _fill(rows, {bucket: max(now, rows[bucket.key].empty_at - bucket.step) for bucket in buckets})


def forget(bucket: Bucket) -> None:
    """Earlier slips no longer count."""
    Attempts.objects.filter(key=bucket.key).delete()


def _locked(buckets: Sequence[Bucket]) -> dict[str, Attempts]:
    """The rows of the buckets, made where they are missing and locked in one order until the transaction ends. SQLite
    locks the whole database when the transaction begins."""
    now, keys = _now(), sorted({bucket.key for bucket in buckets})
    Attempts.objects.bulk_create(
        [Attempts(key=key, empty_at=now) for key in keys],
        update_conflicts=True,  # PostgreSQL locks a row that it updates, so nobody removes it from here on
        unique_fields=["key"],
        update_fields=["key"],
    )
    return {row.key: row for row in Attempts.objects.filter(key__in=keys)}


def _remove_drained() -> None:
    """Rows that somebody else is at stay for the next time."""
    with transaction.atomic():
        drained = Attempts.objects.select_for_update(skip_locked=True).filter(empty_at__lt=_now())
        Attempts.objects.filter(pk__in=[row.pk for row in drained.only("pk")[:MOST_REMOVED]]).delete()


def _fill(rows: dict[str, Attempts], filled: dict[Bucket, datetime]) -> None:
    """Keep when each bucket will be empty."""
    for bucket, until in filled.items():
        rows[bucket.key].empty_at = until
    Attempts.objects.bulk_update(rows.values(), ["empty_at"])


def _now() -> datetime:
    return timezone.now()
