"""Studies of lineups: searches, re-checks of chosen lineups, and random samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from engine.config.study import RecheckConfig, SampleConfig, SearchConfig
from engine.events import AnyEvent
from engine.evolution.algorithm import Algorithm, Individual
from engine.evolution.termination import Termination
from engine.lineups.baselines import BaselineTeams, resolve
from engine.lineups.evaluator import LineupEvaluator, Setup, checked
from engine.problem import Problem, Request
from engine.rng import generator
from engine.simulators.loaders import load
from engine.store import Store
from engine.study.checkpoint import Checkpoint
from engine.study.control import Control
from engine.study.drawn import drawn
from engine.study.drive import FRESH, Drive, Plan, searching, told_as_events
from engine.study.lineup_record import LineupRecord
from engine.study.listed import Listed

Study = SearchConfig | RecheckConfig | SampleConfig
_TICKS_OF_A_LIST = 20


def run(config: Study, store: Store, resume: str = "", control: Control = lambda: "") -> Iterator[AnyEvent]:
    """Run a study to its end. ``resume``: hash of the checkpoint to go on from; ``control`` is asked often and may wish
    to stop or pause. Expected errors end in a Failed event; ActorLost is raised: another attempt can go on."""
    return told_as_events(_Lineups(config, store, control), resume)


class _Lineups(Drive):
    evaluator = "lineups"

    def __init__(self, config: Study, store: Store, control: Control) -> None:
        super().__init__(config, store, control)
        self.config = config
        self.role = {"search": "archive", "recheck": "result", "sample": "sample"}[config.kind]

    def prepare(self, saved: Checkpoint | None) -> None:
        baselines = BaselineTeams.load(saved.record["baselines"]) if saved else None
        problem, self.baselines = _prepare(self.config, baselines)
        self.record = LineupRecord(problem, self.config.objectives, self.baselines, self.store)
        if isinstance(self.config, SearchConfig):
            self.record.termination = Termination(self.config.stop, self.config.seed)
        self.algorithm = _algorithm(self.config, problem)

    def payload(self) -> bytes:
        return msgspec.json.encode(Setup(self.config.model_dump(mode="json"), self.baselines.state()))

    def plan(self) -> Plan:
        return Plan(*planned(self.config, len(self.baselines.rows)))

    def halfway(self) -> Iterator[AnyEvent]:
        """A random sample is shown as it grows."""
        return self.put_aside() if isinstance(self.config, SampleConfig) else super().halfway()

    def put_aside(self) -> Iterator[AnyEvent]:
        """End the tick of a list early, so that what was played of it is in the checkpoint."""
        if isinstance(self.algorithm, Listed) and self.record.waiting:
            for progress in self.algorithm.close():
                self.tick = progress.tick
                yield self.progressed()

    def extras(self, front: Sequence[Individual]) -> tuple[dict[str, float], dict[str, str]]:
        """What a search's algorithm shows of itself."""
        searches = isinstance(self.config, SearchConfig)
        return drawn(self.algorithm, self.record.meta(), self.store) if searches else ({}, {})

    def again(self, chosen: Sequence[Individual], replicates: int) -> list[Request]:
        """Strongest and weakest team stay as the search chose."""
        last, seed, fidelity = FRESH + replicates, self.config.seed, self.config.game.fidelity
        return [
            Request(i.evaluation.id, i.genome, FRESH, last, seed, fidelity, "", i.evaluation.anchors) for i in chosen
        ]


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
        return searching(
            config.algorithm, problem, config.ticks, config.seed, config.replicates, config.noise, config.game.fidelity
        )
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
