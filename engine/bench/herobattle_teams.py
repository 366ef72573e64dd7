"""Equal-cost pairings of random valid teams, for calibration and benchmarks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.games.herobattle.teams import Roster, sample_teams

F64 = NDArray[np.float64]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]

PIECE_SLOTS = (0, 1, 2, 3, 4, 6)


def equal_cost_pairs(n: int, seed: int, tables: Roster | None = None) -> tuple[I32, I32]:
    """n random pairings of random valid teams of (nearly) the same cost: 2n teams are sorted by cost and neighbours
    meet. Returns left and right int32[n, 8]."""
    rows, totals = sample_teams(2 * n, seed, tables)
    rng = np.random.default_rng([seed, 0x5EED])
    order = np.lexsort((rng.random(2 * n), totals))
    pairs = order.reshape(n, 2)[rng.permutation(n)]
    pairs = rng.permuted(pairs, axis=1)
    return rows[pairs[:, 0]], rows[pairs[:, 1]]


class Marginals(NamedTuple):
    """Win rate of the teams that contain each piece, float64[pieces], and how many such teams fought, int64[pieces]."""

    rate: F64
    teams: I64


def marginals(pieces: int, left: I32, right: I32, win: F64) -> Marginals:
    """Marginal win rates from battles: teams int32[n, 8] and ``win`` float64[n, 2] of both sides."""
    count, won = np.zeros(pieces, np.int64), np.zeros(pieces)
    for side, rows in enumerate((left, right)):
        for slot in PIECE_SLOTS:
            there = rows[:, slot] >= 0
            count += np.bincount(rows[there, slot], minlength=pieces)
            won += np.bincount(rows[there, slot], weights=win[there, side], minlength=pieces)
    return Marginals(won / np.maximum(count, 1), count)
