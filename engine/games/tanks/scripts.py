"""Scripts that play tanks from a tank's own observations in numbers; the same lead the game's own side."""

from __future__ import annotations

import numpy as np

from engine.errors import ConfigError
from engine.games.tanks import sight
from engine.mdp.interface import SeatSpec
from engine.mdp.trajectory import Batch, Decision


class Static:
    """A scripted player: does nothing. Raises ConfigError for a seat that does not see tanks in numbers."""

    kind = sight.STATIC

    def __init__(self, seat: SeatSpec) -> None:
        if [(seen.name, seen.shape) for seen in seat.observations] != [("view", (sight.SEEN,))]:
            raise ConfigError([("player", "this script drives tanks by numbers, and this game shows others")])
        self.memory: dict[str, tuple[int, ...]] = {}

    def __call__(self, batch: Batch) -> Decision:
        """The script's orders."""
        views = batch.observations["view"]
        orders = np.empty((len(views), 3), np.float32)
        sight.act_rows(self.kind, views, orders)
        return Decision(orders)


class Passive(Static):
    """Stays, turns to the nearest enemy, and shoots when nobody else is in the way."""

    kind = sight.PASSIVE


class Aggressive(Static):
    """Goes for the nearest enemy, and shoots whoever is in the way."""

    kind = sight.AGGRESSIVE
