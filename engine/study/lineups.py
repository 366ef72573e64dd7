"""The loop that drives every study, synchronous or steady-state, and says what happens as events."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from typing import Any

import msgspec
import numpy as np

from engine.catalog import ALGORITHMS, EVALUATORS
from engine.config.study import RecheckConfig, SampleConfig, SearchConfig
from engine.errors import ActorLost, ConfigError, EngineError, SimulatorError, StoreError
from engine.events import AnyEvent, Failed, Finished, Incident, Logged, Paused, Progressed, Started, Stopped
from engine.evolution.algorithm import Algorithm, Individual
from engine.evolution.fair import FairQueue
from engine.evolution.noise import Resampling
from engine.evolution.termination import Termination
from engine.lineups.baselines import BaselineTeams, resolve
from engine.lineups.evaluator import LineupEvaluator, Setup, checked
from engine.problem import Evaluation, Problem, Request
from engine.rng import generator
from engine.runtime.pool import Pool, open_pool
from engine.simulators.loaders import load
from engine.store import Store
from engine.study import checkpoint
from engine.study.control import Control, Wish
from engine.study.listed import Listed
from engine.study.pulse import Pulse
from engine.study.record import Record

Study = SearchConfig | RecheckConfig | SampleConfig
FRESH = 1_000_000
"""Replicates from here on are never used by a search, so a re-evaluation is on fresh seeds."""
_POLL_S = 0.2
_TICKS_OF_A_LIST = 20


def run(config: Study, store: Store, resume: str = "", control: Control = lambda: "") -> Iterator[AnyEvent]:
    """Run a study to its end. ``resume``: hash of the checkpoint to go on from; ``control`` is asked often and may wish
    to stop or pause. Expected errors end in a Failed event; ActorLost is raised: another attempt can go on."""
    try:
        yield from _Run(config, store, control).events(resume)
    except ActorLost:
        raise
    except (ConfigError, StoreError, SimulatorError, EngineError) as error:
        permanent = not isinstance(error, StoreError) and getattr(error, "permanent", True)
        yield Failed(at=time.time(), error=type(error).__name__, message=str(error), permanent=permanent)


class _Run:
    def __init__(self, config: Study, store: Store, control: Control) -> None:
        self.config, self.store, self.control = config, store, control
        self.genomes: dict[int, Any] = {}
        self.pulse = Pulse()

    def events(self, resume: str) -> Iterator[AnyEvent]:
        saved = checkpoint.read(self.config, resume, self.store) if resume else None
        baselines = BaselineTeams.load(saved.record["baselines"]) if saved else None
        problem, self.baselines = _prepare(self.config, baselines)
        self.record = Record(problem, self.config.objectives, self.baselines, self.store)
        if isinstance(self.config, SearchConfig):
            self.record.termination = Termination(self.config.stop, self.config.seed)
        self.algorithm = _algorithm(self.config, problem)
        self.tick, self.saved = 0, resume
        if saved:
            self.algorithm.load(saved.arrays, saved.algorithm)
            self.record.load(saved.record)
            self.tick = saved.tick
        payload = msgspec.json.encode(Setup(self.config.model_dump(mode="json"), self.baselines.state()))
        pool_config = self.config.pool
        with open_pool(pool_config, EVALUATORS["lineups"], payload, should_stop=lambda: bool(self.control())) as pool:
            ticks, battles = planned(self.config, len(self.baselines.rows))
            workers = pool_config.workers if pool_config.kind == "ray" else 1
            yield self._say(Started, workers=workers, pool=pool_config.kind, ticks=ticks, battles=battles,
                            resumed=bool(saved))  # fmt: skip
            self.pulse.restart()
            wish = yield from self._drive(pool)
            if wish == "pause":
                yield self._say(Paused, artifacts={"checkpoint": self.saved})
            elif wish == "stop":
                results, summary = self._results(), self._summary()
                yield self._say(Stopped, reason="Stopped by request.", artifacts=results, summary=summary)
            else:
                if reason := self.record.termination.reason:
                    yield self._say(Logged, message=f"The search ends here. {reason}")
                fresh = yield from self._fresh(pool)
                yield self._say(Finished, artifacts=self._results() | fresh, summary=self._summary())

    def _drive(self, pool: Pool) -> Generator[AnyEvent, None, Wish]:
        """The one loop. Returns the wish that ended it, or nothing when the algorithm is done."""
        while not self.algorithm.done and not self._ended():
            if wish := self.control():
                yield from self._keep_part()
                return wish
            self._hand_out(pool)
            finished = pool.finished(_POLL_S)
            for evaluation in finished:
                genome = self.genomes.pop(evaluation.id)
                self.record.add(Individual(genome, evaluation, self.tick + 1), evaluation)
                for progress in self.algorithm.tell(evaluation):
                    self.tick = progress.tick
                    if not self._over():
                        self._hand_out(pool)  # the workers go on while this round is written down
                    yield self._progressed()
                    self.pulse.restart()
                if self._ended():
                    break  # what came after the last tick is no part of the search
            yield from self._beat(finished)
            yield from self._troubles(pool)
        return ""

    def _beat(self, finished: list[Evaluation]) -> Iterator[AnyEvent]:
        """How far a long round is: counters, without words. A random sample is shown as it grows."""
        if not finished or not self.pulse.due():
            return
        if isinstance(self.config, SampleConfig):
            yield from self._keep_part()
        else:
            yield self._say(Logged, message="")

    def _keep_part(self) -> Iterator[AnyEvent]:
        """End the tick of a list early, so that what was played of it is in the checkpoint."""
        if isinstance(self.algorithm, Listed) and self.record.waiting:
            for progress in self.algorithm.close():
                self.tick = progress.tick
                yield self._progressed()

    def _ended(self) -> bool:
        """Whether a rule has ended the search."""
        return bool(self.record.termination.reason)

    def _over(self) -> bool:
        """Whether a rule ends the search with this tick."""
        record = self.record
        return bool(record.termination.look(record.counters(), self.algorithm.front(), record.hypervolume))

    def _hand_out(self, pool: Pool) -> None:
        requests = self.algorithm.ask(pool.room)
        self.genomes.update((r.id, r.genome) for r in requests)
        if requests:
            pool.submit(requests)

    def _troubles(self, pool: Pool) -> Iterator[AnyEvent]:
        for trouble in pool.incidents():
            yield self._say(Incident, what=trouble.what, message=trouble.message)

    def _progressed(self) -> AnyEvent:
        front = self.algorithm.front()
        artifacts = {"chunk": self.record.close_chunk(), "front": self.record.put(front)}
        self.saved = checkpoint.write(self.config, self.algorithm, self.record, self.tick, self.store)
        artifacts["checkpoint"] = self.saved
        return self._say(Progressed, metrics=self.record.metrics(front), artifacts=artifacts)

    def _fresh(self, pool: Pool) -> Generator[AnyEvent, None, dict[str, str]]:
        """The final front once more on seeds the search never saw; strongest and weakest stay as the search chose."""
        front = self.algorithm.front()
        if not isinstance(self.config, SearchConfig) or not self.config.fresh or not front:
            return {}
        yield self._say(Logged, message=f"Playing the {len(front)} lineups of the edge again on fresh battles.")
        last = FRESH + self.config.fresh
        again = {
            i.evaluation.id: Request(i.evaluation.id, i.genome, FRESH, last, self.config.seed,
                                     self.config.game.fidelity, "", i.evaluation.anchors)
            for i in front
        }  # fmt: skip
        pool.submit(list(again.values()))
        self.pulse.restart()
        found: dict[int, Individual] = {}
        while len(found) < len(again):
            if self.control():
                return {}
            finished = pool.finished(_POLL_S)
            for e in finished:
                if e.id not in again:
                    continue  # what a rule that ended the search left under way
                found[e.id] = Individual(again[e.id].genome, e, self.tick)
                self.record.totals["battles"] += e.cost
                self.record.totals["cached"] += e.cached
            yield from self._beat(finished)
            yield from self._troubles(pool)
        return {"fresh": self.record.put([found[i] for i in again])}

    def _results(self) -> dict[str, str]:
        role = {"search": "archive", "recheck": "result", "sample": "sample"}[self.config.kind]
        found = {role: self.record.archive(), "front": self.record.put(self.algorithm.front())}
        return found | ({"checkpoint": self.saved} if self.saved else {})

    def _summary(self) -> dict[str, Any]:
        counters = self.record.counters()
        speed = counters.battles / counters.seconds if counters.seconds else 0.0
        return {"battles_per_second": speed, **self.record.metrics(self.algorithm.front())}

    def _say(self, kind: Any, **fields: Any) -> AnyEvent:
        event: AnyEvent = kind(tick=self.tick, at=time.time(), counters=self.record.counters(), **fields)
        return event


def _prepare(config: Study, baselines: BaselineTeams | None) -> tuple[Problem, BaselineTeams]:
    """The problem as the driver needs it, and the baselines, resolved once for all workers."""
    simulator = load(config.game.simulator)
    try:
        checked(config, simulator)
        found = baselines or resolve(simulator, config.lineups, config.game.patch, config.seed, config.game.fidelity)
        setup = Setup(config.model_dump(mode="json"), found.state())
        return LineupEvaluator(setup, simulator).describe(), found
    finally:
        if close := getattr(simulator, "close", None):
            close()


def _algorithm(config: Study, problem: Problem) -> Algorithm:
    if isinstance(config, SearchConfig):
        chosen = config.algorithm
        found = ALGORITHMS[chosen.kind].load()(
            problem, chosen.population, config.ticks, config.seed, config.replicates,
            fidelity=config.game.fidelity, **chosen.settings(),
        )  # fmt: skip
        noisy = Resampling(found, **config.noise.model_dump()) if config.noise.used else found
        fair = getattr(chosen, "fair", False) and getattr(chosen, "steady", False)
        return FairQueue(noisy, problem) if fair else noisy
    if isinstance(config, RecheckConfig):
        genomes, first = np.array(config.genomes, dtype=np.int32), config.first
        anchors: list[tuple[int, ...]] = list(config.anchors)
    else:
        genomes, first = problem.space.sample(generator(config.seed, "sample"), config.count), 0
        anchors = [()] * config.count
    last = first + config.replicates
    requests = [
        Request(i, genome, first, last, config.seed, config.game.fidelity, "", anchor)
        for i, (genome, anchor) in enumerate(zip(genomes, anchors, strict=True))
    ]
    return Listed(problem, requests, -(-len(requests) // _TICKS_OF_A_LIST))


def planned(config: Study, baselines: int) -> tuple[int, int]:
    """(ticks, requested battles) of the whole study, fresh battles of the final front left out."""
    teams = config.lineups.teams
    each = 2 * config.replicates * (teams * (teams - 1) // 2 + teams * baselines)
    if isinstance(config, SearchConfig):
        return config.ticks, config.ticks * config.algorithm.population * each
    count = len(config.genomes) if isinstance(config, RecheckConfig) else config.count
    return min(_TICKS_OF_A_LIST, count), count * each
