"""A deadline that has passed as soon as something has happened, however long that took."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from engine.simulators import conversation
from engine.simulators.line import PathLine, ProgramLine
from engine.simulators.port_line import PortLine


class Clock:
    """A clock that is an hour late as soon as ``reached`` has happened to the line."""

    def __init__(self, reached: str) -> None:
        self.reached, self.late = reached, 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.late


def late_once(monkeypatch: pytest.MonkeyPatch, reached: str) -> None:
    """Let every deadline of a conversation have passed once ``reached`` is true of its line."""
    clock = Clock(reached)
    monkeypatch.setattr(conversation, "time", clock)
    for kind in (PathLine, PortLine):
        monkeypatch.setattr(kind, "look", _seen(clock, kind.look))


def _seen(clock: Clock, look: Callable[[Any], None]) -> Callable[[ProgramLine], None]:
    """``look``, after which the clock is late if what it waits for has happened."""

    def seen(line: ProgramLine) -> None:
        look(line)
        clock.late = 3600.0 if getattr(line, clock.reached) else 0.0

    return seen
