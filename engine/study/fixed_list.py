"""A list of genomes to evaluate: random samples, and shortlisted lineups on fresh seeds."""

from __future__ import annotations

from collections.abc import Sequence

from engine.arrays import Bundle
from engine.evolution.algorithm import Individual, Parts, Progress, of_part, to_part
from engine.problem import Evaluation, Request


class FixedList:
    """Evaluates ``requests`` once each. A tick is complete at each multiple of ``size`` arrivals, or when ``close``
    ends it."""

    def __init__(self, requests: Sequence[Request], size: int) -> None:
        self.size = size
        self.requests = {request.id: request for request in requests}
        self.unasked = list(self.requests)
        self.arrived: dict[int, Individual] = {}
        self.tick = 0

    @property
    def done(self) -> bool:
        """Whether everything has arrived."""
        return len(self.arrived) == len(self.requests)

    def ask(self, room: int) -> list[Request]:
        asked, self.unasked = self.unasked, []
        return [self.requests[i] for i in asked]

    def tell(self, evaluation: Evaluation) -> list[Progress]:
        request = self.requests[evaluation.id]
        if evaluation.id in self.arrived:
            raise KeyError(evaluation.id)
        self.arrived[evaluation.id] = Individual(request.genome, evaluation, self.tick + 1)
        if len(self.arrived) % self.size and not self.done:
            return []
        return self.close()

    def close(self) -> list[Progress]:
        """End the tick with the evaluations so far, because evaluations are slow or the study pauses."""
        self.tick += 1
        return [Progress(self.tick)]

    def front(self) -> list[Individual]:
        """Everything that could be evaluated, in the list's order."""
        found = [self.arrived[i] for i in self.requests if i in self.arrived]
        return [i for i in found if i.evaluation.status == "ok"]

    def state(self) -> Parts:
        return {"list": Bundle({"tick": self.tick}, {}), "arrived": to_part(list(self.arrived.values()))}

    def load(self, parts: Parts) -> None:
        self.arrived = {i.evaluation.id: i for i in of_part(parts["arrived"])}
        self.unasked = [i for i in self.requests if i not in self.arrived]
        self.tick = parts["list"].meta["tick"]
