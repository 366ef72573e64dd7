"""Hunts for bugs: evolution of players whose every decision is watched, by Wuji or by one of its controls.

A round's findings join those of the hunt in the order of its agents, so they are the same on any pool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from engine.arrays import Bundle, pack
from engine.config.evolve import TaskConfig
from engine.config.hunt import HuntConfig, lost_crashes, many
from engine.errors import ConfigError
from engine.events import AnyEvent, Counters, Started
from engine.evolution.algorithm import Individual, Parts, Progress
from engine.evorl.findings import Findings
from engine.evorl.hunting import FOUND, oracles_of, watchable
from engine.evorl.problem import example
from engine.evorl.watched import Watched
from engine.evorl.wuji import WUJI, Unguided
from engine.mdp.places import walls_of
from engine.mdp.vector import VectorMDP
from engine.problem import Evaluation, Request, TrainingContext, of_kind
from engine.store import Store
from engine.study.checkpoint import Checkpoint
from engine.study.control import Control
from engine.study.evolve import Evolve
from engine.study.failures import with_failure
from engine.study.session import Totals


def hunt(config: HuntConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for a hunt for bugs. Artifact ``found`` of each round: ``Findings`` so far, with
    ``walls`` of the game's map where it has one, and ``curve`` float64[rounds, 3]: decisions, bugs and places after
    each round; cells inside walls are no places."""
    return with_failure(_Hunt(config, store, control).events(resume))


class _Hunt(Evolve):
    """``evaluations``: those of the round under way; ``spent``: decisions before it."""

    evaluator = "hunters"
    config: HuntConfig

    def __init__(self, config: HuntConfig, store: Store, control: Control) -> None:
        super().__init__(config, store, control)
        self.found, self.evaluations = Findings(), list[Evaluation]()
        self.curve: list[list[float]] = []
        self.spent = 0

    @property
    def method(self) -> Callable[..., Any]:
        return WUJI if self.config.bred else Unguided

    def fit(self, game: VectorMDP) -> None:
        """Before anything is spent, the budget must buy a round."""
        if wrong := list(self.config.too_small(self.longest)):
            raise ConfigError(wrong)

    def game(self) -> VectorMDP:
        task: TaskConfig = example(self.config.task)
        game = watchable(task.game, 1, self.stopped)
        self.walls = walls_of(game)
        return Watched(game, oracles_of(self.config.oracles), Findings())

    def plan(self) -> Totals:
        return Totals(self.config.buys(self.longest), 0)

    def load(self, saved: Checkpoint) -> None:
        super().load(saved)
        meta, arrays = saved.parts["found"]
        self.found, self.curve = Findings.restored(meta["found"], arrays), meta["curve"]
        self.spent = int(self.curve[-1][0]) if self.curve else 0

    def asked(self, room: int) -> list[Request]:
        """Each with its share of what the budget leaves this round for showing bugs again."""
        left = self.config.decisions - self.spent
        spare = max(0, left // self.config.algorithm.population - self.config.cost(self.longest))
        return [r._replace(context=_with_spare(r, spare)) for r in super().asked(room)]

    @property
    def _round(self) -> int:
        """Decisions that a round takes at most; as many as any so far, where that is not known."""
        sure = self.longest and not self.config.noise.used
        so_far = [] if sure else np.diff([0.0, *(row[0] for row in self.curve)]).tolist()
        return int(max(self.config.round(self.longest), *so_far, 0))

    def _over(self) -> bool:
        """Also when the budget may not suffice for another round."""
        left, decisions = self.config.decisions - self.spent, self.config.decisions
        if left < self._round:
            why = f"{self.spent:,} of {decisions:,} decisions are used, and another round may take {self._round:,}."
            self.record.termination.end(why)
        return super()._over()

    def learn(self, evaluation: Evaluation) -> list[Progress]:
        self.evaluations.append(evaluation)
        found = super().learn(evaluation)
        self.spent = self.record.totals["steps"] if found else self.spent
        return found

    def progressed(self) -> AnyEvent:
        """The round's findings join those of the hunt."""
        self._join()
        self.curve.append([self.record.totals["steps"], len(self.found.bugs), self._covered])
        return super().progressed()

    def put_aside(self) -> Iterator[AnyEvent]:
        """What agents of a round that is cut off have found is not lost; who goes on begins the round again."""
        self._join()
        yield from super().put_aside()

    def _join(self) -> None:
        """The findings of the round under way join those of the hunt."""
        for evaluation in sorted(self.evaluations, key=lambda e: e.id):
            if kept := evaluation.context.artifacts.get(FOUND):
                self.found.add(Findings.unpacked(self.trainings.lease.get(kept)))
        self.evaluations = []

    def parts(self) -> Parts:
        meta = {"found": self.found.meta(), "curve": self.curve}
        return super().parts() | {"found": Bundle(meta, self.found.arrays())}

    def extras(self, front: Sequence[Individual]) -> tuple[dict[str, float], dict[str, str]]:
        """Adds what was found so far."""
        metrics, artifacts = super().extras(front)
        return metrics | self._numbers(), artifacts | {FOUND: self._kept()}

    @property
    def _covered(self) -> int:
        """Different places that were entered; a wall that a bug let somebody into is none of those to be covered."""
        visits = self.found.visits
        return len(visits) if self.walls is None else sum(not self.walls.flat[place] for place in visits)

    def _numbers(self) -> dict[str, float]:
        found = {"bugs": float(len(self.found.bugs)), "places_covered": float(self._covered)}
        if self.walls is not None:
            found["places_open"] = float((~self.walls).sum())
        return found

    def _kept(self) -> str:
        """The findings, with what a page needs to draw them."""
        arrays: dict[str, Any] = dict(self.found.arrays())
        arrays["curve"] = np.array(self.curve, np.float64).reshape(-1, 3)
        if self.walls is not None:
            arrays["walls"] = self.walls.astype(np.uint8)
        game = self.config.task.game.model_dump(mode="json")
        meta = {**self.found.meta(), "game": game, "oracles": self.config.oracles.model_dump(mode="json")}
        return self.store.put(pack(meta, arrays))

    def results(self) -> dict[str, str]:
        """Adds the findings; random moves leave no policies."""
        if self.config.method == "random":
            return self.extras([])[1]
        return super().results()


def _with_spare(request: Request, spare: int) -> TrainingContext:
    return msgspec.structs.replace(of_kind(request.context, TrainingContext), spare=spare)


def lines(config: HuntConfig, artifacts: Mapping[str, str], store: Store) -> list[str]:
    """What the list of bugs does not say: crashes that no replay showed."""
    digest = artifacts.get(FOUND, "")
    if not digest:
        return []
    found = Findings.unpacked(store.get(digest))
    return lost_crashes(found.lost, found.partial)


class Words:
    """Texts of a hunt on the command line."""

    def planned(self, event: Started, study: Mapping[str, Any]) -> str:
        """What the decisions buy."""
        rounds = f"{many(event.ticks, 'round')} of {many(study['algorithm']['population'], 'agent')}"
        return f"{study['decisions']:,} decisions, about {rounds}"

    def done(self, counters: Counters) -> str:
        """Agents and decisions."""
        return f"{counters.evaluations:,} agents, {counters.steps:,} decisions"

    def round(self, metrics: Mapping[str, float], study: Mapping[str, Any]) -> str:
        """Bugs and places so far."""
        return f"{metrics['bugs']:,.0f} bugs, {metrics['places_covered']:,.0f} places"
