"""Evolution and learning around one critic (AES-RL and the methods beside it): who plays where, the replay that all
share, checkpoints and curves.

A checkpoint holds everything: distribution, critics, replay, and what is outstanding. What workers make in between is
in a lease of the store, which goes when the study ends or pauses; the replay is a file there, new at every attempt, so
that workers of an attempt which was given up cannot write into it.
"""

from __future__ import annotations

import os
import secrets
import time
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from typing import Any

import numpy as np

from engine.arrays import pack
from engine.catalog import METHODS, weighted_ends
from engine.config.aesrl import AESRLConfig
from engine.config.chance import all_by_chance
from engine.config.study import study_hash
from engine.errors import ConfigError, below
from engine.events import AnyEvent, Counters, Logged, Started
from engine.evorl.individuals import as_json, made
from engine.evorl.shared_critic import SharedCritic
from engine.evorl.trainings import opened
from engine.problem import Evaluation, IndividualContext, of_kind
from engine.rl.devices import on_threads
from engine.rl.memory import check_memory
from engine.rl.onnx import exported
from engine.rl.policy import Policy
from engine.rl.shared_replay import SharedReplay
from engine.runtime.pool import Pool
from engine.simulators import references
from engine.store import LEASE_S, Store, held
from engine.study.checkpoint import Checkpoint
from engine.study.control import Command, Control
from engine.study.curve import time_is_up
from engine.study.failures import with_failure
from engine.study.learner_factory import begin_with
from engine.study.scheduled import Scheduled
from engine.study.session import Totals
from engine.text import ranged


def aes_rl(config: AESRLConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for evolution with a shared critic."""
    return with_failure(_AESRL(config, store, control).events(resume))


class _AESRL(Scheduled):
    """Of this attempt: ``began_at``, ``ended_at``: when the first work began and the last one ended; ``busy``: seconds
    by role, those of learning apart; ``done``: answers and minibatches by role; ``held``: seconds for which workers had
    nothing to do, as players waited for the critic; ``driven``: seconds of this process between answers, when it takes
    them in, asks for more and writes checkpoints; ``left_at``: when it began with that."""

    evaluator = "individuals"

    schedule: SharedCritic

    def __init__(self, config: AESRLConfig, store: Store, control: Control) -> None:
        super().__init__(config, config.pool, store, control)
        self.config, self.key = config, f"replay-{secrets.token_hex(8)}"
        self.began_at, self.ended_at = np.inf, 0.0
        self.busy: dict[str, float] = {}
        self.done: Counter[str] = Counter()
        self.held = self.driven = self.left_at = 0.0

    def events(self, resume: str) -> Iterator[AnyEvent]:
        """The study; what workers left is removed at its end."""
        self.lease = opened(self.store, study_hash(self.config)).lease
        try:
            with held(self.lease):
                yield from super().events(resume)
        finally:
            self.lease.drop()
            self._sweep()

    def _sweep(self) -> None:
        """Remove what attempts left that were killed less than a minute before they went on."""
        mine = f"{study_hash(self.config)}-"
        for known in list(self.store.leases()):
            if known.name.startswith(mine) and known.age > LEASE_S and (left := self.store.lease(known.name)):
                left.drop()

    def prepare(self, saved: Checkpoint | None) -> None:
        config = self.config
        game = references.make_for_one(config.game, 1, self.stopped)
        try:
            with below("learner"):
                check_memory(config.learner, game.spec.seats[0])
            self.learner = made(config, game.spec.seats[0])
            longest = min(game.spec.max_ticks or config.longest, config.longest)
            _keeps_an_episode(config, longest)
            if game.spec.max_ticks and (why := all_by_chance(config, longest)):
                raise ConfigError([("steps", why)])
            if saved is None:
                begin_with(self.learner, "start", config.start, self.store)
                references.begin(game, config.seed)
        finally:
            game.close()
        replay = SharedReplay(self.lease.shared(self.key), config.learner.capacity, np.random.default_rng())
        theta = self.learner.weights()[: self.learner.model.network.size]
        self.schedule = self._method(theta, replay)
        weight = float(self.learner.terms.weight[0])
        self.schedule.ends = weighted_ends(config.game.name, config.game.settings, longest, weight)

    def _method(self, theta: np.ndarray, replay: SharedReplay) -> SharedCritic:
        config = self.config
        make: type[SharedCritic] = METHODS[config.method.kind].load()
        return make.of(config, theta, config.pool.processes, self.lease, replay, self.learner.model.network)

    def payload(self) -> bytes:
        return as_json(self.config, self.lease, self.key, not self.schedule.waiting)

    def plan(self) -> Totals:
        return Totals(self.config.ticks, 0)

    def drive(self, pool: Pool) -> Generator[AnyEvent, None, Command]:
        """First says where more workers than processors were asked for."""
        if crowded := too_many(self.config.side_by_side, len(os.sched_getaffinity(0))):
            yield self.say(Logged, message=crowded)
        with on_threads(1):
            return (yield from super().drive(pool))

    def finished(self, pool: Pool) -> list[Evaluation]:
        """Also sees that the lease is still held, looks at the clock, and notes who was busy with what."""
        self.lease.renew()
        self.schedule.late = self.schedule.late or 0 < 60 * self.config.minutes <= self._seconds
        free = max(0, self.config.pool.processes - len(self.schedule.outstanding))
        began, idle = time.monotonic(), min(self.schedule.idle, free)
        self.driven += began - self.left_at if self.left_at else 0.0
        found = super().finished(pool)
        self.left_at = time.monotonic()
        self.held += idle * (self.left_at - began)
        for answer in found:
            self._note(answer)
        return found

    def _note(self, answer: Evaluation) -> None:
        began, busy, learning = answer.metrics[:3].tolist()
        if np.isfinite(began):
            context = of_kind(answer.context, IndividualContext)
            role = context.role
            self.began_at, self.ended_at = min(self.began_at, began), max(self.ended_at, began + busy)
            for name, seconds in ((role, busy - learning), (f"learning_{role}", learning)):
                self.busy[name] = self.busy.get(name, 0.0) + seconds
            self.done += Counter({role: 1, f"learning_{role}": context.minibatches})

    def conclude(self) -> Generator[AnyEvent, None, dict[str, str]]:
        """Says where the clock ended it."""
        if (played := self.schedule.played) < self.config.steps:
            nobody = "" if self.schedule.begun else " All were played by chance, so the agent has learned nothing."
            yield self.say(Logged, message=time_is_up(played, self.config.steps) + nobody)
        return {}

    def results(self, last: bool) -> dict[str, str]:
        """The centre as a policy, and the table of examinations."""
        policy = self._policy()
        description, tensors = policy.pack()
        found = {"policy": self.store.put(tensors), "policy_description": self.store.put(description)}
        names = ("steps", "mean", "low", "high")
        exams = np.array(self.schedule.exams, np.float64).reshape(-1, len(names))
        found["table"] = self.store.put(pack({}, dict(zip(names, exams.T, strict=True))))
        return found | ({"onnx": self.store.put(exported(policy))} if last else {})

    def _policy(self) -> Policy:
        weights = np.concatenate([self.schedule.centre, np.zeros(1, np.float32)])
        return Policy(self.learner.spec, weights, self.schedule.tick)

    def metrics(self) -> Mapping[str, float]:
        """What the method says, and how busy workers were."""
        found = {name: value for name, value in self.schedule.metrics().items() if np.isfinite(value)}
        return found | self._times() | {"steps_per_second": self.schedule.played / max(self._seconds, 1e-9)}

    def _times(self) -> dict[str, float]:
        """How busy workers were in this attempt, each with what, and for how long players waited for the critic, as
        shares of the workers' time; seconds of an answer without learning, and of a minibatch, by role, and seconds of
        this process for an answer."""
        span = self.ended_at - self.began_at
        if not span > 0:
            return {}
        whole = self.config.pool.processes * span
        found = {"span": span, "utilisation": sum(self.busy.values()) / whole, "held": self.held / whole}
        found["driven"] = self.driven / sum(count for role, count in self.done.items() if "_" not in role)
        for role, seconds in self.busy.items():
            if seconds > 0 and (count := self.done[role]):
                learning = role.startswith("learning_")
                name = f"minibatch_{role.removeprefix('learning_')}" if learning else f"playing_{role}"
                found |= {f"busy_{role}": seconds / whole, name: seconds / count}
        return found

    def reached(self) -> tuple[int, Counters]:
        x = self.schedule
        return x.tick, Counters(steps=x.played, seconds=self._seconds)


def _keeps_an_episode(config: AESRLConfig, longest: int) -> None:
    """Raise ConfigError where an episode, of so many decisions at most, may be longer than the replay."""
    if config.learner.capacity < longest:
        why = f"an episode can last {longest:,} decisions, and all are kept at once: give as many at least"
        raise ConfigError([("learner.capacity", why)])


def too_many(workers: int, processors: int) -> str:
    """What is said where there are more workers than processors; empty otherwise."""
    if workers <= processors:
        return ""
    times = f"{workers / processors:.3g}"
    return (
        f"{workers} workers share {processors} processors: each takes about {times} times as long as on one of its own."
    )


class Words:
    """Console texts of evolution with a shared critic."""

    def planned(self, event: Started, study: Mapping[str, Any]) -> str:
        """Decisions."""
        return f"{study['steps']:,} decisions"

    def done(self, counters: Counters) -> str:
        """Decisions."""
        return f"{counters.steps:,} decisions"

    def round(self, metrics: Mapping[str, float], study: Mapping[str, Any]) -> str:
        """What individuals returned, and the centre."""
        named = {
            "return_estimate": "centre about", "return_es": "evolving", "return_rl": "learning",
            "evaluation_return": "on fresh episodes",
        }  # fmt: skip
        found = [f"{words} {ranged(metrics, name)}" for name, words in named.items() if name in metrics]
        return ", ".join([*found, f"{metrics.get('steps_per_second', 0.0):,.0f} a second"])
