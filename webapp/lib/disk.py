"""Is there room on the disk? While there is not, jobs are put aside and nothing new starts; both end by themselves.

Two marks, so that nothing swings: below ``settings.DISK_RESERVE`` bytes running jobs are put aside; they go on, and
new ones start, from a quarter more. What is left below the mark is for the database, so that people and jobs are told.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import structlog
from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponseBase

from engine.errors import DiskFull
from engine.store import FULL
from webapp.lib.trouble import trouble

log = structlog.get_logger(__name__)

WAITS = "Waits for room on the disk. It goes on by itself once there is enough."
UNWRITTEN = "That could not be written down, because the disk of this site is full. Try again once there is room."
PUT_ASIDE = "The disk became full, so this was put aside. It goes on by itself once there is room."


class Shortage(NamedTuple):
    """Too little room: ``free`` bytes in ``folder``, ``missing`` until jobs go on; ``full``: no job may run."""

    folder: Path
    free: int
    missing: int
    full: bool

    @property
    def head(self) -> str:
        return "The disk is full." if self.full else "The disk is nearly full."

    @property
    def what(self) -> str:
        """What that stops."""
        return "Jobs are paused" if self.full else "New jobs do not start"

    @property
    def megabytes(self) -> int:
        """What has to be freed."""
        return max(1, math.ceil(self.missing / 2**20))

    @property
    def sentences(self) -> str:
        """For people who are signed in: what is the matter and what to do."""
        they = "they go on by themselves" if self.full else "they do"
        return f"{self.head} {self.what}; free {self.megabytes} MB in {self.folder} and {they}."

    @property
    def refusal(self) -> str:
        """Why something new is not taken."""
        return f"{self.head} Free {self.megabytes} MB in {self.folder}, then try again."


class NoRoom(Exception):
    """Something new was asked for while the disk is full; the message says what to do."""


def require_room() -> None:
    """Raises NoRoom while nothing new may start."""
    if found := shortage():
        raise NoRoom(found.refusal)


def shortage() -> Shortage | None:
    """The folder with the least room, when that is too little."""
    free, folder = min((shutil.disk_usage(each).free, each) for each in settings.WATCHED_FOLDERS)
    enough = settings.DISK_RESERVE * 5 // 4
    if free >= enough:
        return None
    return Shortage(folder, free, enough - free, free < settings.DISK_RESERVE)


def full() -> bool:
    """Whether running jobs must be put aside."""
    found = shortage()
    return found is not None and found.full


def caused(error: BaseException) -> bool:
    """Whether a full disk is why something could not be written."""
    if isinstance(error, DatabaseError):
        return full()
    return isinstance(error, DiskFull) or (isinstance(error, OSError) and error.errno in FULL)


def banner(request: HttpRequest) -> dict[str, Any]:
    """Context processor: what every page says about the disk."""
    return {"shortage": shortage()}


class FullDisk:
    """Middleware: a request that failed because the disk is full is told so."""

    sync_capable, async_capable = True, False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponseBase | None:
        """The answer in a view's place; None for errors that have another cause."""
        if isinstance(error, NoRoom):
            return trouble(request, "The disk is full", str(error))
        if not caused(error):
            return None
        log.error("request failed: the disk is full", path=request.path, error=str(error))
        return trouble(request, "The disk is full", UNWRITTEN)
