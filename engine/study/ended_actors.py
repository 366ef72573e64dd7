"""Actors whose process has ended: the files in which they counted what they made."""

from __future__ import annotations

import contextlib
import secrets

from engine.actor_counts import prepare
from engine.runtime.folders import PrivateFolder


class EndedActors:
    """Of one study's actors in processes of their own."""

    def __init__(self) -> None:
        self._folder = PrivateFolder("equipoise-counts-")
        self._files: dict[int, str] = {}
        self._ended: list[tuple[int, str]] = []

    def begins(self, number: int) -> str:
        """The file for the next process of an actor; the one before has ended. Empty where the disk is full."""
        if number in self._files:
            self._ended.append((number, self._files.pop(number)))
        file = self._folder.path / f"{number}-{secrets.token_hex(8)}"
        with contextlib.suppress(OSError):
            prepare(file)
            self._files[number] = str(file)
        return self._files.get(number, "")

    def take(self) -> list[tuple[int, str]]:
        """The actors' numbers and files since the last call."""
        ended, self._ended = self._ended, []
        return ended

    def close(self) -> None:
        """Remove all files. Safe to call twice."""
        self._folder.remove()
