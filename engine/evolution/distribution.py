"""Base of searches that adapt a distribution over real vectors (CMA-ES, CEM, OpenAI-ES).

They learn from N evaluations at a time, by ranking only. With several objectives the ranking is NSGA-II's: by front,
then by crowding.

They search the space of vectors that decode to genomes (``Numbers``). A sample beyond a bound is evaluated at its
reflection but learnt from as drawn, so a search sees an unbounded, mirrored problem; learning from the reflection
would push the mean away from every bound and the step size up without limit.

Synchronous: N samples, then a step. ``steady``: samples always come from the newest distribution; every N arrivals make
a step, measured from the distribution at that moment.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle
from engine.evolution.algorithm import Parts, Population
from engine.evolution.nsga2 import best_first
from engine.evolution.search import PopulationSearch
from engine.problem import Floats, Genome


class DistributionSearch(PopulationSearch):
    """P holds the N best individuals of the whole run, for reports only; the distribution does the search. ``drawn``:
    samples float64[n] of outstanding requests by id."""

    def _begin(self) -> None:
        numbers = self.can.numbers
        assert numbers is not None
        self.numbers, self.n = numbers, numbers.width
        self.drawn: dict[int, Floats] = {}

    @abstractmethod
    def _start(self, x: Floats) -> None:
        """Set the distribution around ``x`` float64[n], before the first sample."""

    @abstractmethod
    def _sample(self, k: int) -> Floats:
        """k samples float64[k, n] in units of the box."""

    @abstractmethod
    def _step(self, x: Floats) -> None:
        """Learn from ``x`` float64[N, n], best first."""

    def _initial(self) -> Genome:
        self._start(self.numbers.sample(self.rng, 1)[0])
        return self._offspring(self.N)

    def _offspring(self, n: int) -> Genome:
        x = self._sample(n)
        self.drawn |= zip(range(self.next_id, self.next_id + n), x, strict=True)  # the ids that their requests will get
        return self._outward(x)

    def _survivors(self, R: Population, n: int) -> NDArray[np.int64]:
        return best_first(R)[:n]

    def _select(self) -> None:
        if len(self.arrived) < self.N:
            return
        Q = self._gathered(sorted(self.arrived, key=lambda member: member.evaluation.id))
        ids = [Q.individuals[i].evaluation.id for i in best_first(Q)]
        self._step(np.stack([self.drawn.pop(i) for i in ids]))
        super()._select()

    def _normals(self, k: int) -> Floats:
        """Standard normal float64[k, n]: the only random numbers of a sample."""
        return self.rng.standard_normal((k, self.n))

    def _outward(self, x: Floats) -> Genome:
        """The genomes of vectors, reflected at the bounds."""
        if not self.numbers.bounded:
            return self.numbers.decode(x)
        phase = np.mod(x, 2.0)
        return self.numbers.decode(np.where(phase > 1, 2 - phase, phase))

    def state(self) -> Parts:
        """The search's state and the samples that are outstanding."""
        x = np.array(list(self.drawn.values())).reshape(-1, self.n)
        return super().state() | {"drawn": Bundle({}, {"id": np.array(list(self.drawn), np.int64), "x": x})}

    def load(self, parts: Parts) -> None:
        """The inverse of ``state``."""
        super().load(parts)
        drawn = parts["drawn"].arrays
        self.drawn = dict(zip(drawn["id"].tolist(), drawn["x"], strict=True))
