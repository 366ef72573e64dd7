"""What searches share that adapt a distribution over real vectors (CMA-ES, CEM, OpenAI-ES).

They learn from N evaluations at a time, ranked; nothing but the ranking counts. With several objectives the ranking is
NSGA-II's: by front, then by crowding.

They move through vectors (``Vectors``). A sample beyond a bound is evaluated at its reflection and learnt from as it
was drawn, so a search sees an unbounded, mirrored problem; learning from the reflection instead would push the mean
away from every bound and the step size up without end.

Synchronous: N samples, then a step. ``steady``: always a sample of the newest distribution; a step with every N
arrivals, whichever they are, measured from where the distribution is by then.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from engine.evolution.algorithm import Arrays, Population
from engine.evolution.nsga2 import best_first
from engine.evolution.search import PopulationSearch
from engine.evolution.vectors import Vectors
from engine.problem import Genome, Problem

Floats = NDArray[np.float64]


class DistributionSearch(PopulationSearch):
    """P holds the N best individuals of the whole run; they only report, the distribution does the searching."""

    kept: ClassVar[tuple[str, ...]] = ()
    """Names of the attributes (arrays or floats) that make up the distribution: what a checkpoint keeps."""

    def __init__(
        self, problem: Problem, population: int, ticks: int, seed: int, replicates: int = 1, *,
        steady: bool = False, fidelity: str = "full", patch: str = "",
    ) -> None:  # fmt: skip
        self.vectors = Vectors(problem.space)
        self.n = self.vectors.n
        self.drawn: dict[int, Floats] = {}
        super().__init__(problem, population, ticks, seed, replicates, steady=steady, fidelity=fidelity, patch=patch)

    @abstractmethod
    def _begin(self, x: Floats) -> None:
        """Set the distribution around ``x`` float64[n], before the first sample."""

    @abstractmethod
    def _sample(self, k: int) -> Floats:
        """k samples float64[k, n] in units of the box."""

    @abstractmethod
    def _step(self, x: Floats) -> None:
        """Learn from ``x`` float64[N, n], best first."""

    def _initial(self) -> Genome:
        self._begin(self.vectors.sample(self.rng, 1)[0])
        return self._offspring(self.N)

    def _offspring(self, n: int) -> Genome:
        x = self._sample(n)
        self.drawn |= zip(range(self.next_id, self.next_id + n), x, strict=True)  # the ids they are proposed under
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
        """Standard normal float64[k, n]: the only randomness of a sample."""
        return self.rng.standard_normal((k, self.n))

    def _outward(self, x: Floats) -> Genome:
        """The genomes that vectors stand for, reflected at the bounds."""
        if not self.vectors.bounded:
            return self.vectors.genomes(x)
        phase = np.mod(x, 2.0)
        return self.vectors.genomes(np.where(phase > 1, 2 - phase, phase))

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """The search's state and the distribution's numbers."""
        arrays, meta = super().state()
        arrays |= {f"distribution.{name}": np.asarray(getattr(self, name)) for name in self.kept}
        if self.drawn:
            arrays["drawn.id"] = np.array(list(self.drawn), dtype=np.int64)
            arrays["drawn.x"] = np.stack(list(self.drawn.values()))
        return arrays, meta

    def load(self, arrays: Arrays, meta: dict[str, Any]) -> None:
        """The inverse of ``state``."""
        super().load(arrays, meta)
        for name in self.kept:
            value = arrays[f"distribution.{name}"]
            setattr(self, name, value.copy() if value.ndim else value.item())
        ids = arrays["drawn.id"].tolist() if "drawn.id" in arrays else []
        self.drawn = {i: arrays["drawn.x"][k] for k, i in enumerate(ids)}
