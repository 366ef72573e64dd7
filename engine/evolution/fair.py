"""A fair queue for steady-state search: evaluations are learnt from in the order in which they were asked for.

Where evaluations take unequal time, a search that learns from each on arrival sees the slow ones late, when the others
have moved on: survival depends on time (Scott & De Jong 2015). Here an evaluation waits until all earlier requests are
answered. Workers never wait: new candidates are proposed all the time, and those in flight carry over from tick to
tick. The cost is that selection lags behind by the number of evaluations in flight.

Wraps any algorithm and is one itself; for a synchronous algorithm it makes no difference.
"""

from __future__ import annotations

import numpy as np

from engine.arrays import Bundle
from engine.evolution.algorithm import Algorithm, Individual, Parts, Progress, of_part, to_part
from engine.problem import Evaluation, Genome, Request


class FairQueue:
    """Passes evaluations to ``search`` in the order of its requests. ``queue``: genomes, by id, of requests whose
    answer was not passed on yet."""

    def __init__(self, search: Algorithm) -> None:
        self.search = search
        self.queue: dict[int, Genome] = {}
        self.arrived: dict[int, Evaluation] = {}

    @property
    def done(self) -> bool:
        """Whether the search is done."""
        return self.search.done

    def ask(self, room: int) -> list[Request]:
        """The search's requests; they queue up in this order."""
        requests = [r for r in self.search.ask(room) if r.id not in self.arrived]
        self.queue |= {r.id: r.genome for r in requests}  # a repeated request keeps its place
        return requests

    def tell(self, evaluation: Evaluation) -> list[Progress]:
        """Pass on the evaluations at the head of the queue."""
        if evaluation.id not in self.queue or evaluation.id in self.arrived:
            raise KeyError(evaluation.id)
        self.arrived[evaluation.id] = evaluation
        progress: list[Progress] = []
        while self.queue and (head := next(iter(self.queue))) in self.arrived:
            del self.queue[head]
            progress += self.search.tell(self.arrived.pop(head))
        return progress

    def front(self) -> list[Individual]:
        """The search's front."""
        return self.search.front()

    def state(self) -> Parts:
        """The search's state, the queue's order, and what waits in it."""
        waiting = [Individual(self.queue[i], e, 0) for i, e in self.arrived.items()]
        return self.search.state() | {"queue": Bundle({"order": list(self.queue)}, {}), "queued": to_part(waiting)}

    def load(self, parts: Parts) -> None:
        """The inverse of ``state``; outstanding requests are asked again and keep their place."""
        self.search.load(parts)
        found = of_part(parts["queued"])
        self.arrived = {i.evaluation.id: i.evaluation for i in found}
        genomes = {i.evaluation.id: i.genome for i in found}
        self.queue = {i: genomes.get(i, np.empty(0)) for i in parts["queue"].meta["order"]}
