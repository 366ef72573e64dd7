"""Dominated teams, and dominant ones, which have no counter.

One team *dominates* another if it fares at least as well against everybody. Measured shares are never exactly equal, so
the test requires it to be surely better against somebody, and surely not worse by more than ``MARGIN`` against anybody.
That this must hold against all opponents at once needs no correction (an intersection-union test, Berger 1982); the
choice of the pair, and of the opponent where it is better, does (Bonferroni). Differences of two independent match-ups
are treated as normal, with the errors of ``matchups``.

A *dominant* team surely beats every other one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from engine.metagame.counters import beats
from engine.metagame.matchups import DOUBT, Matchups

Bools = NDArray[np.bool_]
MARGIN = 0.1
"""Largest shortfall in the share of wins against one opponent that still counts as no worse."""


def dominates(found: Matchups) -> Bools:
    """bool[teams, teams]: the row team dominates the column team; ``found`` must be whole."""
    n = found.teams
    share, error = np.where(np.eye(n, dtype=bool), 0.5, found.share), np.nan_to_num(found.error)
    better = np.zeros((n, n), np.bool_)
    level = DOUBT / max(n * (n - 1), 1) / 2
    enough, none_worse = -ndtri(level / n), -ndtri(level)
    for i in range(n):
        ahead, spread = share[i] - share, np.hypot(error[i], error)
        ahead[:, i], spread[:, i] = share[i, i] - share[:, i], error[:, i]
        fine = (ahead - none_worse * spread > -MARGIN).all(axis=1)
        better[i] = fine & (ahead - enough * spread > 0).any(axis=1)
    np.fill_diagonal(better, False)
    return better


def dominant(found: Matchups) -> Bools:
    """bool[teams]: the team surely beats every other one."""
    sure = beats(found) | np.eye(found.teams, dtype=np.bool_)
    return np.asarray(sure.all(axis=1) & (found.teams > 1))
