"""Evolution of players (Lamarckian, Fig. 1): mating, variation, training and evaluation of each candidate, independent
and asynchronous on the pool's workers; the one loop collects, and the algorithm selects when as many have arrived as it
waits for. Candidates under way carry over from round to round, and over a pause or a kill.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import numpy as np

from engine.arrays import pack
from engine.config.evolve import EvolveConfig
from engine.errors import below
from engine.events import AnyEvent, Finished
from engine.evolution.algorithm import Arrays, Individual, Progress
from engine.evolution.survival import Survival, search_in
from engine.evolution.termination import Termination
from engine.problem import Evaluation, Request
from engine.rl.policy import Policy
from engine.store import Store
from engine.study import games
from engine.study.brood import check, example, problem_of, weights_of
from engine.study.candidates import as_json
from engine.study.checkpoint import Checkpoint
from engine.study.control import Control
from engine.study.drawn import drawn
from engine.study.drive import FRESH, Drive, Plan, searching, told_as_events
from engine.study.evolve_record import EvolveRecord
from engine.study.workshop import Keeper, Workshop


def evolve(config: EvolveConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for a study that evolves players."""
    return told_as_events(_Evolve(config, store, control), resume)


class _Evolve(Drive):
    evaluator = "players"

    record: EvolveRecord

    def __init__(self, config: EvolveConfig, store: Store, control: Control) -> None:
        super().__init__(config, store, control)
        self.config = config
        self.workshop = Workshop(store.workshop(config.workshop))

    def events(self, resume: str) -> Iterator[AnyEvent]:
        """The study, with a workshop as long as somebody may go on with it."""
        keeper, over = Keeper(self.workshop), False
        try:
            self.keeper = keeper
            for event in super().events(resume):
                over = isinstance(event, Finished)
                yield event
        finally:
            keeper.close(over=over)

    def prepare(self, saved: Checkpoint | None) -> None:
        config = self.config
        with below("task"):
            game = games.make(example(config.task).game, 1)
        try:
            if saved is None:
                with below("task"):
                    games.begin(game, config.seed)
            check(config, game)
            problem, self.space = problem_of(config, game, self.workshop.store)
        finally:
            game.close()
        self.algorithm = searching(config.algorithm, problem, config.ticks, config.seed, config.episodes, config.noise)
        self.search = search_in(self.algorithm)
        self.record = EvolveRecord(config, problem, Survival(self.search), self.store)
        self.record.termination = Termination(config.stop, config.seed)

    def payload(self) -> bytes:
        return as_json(self.config, self.workshop)

    def plan(self) -> Plan:
        return Plan(self.config.ticks, 0)

    def learn(self, evaluation: Evaluation) -> list[Progress]:
        """As every study does; how long it took is looked at, and never learnt from."""
        survival = self.record.survival
        survival.before(evaluation.id, float(evaluation.metrics[-1]))
        progressed = super().learn(evaluation)
        survival.after()
        return progressed

    def again(self, chosen: Sequence[Individual], replicates: int) -> list[Request]:
        """What training made of each is measured on episodes nobody has seen."""
        last, seed = FRESH + replicates, self.config.seed
        return [Request(i.evaluation.id, i.genome, FRESH, last, seed, trained=i.evaluation.genome) for i in chosen]

    def extras(self, front: Sequence[Individual]) -> tuple[dict[str, float], dict[str, str]]:
        """How the best are, how busy workers were, and what belongs to the algorithm."""
        pool = self.config.pool
        metrics = self.record.best(front) | self.record.times(pool.workers if pool.kind == "ray" else 1)
        more, artifacts = drawn(self.search, self.record.meta(), self.store, self.record.genes)
        return metrics | more, artifacts

    def progressed(self) -> AnyEvent:
        """Also gives back what the workshop need not keep any more."""
        now, event = time.time(), super().progressed()
        self.keeper.tidy(*self.algorithm.state(), now)
        return event

    def results(self) -> dict[str, str]:
        """The networks of the edge, and the best of them as a policy; the whole lineage, or the grid."""
        front = [i for i in self.algorithm.front() if self.workshop.has(i.evaluation.genome)]
        _, found = self.extras(front)
        if not front:
            return found
        weights = [weights_of(self.workshop.store, i.evaluation.genome) for i in front]
        policies = [Policy(self.space.expressed(i.genome)[1], w) for i, w in zip(front, weights, strict=True)]
        found["policies"] = self.store.put(together([i.evaluation.id for i in front], policies))
        description, tensors = policies[self.record.leader(front)].pack()
        found |= {"policy": self.store.put(tensors), "policy_description": self.store.put(description)}
        return found


def together(ids: Sequence[int], policies: Sequence[Policy]) -> bytes:
    """Several policies as one artifact: row i of ``weights`` belongs to ``descriptions[i]``, its first ``size[i]``
    numbers; the rest is zero."""
    sizes = np.array([len(policy.weights) for policy in policies])
    weights = np.zeros((len(policies), sizes.max()), np.float32)
    for row, policy in zip(weights, policies, strict=True):
        row[: len(policy.weights)] = policy.weights
    columns: Arrays = {"id": np.array(ids), "size": sizes, "weights": weights}
    return pack({"descriptions": [policy.pack()[0].decode() for policy in policies]}, columns)
