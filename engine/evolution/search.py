"""Base classes of population-based algorithms: the bookkeeping of requests, generations and checkpoints, and breeding.

A subclass states only its rule. ``PopulationSearch`` requests, collects and saves; its subclasses decide what to
propose next and what to do with the evaluations that arrived. ``Breeding`` adds mating: tournaments, and children from
the space's own operators; its subclasses decide who survives.

Ids are given in order of proposal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, ClassVar, NamedTuple

import moocore
import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle
from engine.columns import Arrays
from engine.config.algorithms import SearchAlgorithm
from engine.config.base import parse
from engine.errors import AllFailed, ConfigError
from engine.evolution.algorithm import (
    Individual,
    Parts,
    Population,
    Progress,
    generator_state,
    load_generator,
    of_part,
    to_part,
)
from engine.problem import PLAIN, AnyContext, Evaluation, Genome, Problem, Request
from engine.rng import generator

_TRIES = 5
_MISSING = {
    "breed": "this algorithm makes candidates from parents, and these genomes cannot be bred; choose another",
    "numbers": "this algorithm moves through numbers, and these genomes cannot be made from numbers; choose another",
    "perturb": "this algorithm varies settings that training goes on with, and here are none; choose another",
}


class View(NamedTuple):
    """A view of a search beside its front: metrics by name, and columns for an artifact of this role, with metadata."""

    metrics: dict[str, float]
    role: str
    about: dict[str, Any]
    columns: Arrays


class PopulationSearch(ABC):
    """An ``Algorithm`` with a population P of ``N`` individuals and ``T`` ticks of N evaluations each. Raises
    ConfigError for settings that its configuration does not allow, and where the space lacks a capability it ``needs``.

    Synchronous: N requests, then ``batch`` at a time (N, unless the subclass sets it), and ``_select`` once all of them
    have arrived. ``steady``: new requests whenever there is room, and ``_select`` at each arrival. P begins with the
    first N arrivals, without waiting for the slowest of the first requests.
    """

    Settings: ClassVar[type[SearchAlgorithm]]
    """Its configuration, which declares the capabilities it needs from a space and the wrappers it supports."""
    stream: ClassVar[str]
    """Name of the algorithm's random stream."""
    kept: ClassVar[tuple[str, ...]] = ()
    """Names of further attributes to save in checkpoints: arrays, or JSON."""
    gradual: ClassVar[bool] = False
    """Whether a ``steady`` search begins P with the first arrival instead of the N-th."""
    gathers: ClassVar[bool] = False
    """Whether a ``steady`` search selects once N children have arrived, as in rounds, instead of at each arrival."""
    replaceable: ClassVar[bool] = False
    """Whether a repeated proposal may be replaced by a candidate that was never proposed, where the space is small
    enough to list."""

    def __init__(
        self, problem: Problem, population: int, ticks: int, seed: int, replicates: int = 1,
        context: AnyContext = PLAIN, **settings: Any,
    ) -> None:  # fmt: skip
        self.settings = parse(self.Settings, {"population": population, **settings})
        self.can = problem.space.can
        for ability in self.settings.needs:
            if getattr(self.can, ability) is None:
                raise ConfigError([("algorithm.kind", _MISSING[ability])])
        self.problem, self.N, self.T, self.seed = problem, population, ticks, seed
        self.replicates, self.context, self.steady = replicates, context, self.settings.without_rounds
        self.batch = population
        self.rng = generator(seed, self.stream)
        self.P: Population | None = None
        self.arrived: list[Individual] = []
        self.outstanding: dict[int, Genome] = {}
        self.unasked: list[int] = []
        self.met: set[int] = set()
        self.next_id = self.tick = self.evaluated = 0
        self.done = False
        self._begin()
        self._propose(self._initial())

    def _begin(self) -> None:  # noqa: B027 - many have nothing of their own
        """Set up the subclass's own state, before the first proposals."""

    @abstractmethod
    def _offspring(self, n: int) -> Genome:
        """n genomes to evaluate next; in a ``steady`` search P may not have begun yet."""

    @abstractmethod
    def _survivors(self, R: Population, n: int) -> NDArray[np.int64]:
        """Indices of the n members of R that become P; may set R's rank and crowding."""

    def _initial(self) -> Genome:
        return self.problem.space.sample(self.rng, self.N)

    def ask(self, room: int) -> list[Request]:
        """Synchronous: a whole generation when it begins. Steady state: as many as there is room for, but at most N
        beyond the first N before P has begun."""
        if self.steady and not self.done:
            most = self.N * (self.T if self.P is not None else min(2, self.T))
            wanted = min(room - len(self.unasked), most - self.next_id)
            if wanted > 0:
                self._propose(self._offspring(wanted))
        asked, self.unasked = self.unasked, []
        return [self._request(i) for i in asked]

    def tell(self, evaluation: Evaluation) -> list[Progress]:
        """Collect one evaluation; the last one of a generation triggers selection."""
        genome = self.outstanding.pop(evaluation.id)
        if inherit := self.can.inherit:
            genome = inherit(genome, evaluation)
        self.arrived.append(Individual(genome, evaluation, self.tick + 1))
        self.evaluated += 1
        joins = self.steady and not self.gathers and (self.gradual or self.P is not None)
        complete = len(self.arrived) == (self.N if self.P is None else self.batch)
        if joins or complete:
            self._select()
        ticked = self.evaluated % self.N == 0
        self.tick += ticked
        self.done = self.tick >= self.T
        if complete and not self.steady and not self.done:
            self._propose(self._offspring(self.batch))
        return [Progress(self.tick)] if ticked else []

    def revise(self, evaluations: Sequence[Evaluation]) -> None:
        """Update estimates of members of P, by id, and rank P again."""
        assert self.P is not None
        better = {e.id: e for e in evaluations}
        members = [i._replace(evaluation=better.get(i.evaluation.id, i.evaluation)) for i in self.P.individuals]
        R = self._gathered(sorted(members, key=lambda member: member.evaluation.id))
        self.P = R.take(self._survivors(R, len(R)))

    def alive(self) -> set[int]:
        """Ids of the candidates that the search still builds on."""
        return {i.evaluation.id for i in self.P.individuals} if self.P else set()

    def elites(self) -> list[Individual]:
        """Members worth re-evaluating under noise: the front."""
        return self.front()

    def views(self, genes: Callable[[Genome], Genome]) -> list[View]:
        """Views beside the front, with settings as ``genes`` shows them; most algorithms have none."""
        return []

    def best_of_kinds(self) -> list[Individual]:
        """The best candidate of each kind of behaviour; empty where the algorithm does not distinguish any."""
        return []

    def views_by(self, evaluations: Sequence[Evaluation]) -> list[View]:
        """The views of behaviours by other estimates; the search is unchanged."""
        return []

    def front(self) -> list[Individual]:
        """Members of P that are feasible, evaluated and dominated by no other."""
        if self.P is None:
            return []
        good = np.flatnonzero(self.P.violation <= 0)
        if not len(good):
            return []
        best = moocore.is_nondominated(self.P.cost[good], keep_weakly=True)
        return [self.P.individuals[i] for i in good[best]]

    def _request(self, i: int) -> Request:
        return Request(i, self.outstanding[i], 0, self.replicates, self.seed, self.context)

    def _propose(self, genomes: Genome) -> None:
        unmet = self.can.unmet
        if unmet and self.replaceable:
            genomes = unmet(self.rng, genomes, self.met)
        for genome in genomes:
            self.outstanding[self.next_id] = genome
            self.unasked.append(self.next_id)
            self.next_id += 1

    def _select(self) -> None:
        """Select the next P from P and the arrivals."""
        R = self._gathered(sorted([*self.elders(), *self.arrived], key=lambda member: member.evaluation.id))
        self.arrived = []
        self.P = R.take(self._survivors(R, self.N))

    def elders(self) -> list[Individual]:
        """Members of P that may stay."""
        return self.P.individuals if self.P else []

    def _gathered(self, members: list[Individual]) -> Population:
        """Members as a population, in order of birth, so that nothing depends on the order of arrival. Raises
        AllFailed when all of them failed and they are numerous enough."""
        R = Population(self.problem, members)
        if len(R) >= self.N and all(i.evaluation.status == "failed" for i in R.individuals):
            reason = R.individuals[0].evaluation.reason
            raise AllFailed(f"All {len(R)} {self.problem.noun}s failed. The first one: {reason}")
        return R

    def state(self) -> Parts:
        """P, arrivals, outstanding requests, the generator, the counters, and the attributes in ``kept``."""
        kept = {name: getattr(self, name) for name in self.kept}
        arrays: Arrays = {name: value for name, value in kept.items() if isinstance(value, np.ndarray)}
        if self.P:
            arrays |= {"P.rank": self.P.rank, "P.crowding": self.P.crowding}
        if self.outstanding:
            arrays["outstanding.id"] = np.array(list(self.outstanding), dtype=np.int64)
            arrays["outstanding.genome"] = np.stack(list(self.outstanding.values()))
        if self.met:
            arrays["met"] = np.array(sorted(self.met), dtype=np.uint64)
        meta = {"rng": generator_state(self.rng), "next_id": self.next_id, "tick": self.tick, "told": self.evaluated,
                "done": self.done}  # fmt: skip
        meta |= {name: value for name, value in kept.items() if name not in arrays}
        members = self.P.individuals if self.P else []
        return {"search": Bundle(meta, arrays), "P": to_part(members), "Q": to_part(self.arrived)}

    def load(self, parts: Parts) -> None:
        """The inverse of ``state``; outstanding requests are asked again in their order."""
        meta, arrays = parts["search"]
        self.rng = load_generator(meta["rng"])
        self.next_id, self.tick, self.evaluated, self.done = meta["next_id"], meta["tick"], meta["told"], meta["done"]
        found = of_part(parts["P"])
        self.P = Population(self.problem, found) if found else None
        if self.P:
            self.P.rank, self.P.crowding = arrays["P.rank"].copy(), arrays["P.crowding"].copy()
        self.arrived = of_part(parts["Q"])
        ids = arrays["outstanding.id"].tolist() if "outstanding.id" in arrays else []
        self.outstanding = {i: arrays["outstanding.genome"][k] for k, i in enumerate(ids)}
        self.unasked = list(self.outstanding)
        self.met = set(arrays["met"].tolist()) if "met" in arrays else set()
        for name in self.kept:
            setattr(self, name, copy(arrays.get(name, meta.get(name))))


class Breeding(PopulationSearch):
    """Children of tournament winners, by the space's crossover and mutation. Children that equal a member of P or one
    another (by canonical key) are made again, up to five times."""

    replaceable = True
    tournament = 2

    def _offspring(self, n: int) -> Genome:
        """n children of tournament winners, preferably not in P already; random genomes before P begins."""
        space, breed = self.problem.space, self.can.breed
        if self.P is None:
            return space.sample(self.rng, n)
        assert breed is not None
        taken = set(space.keys(self.P.genomes).tolist())
        found: list[Genome] = []
        for attempt in range(_TRIES):
            missing = n - len(found)
            mothers, fathers = self._parents(missing)
            children = breed.offspring(self.rng, self.P.genomes[mothers], self.P.genomes[fathers])
            pairs = zip(mothers.tolist(), fathers.tolist(), strict=True)
            for child, key, pair in zip(children, space.keys(children).tolist(), pairs, strict=True):
                if key not in taken or attempt == _TRIES - 1:
                    self._born(self.next_id + len(found), *pair)
                    taken.add(key)
                    found.append(child)
            if len(found) >= n:
                break
        return np.array(found)

    def _born(self, child: int, mother: int, father: int) -> None:
        """A child will be proposed under this id; its parents are these members of P."""

    def _parents(self, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Indices into P of n pairs; the better one first where the space asks for that. With several objectives that
        is the one that dominates the other. Where neither does, it is the first: both are equally likely to be."""
        mothers, fathers = self._tournament(n), self._tournament(n)
        breed = self.can.breed
        if breed and breed.better_first:
            several = len(self.problem.objectives) > 1
            swap = self._dominates(fathers, mothers) if several else self._better(fathers, mothers)
            mothers, fathers = np.where(swap, fathers, mothers), np.where(swap, mothers, fathers)
        return mothers, fathers

    def _tournament(self, n: int) -> NDArray[np.int64]:
        """Winners of n tournaments among ``tournament`` members drawn with replacement."""
        assert self.P is not None
        first, *others = self.rng.integers(0, len(self.P), size=(self.tournament, n))
        for other in others:
            first = np.where(self._better(other, first), other, first)
        return np.asarray(first)

    def _better(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether members a of P win against members b: by rank, then by the larger crowding distance."""
        P = self.P
        assert P is not None
        return np.asarray((P.rank[a] < P.rank[b]) | ((P.rank[a] == P.rank[b]) & (P.crowding[a] > P.crowding[b])))

    def _dominates(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether members a of P dominate members b, by Deb's feasibility rule."""
        P = self.P
        assert P is not None
        worse = np.maximum(P.violation, 0.0)
        no_worse, better = (P.cost[a] <= P.cost[b]).all(axis=1), (P.cost[a] < P.cost[b]).any(axis=1)
        return np.asarray((worse[a] < worse[b]) | ((worse[a] == worse[b]) & no_worse & better))
