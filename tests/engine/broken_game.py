"""The built-in game with pieces that are broken by as much as a test wants, inside this process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from engine.games.herobattle.spec import game_spec

GAME = "builtin:herobattle-planted:1"


def broken(monkeypatch: pytest.MonkeyPatch, pieces: Mapping[str, float], pair: tuple[str, str] | None = None) -> None:
    """``GAME`` has these pieces too good by so much of hit points and damage, and the pair by a quarter."""
    index = game_spec().piece_index()
    edges, both = np.zeros(len(index) + 1), np.full(2, -2, np.int32)
    for piece, edge in pieces.items():
        edges[index[piece]] = edge
    if pair is not None:
        edges[-1] = 0.25
        both[:] = [index[piece] for piece in pair]

    def hidden(seed: int | None, edge: float = 0.0, only: int | None = None) -> Any:
        return edges, both

    monkeypatch.setattr("engine.games.herobattle.simulator.hidden_edges", hidden)
