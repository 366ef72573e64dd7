"""A deadline that has passed as soon as something has happened, however long that took."""

from __future__ import annotations

import time

import pytest

from engine.simulators import conversation
from engine.simulators.line import Line


class Clock:
    """A clock that is an hour late as soon as ``reached`` has happened to the line."""

    def __init__(self, reached: str) -> None:
        self.reached, self.late = reached, 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.late


def late_once(monkeypatch: pytest.MonkeyPatch, reached: str) -> None:
    """Let every deadline of a conversation have passed once ``reached`` is true of its line."""
    clock, look = Clock(reached), Line.look

    def seen(line: Line) -> None:
        look(line)
        clock.late = 3600.0 if getattr(line, clock.reached) else 0.0

    monkeypatch.setattr(conversation, "time", clock)
    monkeypatch.setattr(Line, "look", seen)
