"""Evolution of players (Lamarckian, Fig. 1). Workers of the pool train and evaluate candidates independently of each
other; the one loop collects the results, and the algorithm selects once enough of them have arrived. Candidates in
flight carry over from round to round, and survive a pause or a kill.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from engine.arrays import Bundle, pack, unpack
from engine.columns import Arrays
from engine.config.evolve import EvolveConfig, TaskConfig
from engine.config.genes import express
from engine.config.sound_goals import idle
from engine.config.study import study_hash
from engine.errors import ConfigError, below
from engine.events import AnyEvent, Finished, Incident, Logged
from engine.evolution.algorithm import Individual, Parts, Progress
from engine.evolution.survival import Survival, search_in
from engine.evolution.termination import Termination
from engine.evorl.evaluator import as_json
from engine.evorl.problem import check, example, played, problem_of
from engine.evorl.record import PlayerRecord, digests, trained
from engine.evorl.space import Start
from engine.evorl.trainings import opened
from engine.mdp.vector import VectorMDP
from engine.problem import Evaluation, TrainingContext, of_kind
from engine.rl.policy import Policy, PolicySpec
from engine.runtime.pool import Pool
from engine.simulators import references
from engine.store import Store, held
from engine.study.algorithm_views import views_of
from engine.study.checkpoint import Checkpoint
from engine.study.control import Command, Control
from engine.study.drive import Drive, searching
from engine.study.failures import with_failure
from engine.study.session import Totals, Troubled

UNDER_WAY = "arrived_agents"
"""Role of the artifact with the weights of whoever was trained in the round that a pause or a stop cuts off."""
_CAME_BACK = "came_back"


def evolve(config: EvolveConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for a study that evolves players."""
    return with_failure(Evolve(config, store, control).events(resume))


class Evolve(Drive):
    """``before``: who came back in an earlier attempt at a round that was cut off."""

    evaluator = "players"

    record: PlayerRecord

    def __init__(self, config: EvolveConfig, store: Store, control: Control) -> None:
        super().__init__(config, store, control)
        self.config, self.fresh = config, config.fresh
        self.longest, self.endless, self.warned = 0, list[bool](), False
        self.before: list[Individual] = []

    def events(self, resume: str) -> Iterator[AnyEvent]:
        """The study; its trainings are kept as long as it can be continued."""
        over = False
        try:
            with ExitStack() as self.holding:
                for event in super().events(resume):
                    over = isinstance(event, Finished)
                    yield event
        finally:
            if over:
                self.trainings.lease.drop()

    def prepare(self, saved: Checkpoint | None) -> None:
        config = self.config
        if saved is None:
            self.inspect()
        with below("task"):
            game = self.game()
        try:
            if saved is None:
                with below("task"):
                    references.begin(game, config.seed)
            check(config, game)
            self.longest = game.spec.max_ticks
            self.fit(game)
            name = saved.parts["trainings"].meta["lease"] if saved else ""
            self.trainings = opened(self.store, study_hash(config), name)
            self.holding.enter_context(held(self.trainings.lease))
            problem, self.space = problem_of(config, game, self.trainings.lease, self.start())
        finally:
            game.close()
        self.name = config.algorithm.kind
        self.algorithm = searching(
            config.algorithm, problem, config.ticks, config.seed, config.episodes, config.noise, TrainingContext(),
            self.method,
        )  # fmt: skip
        self.search = search_in(self.algorithm)
        self.record = PlayerRecord(config, problem, Survival(self.search), self.store)
        self.record.termination = Termination(config.stop, config.seed)
        self.before = self._came_back()

    def game(self) -> VectorMDP:
        """An example of the game, as candidates play it."""
        return played(example(self.config.task), 1, self.stopped, self.config.seats)

    @property
    def method(self) -> Callable[..., Any] | None:
        """The class of the algorithm, where it is not the one of its kind."""
        return None

    def inspect(self) -> None:
        """Checks before a study begins, of what no game is needed for. Raises ConfigError."""
        if wrong := [(f"objectives.{place}", why) for place, why in idle(self.config.objectives)]:
            raise ConfigError(wrong)

    def fit(self, game: VectorMDP) -> None:
        """Further checks of the game. Raises ConfigError."""

    def start(self) -> Start | None:
        """Where the first networks come from; None: they are new. Raises ConfigError."""
        return None

    def payload(self) -> bytes:
        return as_json(self.config, self.trainings)

    def plan(self) -> Totals:
        return Totals(self.config.ticks, 0)

    def learn(self, evaluation: Evaluation) -> list[Progress]:
        """As in every study; times are recorded for statistics only, the algorithm never sees them."""
        self.endless.append(of_kind(evaluation.context, TrainingContext).endless)
        survival = self.record.survival
        survival.before(evaluation.id, float(evaluation.metrics[-1]))
        progressed = super().learn(evaluation)
        survival.after()
        return progressed

    def troubles(self, players: Troubled) -> Iterator[AnyEvent]:
        """Also says once that in no training of a round an episode ended."""
        yield from super().troubles(players)
        if len(self.endless) < self.config.algorithm.population:
            return
        if all(self.endless) and not self.warned:
            self.warned = True
            yield self.say(Incident, what="short-trainings", message=cut_short(self.config.task, self.longest))
        self.endless = []

    def extras(self, front: Sequence[Individual]) -> tuple[dict[str, float], dict[str, str]]:
        """Metrics of the best candidates and of the workers' load, and the algorithm's views."""
        metrics = self.record.best(front) | self.record.times(self.config.pool.processes)
        more, artifacts = views_of(self.search, self.record.meta(), self.store, self.record.genes)
        return metrics | more, artifacts

    def parts(self) -> Parts:
        """Adds the name of the trainings' lease, and marks it as needed by this checkpoint."""
        self.trainings.lease.keep()
        return super().parts() | {"trainings": Bundle({"lease": self.trainings.lease.name}, {})}

    def progressed(self) -> AnyEvent:
        """Also removes trainings that are not needed any more."""
        now, event = time.time(), super().progressed()
        self.trainings.tidy(self.algorithm.state(), now)
        return event

    def finished(self, pool: Pool) -> list[Evaluation]:
        """Also sees, at every poll of the pool, that the lease is still held."""
        self.trainings.lease.renew()
        return super().finished(pool)

    def halfway(self) -> Iterator[AnyEvent]:
        """Also who has come back since the last complete round."""
        self._note()
        yield self.say(Logged, message="", arrived=self.record.arrived())

    def cut_off(self, command: Command) -> dict[str, str]:
        """Who has come back since the last complete round, with their weights; at a pause also the results so far, for
        a study that is put aside may never go on."""
        self._note()
        for individual in self._not_back():
            self.record.add_reported(individual)
        waiting = sorted(self.record.waiting, key=lambda i: i.evaluation.id)
        weights = self._with_weights(self.record.arrays(waiting)) if waiting else ""
        left = {UNDER_WAY: weights} if weights else {}
        arrived = {"arrived": self.record.arrived()} if waiting else {}
        return self.results() | left | arrived if command == "pause" else left

    def _came_back(self) -> list[Individual]:
        data = self.trainings.lease.read(_CAME_BACK)
        if not data:
            return []
        meta, arrays = unpack(data)
        found = zip(self.record.restored(arrays), meta["costs"], strict=True)
        return [i._replace(evaluation=i.evaluation._replace(cost=cost)) for i, cost in found]

    def _note(self) -> None:
        """Put who has come back beside the trainings: whoever goes on may be stopped before they come back again."""
        there = [*self.record.waiting, *self._not_back()]
        costs = [i.evaluation.cost for i in there]
        if there:
            self.trainings.lease.write(_CAME_BACK, pack({"costs": costs}, self.record.arrays(there)))

    def _not_back(self) -> list[Individual]:
        """Who came back in an earlier attempt at this round, and has not yet in this one."""
        here = {i.evaluation.id for i in self.record.waiting}
        return [i for i in self.before if i.tick == self.tick + 1 and i.evaluation.id not in here]

    def results(self) -> dict[str, str]:
        """The networks of the edge and of the best, the best as a policy, and the networks of all members; the whole
        lineage, or the grid."""
        front = [i for i in self.algorithm.front() if self.trainings.lease.has(trained(i.evaluation))]
        _, found = self.extras(front)
        if not front:
            return found
        best = self.leader(front)
        kept = {i.evaluation.id: i for i in (*front, best)}
        weights = [self.trainings.weights(trained(i.evaluation)) for i in kept.values()]
        policies = [Policy(self.space.expressed(i.genome)[1], w) for i, w in zip(kept.values(), weights, strict=True)]
        found["policies"] = self.store.put(together(list(kept), policies))
        description, tensors = policies[list(kept).index(best.evaluation.id)].pack()
        found |= {"policy": self.store.put(tensors), "policy_description": self.store.put(description)}
        return found | self._members()

    def leader(self, front: Sequence[Individual]) -> Individual:
        """Whose policy the study leaves as its best: the one of the edge that is best by the first goal."""
        return front[self.record.leader(front)]

    def _members(self) -> dict[str, str]:
        """The networks of all members, where these are trained on and on."""
        if self.config.algorithm.finds != "trained" or self.search.P is None:
            return {}
        there = [i for i in self.search.P.individuals if self.trainings.lease.has(trained(i.evaluation))]
        found = [Policy(self.space.spec, self.trainings.weights(trained(i.evaluation))) for i in there]
        return {"members": self.store.put(together([i.evaluation.id for i in there], found))}

    def _with_weights(self, arrays: Arrays) -> str:
        """Store these agents with their weights; the hash, empty where there is nobody whose weights are there."""
        rows = [row for row, d in enumerate(digests(arrays)) if d and self.trainings.lease.has(d)]
        found = [Policy(self._spec(arrays, row), self.trainings.weights(digests(arrays)[row])) for row in rows]
        return self.store.put(together(arrays["id"][rows].tolist(), found)) if found else ""

    def _spec(self, arrays: Arrays, row: int) -> PolicySpec:
        """The specification of the policy in a row of an artifact."""
        values = {gene.place: float(v) for gene, v in zip(self.space.genes, arrays["genome"][row], strict=True)}
        return self.space.spec._replace(network=express(self.config.task, values).learner.network)


def cut_short(task: TaskConfig, longest: int) -> str:
    """The message when battles, which begin afresh with every training, ended no episode. ``longest``: decisions in the
    longest episode, or 0."""
    counted = isinstance(task.steps, int) and isinstance(task.environments, int)
    few = f"{task.steps // task.environments:,}" if counted else "too few"
    enough = f"{longest * task.environments:,} decisions or more" if longest and counted else "more decisions"
    seen = f"each saw {few} decisions of one" + (f", and one can last {longest:,}" if longest else "")
    more = f"Give each {enough}, or fewer battles at once."
    return f"Nobody saw an episode end: {seen}. So nobody learns how episodes end. {more}"


def apart(data: bytes) -> Iterator[tuple[int, Policy]]:
    """(id, policy) of each of several policies that ``together`` made one artifact of. Raises StoreError."""
    meta, arrays = unpack(data)
    rows = zip(arrays["id"].tolist(), arrays["size"].tolist(), arrays["weights"], meta["descriptions"], strict=True)
    for i, size, row, description in rows:
        yield i, Policy.described(description.encode(), row[:size].copy())


def together(ids: Sequence[int], policies: Sequence[Policy]) -> bytes:
    """Several policies as one artifact: row i of ``weights`` belongs to ``descriptions[i]``, its first ``size[i]``
    numbers; the rest is zero. ``layouts[i]``: name and shape of each tensor in them, in order
    (``engine.styles.agents``)."""
    sizes = np.array([len(policy.weights) for policy in policies])
    weights = np.zeros((len(policies), sizes.max()), np.float32)
    for row, policy in zip(weights, policies, strict=True):
        row[: len(policy.weights)] = policy.weights
    columns: Arrays = {"id": np.array(ids), "size": sizes, "weights": weights}
    layouts = [list(policy.spec.model().layout().items()) for policy in policies]
    return pack({"descriptions": [policy.pack()[0].decode() for policy in policies], "layouts": layouts}, columns)
