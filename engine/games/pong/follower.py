"""A script that plays Pong from a seat's observations."""

from __future__ import annotations

import numpy as np

from engine.errors import ConfigError
from engine.games.pong import kernel
from engine.mdp.interface import SeatSpec
from engine.mdp.trajectory import Batch, Decision

BALL_Y, BALL_SPEED, PADDLE = 1, 2, 4


class Follower:
    """Follows the ball while it comes, and goes back to the middle while it is away. It never predicts, so a steep shot
    beats it. Raises ConfigError for a seat that does not see Pong's eight numbers."""

    def __init__(self, seat: SeatSpec) -> None:
        if [(seen.name, seen.shape) for seen in seat.observations] != [("field", (8,))]:
            raise ConfigError([("player", "this script plays Pong by its eight numbers, and this game shows others")])
        self.memory: dict[str, tuple[int, ...]] = {}

    def __call__(self, batch: Batch) -> Decision:
        """Towards the ball, by one step."""
        field = batch.observations["field"]
        gap = np.where(field[:, BALL_SPEED] < 0, field[:, BALL_Y], 0.0) - field[:, PADDLE]
        away = np.where(gap > 0, kernel.UP, kernel.DOWN)
        return Decision(np.where(np.abs(gap) <= kernel.STEP, kernel.STAY, away).astype(np.int64))
