"""The genetic algorithm (Holland 1975; elitism: De Jong 1975): tournaments, crossover, mutation, the best survive.

With one objective members are ranked by it; with several, by front and then by crowding, as NSGA-II ranks them.

1. ``elites`` is the share of a generation that may stay: 1 gives (mu + lambda), a small share a generational algorithm
   with elitism. At least the best stays, and only members of the best N stay.
2. ``steady``: each child joins at once and the worst member leaves; any member may stay.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.config.algorithms import GAConfig
from engine.evolution.algorithm import Individual, Population
from engine.evolution.nsga2 import best_first
from engine.evolution.search import Breeding


class GA(Breeding):
    """``tournament``: number of competitors for each parent."""

    Settings = GAConfig
    settings: GAConfig
    stream = "ga"

    def _begin(self) -> None:
        self.tournament = self.settings.tournament
        self.stay = self.N if self.steady else max(1, round(self.settings.elites * self.N))

    def elders(self) -> list[Individual]:
        return self.P.individuals[: self.stay] if self.P else []

    def _survivors(self, R: Population, n: int) -> NDArray[np.int64]:
        return best_first(R)[:n]
