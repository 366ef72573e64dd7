"""Which findings are told at a barrier, so that what was told at an earlier one stays told.

At each barrier e-BH reports a list (``confidence.e_bh``). With one more stage the evidence of a finding can shrink, and
one that was told only because others were would leave the list again. So evidence is frozen at the barrier at which its
finding is told first. That barrier is a stopping time, and evidence that stops there is still an e-value: its
expectation is 1 at most where nothing is to be found (optional stopping; Ramdas, Grünwald, Vovk and Shafer 2023,
"Game-theoretic statistics and safe anytime-valid inference"). So the list at every barrier is one of e-BH, and keeps
its promise however the findings depend on one another. (The largest evidence so far would not do: that is no e-value.)

What was told then has evidence of at least n / (error * k), k being the length of that list, and still has: so later
lists hold it, and are as long at least. How much the evidence of what is told exceeds that never mattered to e-BH, so
where no finding would have been lost the lists are those without freezing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine import confidence

Floats = NDArray[np.float64]


def reported_by_now(logs: Floats, error: float) -> NDArray[np.bool_]:
    """Which findings are told at the last barrier, bool[n]; ``logs`` [barriers, n]: the log evidence at each of them.
    The expected share of false ones among these is at most ``error``."""
    reported, frozen = np.zeros(logs.shape[1], np.bool_), np.zeros(logs.shape[1])
    for now in logs:
        frozen = np.where(reported, frozen, now)
        reported = confidence.e_bh(frozen, np.full(len(now), 1 / max(len(now), 1)), error)
    return reported
