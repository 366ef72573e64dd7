"""Sessions in the database; while the disk is full, pages stay readable."""

from __future__ import annotations

import structlog
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.backends.db import SessionStore as DatabaseSessions
from django.db import DatabaseError

from webapp.lib import disk

log = structlog.get_logger(__name__)


class SessionStore(DatabaseSessions):
    """What a page wants to remember is dropped while the disk is full. Signing in fails then, and says why: a session
    without who is signed in would be a sign-in that the next page knows nothing of."""

    begins = False

    def cycle_key(self) -> None:
        """Somebody signs in."""
        self.begins = True
        super().cycle_key()

    def save(self, must_create: bool = False) -> None:
        try:
            super().save(must_create)
        except (DatabaseError, UpdateError) as error:  # Django makes the second of the first, where a row was there
            if must_create or not disk.full():
                raise
            if self.begins:
                raise disk.NoRoom(disk.UNWRITTEN) from error
            log.warning("a session was not kept: the disk is full")
