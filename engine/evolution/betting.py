"""Bounds of the mean over ``most`` replicates after the first n of them: betting confidence sequences for sampling
without replacement (Waudby-Smith & Ramdas 2024, "Estimating means of bounded random variables by betting", section 5).

Replicates are independent and identically distributed, so the first n of ``most`` are a random sample of all of them.
If the mean of all were m, the expected next replicate would be the remainder of ``most * m`` divided by the number of
remaining replicates. A bet of the share f of one's capital on a higher value is then fair: it multiplies capital by
1 - f + f * value / expected, which is never negative, and 1 on average. By Ville's inequality capital ever reaches
1 / error with probability ``error`` at most, for any noise with values within their limits, and however often one
looks. A mean at which it does is ruled out, and so are all below it, for which bets win more. Several shares f each get
an equal part of the capital.

Nothing is inferred from a sample's spread, so a sample without spread is not certain. One certainty is used: future
values lie within their limits. After ``most`` replicates the bounds are the mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.compiling import njit

Floats = NDArray[np.float64]
BETS = np.array([0.125, 0.25, 0.5, 1.0])
_HALVINGS = 40
_ROUNDING = 1e-9
"""Bounds are widened by this share of the larger limit, so that the order of summation does not matter."""
_jit = njit(cache=True, nogil=True)


def bounds(values: Floats, limits: Floats, most: int, error: float) -> tuple[Floats, Floats]:
    """(low, high) float64[m] of the means over ``most`` replicates, of which ``values`` float64[n, m] are the first.
    Each of the 2 m bounds is wrong with probability ``error`` at most, over all n. ``limits`` float64[2, m]: bounds of
    every replicate; if they are infinite, or a value lies beyond them, the result is infinite."""
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
    """The largest mean over ``most`` replicates that is ruled out as too low, given the values x in [0, 1] so far."""
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
    """Whether bets against ``mean`` ever reach this wealth; ``mean`` must exceed the certain lower bound."""
    capital = np.ones(len(BETS))
    left = most * mean
    for i in range(len(x)):
        expected = left / (most - i)
        capital *= 1 - BETS + BETS * x[i] / expected
        if capital.mean() >= wealth:
            return True
        left -= x[i]
    return False
