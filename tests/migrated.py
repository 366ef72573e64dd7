"""The processes of one run of the tests share a migrated database: the first makes it, the others begin with a copy."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path
from typing import Any

from django.db import connection


class Shared:
    """A copy of a database that has been migrated, in a folder of all processes. Until it is there, the process that
    holds the lock makes it and all others wait; where it dies, the next of them does."""

    def __init__(self, folder: Path) -> None:
        self.copy, self._lock = folder / "migrated.sqlite3", (folder / "migrated.lock").open("w")
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def begin(self) -> None:
        """Have Django create the test database from the copy, if there is one. Django then migrates it, too: whatever
        the copy had not."""
        if not self.copy.exists():
            return
        self._lock.close()
        creation: Any = connection.creation
        create = creation._create_test_db

        def copied(*how: Any, **more: Any) -> Any:
            name = create(*how, **more)
            shutil.copyfile(self.copy, name)
            return name

        creation._create_test_db = copied

    def offer(self) -> None:
        """Leave a copy of this process's database to the others, before any test has written into it."""
        if self._lock.closed:
            return
        draft = self.copy.with_suffix(".draft")
        with connection.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [str(draft)])
        draft.replace(self.copy)
        self._lock.close()


def is_shared() -> bool:
    """Whether there are several processes, whose databases are files."""
    return "PYTEST_XDIST_WORKER" in os.environ and connection.vendor == "sqlite"
