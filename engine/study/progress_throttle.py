"""Limits how often a study reports progress within a long round."""

from __future__ import annotations

import time
from collections.abc import Callable

APART_S = 1.0
SHARE = 0.05


class ProgressThrottle:
    """Reports are at least a second and a twentieth of the round's time so far apart: a viewer sees progress, yet a
    round of hours adds some hundred lines to a job's history instead of one a second. Rounds under a second add
    none."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.restart()

    def restart(self) -> None:
        """Begin a round."""
        self._began = self._last = self._clock()

    def due(self) -> bool:
        """Whether a report is due; once true, false again until the next one is."""
        now = self._clock()
        if now - self._last < max(APART_S, SHARE * (now - self._began)):
            return False
        self._last = now
        return True
