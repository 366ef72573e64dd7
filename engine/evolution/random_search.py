"""Random search, the control for every claim: samples from the space and keeps the front."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.config.algorithms import RandomConfig
from engine.evolution.algorithm import Population
from engine.evolution.nsga2 import NSGA2, best_first, survivors
from engine.problem import Genome


class RandomSearch(NSGA2):
    """NSGA-II's bookkeeping and survival with random genomes as offspring: selection alone, on the same number of
    candidates."""

    Settings = RandomConfig

    def _offspring(self, n: int) -> Genome:
        return self.problem.space.sample(self.rng, n)

    def _survivors(self, R: Population, n: int) -> NDArray[np.int64]:
        return best_first(R)[:n] if R.cost.shape[1] == 1 else survivors(R, n)
