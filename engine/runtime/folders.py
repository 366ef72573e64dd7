"""Private folders that do not outlive their process: the next process removes those of killed ones."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

OURS = "equipoise-"
"""What the prefix of every kind begins with."""
LONGEST_BASE = 18  # the path of a Unix socket ends at 107 bytes: 23 for the folder, 66 for Ray’s in it


class PrivateFolder:
    """A new folder that only this user can enter, with a short path. A lock in it, which the system releases however
    the process ends, marks a living owner; folders of dead owners with the same prefix are removed first."""

    def __init__(self, prefix: str) -> None:
        base = where()
        sweep(base, prefix)
        draft = Path(tempfile.mkdtemp(prefix=f".{prefix}", dir=base))
        self._lock = os.open(draft / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        # Renamed only now, so that a sweep never finds it unlocked.
        self.path = draft.rename(draft.with_name(draft.name.removeprefix(".")))

    def remove(self) -> None:
        """Remove the folder and all in it. Safe to call twice."""
        if self._lock >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1


def where() -> Path:
    """Where private folders are made."""
    base = tempfile.gettempdir()
    return Path(base if len(base) <= LONGEST_BASE else "/tmp")


def sweep_all() -> None:
    """Remove this user's private folders of all kinds whose owner is gone."""
    sweep(where(), OURS)


def sweep(base: Path, prefix: str) -> None:
    """Remove this user's folders whose owner is gone."""
    for folder in base.glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            if folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
