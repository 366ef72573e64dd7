"""Studies of tasks: one agent learns a hard task from easier ones at the same time (DPCER: Li & Ji 2021). Each task has
actors and a replay of its own; a scheduler says from which the learner learns next.

In step, actors wait for each update, and all battles begin afresh at the end of a round, so a study that goes on from a
checkpoint ends with the same agent as one that was never interrupted. Otherwise nobody waits, except that the learner
makes no more minibatches for a decision than its settings say, as long as decisions arrive.
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Iterable, Iterator
from typing import cast

import numpy as np

from engine import machine
from engine.arrays import Bundle, pack
from engine.channel import Weights
from engine.config.policies import AGENT
from engine.config.starts import LARGEST_VALUE, StartsConfig, name_of
from engine.errors import Cancelled, ConfigError, EngineError, below
from engine.events import AnyEvent, Incident, Started
from engine.experience import NOTHING, Lost, Parcel
from engine.mdp.interface import SeatSpec
from engine.rl.collector import Arrival
from engine.rl.devices import on_threads
from engine.rl.dpcer import scheduler
from engine.rl.factory import make_learner
from engine.rl.learnable_parcels import LearnableParcels
from engine.rl.learner import Metrics, State, averaged
from engine.rl.memory import check_memory
from engine.rl.onnx import exported
from engine.rl.replayed import Replayed
from engine.rl.task_actor import ACTIVE
from engine.rl.task_learner import Ends, TaskLearner
from engine.rng import generator
from engine.store import Store
from engine.study import checkpoint
from engine.study.control import Control
from engine.study.curve import too_short
from engine.study.evaluated_rounds import EvaluatedRounds
from engine.study.evaluation import LAST, MeasuredPolicies, evaluate
from engine.study.failures import not_begun, with_failure
from engine.study.learner_factory import begin_with
from engine.study.learning import long_enough
from engine.study.policy_training import PolicyTraining, Portion
from engine.study.sampler_pool import SamplerPool
from engine.study.start_actors import Actors, open_actors
from engine.study.start_actors_over_redis import named_redis
from engine.study.start_tasks import seat_of_all
from engine.study.starts_curve import StartsCurve

NETWORKS = 3
"""Networks that a Redis of its own has room for: the old one, the new one, and as much for decisions."""
QUIET_S = 5.0
"""Seconds without a decision after which the learner goes on with what it has. While Redis lets none through, it does
so without end; elsewhere it makes one update in each such time, as actors may wait for a newer network: minibatches of
old decisions alone would make another replay ratio."""
SLICE = 32
"""Minibatches of an update at most where nobody waits for it, and of one without new decisions: between updates it
heeds commands and its clock, and ends rounds."""


def starts(config: StartsConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for a study of tasks."""
    return with_failure(_Starts(config, store, control).events(resume))


class TaskTraining(PolicyTraining):
    """The agent in training: a learner with a replay a task. ``ends``: between what scores lie (None: nobody says)."""

    curve: StartsCurve  # type: ignore[assignment]

    def __init__(self, config: StartsConfig, seat: SeatSpec, ends: Ends | None) -> None:
        learner = cast(Replayed, make_learner(config.learner, seat, config.seed, config.steps))
        chosen, rng = config.scheduler, generator(config.seed, "scheduler")
        schedule = scheduler(
            chosen.kind, len(config.tasks), rng, T=config.iterations, signal=chosen.signal, gamma=chosen.gamma,
            bar=chosen.bar,
        )  # fmt: skip
        self.config, self.tasks = config, TaskLearner(learner, schedule, config.iterations, ends, chosen.episodes)
        self.record = StartsCurve(config, seat, schedule, ends)
        waiting = config.sampling == "synchronous"
        super().__init__(AGENT, Portion(1, waiting, False, 0), learner, self.record.whole)

    @property
    def need(self) -> int:
        """In step, a parcel of every actor that plays at present; otherwise what has arrived, once all minibatches are
        made that are due."""
        if not self.portion.waiting:
            return 0 if self.tasks.cut else 1
        return self.config.actors * sum(self.tasks.scheduler.active)

    def batch(self) -> list[Arrival]:
        """All that is held, in step in the order of actors, once it is complete."""
        if len(self.held) < self.need:
            return []
        batch, self.held = self.held, []
        return sorted(batch, key=lambda arrival: (arrival.number, arrival.place)) if self.portion.waiting else batch

    def learn(self, batch: list[Arrival]) -> None:
        """One update: keep what has arrived, and make the minibatches that are due."""
        parcels, began = [cast(Parcel, arrival.work) for arrival in batch], time.process_time()
        at_least = 0 if batch or self.tasks.cut else SLICE
        done = self.tasks.update(parcels, at_least=at_least, at_most=math.inf if self.portion.waiting else SLICE)
        metrics = (
            done.metrics | averaged([values for _, values in done.minibatches]) if done.minibatches else done.metrics
        )
        metrics |= {"kept": float(self.tasks.replays.sizes.sum())}
        steps = sum(parcel.size for parcel in parcels)
        self.record.whole.learned(batch, metrics, steps, time.process_time() - began)
        self.record.taken(batch, done.minibatches)

    def largest(self) -> Metrics:
        """The largest values of each task."""
        each = enumerate(self.tasks.largest())
        return {f"{name_of(task)}/{LARGEST_VALUE}": value for task, value in each if value is not None}

    @property
    def vectors(self) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float32]]]:
        """What actors are sent: the network, and which tasks are played."""
        return self.learner.publish() | {ACTIVE: np.array(self.tasks.scheduler.active, np.float32)}

    def parts(self) -> State:
        """Its complete state, in parts named ``learner/agent``, ``replay-0/agent`` and so on."""
        return {f"{part}/{AGENT}": bundle for part, bundle in self.tasks.state().items()}

    def load(self, parts: State) -> None:
        """Continue from the parts in a checkpoint."""
        self.tasks.load({key.removesuffix(f"/{AGENT}"): part for key, part in parts.items()})
        self.held = []


class _Starts(EvaluatedRounds):
    curve: StartsCurve

    def __init__(self, config: StartsConfig, store: Store, control: Control) -> None:
        super().__init__(store, control, waiting=config.sampling == "synchronous")
        self.config = self.task = config
        self.actors: Actors | None = None
        self.before = self.reported_lost = NOTHING
        self.table, self.kept_iterations = "", 0
        self.job = secrets.token_hex(8)
        self._heard_at = time.monotonic()

    def events(self, resume: str) -> Iterator[AnyEvent]:
        config = self.config
        try:
            self._prepare(begun=bool(resume))
            if resume:
                self.restore(resume)
            fits = LearnableParcels(self.agent.tasks.learner)
            opened = open_actors(config, self.store, self.tick, self.before, self.stopped, self.job, fits)
        except Cancelled:
            yield not_begun(self.control, resume)
            return
        with on_threads(config.threads), opened as self.actors:
            processes = config.pool.processes(config.samplers)
            yield self.say(Started, workers=processes, pool=config.pool.kind, ticks=config.ticks, battles=0,
                            resumed=bool(resume))  # fmt: skip
            self.saved = self.saved or self.checkpoint()
            self._heard_at = time.monotonic()
            try:
                command = yield from self.drive(self.actors)
            except EngineError:
                yield from self.troubles(self.actors)
                raise
        yield from self._missing()
        yield from self.ended(command)

    def _prepare(self, *, begun: bool) -> None:
        """Everything as it begins. Raises ConfigError with all that does not fit, SimulatorError, Cancelled."""
        seat, self.longest, ends = seat_of_all(self.config, begun=begun, should_stop=self.stopped)
        with below("learner"):
            check_memory(self.config.learner, seat, len(self.config.tasks))
        self.agent = TaskTraining(self.config, seat, ends)
        self.active, self.curve = {AGENT: self.agent}, self.agent.record
        self._fits_into_redis()
        if not begun:
            begin_with(self.agent.learner, "start", self.config.start, self.store)

    def _fits_into_redis(self) -> None:
        """Raises ConfigError where a Redis of its own is too small for networks, or larger than this machine."""
        replay = self.config.replay
        if replay.where != "redis" or named_redis(replay).address:
            return
        there = machine.memory() >> 20
        least = -(-NETWORKS * sum(vector.nbytes for vector in self.agent.vectors.values()) >> 20)
        if replay.megabytes > there:
            raise ConfigError([("replay.megabytes", f"this machine has {there:,} MB in all")])
        if replay.megabytes < least:
            why = f"the network does not fit, with room for a newer one and for decisions: give at least {least:,}"
            raise ConfigError([("replay.megabytes", why)])

    @property
    def steps(self) -> int:
        return self.agent.learner.steps

    def done(self) -> bool:
        return self.curve.iterations >= self.config.iterations

    @property
    def learned_since(self) -> bool:
        """While no decision arrives, the agent learns from those that it remembers."""
        return self.curve.iterations > self.kept_iterations

    def due(self) -> int:
        return self.config.ticks if self.done() else self.curve.iterations // self.config.every

    @property
    def least(self) -> int:
        """As of a training: battles begin afresh at the end of a round."""
        if not self.waiting or self.config.checkpoint_every:
            return 1
        return long_enough(self.curve, self.agent.need * self.config.environments)

    def _batches(self) -> dict[str, list[Arrival]]:
        """Also an update without new decisions, where more minibatches are due than the last one made, where none has
        arrived for long though there are some to learn from, or where time is up meanwhile."""
        if self.agent.tasks.cut:
            return {AGENT: []}
        found = super()._batches()
        now = time.monotonic()
        if found:
            self._heard_at = now
        elif not self.waiting and now - self._heard_at > QUIET_S:
            if self.agent.tasks.replays.sizes.any():
                if self.actors is None or not self.actors.blocked:
                    self._heard_at = now
                return {AGENT: []}
            return {AGENT: []} if self._time_is_up() else {}
        return found

    def _publish(self, samplers: SamplerPool, names: Iterable[str]) -> None:
        """The network, and which tasks are played; where nobody waits, not before all minibatches are made that are
        due, or actors would run ahead of the learner."""
        if self.agent.tasks.cut:
            return
        learner = self.agent.learner
        samplers.publish(Weights(AGENT, self.epoch, self.tick, learner.version, self.agent.vectors))

    def progressed(self, before: int) -> Iterator[AnyEvent]:
        """Also evaluates the agent in each task when that is due."""
        training = self.config.training(0).model_copy(update={"checkpoint_every": self.config.checkpoint_every})
        yield from self.short(too_short(training, self.curve.steps, self.longest, "actors", "minibatches"))
        yield from self._missing()
        metrics = self.curve.metrics() | self.agent.largest()
        metrics |= {f"missing_{name}": float(n) for name, n in self.missing.counts.items()}
        self.curve.restart()
        self.losses = 0
        yield from self.close_round(metrics, self.examines(self.config.evaluate_every, before))

    @property
    def missing(self) -> Lost:
        """Decisions that actors made and that never arrived."""
        return self.before if self.actors is None else self.actors.missing

    def _missing(self) -> Iterator[AnyEvent]:
        """What was lost on the way since it was last said."""
        if (missing := self.missing).exceeds(self.reported_lost):
            self.reported_lost = missing
            yield self.say(Incident, what="lost-experience", message=f"{missing} The agent learns without them.")

    def close_round(self, metrics: Metrics, due: bool) -> Iterator[AnyEvent]:
        """Also listens anew: no actor was heard meanwhile."""
        yield from super().close_round(metrics, due)
        self._heard_at = time.monotonic()

    def artifacts(self) -> dict[str, str]:
        tensors, description = self.stored(self.agent.learner.policy())
        self.table = self.store.put(pack({"tasks": [t.name for t in self.config.ordered]}, self.curve.table()))
        return {"policy": tensors, "policy_description": description, "table": self.table}

    def examine(self) -> bool:
        found = []
        for task in range(len(self.config.tasks)):
            measured = MeasuredPolicies(
                self.config.training(task), self.store, {AGENT: self.agent.learner.policy()}, {}
            )
            one = evaluate(measured, LAST if self.over else 0, self.control)
            if one is None:
                return False
            found.append(one[AGENT][""])
        self.curve.examined(found)
        return True

    def results(self) -> dict[str, str]:
        policy = self.agent.learner.policy()
        tensors, description = self.stored(policy)
        kept = {"policy": tensors, "policy_description": description, "onnx": self.store.put(exported(policy))}
        return kept | {"checkpoint": self.saved} | ({"table": self.table} if self.table else {})

    def checkpoint(self) -> str:
        self.kept, self.kept_iterations = self.steps, self.curve.iterations
        meta = {"over": self.over, "table": self.table, "missing": list(self.missing)} | self.closing()
        if self.config.replay.where == "redis":
            meta["job"] = self.job
        parts = {"round": Bundle(self.curve.state() | meta, {}), **self.agent.parts()}
        return checkpoint.write(self.config, self.tick, parts, self.store)

    def restore(self, digest: str) -> None:
        self.tick, parts = checkpoint.read(self.config, digest, self.store)
        meta = parts.pop("round").meta
        if parts.keys() != (known := self.agent.parts()).keys():
            wrong = ", ".join(sorted(parts.keys() ^ known.keys()))
            why = f"this checkpoint has other parts than this version knows ({wrong}): start the study anew"
            raise ConfigError([("resume", why)])
        self.agent.load(parts)
        self.curve.load(meta)
        self.load_closing(meta)
        self.over, self.table = meta["over"], meta["table"]
        self.job = meta.get("job", self.job)
        self.saved, self.kept, self.kept_iterations = digest, self.steps, self.curve.iterations
        self.before = Lost(*meta["missing"])
        self.reported_lost = self.before
