"""Have numba compile Herobattle, for teams and for commanders, and the drawing of its teams, so that it is on disk.

``make test`` runs it before the tests: most files play Herobattle, and of several processes that begin together each
would compile it for itself. Where nothing has changed since, it is loaded, which takes a moment.
"""

from __future__ import annotations

import numpy as np

from engine.bench.herobattle_teams import equal_cost_pairs
from engine.games.herobattle import HeroBattle
from engine.games.herobattle.commanders import HeroBattleCommanders
from engine.games.herobattle.commanders.scripts import orders
from engine.rng import combine64

BATTLES = 8


def main() -> None:
    """Play a few battles of each."""
    seeds = combine64(5, np.arange(BATTLES, dtype=np.uint64))
    left, right = equal_cost_pairs(BATTLES, 1)
    HeroBattle().battles(left, right, seeds, {})
    game = HeroBattleCommanders(seats=(0, 1))
    step = game.begin_with(left, right, seeds)
    game.step([orders("hunt", seen["battle"]) for seen in step.observations])


if __name__ == "__main__":
    main()
