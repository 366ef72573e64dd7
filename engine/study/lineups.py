"""Studies of lineups: searches, re-checks of chosen lineups, and random samples."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from engine.catalog import STUDIES
from engine.config.study import BalanceStudy, RecheckConfig, SampleConfig, SearchConfig
from engine.events import AnyEvent
from engine.evolution.algorithm import Algorithm, Individual
from engine.evolution.termination import Termination
from engine.lineups.baselines import BaselineTeams, resolve
from engine.lineups.encoding import Lineups, LineupSpace
from engine.lineups.evaluator import LineupEvaluator, Setup, checked
from engine.lineups.schema import battles_of_replicate
from engine.problem import LineupContext, Problem, Request, ShouldStop
from engine.rng import generator
from engine.simulators.commanded import opened
from engine.simulators.contract import GameSpec
from engine.store import Store
from engine.study.algorithm_views import views_of
from engine.study.checkpoint import Checkpoint
from engine.study.control import Command, Control
from engine.study.drive import Drive, searching
from engine.study.failures import with_failure
from engine.study.fixed_list import FixedList
from engine.study.lineup_record import LineupRecord
from engine.study.session import Totals

_TICKS_OF_A_LIST = 20


def run(config: SearchConfig, store: Store, resume: str = "", control: Control = lambda: "") -> Iterator[AnyEvent]:
    """Run a search to its end. ``resume``: hash of the checkpoint to continue from; ``control`` is called often and may
    command a stop or a pause. Expected errors end in a Failed event; raises ActorLost, after which another attempt can
    continue."""
    return with_failure(_Search(config, store, control).events(resume))


def recheck(config: RecheckConfig, store: Store, resume: str = "", control: Control = lambda: "") -> Iterator[AnyEvent]:
    """The same for a re-check of chosen lineups."""
    return with_failure(_Recheck(config, store, control).events(resume))


def sample(config: SampleConfig, store: Store, resume: str = "", control: Control = lambda: "") -> Iterator[AnyEvent]:
    """The same for a random sample."""
    return with_failure(_Sample(config, store, control).events(resume))


class _Lineups(Drive):
    evaluator = "lineups"
    listed = 0
    """Number of lineups that somebody chose (re-checks only)."""

    config: BalanceStudy
    record: LineupRecord

    def __init__(self, config: BalanceStudy, store: Store, control: Control) -> None:
        super().__init__(config, store, control)
        self.role = STUDIES[config.kind].role

    def prepare(self, saved: Checkpoint | None) -> None:
        baselines = BaselineTeams.load(saved.parts["record"].meta["baselines"]) if saved else None
        problem, self.space, self.baselines, spec = _prepare(self.config, baselines, self.store, self.stopped)
        self.record = LineupRecord(
            problem, self.config.objectives, self.baselines, self.store, spec, self.listed, self.space.every
        )
        self.algorithm = self.chosen(problem, LineupContext(self.config.game.fidelity))

    def note(self) -> str:
        """Of baseline teams whose battles were not all finished, where they say what counts as strong."""
        judged = any(objective.strength for objective in self.config.objectives.objectives)
        return self.baselines.note if judged else ""

    @abstractmethod
    def chosen(self, problem: Problem, context: LineupContext) -> Algorithm:
        """The algorithm that chooses which lineups are played."""

    def payload(self) -> bytes:
        return msgspec.json.encode(
            Setup(self.config.model_dump(mode="json"), self.baselines.state(), self.store.address)
        )

    def cost(self, requests: Sequence[Request]) -> int:
        return sum(each.last - each.first for each in requests) * self.battles_each

    @property
    def battles_each(self) -> int:
        """Battles of one replicate."""
        return battles_of_replicate(self.config.lineups.teams, len(self.baselines.rows))


class _Search(_Lineups):
    config: SearchConfig

    def __init__(self, config: SearchConfig, store: Store, control: Control) -> None:
        super().__init__(config, store, control)
        self.config, self.name, self.fresh = config, config.algorithm.kind, config.fresh

    def prepare(self, saved: Checkpoint | None) -> None:
        super().prepare(saved)
        self.record.termination = Termination(self.config.stop, self.config.seed)

    def chosen(self, problem: Problem, context: LineupContext) -> Algorithm:
        c = self.config
        return searching(c.algorithm, problem, c.ticks, c.seed, c.replicates, c.noise, context)

    def plan(self) -> Totals:
        return Totals(self.config.ticks, planned(self.config, len(self.baselines.rows)))

    def _over(self) -> bool:
        """Also true when every lineup under the rules was played."""
        over = super()._over()
        if met := self.record.all_met():
            self.record.termination.end(f"All {met:,} lineups that the rules allow were played.")
        return over or bool(self.record.termination.reason)

    def cut_off(self, command: Command) -> dict[str, str]:
        """What was played of the round, for a search that is put aside may never go on; who goes on from the checkpoint
        has it, too."""
        if not (self.record.waiting or self.record.further):
            return {}
        self.save()
        return {"arrived": self.record.close_chunk()} if command == "pause" else {}

    def extras(self, front: Sequence[Individual]) -> tuple[dict[str, float], dict[str, str]]:
        """The algorithm's views."""
        return views_of(self.algorithm, self.record.meta(), self.store)


class _List(_Lineups):
    """Lineups that are played in their order."""

    algorithm: FixedList

    def _over(self) -> bool:
        return super()._over() or bool(self.record.termination.reason)

    def put_aside(self) -> Iterator[AnyEvent]:
        """End the tick early, so that the checkpoint holds what was played of it."""
        if self.record.waiting:
            for progress in self.algorithm.close():
                self.tick = progress.tick
                yield self.progressed()

    def listing(
        self, genomes: Lineups, anchors: Sequence[tuple[int, ...]], plays: Sequence[int], first: int
    ) -> FixedList:
        """The list of lineups, each with so many replicates from a first one on."""
        fidelity, seed = self.config.game.fidelity, self.config.seed
        requests = [
            Request(i, genome, first, first + often, seed, LineupContext(fidelity, anchors=anchor))
            for i, (genome, anchor, often) in enumerate(zip(genomes, anchors, plays, strict=True))
        ]
        return FixedList(requests, -(-len(requests) // _TICKS_OF_A_LIST))


class _Recheck(_List):
    config: RecheckConfig

    def __init__(self, config: RecheckConfig, store: Store, control: Control) -> None:
        super().__init__(config, store, control)
        self.config, self.listed = config, len(config.genomes)

    def chosen(self, problem: Problem, context: LineupContext) -> Algorithm:
        c = self.config
        return self.listing(np.array(c.genomes, dtype=np.int32), c.anchors, c.plays, c.first)

    def plan(self) -> Totals:
        return Totals(min(_TICKS_OF_A_LIST, self.listed), sum(self.config.plays) * self.battles_each)


class _Sample(_List):
    config: SampleConfig

    def __init__(self, config: SampleConfig, store: Store, control: Control) -> None:
        super().__init__(config, store, control)
        self.config = config

    def chosen(self, problem: Problem, context: LineupContext) -> Algorithm:
        genomes = self.space.distinct(generator(self.config.seed, "sample"), self.config.count)
        return self.listing(genomes, [()] * len(genomes), [self.config.replicates] * len(genomes), 0)

    def plan(self) -> Totals:
        """A small space may have fewer lineups than requested."""
        count = len(self.algorithm.requests)
        return Totals(min(_TICKS_OF_A_LIST, count), count * self.config.replicates * self.battles_each)

    def halfway(self) -> Iterator[AnyEvent]:
        """Show the sample while it grows."""
        return self.put_aside()


def _prepare(
    config: BalanceStudy, baselines: BaselineTeams | None, store: Store, should_stop: ShouldStop
) -> tuple[Problem, LineupSpace, BaselineTeams, GameSpec]:
    """The problem for the driver and its space, the baselines, resolved once for all workers, and the game as it is
    played. Raises Cancelled."""
    game = config.game
    with opened(game, store, should_stop) as simulator:
        checked(config, simulator)
        found = baselines or resolve(simulator, config.lineups, game.patch, config.seed, game.fidelity)
        evaluator = LineupEvaluator(Setup(config.model_dump(mode="json"), found.state()), simulator)
        return evaluator.describe(), evaluator.space, found, evaluator.spec


def planned(config: SearchConfig, baselines: int) -> int:
    """Requested battles of a whole search, without the fresh battles of the final front."""
    each = battles_of_replicate(config.lineups.teams, baselines)
    return config.ticks * config.algorithm.population * config.replicates * each
