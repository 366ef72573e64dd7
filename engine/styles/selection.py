"""A diverse few of many agents: greedy max-min in what they do, among those that play well enough.

Gonzalez (1985), "Clustering to minimize the maximum intercluster distance": the first choice is the best agent, each
further one the agent farthest from its nearest chosen one, which is at least half as far as the best choice of so many.
Distances are Euclidean, each behaviour in units of its range among the agents that may be chosen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ROUNDING = 1e-12
"""Share by which two distances, or values of a behaviour, may differ that are equal but for rounding."""


class Picked(NamedTuple):
    """``rows`` int64[k'] in the order of choice (fewer than k where fewer play well enough, or no others differ), and
    the ``apart`` float64[k'] distance of each to the nearest chosen before it (infinite for the first)."""

    rows: NDArray[np.int64]
    apart: Floats


def in_band(score: Floats, high: Floats, within: float) -> NDArray[np.bool_]:
    """Whose skill may be within ``within`` of the best score: bool[n]. ``high``: upper ends of the scores' ranges
    (infinite: unknown, then the score itself counts), so nobody is left out for noise."""
    if not np.isfinite(score).any():
        return np.zeros(len(score), np.bool_)
    able = np.where(np.isfinite(high), np.maximum(high, score), score)
    return np.asarray(able >= np.nanmax(score) - within)


def diverse(behaviour: Floats, score: Floats, ids: NDArray[np.int64], allowed: NDArray[np.bool_], k: int) -> Picked:
    """Pick up to ``k`` of the ``allowed`` agents. ``behaviour`` float64[n, d], ``score`` float64[n], ``ids`` int64[n].
    Among equal choices, the first one too, the agent with the better score is picked, then the one with the lower id:
    who is picked, and in which order, never depends on the order of rows."""
    able = np.flatnonzero(allowed & np.isfinite(behaviour).all(axis=1))
    if not len(able) or k < 1:
        return Picked(np.empty(0, np.int64), np.empty(0))
    able = able[np.lexsort((ids[able], -score[able]))]
    points = behaviour[able]
    span = np.ptp(points, axis=0)
    differs = span > ROUNDING * np.abs(points).max(axis=0)
    points = np.where(differs, points / np.where(differs, span, 1.0), 0.0)
    chosen, apart = [0], [np.inf]
    nearest = np.linalg.norm(points - points[0], axis=1)
    while len(chosen) < min(k, len(able)) and nearest.max() > ROUNDING:
        chosen.append(int(np.argmax(nearest >= nearest.max() * (1 - ROUNDING))))
        apart.append(float(nearest[chosen[-1]]))
        nearest = np.minimum(nearest, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return Picked(able[chosen], np.array(apart))
