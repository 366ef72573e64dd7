"""Scripts that play Pong from a seat's observations."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.games.pong import kernel
from engine.mdp.interface import SeatSpec
from engine.mdp.trajectory import Batch, Decision

BALL_X, BALL_Y, BALL_SPEED, BALL_SLOPE, PADDLE, OTHER = 0, 1, 2, 3, 4, 6
EDGE = 0.9
"""Of half a paddle's length: how far from its middle the interceptor hits the ball."""


class Script(ABC):
    """Goes to some height while the ball comes, and back to the middle while it is away. Raises ConfigError for a seat
    that does not see Pong's eight numbers."""

    def __init__(self, seat: SeatSpec) -> None:
        if [(seen.name, seen.shape) for seen in seat.observations] != [("field", (8,))]:
            raise ConfigError([("player", "this script plays Pong by its eight numbers, and this game shows others")])
        self.memory: dict[str, tuple[int, ...]] = {}

    def __call__(self, batch: Batch) -> Decision:
        """Towards that height, by one step."""
        field = batch.observations["field"]
        gap = np.where(field[:, BALL_SPEED] < 0, self._height(field), 0.0) - field[:, PADDLE]
        way = np.where(gap > 0, kernel.UP, kernel.DOWN)
        return Decision(np.where(np.abs(gap) <= kernel.STEP, kernel.STAY, way).astype(np.int64))

    @abstractmethod
    def _height(self, field: NDArray[np.float32]) -> NDArray[np.float32]:
        """Where to go while the ball comes, [n]."""


class Follower(Script):
    """Stays at the ball's height. It never predicts, so a steep shot beats it."""

    def _height(self, field: NDArray[np.float32]) -> NDArray[np.float32]:
        return field[:, BALL_Y]


class Interceptor(Script):
    """Goes to where the ball will cross its line, walls left out, and hits it steeply, away from the other paddle."""

    def _height(self, field: NDArray[np.float32]) -> NDArray[np.float32]:
        moments = (field[:, BALL_X] + np.float32(kernel.LINE - kernel.BALL)) / np.minimum(
            field[:, BALL_SPEED], np.float32(-1e-6)
        )
        crossing = np.clip(field[:, BALL_Y] - field[:, BALL_SLOPE] * moments, -1.0, 1.0)
        above = np.where(field[:, OTHER] > field[:, BALL_Y], np.float32(1.0), np.float32(-1.0))
        return np.asarray(crossing + above * np.float32(EDGE * kernel.HALF))
