"""Goal as a ``VectorMDP``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.config.agent_games import GoalSettings
from engine.config.base import parse
from engine.games.goal import kernel
from engine.games.one_seat import Battles, OneSeat, Results
from engine.mdp.interface import Parameterised

VERSION = "2"
SIGNALS = ("kicks", "caught", "out")
ACTION = Parameterised(
    (2, 1, 1), (0.0, -kernel.PITCH, -kernel.POST, -kernel.POST),
    (kernel.LONGEST, kernel.PITCH, kernel.POST, kernel.POST),
)  # fmt: skip
"""Kick to a point (x, y); shoot at a height of the goal line, by either of two actions, as in Masson et al."""


class Goal(OneSeat):
    """A player with a ball before a keeper (``engine.games.goal.kernel``).

    ``x_min`` to ``y_max``: the rectangle, in metres, in which the player begins with the ball; as published it is the
    halfway line. The reward "score" is 50 for a goal, and for every other end minus the ball's distance to the goal, in
    metres; the hundredth decision is the last, and nothing happens in it any more. Who scores wins, and has 1 as the
    result's score. Signals: kicks to a point, and whether the episode ended by the keeper or outside. Raises
    ConfigError for invalid settings.
    """

    drawing = "goal"
    numbers = 6 * kernel.PATH

    def __init__(self, *, x_min: float = 0.0, x_max: float = 0.0, y_min: float = -15.0, y_max: float = 15.0) -> None:
        parse(GoalSettings, {"x_min": x_min, "x_max": x_max, "y_min": y_min, "y_max": y_max})
        self._low, self._high = np.array([x_min, y_min], np.float64), np.array([x_max, y_max], np.float64)
        super().__init__("goal", VERSION, ACTION, kernel.STATE, signals=SIGNALS, max_ticks=kernel.LATE)

    def _room(self, n: int) -> None:
        self._states, self._paths = np.zeros((n, kernel.STATE)), np.zeros((n, kernel.PATH, 6))
        self._ends, self._tallies = np.zeros(n, np.int64), np.zeros((n, 1))

    def _restart(self, battles: Battles) -> None:
        kernel.restart(
            battles, self._seeds, self._low, self._high, self._states, self._paths, self._ends, self._tallies
        )

    def _play(self, actions: NDArray[np.float32]) -> None:
        kernel.play(
            self._seeds, self._ticks, actions, self._states, self._paths, self._ends, self._tallies, self._paid,
            self._terminated,
        )  # fmt: skip

    def _look(self, battles: Battles, out: NDArray[np.float32]) -> None:
        kernel.observe(battles, self._states, out)

    def _results(self, battles: Battles) -> Results:
        ends = self._ends[battles]
        scored = (ends == kernel.GOAL).astype(np.float64)
        return Results(
            scored, scored, np.column_stack([self._tallies[battles], ends == kernel.CAUGHT, ends == kernel.OUT])
        )

    def _drawn(self, battles: Battles) -> NDArray[np.float64]:
        """Of ``PATH`` moments of the last decision: x and y of player, keeper and ball."""
        return self._paths[battles].reshape(len(battles), self.numbers)
