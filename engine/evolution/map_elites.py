"""MAP-Elites (Mouret & Clune 2015, algorithm 1): a grid over the behaviour of candidates, in which each cell keeps its
best one. Children come from the space's own operators, their parents drawn uniformly from the filled cells.

The descriptor is the evaluation's own where the problem names one, otherwise all objectives except the quality. The
grid's bounds may be configured; otherwise they are those of the first N evaluations. An axis on which these do not have
two different finite values takes the bounds at the first tick at which there are two (until then it is one cell wide).
The outermost cells are always open: the first holds everything below its upper bound and NaN, the last everything from
its lower bound on.

Departures:

1. A tick is N evaluations; synchronously, children of a tick come from the grid as it was before it.
2. Noise: with ``engine.evolution.noise`` elites are measured again. An elite whose estimated behaviour changes moves to
   its new cell, and one whose quality drops is replaced by the next that beats it. A cell may become empty.
3. Of equal quality the older elite stays.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.columns import Arrays
from engine.config.algorithms import MAPElitesConfig
from engine.errors import ConfigError
from engine.evolution.algorithm import Individual, Parts, Population
from engine.evolution.search import PopulationSearch, View
from engine.problem import Evaluation, Floats, Genome


class MAPElites(PopulationSearch):
    """``bins``: cells on each axis; ``low``, ``high``: bounds of the descriptor (empty: from the first N); ``quality``:
    name of the objective by which elites are chosen (empty: the first). P holds the elites."""

    Settings = MAPElitesConfig
    settings: MAPElitesConfig
    stream = "map-elites"
    kept = ("low", "high", "floor")
    replaceable = True

    def _begin(self) -> None:
        names, s = [o.name for o in self.problem.objectives], self.settings
        if s.quality and s.quality not in names:
            why = f"there is no objective {s.quality!r}; there are {', '.join(names)}"
            raise ConfigError([("algorithm.quality", why)])
        if len(names) == 1 and not self.problem.descriptors:
            one = self.problem.noun
            why = f"needs numbers that say how a {one} behaves, or a second objective to spread {one}s along"
            raise ConfigError([("algorithm.kind", f"MAP-Elites {why}")])
        self.quality, self.bins = names.index(s.quality) if s.quality else 0, s.bins
        self.floor = float("nan")
        self.cells: dict[int, Individual] = {}
        self.k = k = len(self.problem.descriptors) or len(names) - 1
        if len(s.low) not in (0, k) or len(s.high) != len(s.low):
            raise ConfigError([("algorithm.low", f"give {k} lower and {k} upper bounds, or none")])
        self.given = len(s.low) > 0
        self.low, self.high = (np.array(ends if self.given else [np.nan] * k, np.float64) for ends in (s.low, s.high))

    def coverage(self) -> float:
        """Share of the cells that are filled."""
        return float(len(self.cells) / self.bins**self.k)

    def qd_score(self) -> float:
        """Quality above the first generation's worst, summed over the cells (Pugh, Soros & Stanley 2016); non-finite
        values count as 0."""
        merit = np.array([-self._cost(i) + self.floor for i in self.cells.values()])
        return float(np.maximum(merit[np.isfinite(merit)], 0.0).sum())

    def grid(self) -> Arrays:
        """The filled cells: ``cell`` int64[n, k] coordinates, ``quality`` float64[n], ``id`` int64[n]."""
        cells = sorted(self.cells)
        shape = (self.bins,) * self.k
        where = np.array(np.unravel_index(np.array(cells, np.int64), shape), np.int64).T.reshape(len(cells), self.k)
        found = [self.cells[c].evaluation for c in cells]
        quality = np.array([e.objectives[self.quality] for e in found], dtype=np.float64)
        return {"cell": where, "quality": quality, "id": np.array([e.id for e in found], dtype=np.int64)}

    def elites(self) -> list[Individual]:
        """The best of each cell, in the order of the cells."""
        return [self.cells[c] for c in sorted(self.cells)]

    def revise(self, evaluations: Sequence[Evaluation]) -> None:
        """Update estimates of elites, by id: each leaves its cell and competes for its new one."""
        better = {e.id: e for e in evaluations}
        for cell, individual in list(self.cells.items()):
            if individual.evaluation.id in better:
                self.cells[cell] = individual._replace(evaluation=better[individual.evaluation.id])
        moved = [cell for cell, i in self.cells.items() if i.evaluation.id in better and self._cell(i) != cell]
        movers = [self.cells.pop(cell) for cell in moved]
        self._enter(movers)

    def views(self, genes: Callable[[Genome], Genome]) -> list[View]:
        """The map: the filled cells, the bounds and number of cells of each axis, and the index of the quality
        objective."""
        return [self._map()]

    def best_of_kinds(self) -> list[Individual]:
        """The elites."""
        return self.elites()

    def views_by(self, evaluations: Sequence[Evaluation]) -> list[View]:
        """The map by these evaluations: each elite in the cell of its behaviour, where the best one stays."""
        other = copy.copy(self)
        other.cells = dict(self.cells)
        other.revise([e for e in evaluations if e.status == "ok"])
        return [other._map()]

    def _map(self) -> View:
        numbers = {"coverage": self.coverage(), "qd_score": self.qd_score()}
        about = {"bins": self.bins, "quality": self.quality}
        return View(numbers, "grid", about, self.grid() | {"low": self.low, "high": self.high})

    def _offspring(self, n: int) -> Genome:
        """n children of parents from uniformly drawn cells; random genomes while no cell is filled."""
        breed = self.can.breed
        if not self.cells:
            return self.problem.space.sample(self.rng, n)
        assert breed is not None
        elites = np.stack([i.genome for i in self.elites()])
        mothers, fathers = self.rng.integers(0, len(elites), size=(2, n))
        return breed.offspring(self.rng, elites[mothers], elites[fathers])

    def _survivors(self, R: Population, n: int) -> NDArray[np.int64]:
        return np.arange(len(R))

    def _select(self) -> None:
        """New arrivals compete for their cells."""
        new = sorted(self.arrived, key=lambda member: member.evaluation.id)
        self.arrived = []
        if self.P is None:
            self._gathered(new)
        self._bound([i for i in new if i.evaluation.status == "ok"])
        self._enter(new)

    def _bound(self, new: list[Individual]) -> None:
        """Set the score's floor and those bounds of the grid that are still missing."""
        if np.isnan(self.floor):
            self.floor = max((cost for i in new if np.isfinite(cost := self._cost(i))), default=np.nan)
        unbound = self._unbound
        if not new or not unbound.any():
            return
        described = np.stack([self._describe(i) for i in new])
        finite = np.isfinite(described)
        least = np.where(finite, described, np.inf).min(axis=0)
        most = np.where(finite, described, -np.inf).max(axis=0)
        some = unbound & finite.any(axis=0)
        self.low[some], self.high[some] = np.fmin(self.low, least)[some], np.fmax(self.high, most)[some]
        if (unbound & ~self._unbound).any() and self.cells:
            elites, self.cells = self.elites(), {}
            self._enter(elites)

    @property
    def _unbound(self) -> NDArray[np.bool_]:
        """bool[k]: axes without bounds so far."""
        return np.zeros(self.k, np.bool_) if self.given else ~(self.high > self.low)

    def _enter(self, members: list[Individual]) -> None:
        for individual in members:
            if individual.evaluation.violation <= 0:
                cell = self._cell(individual)
                elite = self.cells.get(cell)
                if elite is None or self._merit(individual) > self._merit(elite):
                    self.cells[cell] = individual
        if self.cells or members:
            self.P = Population(self.problem, self.elites() or members)

    def _merit(self, individual: Individual) -> tuple[float, int]:
        return -self._cost(individual), -individual.evaluation.id

    def _cost(self, individual: Individual) -> float:
        """Quality to be minimised; NaN loses against everything."""
        sign = -1.0 if self.problem.objectives[self.quality].direction == "max" else 1.0
        cost = float(sign * individual.evaluation.objectives[self.quality])
        return np.inf if np.isnan(cost) else cost

    def _describe(self, individual: Individual) -> Floats:
        e = individual.evaluation
        described = e.descriptor if self.problem.descriptors else np.delete(e.objectives, self.quality)
        return np.full(self.k, np.nan) if described is None else described

    def _cell(self, individual: Individual) -> int:
        span = np.where(self.high > self.low, self.high - self.low, 1.0)
        share = np.clip(np.nan_to_num((self._describe(individual) - self.low) / span), 0, 1)
        share[self._unbound] = 0
        where = np.minimum(np.floor(share * self.bins), self.bins - 1).astype(np.int64)
        return int(np.ravel_multi_index(tuple(where), (self.bins,) * self.k))

    def load(self, parts: Parts) -> None:
        """The inverse of ``state``; the elites are P."""
        super().load(parts)
        members = self.P.individuals if self.P else []
        self.cells = {self._cell(i): i for i in members if i.evaluation.violation <= 0}
