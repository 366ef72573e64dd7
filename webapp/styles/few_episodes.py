"""Whether so few episodes were played that their ranges tell little, and about how many would tell."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from webapp.lib.words import number, plural

MOST = 100_000
"""Episodes that a form takes: where more would be needed, no number is said."""

Floats = NDArray[np.float64]


def words(episodes: int, low: Floats, high: Floats, within: float) -> str:
    """What so many episodes of an agent leave open, in sentences, by the ends of the ranges of scores; empty where a
    typical range reaches at most ``within`` to either side, and where none is known. Ranges get narrower by the root of
    the number of episodes."""
    known = np.isfinite(high - low)
    half = float(np.median((high - low)[known])) / 2 if known.any() else 0.0
    if half <= within or not within:
        return ""
    needed = episodes * (half / within) ** 2
    say = "says" if episodes == 1 else "say"
    few = f"{plural(episodes, 'episode')} {say} little: a score may be about {number(half, 2)} higher or lower."
    return f"{few} About {_round(needed)} would bring that down to {within:g}." if needed <= MOST else few


def _round(count: float) -> str:
    """A number of episodes in two digits."""
    step = 10.0 ** max(0, math.floor(math.log10(count)) - 1)
    return number(round(count / step) * step, 0)
