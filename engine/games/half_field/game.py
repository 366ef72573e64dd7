"""Half-field offence as a ``VectorMDP``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.config.agent_games import HalfFieldSettings
from engine.config.base import parse
from engine.games.half_field import field, kernel, sight
from engine.games.one_seat import Battles, OneSeat, Results
from engine.mdp.interface import Parameterised

VERSION = "4"
REWARDS = {
    "score": kernel.SCORE, "shaped": kernel.SHAPED, "approached": kernel.APPROACHED, "reached": kernel.REACHED,
    "advanced": kernel.ADVANCED,
}  # fmt: skip
SIGNALS = ("out", "late", "kicks")
GUARDED_SIGNALS = ("out", "caught", "late", "kicks")
ACTION = Parameterised(
    (2, 1, 2), (0.0, -180.0, -180.0, 0.0, -180.0), (100.0, 180.0, 180.0, 100.0, 180.0)
)  # fmt: skip
"""Dash (power, direction), turn (direction), kick (power, direction). Directions are in degrees from the body, to the
right."""
WITH_TACKLE = Parameterised((*ACTION.sizes, 1), (*ACTION.low, -180.0), (*ACTION.high, 180.0))
"""HFO's four: also tackle (direction)."""


class HalfField(OneSeat):
    """An attacker alone on the half field (``engine.games.half_field.kernel``).

    ``ball_x_min`` to ``ball_y_max``, ``apart``: where an episode begins (``engine.config.agent_games``). It is
    truncated after ``max_ticks`` decisions, and after more than ``untouched`` in which nobody could kick the ball.
    ``tackle``: the fourth of HFO's actions is there, too, which Bester et al. (2019) leave out and Li and Ji (2021)
    have. ``rewards``: any of "score" (5 for a goal), "shaped" and the parts of it. Who scores wins, and has 1 as the
    result's score. Signals: whether the episode ended with the ball outside or late, and the number of kicks.
    Raises ConfigError for invalid settings.
    """

    drawing = "half-field"
    numbers = 9
    _name, _features, _guarded = "half-field", sight.ALONE, False
    _signals: tuple[str, ...] = SIGNALS

    def __init__(
        self, *, ball_x_min: float = 0.0, ball_x_max: float = 0.2, ball_y_min: float = -0.8, ball_y_max: float = 0.8,
        apart: float = 1.0, max_ticks: int = 500, untouched: int = 100, tackle: bool = False,
        rewards: Sequence[str] = ("score",),
    ) -> None:  # fmt: skip
        settings = {
            "ball_x_min": ball_x_min, "ball_x_max": ball_x_max, "ball_y_min": ball_y_min, "ball_y_max": ball_y_max,
            "apart": apart, "max_ticks": max_ticks, "untouched": untouched, "tackle": tackle, "rewards": tuple(rewards),
        }  # fmt: skip
        parse(HalfFieldSettings, settings)
        self._apart, self._untouched = float(apart), untouched
        self._low, self._high = np.array([ball_x_min, ball_y_min]), np.array([ball_x_max, ball_y_max])
        self._kinds = np.array([REWARDS[name] for name in rewards], np.int64)
        super().__init__(
            self._name, VERSION, WITH_TACKLE if tackle else ACTION, self._features, rewards=rewards,
            signals=self._signals, max_ticks=max_ticks,
        )  # fmt: skip

    def _room(self, n: int) -> None:
        self._states, self._counts = np.zeros((n, field.STATE)), np.zeros((n, kernel.COUNTS), np.int64)
        self._hits, self._late = np.zeros(n, np.int64), np.zeros(n, np.bool_)

    def _restart(self, battles: Battles) -> None:
        kernel.restart(
            battles, self._seeds, self._guarded, self._low, self._high, self._apart, self._states, self._counts,
            self._hits,
        )  # fmt: skip

    def _play(self, actions: NDArray[np.float32]) -> None:
        kernel.play(
            self._seeds, self._ticks, actions, self._guarded, self._kinds, self._untouched, self._states, self._counts,
            self._hits, self._paid, self._terminated, self._late,
        )  # fmt: skip

    def _cut(self) -> NDArray[np.bool_]:
        return self._late

    def _look(self, battles: Battles, out: NDArray[np.float32]) -> None:
        sight.observe(battles, self._guarded, self._states, self._hits, out)

    def _results(self, battles: Battles) -> Results:
        counts = self._counts[battles]
        ended = counts[:, kernel.ENDED]
        scored = (ended == kernel.GOAL).astype(np.float64)
        by_name = {
            "out": ended == kernel.OUT, "caught": ended == kernel.CAUGHT, "kicks": counts[:, kernel.KICKS],
            "late": (ended == kernel.LATE) | (ended == kernel.GOES_ON),
        }  # fmt: skip
        return Results(scored, scored, np.column_stack([by_name[name] for name in self._signals]).astype(np.float64))

    def _drawn(self, battles: Battles) -> NDArray[np.float64]:
        """x, y and body of the attacker and of the keeper, x and y of the ball, in metres and radians, and whether
        there is a keeper."""
        s = self._states[battles]
        columns = [0, 1, 4, field.GOALKEEPER, field.GOALKEEPER + 1, field.GOALKEEPER + 4, field.BALL, field.BALL + 1]
        return np.column_stack([s[:, columns], np.full(len(s), float(self._guarded))])


class HalfFieldGoalkeeper(HalfField):
    """The same against a goalkeeper (``engine.games.half_field.goalkeeper``), who ends some episodes."""

    _name, _features, _guarded = "half-field-keeper", sight.ALONE + sight.EACH, True
    _signals = GUARDED_SIGNALS
