"""Where the site keeps artifacts: arrays never go into database rows, rows hold their hashes."""

from __future__ import annotations

from django.conf import settings

from engine.store import Store
from engine.stores import open_store


def store() -> Store:
    """The store that the site, its workers and the studies share."""
    return open_store(settings.STORE)
