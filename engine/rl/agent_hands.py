"""Holds an agent's actions back as the game did in which it learned and was measured. Needs numpy.

hands = Hands(idle, delay, apart)     # all three stand in card.json, below "limits"
hands.restart()                       # whenever an episode begins
action = hands.do(decided)            # once in each decision: what agent.onnx decided now, and what is done now
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np


class Hands:
    """The hands of one player. ``idle``: the action that is none; a decision arrives ``delay`` decisions later, and
    what is done changes at most once in ``apart``."""

    def __init__(self, idle: Any, delay: int, apart: int) -> None:
        self._idle, self._delay, self._apart = np.array(idle), delay, apart
        self.restart()

    def restart(self) -> None:
        """Begin a new episode: nothing is on its way, the hands are idle, and free to change."""
        self._waiting = deque([self._idle] * self._delay)
        self._now, self._since = self._idle, self._apart

    def do(self, decided: Any) -> Any:
        """What is done now. A change that comes too soon is dropped: it happens later only if it is decided again."""
        self._waiting.append(np.array(decided))
        due = self._waiting.popleft()
        if self._since >= self._apart and np.any(due != self._now):
            self._now, self._since = due, 0
        self._since += 1
        return self._now.copy()
