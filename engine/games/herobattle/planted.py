"""Broken pieces hidden on purpose, to measure whether a search finds them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.games.herobattle.spec import game_spec
from engine.rng import generator

EDGE = 0.054
"""Share by which hit points and damage of a team with a planted piece or pair are raised: 5 to 8 points of its chance
to win."""
PAIR = 4
"""Place of the pair among the five causes that a seed plants."""


def planted_pieces(seed: int) -> tuple[list[str], tuple[str, str]]:
    """The ground truth of ``HeroBattle(planted_seed=seed)``: four pieces that are too good by themselves (two heroes, a
    skill, a piece of equipment), and a hero and a piece of equipment that are too good only together; too weak if the
    edge is negative."""
    rng = generator(seed, "herobattle-planted")
    by_category: dict[str, list[str]] = {}
    for piece in game_spec().pieces:
        by_category.setdefault(piece.category, []).append(piece.id)
    heroes = rng.choice(by_category["hero"], 3, replace=False)
    skill = rng.choice(by_category["skill"])
    equipment = rng.choice(by_category["equipment"], 2, replace=False)
    return [str(heroes[0]), str(heroes[1]), str(skill), str(equipment[0])], (str(heroes[2]), str(equipment[1]))


def hidden_edges(
    seed: int | None, edge: float = EDGE, only: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """What the kernel adds to the hit points and damage of teams with planted pieces: float64[pieces + 1] (the last
    entry is the pair's) and the pair's indices int32[2]. All zero without a seed. ``only``: one of the four single
    pieces (0 to 3) or the pair (4), and nothing else."""
    index = game_spec().piece_index()
    edges, pair = np.zeros(len(index) + 1), np.full(2, -2, np.int32)
    if seed is not None:
        singles, (one, other) = planted_pieces(seed)
        edges[[index[p] for p in (singles if only is None else singles[only : only + 1])]] = edge
        edges[-1] = edge if only in (None, PAIR) else 0.0
        pair[:] = index[one], index[other]
    return edges, pair
