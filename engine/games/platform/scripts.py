"""A script that crosses the platforms from what it sees."""

from __future__ import annotations

import numpy as np

from engine.errors import ConfigError
from engine.games.platform import kernel
from engine.mdp.interface import SeatSpec
from engine.mdp.trajectory import Batch, Decision

EDGE = 50.0
"""How near the right edge of a platform it leaps, in pixels."""
RUNS, HOPS, ROOM = 9.5, 2.1, 85.0
"""How far a slow run gets, in pixels for each unit of its push; what to ask a hop for each pixel; and how much of a
platform must be left to run before a leap."""


class Crosser:
    """Hops while an enemy is ahead, then runs, and gets over the gap at the edge. Raises ConfigError for a seat that
    does not see Platform."""

    def __init__(self, seat: SeatSpec) -> None:
        if [(seen.name, seen.shape) for seen in seat.observations] != [("view", (kernel.SEEN,))]:
            raise ConfigError([("player", "this script crosses platforms, and this is another game")])
        self.memory: dict[str, tuple[int, ...]] = {}

    def __call__(self, batch: Batch) -> Decision:
        """Its decisions."""
        view = batch.observations["view"].astype(np.float64)
        x = view[:, 0] * (kernel.END + kernel.WIDE) - kernel.WIDE
        ahead = view[:, 2] * kernel.END - x
        left = view[:, 7] * kernel.END + view[:, 4] * kernel.WIDTH[1] - x
        rows = np.tile(np.array([kernel.RUN, *kernel.HIGH], np.float32), (len(x), 1))
        first, edge = view[:, 7] == 0.0, (left < EDGE) & (view[:, 7] < 0.9)
        rows[edge, 0] = np.where(first[edge], kernel.LEAP, kernel.HOP)  # the second gap is too wide for a leap
        rows[ahead > 0, 0] = kernel.HOP
        rows[~edge, 2] = np.clip((left[~edge] - ROOM) * HOPS, 0.0, kernel.HIGH[1])
        hangs = left < -kernel.WIDE  # over the left edge of the next platform, of which it sees nothing yet
        to_edge = left + view[:, 6] * kernel.GAPS[1]
        rows[hangs, 0], rows[hangs, 1] = kernel.RUN, (to_edge[hangs] + 5.0) / RUNS
        return Decision(rows)
