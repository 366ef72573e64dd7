"""The bookkeeping of n battles that run episode after episode: seeds, lengths, returns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.mdp.interface import MDPSpec
from engine.mdp.vector import episode_seeds


class Totals(NamedTuple):
    """Totals of m finished episodes: seeds uint64[m], lengths int64[m], returns float64[m, seats, R]."""

    seeds: NDArray[np.uint64]
    lengths: NDArray[np.int64]
    returns: NDArray[np.float64]


class Episodes:
    """``seeds`` uint64[n] and ``lengths`` int64[n] are those of the current episodes."""

    def __init__(self, spec: MDPSpec, seeds: NDArray[np.uint64]) -> None:
        n = len(seeds)
        self._base, self._number = np.array(seeds, np.uint64), np.zeros(n, np.int64)
        self.seeds = self._base.copy()
        self.lengths, self._returns = np.zeros(n, np.int64), np.zeros((n, len(spec.seats), spec.rewards))

    def add(self, rewards: NDArray[np.float32]) -> None:
        """Count a step of every battle, with rewards float32[n, seats, R]."""
        self.lengths += 1
        self._returns += rewards

    def end(self, battles: NDArray[np.int64]) -> Totals:
        """End these battles' episodes and return their totals. The next ones begin, with the new ``seeds``."""
        totals = Totals(self.seeds[battles], self.lengths[battles], self._returns[battles])
        self._number[battles] += 1
        self.seeds[battles] = episode_seeds(self._base[battles], self._number[battles])
        self.lengths[battles], self._returns[battles] = 0, 0.0
        return totals
