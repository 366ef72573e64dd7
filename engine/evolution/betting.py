"""Bounds of a mean of which only the first part was seen: betting confidence sequences for sampling without replacement
(Waudby-Smith & Ramdas 2024, "Estimating means of bounded random variables by betting", section 5).

Replicates are independent and alike, so the first n of ``most`` are drawn from all of them at random. If the mean of
all were m, the next replicate would be expected at what is left of ``most * m``, divided by how many are left. A bet of
the share f of one's capital that it comes higher is then fair: it multiplies capital by 1 - f + f * value / expected,
which is never negative, and 1 on average. By Ville's inequality capital ever reaches 1 / error with probability
``error`` at most, whatever the noise is, as long as values lie within their limits, and however often one looks. A mean
at which it does is ruled out, and so are all below it, for which bets win more. Several shares f each get an equal part
of the capital.

Nothing is taken from a sample's spread, so a sample without spread is not certain. What is certain is used: values that
are still to come lie within their limits. After ``most`` replicates the bounds are the mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BETS = np.array([0.125, 0.25, 0.5, 1.0])
_HALVINGS = 40
_ROUNDING = 1e-9
"""Bounds are wider by this share of the larger limit, so that sums of another order change nothing."""
_jit = njit(cache=True, nogil=True)


def bounds(values: Floats, limits: Floats, most: int, error: float) -> tuple[Floats, Floats]:
    """(low, high) float64[m] of the means over ``most`` replicates, of which float64[n, m] ``values`` came first. Each
    of the 2 m bounds is wrong with probability ``error`` at most, at whichever n one looks. ``limits`` float64[2, m]:
    between which every replicate lies; without them, or with a value beyond them, nothing is known (infinite bounds).
    """
    span = limits[1] - limits[0]
    low, high = np.full(len(span), -np.inf), np.full(len(span), np.inf)
    for j in range(len(span)):
        x = values[:, j]
        slack = _ROUNDING * np.abs(limits[:, j]).max()
        if not np.isfinite(slack) or (x < limits[0, j] - slack).any() or (x > limits[1, j] + slack).any():
            continue
        part = np.clip((x - limits[0, j]) / span[j], 0, 1) if span[j] > 0 else np.zeros(len(x))
        low[j] = limits[0, j] + span[j] * _lowest(part, most, error) - slack
        high[j] = limits[1, j] - span[j] * _lowest(1 - part, most, error) + slack
    return low, high


@_jit
def _lowest(x: Any, most: int, error: float) -> Any:
    """The largest mean over ``most`` that is ruled out as too low, for values in [0, 1] so far."""
    low, high = x.sum() / most, 1.0
    if len(x) >= most:
        return low
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if _ruled_out(x, middle, most, 1 / error):
            low = middle
        else:
            high = middle
    return low


@_jit
def _ruled_out(x: Any, mean: float, most: int, wealth: float) -> Any:
    """Whether bets against ``mean`` ever win that much; it must be above what is certain."""
    capital = np.ones(len(BETS))
    left = most * mean
    for i in range(len(x)):
        expected = left / (most - i)
        capital *= 1 - BETS + BETS * x[i] / expected
        if capital.mean() >= wealth:
            return True
        left -= x[i]
    return False
