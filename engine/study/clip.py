"""A clip of an agent: some seconds from the middle of a battle, to be drawn and played."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.catalog import pace_of
from engine.config.train import TrainGame
from engine.mdp.vector import Game
from engine.rl.recording import drawing_of, record, scenery_of
from engine.rl.seats import Player

SECONDS = 6


def clip_of(wanted: TrainGame, game: Game, player: Player, opponent: Player | None, seed: int) -> dict[str, Any]:
    """What is drawn, how fast, and the rows of so many ``SECONDS``; nothing where the game has no drawing. Raises as
    ``record``."""
    found = record(game, player, opponent, seed)
    if not found.positions.shape[1]:
        return {}
    pace, middle = pace_of(wanted.name, wanted.settings), len(found.positions) // 2
    half = max(1, round(pace * SECONDS / 2))
    shown = found.positions[max(0, middle - half) : middle + half + 1]
    scenery = scenery_of(game)
    return {
        "drawing": drawing_of(game), "pace": pace, "positions": np.round(shown.astype(np.float64), 4).tolist(),
        "scenery": [] if scenery is None else scenery.tolist(), "labels": list(found.labels),
    }  # fmt: skip
