"""A script that plays Atari's Pong from the console's memory."""

from __future__ import annotations

import numpy as np

from engine.errors import ConfigError
from engine.games.atari_pong.game import MEMORY
from engine.games.atari_pong.memory import SPEED, ball_and_paddle
from engine.mdp.interface import SeatSpec
from engine.mdp.trajectory import Batch, Decision

REST, UP, DOWN = 0, 2, 3
NEAR = 6.0
"""Points between ball and paddle that it does not care about: the paddle slides on for a while."""


class Follower:
    """Follows the ball while it comes, and rests while it is away. Raises ConfigError for a seat that does not see the
    memory."""

    def __init__(self, seat: SeatSpec) -> None:
        if [(seen.name, seen.shape) for seen in seat.observations] != [("memory", (MEMORY,))]:
            raise ConfigError(
                [("player", "this script plays by the console’s memory, and this game shows something else")]
            )
        self.memory: dict[str, tuple[int, ...]] = {}

    def __call__(self, batch: Batch) -> Decision:
        """Towards the ball."""
        memory = np.rint(batch.observations["memory"] * 255).astype(np.uint8)
        ball, own = ball_and_paddle(memory)
        comes, far = memory[:, SPEED] > 127, np.abs(ball - own) > NEAR
        way = np.where(ball < own, UP, DOWN)
        return Decision(np.where(comes & far, way, REST).astype(np.int64))
