"""Noisy objectives: elites are measured again, so that a front may also fall, and replicates go where they can change
who survives. Wraps a population-based search and is an ``Algorithm`` itself.

``reevaluate``: at each tick so many members of the front, those with the fewest samples, are played ``again`` times
more (RTEA, Fieldsend & Everson 2015, asks one for each new candidate). ``racing``: see ``racing``; candidates
begin with the search's own replicates, and those who survive are played up to ``most``, so that a race leaves the
search where full sampling would have.

A candidate's next request has an id of its own (from ``FURTHER`` on), goes on at the replicate where the last one
ended, and keeps what the first evaluation chose (``anchors``). Its answer is merged into the candidate's estimate. So
pools and the loop see requests like any other, each asked once and told once.

Synchronous searches learn nothing before every request is answered: a race decides only at its rungs, and any order of
arrival gives the same result. ``steady`` ones learn at once; racing is not for them.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.evolution.algorithm import Arrays, Individual, Population, Progress, columns, individuals
from engine.evolution.estimates import merged
from engine.evolution.racing import Standing, out_by_chance, out_by_halves, out_by_tests, rungs
from engine.evolution.search import PopulationSearch
from engine.problem import Evaluation, Genome, Request
from engine.rng import generator

Racing = Literal["off", "chance", "tests", "halving"]
FURTHER = 2**40


class Further(NamedTuple):
    """A candidate's next replicates: ``first`` <= r < ``last``; ``trained``: of what its training made of it."""

    candidate: int
    genome: Genome
    first: int
    last: int
    anchors: tuple[int, ...]
    trained: str = ""


class Resampling:
    """``search`` with its elites re-evaluated and its candidates raced. Raises ConfigError where that cannot be."""

    def __init__(
        self, search: PopulationSearch, *, reevaluate: int = 0, again: int = 4, racing: Racing = "off",
        most: int = 32, error: float = 0.05,
    ) -> None:  # fmt: skip
        if not search.revisable:
            why = "this algorithm's candidates change from tick to tick: there is nothing to measure again"
            raise ConfigError([("noise", why)])
        if racing != "off" and search.steady:
            raise ConfigError([("noise.racing", "needs rounds; switch steady state off, or racing")])
        if racing != "off" and not search.foreseeable:
            why = "can only foresee who survives with NSGA-II, the genetic algorithm and random search; or no racing"
            raise ConfigError([("noise.racing", why)])
        self.search, self.reevaluate, self.again = search, reevaluate, again
        self.racing, self.levels, self.error = racing, rungs(search.replicates, most), error
        self.held: dict[int, Individual] = {}
        self.further: dict[int, Further] = {}
        self.answers: dict[int, Evaluation] = {}
        self.unasked: list[int] = []
        self.played: dict[int, int] = {}
        self.out: set[int] = set()
        self.rung, self.next_id = 0, FURTHER

    @property
    def done(self) -> bool:
        """The search is done, and nothing that was asked is still to come."""
        return self.search.done and not self.further

    def ask(self, room: int) -> list[Request]:
        """The search's requests, and further replicates of candidates it knows."""
        fresh = [r for r in self.search.ask(room) if r.id not in self.held]
        unasked, self.unasked = self.unasked, []
        return fresh + [self._request(i) for i in unasked]

    def tell(self, evaluation: Evaluation) -> list[Progress]:
        """Take in one evaluation; see the module for when anything is learnt from it."""
        i = evaluation.id
        if i in self.further and i not in self.answers:
            self.answers[i] = evaluation
        elif i in self.search.outstanding and i not in self.held:
            self.held[i] = Individual(self.search.outstanding[i], evaluation, self.search.tick + 1)
        else:
            raise KeyError(i)
        if self.search.steady:
            return self._at_once()
        complete = len(self.held) == len(self.search.outstanding) and len(self.answers) == len(self.further)
        return self._together() if complete else []

    def front(self) -> list[Individual]:
        """The search's front, by the estimates as they are now."""
        return self.search.front()

    def _at_once(self) -> list[Progress]:
        self._learn()
        progress: list[Progress] = []
        for individual in self.held.values():
            progress += self.search.tell(individual.evaluation)
        self.held = {}
        if progress:
            self._measure_elites()
        return progress

    def _together(self) -> list[Progress]:
        """Everything that was asked is answered: the next rung, or the end of the generation."""
        self._learn()
        if self.racing != "off" and self._next_rung():
            return []
        self._keep_out()
        held, self.held, self.out, self.rung = self.held, {}, set(), 0
        progress: list[Progress] = []
        for i in sorted(held):
            progress += self.search.tell(held[i].evaluation)
        if progress:
            self._measure_elites()
        return progress

    def _learn(self) -> None:
        """Merge what was answered into the estimates it belongs to, in the order it was asked."""
        members = self.search.P.individuals if self.search.P else []
        known = {i.evaluation.id: i.evaluation for i in members}
        revised: dict[int, Evaluation] = {}
        for i in sorted(self.answers):
            further, answer = self.further.pop(i), self.answers[i]
            c = further.candidate
            self.played[c] = further.last
            if c in self.held:
                self.held[c] = self.held[c]._replace(evaluation=merged(self.held[c].evaluation, answer))
            elif c in known:
                revised[c] = known[c] = merged(known[c], answer)
        self.answers = {}
        if revised:
            self.search.revise(list(revised.values()))

    def _measure_elites(self) -> None:
        """Ask for more replicates of the front's least known members."""
        P = self.search.P
        alive = {i.evaluation.id for i in P.individuals} if P else set()
        self.played = {c: last for c, last in self.played.items() if c in alive}
        if self.search.done:
            return
        asked = {further.candidate for further in self.further.values()}
        elites = [i for i in self.search.elites() if i.evaluation.id not in asked]
        elites.sort(key=lambda i: (i.evaluation.samples, i.evaluation.id))
        for individual in elites[: self.reevaluate]:
            self._more(individual, self._played(individual) + self.again)

    def _next_rung(self) -> bool:
        """Put out who has no chance; ask for more replicates of the others, all there are once nobody else has to go.
        False when the race is over."""
        members = [*self.search.elders(), *(self.held[i] for i in sorted(self.held))]
        members = [i for i in members if i.evaluation.violation <= 0]
        keep = self.search.N
        while self.rung + 1 < len(self.levels):
            if sum(i.evaluation.id not in self.out for i in members) > keep:
                self._put_out(members, keep)
            self.rung += 1
            open_ = [i for i in members if i.evaluation.id not in self.out]
            level = self.levels[self.rung if len(open_) > keep else -1]
            short = [i for i in open_ if self._played(i) < level]
            for individual in short:
                self._more(individual, level)
            if short:
                return True
        return False

    def _put_out(self, members: list[Individual], keep: int) -> None:
        R = Population(self.search.problem, members)
        ids = np.array([i.evaluation.id for i in members])
        open_ = ~np.isin(ids, list(self.out))
        most, spent = self.levels[-1], self.error / (len(self.levels) - 1)
        if self.racing == "halving":
            leave = out_by_halves(R, keep, open_, self.rung, len(self.levels))
        elif self.racing == "tests":
            leave = out_by_tests(self._standing(R, members, open_), most, keep, spent)
        else:
            rng = generator(self.search.seed, "race", self.search.tick, self.rung)
            leave = out_by_chance(self._standing(R, members, open_), most, keep, spent, rng)
        self.out |= set(ids[leave].tolist())

    def _keep_out(self) -> None:
        """Who is out is told to the search as behind everybody in the race: by fewer replicates, luck that the others
        have lost would bring it back. What is known of it stays what it is, for it does not survive."""
        members = [*self.search.elders(), *self.held.values()]
        inside = [i for i in members if i.evaluation.id not in self.out and i.evaluation.violation <= 0]
        if not self.out or not inside:
            return
        R = Population(self.search.problem, inside)
        behind = np.nextafter(R.cost.max(axis=0), np.inf)

        def told(e: Evaluation) -> Evaluation:
            return e._replace(objectives=np.maximum(e.objectives * R.signs, behind) * R.signs)

        elders = [told(i.evaluation) for i in self.search.elders() if i.evaluation.id in self.out]
        if elders:
            self.search.revise(elders)
        out = {i: x._replace(evaluation=told(x.evaluation)) for i, x in self.held.items() if i in self.out}
        self.held |= out

    def _standing(self, R: Population, members: list[Individual], open_: NDArray[np.bool_]) -> Standing:
        """The race as it is; replicate by replicate, where all of them tell at least two."""
        found = [i.evaluation for i in members]
        covariance = np.stack([e.covariance for e in found]) * np.multiply.outer(R.signs, R.signs)
        told = [e.values * R.signs for e in found if e.values is not None and e.samples > 1]
        values = told if len(told) == len(found) else None
        return Standing(R.cost, covariance, np.array([e.samples for e in found]), open_, values)

    def _played(self, individual: Individual) -> int:
        return self.played.get(individual.evaluation.id, self.search.replicates)

    def _more(self, individual: Individual, last: int) -> None:
        e, first = individual.evaluation, self._played(individual)
        self.further[self.next_id] = Further(e.id, individual.genome, first, last, e.anchors, e.genome)
        self.unasked.append(self.next_id)
        self.next_id += 1

    def _request(self, i: int) -> Request:
        s, f = self.search, self.further[i]
        return Request(i, f.genome, f.first, f.last, s.seed, s.fidelity, s.patch, f.anchors,
                       trained=f.trained, candidate=f.candidate)  # fmt: skip

    def state(self) -> tuple[Arrays, dict[str, Any]]:
        """The search's state, what was answered and not learnt from yet, and what is still to come."""
        arrays, meta = self.search.state()
        answered = [Individual(self.further[i].genome, e, 0) for i, e in self.answers.items()]
        for name, members in (("held", list(self.held.values())), ("answer", answered)):
            if members:
                arrays |= {f"{name}.{key}": value for key, value in columns(members, self.search.problem).items()}
        if self.further:
            f = list(self.further.values())
            rows = [(i, x.candidate, x.first, x.last) for i, x in self.further.items()]
            arrays["further"] = np.array(rows, dtype=np.int64)
            arrays["further.anchor"] = np.array([x.anchors or (-1, -1) for x in f], dtype=np.int32)
            arrays["further.genome"] = np.stack([x.genome for x in f])
        arrays |= self._values()
        own = {"next_id": self.next_id, "rung": self.rung, "out": sorted(self.out), "played": list(self.played.items()),
               "trained": [x.trained for x in self.further.values()]}  # fmt: skip
        return arrays, meta | {"resampling": own}

    def _values(self) -> Arrays:
        """Of everybody a race may compare, replicate by replicate, one after the other."""
        members = [*(self.search.P.individuals if self.search.P else []), *self.held.values()]
        found = {e.id: e.values for e in (*(i.evaluation for i in members), *self.answers.values())}
        told = {i: values for i, values in found.items() if values is not None}
        if not told or self.racing == "off":
            return {}
        rows = [(i, len(values)) for i, values in told.items()]
        return {"values": np.concatenate(list(told.values())), "values.of": np.array(rows, dtype=np.int64)}

    def _take_values(self, arrays: Arrays) -> None:
        """The inverse of ``_values``, for everybody who is here."""
        if "values" not in arrays:
            return
        ids, counts = arrays["values.of"].T
        told = dict(zip(ids.tolist(), np.split(arrays["values"], np.cumsum(counts)[:-1]), strict=True))

        def complete(e: Evaluation) -> Evaluation:
            return e._replace(values=told.get(e.id))

        self.held = {i: x._replace(evaluation=complete(x.evaluation)) for i, x in self.held.items()}
        self.answers = {i: complete(e) for i, e in self.answers.items()}
        if self.search.P:
            P = self.search.P.individuals
            self.search.P.individuals = [x._replace(evaluation=complete(x.evaluation)) for x in P]

    def load(self, arrays: Arrays, meta: dict[str, Any]) -> None:
        """The inverse of ``state``; what was outstanding is asked again."""
        self.search.load(arrays, meta)

        def members(name: str) -> list[Individual]:
            part = {k.removeprefix(f"{name}."): v for k, v in arrays.items() if k.startswith(f"{name}.")}
            return individuals(part) if part else []

        self.held = {i.evaluation.id: i for i in members("held")}
        self.answers = {i.evaluation.id: i.evaluation for i in members("answer")}
        self.further = {}
        if "further" in arrays:
            for k, (i, candidate, first, last) in enumerate(arrays["further"].tolist()):
                anchors = tuple(a for a in arrays["further.anchor"][k].tolist() if a >= 0)
                trained = meta["resampling"]["trained"][k]
                self.further[i] = Further(candidate, arrays["further.genome"][k], first, last, anchors, trained)
        self.unasked = [i for i in self.further if i not in self.answers]
        self._take_values(arrays)
        own = meta["resampling"]
        self.next_id, self.rung, self.out = own["next_id"], own["rung"], set(own["out"])
        self.played = {c: last for c, last in own["played"]}
