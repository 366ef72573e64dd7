"""Runtime data is for the user who runs the site alone: other people of the machine can open none of it.

``UMASK`` takes care of what is written from now on; ``close`` of what earlier versions, or a hand, left open.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

UMASK = 0o077
OURS = ("db.sqlite3*", "secret*", "demo-passwords.json*", "run", "log", "redis*", "store", "jobs", "tmp", "cache")
"""What the site keeps in its folder, as patterns: somebody's own files beside it are left alone."""

SHARED = ("/tmp", "/var/tmp", "/dev/shm")


def close(var: Path) -> list[Path]:
    """Take from everybody but the owner what they may do with the runtime data in ``var``: folders become 0700, files
    0600 (0700 where they are programs). Gives what could not be closed because it belongs to somebody else."""
    return [path for path in _all(var) if not _closed(path)]


def shared(var: Path) -> bool:
    """Whether the folder is meant for all, such as ``/tmp``: others can create names in it, so it stays as it is. One
    that looks so and is this user's, with nothing of others in it, is only badly made."""
    about = var.stat()
    if not about.st_mode & stat.S_ISVTX:
        return False
    mine = os.geteuid()
    temporary = {Path(folder).resolve() for folder in (*SHARED, tempfile.gettempdir())}
    return about.st_uid != mine or var.resolve() in temporary or any(p.lstat().st_uid != mine for p in var.iterdir())


def _all(var: Path) -> Iterator[Path]:
    """The folder and all that the site keeps in it. Of links only those that lead one of its parts elsewhere count."""
    if not shared(var):
        yield var
    for pattern in OURS:
        for part in var.glob(pattern):
            yield part.resolve()
            for folder, folders, files in os.walk(part.resolve()):
                yield from (Path(folder, name) for name in [*folders, *files])


def _closed(path: Path) -> bool:
    """Whether nobody but the owner may do anything with it now; true for what is gone, and for a link."""
    try:
        mode = path.lstat().st_mode
        if not stat.S_ISLNK(mode) and mode & UMASK:
            path.chmod(stat.S_IMODE(mode) & ~(UMASK | stat.S_ISVTX))
    except FileNotFoundError:
        return True
    except PermissionError:
        return False
    return True
