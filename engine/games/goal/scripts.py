"""A script that plays Goal from what it sees."""

from __future__ import annotations

import numpy as np

from engine.errors import ConfigError
from engine.games.goal import kernel
from engine.mdp.interface import SeatSpec
from engine.mdp.trajectory import Batch, Decision

INSIDE = 0.5
"""How far inside the post it aims, in metres."""


class Striker:
    """Shoots at once, as hard as can be, beside the post that is farther from the keeper: a kick to a point behind the
    goal line is harder than a shot, which would come to rest there. Raises ConfigError for a seat that does not see
    Goal."""

    def __init__(self, seat: SeatSpec) -> None:
        if [(seen.name, seen.shape) for seen in seat.observations] != [("view", (kernel.STATE,))]:
            raise ConfigError([("player", "this script plays Goal, and this is another game")])
        self.memory: dict[str, tuple[int, ...]] = {}

    def __call__(self, batch: Batch) -> Decision:
        """Its decisions."""
        view = batch.observations["view"].astype(np.float64)
        x, goalkeeper_x = view[:, 0] * kernel.HALF, view[:, kernel.GOALKEEPER] * kernel.HALF
        y, goalkeeper_y = (
            view[:, at + 1] * 2.0 * kernel.PITCH - kernel.PITCH for at in (kernel.PLAYER, kernel.GOALKEEPER)
        )
        rise = kernel.HALF - x
        aims = np.array([[-1.0], [1.0]]) * (kernel.POST - INSIDE)
        passes = y + (aims - y) * (goalkeeper_x - x) / rise
        aim = aims[np.abs(passes - goalkeeper_y).argmax(axis=0), 0]
        steep = np.maximum(np.abs(aim - y), 1e-9)
        far = np.minimum((kernel.LONGEST - x) / rise, (kernel.PITCH + np.sign(aim - y) * -y) / steep)
        rows = np.zeros((len(x), 5), np.float32)
        rows[:, 1], rows[:, 2] = x + far * rise, y + far * (aim - y)
        return Decision(rows)
