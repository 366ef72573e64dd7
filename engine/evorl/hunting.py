"""The evaluator of a hunt for bugs: agents are trained and measured as ever, and everything that they do is watched.

An answer names an artifact (``engine.evorl.findings``) with the places and the bugs of all of its decisions. What was
found in training is saved with the training's progress, so nothing of it is lost or counted twice.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from engine.catalog import built_in
from engine.columns import Arrays
from engine.config.evolve import TaskConfig
from engine.config.hunt import HuntConfig, OraclesConfig
from engine.config.train import TrainGame
from engine.evorl.evaluator import CandidateMeasures, PlayerEvaluator, Setup, Trained
from engine.evorl.findings import Findings
from engine.evorl.problem import example
from engine.evorl.replays import Replays
from engine.evorl.revived import Revived
from engine.evorl.trainings import Trainings
from engine.evorl.watched import Oracles, Watched
from engine.mdp.vector import Ended, VectorMDP
from engine.problem import Evaluation, Genome, Request, ShouldStop, TrainingContext, of_kind
from engine.rl.cast import everywhere
from engine.rl.examine import Examination, examine
from engine.rl.players import RandomPlayer
from engine.rl.policy import Policy, PolicySpec
from engine.rl.seats import Seats, nobody_else
from engine.rng import combine64
from engine.simulators import references
from engine.simulators.conversation import never
from engine.stores import leased
from engine.studies import load

FOUND = "found"
"""Role of what an agent's decisions showed among a context's artifacts."""
_RANDOM = 0x8B06
_PLAYER = "random"


def oracles_of(config: OraclesConfig) -> Oracles:
    """The oracles as a hunt sets them."""
    return Oracles(config.stuck_after, config.soonest, config.most)


def watchable(game: TrainGame, battles: int, should_stop: ShouldStop = never) -> VectorMDP:
    """A game for one agent; a program that crashes is started again. Raises ConfigError, SimulatorError."""
    made = references.make_for_one(game, battles, should_stop)
    return made if built_in(game.name) else Revived(made)


class HuntEvaluator(PlayerEvaluator):
    """``found``: what the candidate under way showed so far."""

    config: HuntConfig

    def __init__(self, config: HuntConfig, trainings: Trainings, should_stop: ShouldStop = never) -> None:
        self.found = Findings()
        self.oracles = oracles_of(config.oracles)
        self.shown = Replays(self._for_replays, self.oracles)
        super().__init__(config, trainings, should_stop)
        longest = self._game("measuring", config.episodes, example(config.task)).spec.max_ticks
        self.stepwise, self.rounds = config.method == "learning", max(1, config.buys(longest))

    def _answer(self, request: Request, should_stop: ShouldStop) -> Evaluation | None:
        self.found, self.shown.most = Findings(), of_kind(request.context, TrainingContext).spare
        play = self._aimless if self.config.method == "random" else super()._answer
        answer = play(request, should_stop)
        if answer is None:
            return None
        kept = self.trainings.lease.put(self.found.pack())
        context = of_kind(answer.context, TrainingContext)
        context = msgspec.structs.replace(context, artifacts={**context.artifacts, FOUND: kept})
        return answer._replace(context=context, cost=answer.cost + self.found.checked)

    def _trained(
        self, genome: Genome, context: TrainingContext, task: TaskConfig, spec: PolicySpec, should_stop: ShouldStop
    ) -> Trained | None:
        if self.config.method == "evolution":
            task = task.model_copy(update={"steps": 0})
        return super()._trained(genome, context, task, spec, should_stop)

    def _measured(
        self, policy: Policy, wanted: TaskConfig, request: Request, should_stop: ShouldStop
    ) -> CandidateMeasures:
        """As ever, but agents draw their moves by their odds. Battles that are over early go on until the last one is;
        what they show is found, so what they play is counted. Raises Cancelled."""
        count, seat = request.last - request.first, {0: policy}
        game = self._game("measuring", count, wanted)
        found = examine(
            seat, self._own(wanted, game), count, self.config.seed, explore=True, first=request.first,
            stopped=should_stop,
        )[0]  # fmt: skip
        return CandidateMeasures(self.measures.of(found), count * game.ticks, {})

    def _aimless(self, request: Request, should_stop: ShouldStop) -> Evaluation | None:
        """The answer of random moves: as many as a training takes, and a few episodes at least."""
        began, task = time.time(), self.space.expressed(request.genome)[0]
        game = self._game("training", task.environments, task)
        seat = game.spec.seats[0]
        seats = Seats(game.spec, everywhere(_PLAYER, 1), {_PLAYER: RandomPlayer(seat)}, nobody_else)
        first = combine64(self.config.seed, np.array([_RANDOM * 2**32 + request.id], np.uint64))[0]
        seeds = combine64(first, np.arange(task.environments, dtype=np.uint64))
        step, over, played_steps, many = game.reset(seeds), list[Ended](), 0, 0
        seats.begin(seeds)
        while played_steps < task.steps or many < request.last - request.first:
            if should_stop():
                return None
            step = game.step(seats.act(step)[0])
            played_steps += len(seeds)
            seats.ends(step)
            if step.ended is not None:
                over.append(step.ended)
                many += len(step.ended.battles)
            seats.move(step.ended)
        context, seconds = of_kind(request.context, TrainingContext), time.time() - began
        found = CandidateMeasures(self.measures.of(_examined(over)), played_steps, {})
        return self._evaluation(request, found, TrainingContext(context.start), 0, (began, seconds, seconds))

    def _game(self, purpose: str, battles: int, task: TaskConfig) -> Watched:
        """Watched; what it shows joins what the candidate under way showed."""
        return Watched(super()._game(purpose, battles, task), self.oracles, self.found, self.shown)

    def _make(self, purpose: str, battles: int, task: TaskConfig) -> VectorMDP:
        return watchable(task.game, battles, self._stopped)

    def _for_replays(self, battles: int) -> VectorMDP:
        """A game in which bugs are shown again."""
        return super()._game(f"replaying {battles}", battles, example(self.config.task))

    def aside(self) -> dict[str, Any]:
        """What was found so far."""
        return {FOUND: [self.found.meta(), {name: a.tolist() for name, a in self.found.arrays().items()}]}

    def taken_up(self, aside: Mapping[str, Any]) -> None:
        """What had been found by then."""
        meta, columns = aside[FOUND]
        arrays: Arrays = {name: np.array(column, np.int64) for name, column in columns.items()}
        self.found = Findings.restored(meta, arrays)


def _examined(over: list[Ended]) -> Examination:
    """The episodes that ended, in their order."""
    columns = [
        (ended.returns[:, 0], ended.score[:, 0], ended.win[:, 0], ended.signals[0], ended.lengths) for ended in over
    ]
    returns, score, win, signals, lengths = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    return Examination(returns, score, win, signals, lengths)


def build(payload: bytes, should_stop: ShouldStop = never) -> HuntEvaluator:
    """The evaluator of an encoded ``Setup``. Raises ConfigError, SimulatorError, Cancelled."""
    setup = msgspec.json.decode(payload, type=Setup)
    config = load(setup.study)
    assert isinstance(config, HuntConfig)
    return HuntEvaluator(config, Trainings(leased(setup.lease)), should_stop)
