"""Sessions in the database; while the disk is full, pages stay readable."""

from __future__ import annotations

import structlog
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.backends.db import SessionStore as DatabaseSessions
from django.db import DatabaseError

from webapp.lib import disk

log = structlog.get_logger(__name__)


class SessionStore(DatabaseSessions):
    """What a page wants to remember is dropped while the disk is full. Signing in fails then, and says why."""

    def save(self, must_create: bool = False) -> None:
        try:
            super().save(must_create)
        except (DatabaseError, UpdateError):  # Django makes the second one of the first, where a row was there
            if must_create or not disk.full():
                raise
            log.warning("a session was not kept: the disk is full")
