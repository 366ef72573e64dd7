"""Studies of lineups: searches, re-checks of chosen lineups, and random samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from engine.catalog import STUDIES
from engine.config.study import RecheckConfig, SampleConfig, SearchConfig
from engine.events import AnyEvent
from engine.evolution.algorithm import Algorithm, Individual
from engine.evolution.termination import Termination
from engine.lineups.baselines import BaselineTeams, resolve
from engine.lineups.encoding import LineupSpace
from engine.lineups.evaluator import LineupEvaluator, Setup, checked
from engine.lineups.schema import battles_of_replicate
from engine.problem import LineupContext, Problem, Request
from engine.rng import generator
from engine.simulators.contract import GameSpec
from engine.simulators.loaders import load
from engine.store import Store
from engine.study.checkpoint import Checkpoint
from engine.study.control import Control
from engine.study.drawn import drawn
from engine.study.drive import Drive, Plan, searching, told_as_events
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

    record: LineupRecord

    def __init__(self, config: Study, store: Store, control: Control) -> None:
        super().__init__(config, store, control)
        self.config = config
        self.role = STUDIES[config.kind].role

    def prepare(self, saved: Checkpoint | None) -> None:
        baselines = BaselineTeams.load(saved.parts["record"].meta["baselines"]) if saved else None
        problem, self.baselines, spec = _prepare(self.config, baselines)
        listed = len(self.config.genomes) if isinstance(self.config, RecheckConfig) else 0
        self.record = LineupRecord(problem, self.config.objectives, self.baselines, self.store, spec, listed)
        if isinstance(self.config, SearchConfig):
            self.record.termination = Termination(self.config.stop, self.config.seed)
            self.name = self.config.algorithm.kind
        self.algorithm = _algorithm(self.config, problem)

    def payload(self) -> bytes:
        return msgspec.json.encode(Setup(self.config.model_dump(mode="json"), self.baselines.state()))

    def plan(self) -> Plan:
        asked = len(self.algorithm.requests) if isinstance(self.algorithm, Listed) else 0
        return Plan(*planned(self.config, len(self.baselines.rows), asked))

    def _over(self) -> bool:
        """Also when every lineup that the rules leave was played."""
        over = super()._over()
        if isinstance(self.config, SearchConfig) and (met := self.record.all_met()):
            self.record.termination.end(f"All {met:,} lineups that the rules allow were played.")
        return over or bool(self.record.termination.reason)

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


def _prepare(config: Study, baselines: BaselineTeams | None) -> tuple[Problem, BaselineTeams, GameSpec]:
    """The problem as the driver needs it, the baselines, resolved once for all workers, and the game as it is
    played."""
    simulator = load(config.game.simulator)
    try:
        checked(config, simulator)
        found = baselines or resolve(simulator, config.lineups, config.game.patch, config.seed, config.game.fidelity)
        setup = Setup(config.model_dump(mode="json"), found.state())
        evaluator = LineupEvaluator(setup, simulator)
        return evaluator.describe(), found, evaluator.spec
    finally:
        if close := getattr(simulator, "close", None):
            close()


def _algorithm(config: Study, problem: Problem) -> Algorithm:
    context = LineupContext(config.game.fidelity)
    if isinstance(config, SearchConfig):
        return searching(config.algorithm, problem, config.ticks, config.seed, config.replicates, config.noise, context)
    if isinstance(config, RecheckConfig):
        genomes, first = np.array(config.genomes, dtype=np.int32), config.first
        anchors: list[tuple[int, ...]] = list(config.anchors)
        plays: Sequence[int] = config.plays
    else:
        space = problem.space
        assert isinstance(space, LineupSpace)
        genomes, first = space.distinct(generator(config.seed, "sample"), config.count), 0
        anchors, plays = [()] * len(genomes), [config.replicates] * len(genomes)
    requests = [
        Request(i, genome, first, first + often, config.seed, LineupContext(config.game.fidelity, anchors=anchor))
        for i, (genome, anchor, often) in enumerate(zip(genomes, anchors, plays, strict=True))
    ]
    return Listed(requests, -(-len(requests) // _TICKS_OF_A_LIST))


def planned(config: Study, baselines: int, listed: int = 0) -> tuple[int, int]:
    """(ticks, requested battles) of the whole study, fresh battles of the final front left out. ``listed``: how many
    lineups are played where they are not searched; a small space has fewer than a sample asks for."""
    each = battles_of_replicate(config.lineups.teams, baselines)
    if isinstance(config, SearchConfig):
        return config.ticks, config.ticks * config.algorithm.population * config.replicates * each
    if isinstance(config, RecheckConfig):
        return min(_TICKS_OF_A_LIST, len(config.genomes)), sum(config.plays) * each
    count = listed or config.count
    return min(_TICKS_OF_A_LIST, count), count * config.replicates * each
