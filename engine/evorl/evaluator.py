"""The evaluator of players: trains a candidate, then measures it on episodes that it did not learn from (Lamarckian,
III-D and Fig. 1).

A candidate's result depends only on the study's seed, its genome and its initial weights, so it is the same on any
worker. Training saves its progress wherever all battles restart, so a worker that takes a candidate over continues from
there, to the same result. They restart only once enough episodes have ended: a training that is shorter than that is
begun again.

A replicate is an episode: its number determines its seed, so all candidates are measured on the same episodes.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace

from engine.arrays import pack, unpack
from engine.catalog import PLAYERS
from engine.columns import Arrays
from engine.config.evolve import EvolveConfig, TaskConfig
from engine.config.rl import TrainingConfig
from engine.config.style_reward import StyleReward
from engine.config.train import TrainGame
from engine.errors import Cancelled, ConfigError, EvaluationError
from engine.evolution.estimates import estimate
from engine.evorl.measures import Measures
from engine.evorl.problem import against_strangers, example, played, problem_of
from engine.evorl.trainings import Trainings, key_of
from engine.mdp.vector import VectorMDP
from engine.problem import (
    TRAINED,
    Evaluation,
    Floats,
    Genome,
    Problem,
    Request,
    ShouldStop,
    TrainingContext,
    of_kind,
)
from engine.rl.cast import Candidate, Cast
from engine.rl.devices import on_threads
from engine.rl.examine import examine
from engine.rl.factory import make_learner
from engine.rl.policy import Policy, PolicySpec
from engine.rl.seats import Players, nobody_else
from engine.rl.training import Training
from engine.simulators.conversation import never
from engine.stores import leased
from engine.studies import load

_ROUNDS = 10
"""Default number of checkpoints of a training, at most."""
_STRANGERS = "strangers"


class Setup(msgspec.Struct, frozen=True):
    """Everything from which a worker builds its evaluator: the study as JSON, and the address of its trainings'
    lease."""

    study: dict[str, object]
    lease: str


class Trained(NamedTuple):
    """A finished training: the hash of its artifact, its steps and its seconds; ``endless``: no episode ended in it."""

    digest: str
    steps: int
    seconds: float
    endless: bool = False


class CandidateMeasures(NamedTuple):
    """Measures float64[replicates, names] of a candidate, the moves in them, and what its answer's context adds."""

    values: Floats
    moves: int
    added: Mapping[str, Any]


class PlayerEvaluator:
    """Holds games, but no state on which a result depends. ``should_stop``: asked while the first game begins."""

    def __init__(self, config: EvolveConfig, trainings: Trainings, should_stop: ShouldStop = never) -> None:
        self.config, self.trainings = config, trainings
        self._should_stop = should_stop
        self._games: dict[str, tuple[int, tuple[TrainGame, StyleReward | None], VectorMDP]] = {}
        game = self._game("measuring", config.episodes, example(config.task))
        self.problem, self.space = problem_of(config, game, trainings.lease)
        self.measures = Measures(self.space.spec.seat)
        self.behaviour = self.measures.behaviour(config)
        ends = [(-np.inf if a.low is None else a.low, np.inf if a.high is None else a.high) for a in config.objectives]
        self.clips = np.array(ends).T
        self.limits = np.array([aim.limits or (-np.inf, np.inf) for aim in config.objectives]).T
        self.stepwise = config.algorithm.finds == "trained"
        self.rounds = config.ticks

    def describe(self) -> Problem:
        return self.problem

    def initialize(self, rng: np.random.Generator) -> Genome:
        return np.asarray(self.space.sample(rng, 1)[0])

    def close(self) -> None:
        """Close the games."""
        for *_, game in self._games.values():
            game.close()
        self._games = {}

    def evaluate(self, requests: Sequence[Request], should_stop: ShouldStop) -> Iterator[Evaluation]:
        """Train and measure each candidate by itself, on one thread. A program that is slow to answer is not waited
        for once it should stop."""
        self._should_stop = should_stop
        for request in requests:
            with contextlib.ExitStack() as wrong, on_threads(1), self._blamed():
                wrong.callback(self.close)  # after any error the games may be in a bad state
                try:
                    answer = self._answer(request, should_stop)
                except Cancelled:
                    return
                wrong.pop_all()
            if answer is None:
                return
            yield answer

    def _answer(self, request: Request, should_stop: ShouldStop) -> Evaluation | None:
        """The answer to a request, or None when stopped in training. Raises Cancelled when stopped while measured."""
        began = time.time()
        task, spec = self.space.expressed(request.genome)
        context = of_kind(request.context, TrainingContext)
        again = Trained(context.artifacts[TRAINED], 0, 0.0, context.endless) if context.artifacts else None
        trained = again or self._trained(request.genome, context, task, spec, should_stop)
        if trained is None:
            return None
        measuring = time.monotonic()
        found = self._measured(Policy(spec, self.trainings.weights(trained.digest)), task, request, should_stop)
        seconds = trained.seconds + time.monotonic() - measuring
        made = replace(self._made(context, trained, found.added), endless=trained.endless)
        return self._evaluation(request, found, made, trained.steps, (began, time.time() - began, seconds))

    def _evaluation(
        self, request: Request, found: CandidateMeasures, made: TrainingContext, steps: int, times: tuple[float, ...]
    ) -> Evaluation:
        """The answer that these episodes give; ``steps``: those of training, ``times``: as ``TIMES``."""
        values = found.values
        goals = np.clip(self.measures.goals(self.config, values), *self.clips)
        objectives, covariance = estimate(goals)
        if not np.isfinite(objectives).all():
            bad = self.config.objectives[int(np.flatnonzero(~np.isfinite(objectives))[0])].measure
            raise EvaluationError(f"Its {bad} is not a number: this game has none. Choose another goal.")
        means, ways, beside = (
            values.mean(axis=0),
            values[:, self.behaviour],
            [*self.measures.ranges(self.config, values), *times],
        )
        return Evaluation(
            request.id, objectives, covariance, len(values), np.concatenate([means, beside]),
            cost=steps + found.moves, context=made,
            descriptor=means[self.behaviour] if self.behaviour else None, values=goals,
            descriptors=ways if self.behaviour else None, limits=self.limits,
        )  # fmt: skip

    def _made(self, context: TrainingContext, trained: Trained, added: Mapping[str, Any]) -> TrainingContext:
        """The context of an answer."""
        return TrainingContext(context.start, artifacts={TRAINED: trained.digest})

    def _measured(
        self, policy: Policy, wanted: TaskConfig, request: Request, should_stop: ShouldStop
    ) -> CandidateMeasures:
        """Raises Cancelled."""
        count, stranger = request.last - request.first, of_kind(request.context, TrainingContext).stranger
        game = self._own(wanted, self._game(_STRANGERS if stranger else "measuring", count, wanted))
        across = _across(stranger, game) if stranger else {}
        found = examine({0: policy}, game, count, self.config.seed, first=request.first, stopped=should_stop, **across)[
            0
        ]
        return CandidateMeasures(self.measures.of(found), int(found.lengths.sum()), {})

    def _against(self, context: TrainingContext) -> str:
        """What says against whom a candidate trains."""
        return ""

    def _opponents(self, context: TrainingContext, spec: PolicySpec) -> tuple[Cast | None, Players]:
        """Who sits where in training, and the players that do not learn."""
        return None, nobody_else

    def _trained(
        self, genome: Genome, context: TrainingContext, task: TaskConfig, spec: PolicySpec, should_stop: ShouldStop
    ) -> Trained | None:
        key = key_of(genome, context.start, self._against(context))
        progress = self.trainings.progress(key)
        if progress:
            self.taken_up(progress.meta)
        if progress and progress.meta["over"] and self.trainings.lease.use(progress.meta["over"]):
            meta = progress.meta
            return Trained(meta["over"], meta["steps"], meta["seconds"], meta.get("endless", False))
        began = time.monotonic()
        training, before = self._begun(genome, context, key, task, spec)
        seconds, beginning = 0.0, training.beginning
        if progress and not progress.meta["over"]:
            training.load(progress.arrays, progress.meta["training"])
            seconds = progress.meta["seconds"]
        if task.steps and not self._train(training, key, seconds - began, should_stop):
            return None
        arrays, meta = training.state()
        kept: Arrays = arrays if self.stepwise else {"weights": training.learner.weights()}
        digest = self.trainings.lease.put(pack(meta if self.stepwise else {}, kept))
        endless = task.steps > 0 and training.beginning == beginning and not training.ended
        trained = Trained(digest, training.learner.steps - before, seconds + time.monotonic() - began, endless)
        note = {"over": digest, "steps": trained.steps, "seconds": trained.seconds, "endless": endless, **self.aside()}
        self.trainings.note(key, note, {})
        return trained

    def aside(self) -> dict[str, Any]:
        """What else is saved with the progress of a training, as JSON."""
        return {}

    def taken_up(self, aside: Mapping[str, Any]) -> None:
        """A training goes on from progress that was saved with this."""

    def _train(self, training: Training, key: str, offset: float, should_stop: ShouldStop) -> bool:
        """Train to the end, saving progress wherever all battles restart. False when stopped before the end."""
        beginning = training.beginning
        for _ in training.run():
            if training.beginning > beginning and not training.done:
                beginning = training.beginning
                arrays, meta = training.state()
                note = {"over": "", "training": meta, "seconds": offset + time.monotonic(), **self.aside()}
                self.trainings.note(key, note, arrays)
            if should_stop():
                return False
        return True

    def _begun(
        self, genome: Genome, context: TrainingContext, key: str, task: TaskConfig, spec: PolicySpec
    ) -> tuple[Training, int]:
        """A training in its initial state, and the number of steps trained before it."""
        seed = int(key[:15], 16)
        earlier = unpack(self.trainings.lease.get(context.start)) if context.start else None
        before = earlier.meta["learner"]["steps"] if earlier else 0
        whole = max(1, task.steps * (self.rounds if self.stepwise else 1))
        learner = make_learner(task.learner, spec.seat, seed, whole)
        plan = TrainingConfig(
            algorithm=task.learner, steps=max(1, before + task.steps), environments=task.environments, seed=seed,
            checkpoint_every=task.checkpoint_every or max(1, task.steps // _ROUNDS), episodes=0,
        )  # fmt: skip
        game = self._own(task, self._game("training", task.environments, task))
        cast, players = self._opponents(context, spec)
        training = Training(plan, game, learner, cast=cast, players=players, patient=True)
        if earlier:
            training.load(earlier.arrays, {**earlier.meta, "met": {}})
            training.begin_anew()
        elif (weights := self.space.network(genome)) is not None:
            learner.start_from(weights)
        return training, before

    @contextlib.contextmanager
    def _blamed(self) -> Iterator[None]:
        """Turn a ConfigError from evolved settings into the failure of their candidate alone."""
        try:
            yield
        except ConfigError as error:
            if not self.space.genes:
                raise
            raise EvaluationError(f"These settings do not go together: {error}") from error

    def _own(self, wanted: TaskConfig, game: VectorMDP) -> VectorMDP:
        """A candidate's own game. Raises ConfigError when its seat differs from that of the other candidates' games."""
        if game.spec.seats[0] != self.space.spec.seat:
            given = ", ".join(f"{name}: {value}" for name, value in wanted.game.settings.items())
            why = "what is seen or done in it is of another shape than in the other players' games"
            raise ConfigError([("game.settings", f"with {given} {why}")])
        return game

    def _game(self, purpose: str, battles: int, task: TaskConfig) -> VectorMDP:
        """The task's game for so many battles at a time; one is kept for each purpose."""
        kept, wanted = self._games.pop(purpose, None), (battles, (task.game, task.style))
        if kept and kept[:2] != wanted:
            kept[-1].close()
            kept = None
        game = kept[-1] if kept else self._make(purpose, battles, task)
        self._games[purpose] = *wanted, game
        return game

    def _make(self, purpose: str, battles: int, task: TaskConfig) -> VectorMDP:
        if purpose == _STRANGERS:
            return against_strangers(task, battles, self._stopped)
        return played(task, battles, self._stopped, self.config.seats)

    def _stopped(self) -> bool:
        return self._should_stop()


def _across(stranger: str, game: VectorMDP) -> dict[str, Any]:
    """Who sits where, with a script on the other seat, as ``examine`` takes it. Raises ConfigError."""
    player = PLAYERS[stranger].load()(game.spec.seats[1])
    cast = Cast([[Candidate("measured", learns=True)], [Candidate(stranger)]])
    return {"cast": cast, "players": {stranger: player}.__getitem__}


def build(payload: bytes, should_stop: ShouldStop = never) -> PlayerEvaluator:
    """The evaluator of an encoded ``Setup``. Raises ConfigError, SimulatorError, Cancelled."""
    setup = msgspec.json.decode(payload, type=Setup)
    config = load(setup.study)
    assert isinstance(config, EvolveConfig)
    return PlayerEvaluator(config, Trainings(leased(setup.lease)), should_stop)


def as_json(config: EvolveConfig, trainings: Trainings) -> bytes:
    """The payload that ``build`` takes."""
    study: dict[str, Any] = config.model_dump(mode="json")
    return msgspec.json.encode(Setup(study, trainings.lease.address))
