"""Which teams another one makes pointless, and which nobody answers.

One team *dominates* another when it fares at least as well against everybody. Measured shares are never exactly alike,
so it is asked for beyond error: surely better against somebody, and against nobody worse by more than ``MARGIN``. That
it holds against all opponents at once needs no correction (an intersection-union test, Berger 1982); that any two teams
may be the pair, and any opponent the one where it is better, does (Bonferroni). Differences of two independent
match-ups are normal, with the errors of ``matchups``.

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
"""So much less of the wins against somebody may be overlooked."""


def dominates(found: Matchups) -> Bools:
    """bool[teams, teams]: the row's team dominates the column's; ``found`` must be whole."""
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
    """bool[teams]: surely beats every other one."""
    sure = beats(found) | np.eye(found.teams, dtype=np.bool_)
    return np.asarray(sure.all(axis=1) & (found.teams > 1))
