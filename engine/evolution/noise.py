"""Noisy objectives: elites are re-evaluated, so that a front may also recede, and replicates go where they can change
who survives. Wraps a population-based search and is an ``Algorithm`` itself.

``reevaluate``: at each tick so many members of the front, those with the fewest samples, get ``again`` more replicates
(RTEA, Fieldsend & Everson 2015, requests one for each new candidate). ``racing``: see ``racing``; candidates begin with
the search's own replicates, and survivors are played up to ``most``, so that a race leaves the search in the state that
full sampling would have.

A candidate's next request has an id of its own (from ``FURTHER`` on), the context of its evaluation, and continues at
the replicate where the last one ended; its answer is merged into the candidate's estimate. So for pools and the loop
these are ordinary requests, each asked once and told once. A re-evaluated elite keeps the anchors that its evaluation
chose, and the new battles measure that choice. In a race the first replicates fix nothing: where objectives are no
means of replicates, answers carry a record of each, and the next answer covers all of them together, as in full
sampling.

Synchronous searches learn only when every request is answered: a race decides only at its rungs, and any order of
arrival gives the same result. ``steady`` searches learn at once; they cannot race.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from engine import columns
from engine.arrays import Bundle
from engine.errors import ConfigError
from engine.evolution.algorithm import Individual, Parts, Population, Progress, of_part, to_part
from engine.evolution.estimates import merged
from engine.evolution.racing import costs_within, out_by_bounds, out_by_halves, out_by_tests, rungs, standing
from engine.evolution.search import PopulationSearch
from engine.problem import Evaluation, Request

Racing = Literal["off", "bounds", "tests", "halving"]
FURTHER = 2**40
UNBOUNDED = (
    "bounds need goals that are means over replicates, each between limits that are known: race by tests (for noise "
    "near normal) or by halving, or not at all"
)
_NOTHING = np.empty((0, 0))


class Resampling:
    """``search`` with its elites re-evaluated and its candidates raced. Raises ConfigError where that is impossible."""

    def __init__(
        self, search: PopulationSearch, *, reevaluate: int = 0, again: int = 4, racing: Racing = "off",
        most: int = 32, error: float = 0.05,
    ) -> None:  # fmt: skip
        if not search.settings.remeasures:
            why = "this algorithm's candidates change from tick to tick: there is nothing to measure again"
            raise ConfigError([("noise", why)])
        if racing != "off" and search.steady:
            raise ConfigError([("noise.racing", "needs rounds; switch steady state off, or racing")])
        if racing != "off" and not search.settings.races:
            why = "can only foresee who survives with NSGA-II, the genetic algorithm and random search; or no racing"
            raise ConfigError([("noise.racing", why)])
        if racing == "bounds" and not search.problem.bounded:
            raise ConfigError([("noise.racing", UNBOUNDED)])
        self.search, self.reevaluate, self.again = search, reevaluate, again
        self.racing, self.error = racing, error
        self.levels = rungs(search.replicates, most, even=racing == "bounds")
        self.held: dict[int, Individual] = {}
        self.further: dict[int, Request] = {}
        self.answers: dict[int, Evaluation] = {}
        self.unasked: list[int] = []
        self.played: dict[int, int] = {}
        self.out: set[int] = set()
        self.rung, self.next_id = 0, FURTHER

    @property
    def done(self) -> bool:
        """Whether the search is done and no request is outstanding."""
        return self.search.done and not self.further

    def ask(self, room: int) -> list[Request]:
        """The search's requests, and requests for further replicates of known candidates."""
        record = None if self.racing == "off" else _NOTHING
        fresh = [r._replace(record=record) for r in self.search.ask(room) if r.id not in self.held]
        unasked, self.unasked = self.unasked, []
        return fresh + [self._with_record(self.further[i]) for i in unasked]

    def tell(self, evaluation: Evaluation) -> list[Progress]:
        """Take one evaluation; the module's docstring says when it is learnt from."""
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
        """The search's front, by the current estimates."""
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
        """All requests are answered: go to the next rung, or end the generation."""
        self._learn()
        if self.racing != "off" and self._next_rung():
            return []
        self._keep_out()
        held, self.held, self.out, self.rung = self.held, {}, set(), 0
        progress: list[Progress] = []
        for i in sorted(held):
            progress += self.search.tell(held[i].evaluation._replace(record=None))
        if progress:
            self._measure_elites()
        return progress

    def _learn(self) -> None:
        """Merge answers into the estimates of their candidates, in the order of requests."""
        members = self.search.P.individuals if self.search.P else []
        known = {i.evaluation.id: i.evaluation for i in members}
        revised: dict[int, Evaluation] = {}
        for i in sorted(self.answers):
            request, answer = self.further.pop(i), self.answers[i]
            c = request.candidate
            self.played[c] = request.last
            if c in self.held:
                self.held[c] = self.held[c]._replace(evaluation=_joined(self.held[c].evaluation, answer))
            elif c in known:
                revised[c] = known[c] = merged(known[c], answer)
        self.answers = {}
        if revised:
            self.search.revise(list(revised.values()))

    def _measure_elites(self) -> None:
        """Request more replicates of the front's members with the fewest samples."""
        P = self.search.P
        alive = {i.evaluation.id for i in P.individuals} if P else set()
        self.played = {c: last for c, last in self.played.items() if c in alive}
        if self.search.done:
            return
        asked = {request.candidate for request in self.further.values()}
        elites = [i for i in self.search.elites() if i.evaluation.id not in asked]
        elites.sort(key=lambda i: (i.evaluation.samples, i.evaluation.id))
        for individual in elites[: self.reevaluate]:
            self._more(individual, self._played(individual) + self.again)

    def _next_rung(self) -> bool:
        """Eliminate candidates without a chance and request more replicates of the others; the full number once no more
        than N are left. False when the race is over."""
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
        R, most = Population(self.search.problem, members), self.levels[-1]
        ids = np.array([i.evaluation.id for i in members])
        open_ = ~np.isin(ids, list(self.out))
        if self.racing == "halving":
            leave = out_by_halves(R, keep, open_, self.rung, len(self.levels))
        elif self.racing == "tests":
            spent = self.error / (len(self.levels) - 1)
            leave = out_by_tests(standing(R, open_), most, keep, spent)
        else:
            known = np.array([self._played(member) >= most for member in members])
            # Each new candidate has two bounds per objective; members with all replicates need none.
            share = self.error / (2 * R.cost.shape[1] * max(1, len(self.held)))
            leave = out_by_bounds(*costs_within(R, known, most, share), keep)
        self.out |= set(ids[leave].tolist())

    def _keep_out(self) -> None:
        """Report eliminated candidates to the search as worse than everybody in the race: from fewer replicates, luck
        that the others have lost could bring them back. They do not survive, so their own estimates stay unchanged."""
        members = [*self.search.elders(), *self.held.values()]
        inside = [i for i in members if i.evaluation.id not in self.out and i.evaluation.violation <= 0]
        if not self.out or not inside:
            return
        R = Population(self.search.problem, inside)
        behind = np.nextafter(R.cost.max(axis=0), np.inf)

        def set_back(e: Evaluation) -> Evaluation:
            return e._replace(objectives=np.maximum(e.objectives * R.signs, behind) * R.signs)

        elders = [set_back(i.evaluation) for i in self.search.elders() if i.evaluation.id in self.out]
        if elders:
            self.search.revise(elders)
        out = {i: x._replace(evaluation=set_back(x.evaluation)) for i, x in self.held.items() if i in self.out}
        self.held |= out

    def _played(self, individual: Individual) -> int:
        return self.played.get(individual.evaluation.id, self.search.replicates)

    def _more(self, individual: Individual, last: int) -> None:
        e, i = individual.evaluation, self.next_id
        first, seed = self._played(individual), self.search.seed
        self.further[i] = Request(i, individual.genome, first, last, seed, e.context, e.id)
        self.unasked.append(i)
        self.next_id += 1

    def _with_record(self, request: Request) -> Request:
        """The request; in a race with the record of the earlier replicates."""
        raced = self.held.get(request.candidate)
        if raced is None:
            return request
        record = raced.evaluation.record
        return request._replace(record=_NOTHING if record is None else record)

    def state(self) -> Parts:
        """The search's state, answers not learnt from yet, and outstanding requests."""
        answered = [Individual(self.further[i].genome, e, 0) for i, e in self.answers.items()]
        further = columns.encode_requests(list(self.further.values())) if self.further else Bundle({}, {})
        own = {"next_id": self.next_id, "rung": self.rung, "out": sorted(self.out), "played": list(self.played.items())}
        return self.search.state() | {
            "resampling": Bundle(own, {}),
            "held": to_part(list(self.held.values())),
            "answers": to_part(answered),
            "further": further,
        }

    def load(self, parts: Parts) -> None:
        """The inverse of ``state``; outstanding requests are asked again."""
        self.search.load(parts)
        own, further = parts["resampling"].meta, parts["further"]
        self.held = {i.evaluation.id: i for i in of_part(parts["held"])}
        self.answers = {i.evaluation.id: i.evaluation for i in of_part(parts["answers"])}
        self.further = {r.id: r for r in columns.decode_requests(further)} if further.arrays else {}
        self.unasked = [i for i in self.further if i not in self.answers]
        self.next_id, self.rung, self.out = own["next_id"], own["rung"], set(own["out"])
        self.played = {c: last for c, last in own["played"]}


def _joined(before: Evaluation, answer: Evaluation) -> Evaluation:
    """A candidate's estimate after a further answer, which may already cover all of its replicates."""
    if answer.record is None or answer.status == "failed":
        return merged(before, answer)
    return answer._replace(id=before.id, cost=before.cost + answer.cost, cached=before.cached + answer.cached)
