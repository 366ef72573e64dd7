"""Training studies: samplers play, a learner learns, rounds are written down.

Synchronous: every sampler waits for each version of the weights, and a batch is put together in the order of samplers,
so the curve does not depend on where they run. At every round all battles begin afresh, so a study that goes on from a
checkpoint is the study that was never interrupted; a lost sampler, and a pause, send the training back to the last
round.
Asynchronous: batches are put together as fragments arrive, fragments older than ``max_staleness`` updates are dropped,
and a lost sampler is replaced while the others play on.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from typing import Any

from engine.arrays import pack, unpack
from engine.channel import Weights
from engine.config.train import TrainConfig
from engine.errors import ActorLost, ConfigError, EngineError, SimulatorError
from engine.events import AnyEvent, Failed, Finished, Incident, Logged, Paused, Progressed, Started, Stopped
from engine.mdp.trajectory import Trajectory, join
from engine.rl.a3c import A3C, Gradient
from engine.rl.collector import Arrival, Work
from engine.rl.learner import Metrics, on_threads
from engine.rl.onnx import exported
from engine.simulators.contract import content_hash
from engine.store import Store
from engine.study.control import Control, Wish
from engine.study.crew import Crew, open_crew
from engine.study.curve import too_short
from engine.study.evaluation import evaluate
from engine.study.fitting import fitted
from engine.study.pulse import Pulse

_POLL_S = 0.2
_LAST = 1_000_000
"""The first seed of the last evaluation: those during training never use it."""
EPISODES = 3
"""Of each battle, on average, in a round in step whose length nobody said."""
LONGEST = 10
"""Times as long as otherwise such a round may be for that."""
STUBBORN = 5
"""Samplers that may be lost without getting further (in step: in one round) before the game is to blame."""


def train(config: TrainConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups``, for a training study."""
    try:
        yield from _Train(config, store, control).events(resume)
    except ActorLost:
        raise
    except EngineError as error:
        permanent = getattr(error, "permanent", True)
        yield Failed(at=time.time(), error=type(error).__name__, message=str(error), permanent=permanent)


class _Train:
    def __init__(self, config: TrainConfig, store: Store, control: Control) -> None:
        self.config, self.store, self.control = config, store, control
        self.waiting = config.sampling == "synchronous"
        self.pulse = Pulse()
        self.tick, self.epoch, self.losses = 0, 0, 0
        self.saved, self.kept = "", 0
        self.over = self.warned = False
        self.unsaid: Metrics = {}
        self.held: list[Arrival] = []

    def events(self, resume: str) -> Iterator[AnyEvent]:
        config = self.config
        self.learner, self.curve, self.longest = fitted(config, begun=bool(resume))
        if resume:
            self._restore(resume)
        with on_threads(config.threads), open_crew(config, self.tick) as crew:
            yield self._say(Started, workers=config.samplers, pool=config.pool.kind, ticks=config.ticks, battles=0,
                            resumed=bool(resume))  # fmt: skip
            self.saved = self.saved or self._checkpoint()
            try:
                wish = yield from self._drive(crew)
            except EngineError:
                yield from self._troubles(crew)
                raise
        if wish:
            yield from self._kept(wish)
        if wish == "pause":
            yield self._say(Paused, artifacts={"checkpoint": self.saved})
        elif wish == "stop":
            yield self._say(Stopped, reason="Stopped by request.", artifacts=self._results(), summary=self._summary())
        else:
            yield self._say(Finished, artifacts=self._results(), summary=self._summary())

    def _kept(self, wish: Wish) -> Iterator[AnyEvent]:
        """What was learned since the last round, as somebody wishes otherwise: kept, but where a study in step is to go
        on as if it had never been interrupted. That begins with the round again."""
        since = self.learner.steps - self.kept
        if not since:
            return
        if not self.waiting:
            self.saved = self._checkpoint()
        elif wish == "stop":
            told = (
                f"The agent has learned from all of it; whoever goes on begins {since:,} moves earlier, with the round."
            )
            yield self._say(Logged, message=told)
        else:
            self._restore(self.saved)
            told = f"In step a training goes on from its last round: the {since:,} moves since then are played again."
            yield self._say(Logged, message=told)

    def _drive(self, crew: Crew) -> Generator[AnyEvent, None, Wish]:
        """Until all steps are learned from or the time is up, or somebody wishes otherwise."""
        self._publish(crew)
        self.curve.restart()
        self.pulse.restart()
        if self.unsaid:
            yield from self._told(self.unsaid, due=True)
        while not self.over:
            if wish := self.control():
                return wish
            if missing := self._need - len(self.held):
                for arrival in self._gathered(crew, missing):
                    self._hold(arrival)
            if reason := crew.lost():
                self._lost(crew, reason)
            elif batch := self._batch():
                yield from self._update(crew, batch)
            yield from self._troubles(crew)
            if self.pulse.due():
                yield self._say(Logged, message="")
        return self.control() if self.unsaid else ""

    def _gathered(self, crew: Crew, missing: int) -> list[Arrival]:
        """What has arrived. A crew that dies after somebody wished the study to end was asked to end with it."""
        try:
            return crew.gather(_POLL_S, missing)
        except ActorLost:
            if self.control():
                return []
            raise

    def _update(self, crew: Crew, batch: list[Arrival]) -> Iterator[AnyEvent]:
        steps, round_before, began = self.learner.steps, self.tick, time.process_time()
        metrics = self._learned([arrival.work for arrival in batch])
        seconds = time.process_time() - began
        self.over = self.learner.steps >= self.config.steps or self._time_is_up()
        self.losses = self.losses if self.waiting else 0
        self.curve.learned(batch, metrics, self.learner.steps - steps, seconds)
        tick = max(self.learner.steps // self.config.every, self.tick + self.over)
        ended = tick > self.tick and (self.over or tick - self.tick >= self._least)
        self.tick = tick if ended else self.tick
        if not self.over:
            self._publish(crew)  # samplers go on while this round is written down
        if ended:
            yield from self._progressed(round_before)

    def _learned(self, batch: list[Work]) -> Metrics:
        """One update: from trajectories side by side, or with the one gradient of a worker."""
        if isinstance(self.learner, A3C) and isinstance(batch[0], Gradient):
            return self.learner.apply(batch[0])
        return self.learner.update(join([work for work in batch if isinstance(work, Trajectory)]))

    @property
    def _least(self) -> int:
        """How many rounds must be over for battles to begin afresh: in step that cuts episodes short, so where nobody
        asked for rounds of a certain length, each battle has ended a few before."""
        if not self.waiting or self.config.checkpoint_every:
            return 1
        battles = self.config.samplers * self.config.environments
        return 1 if self.curve.ended >= EPISODES * battles else LONGEST

    def _time_is_up(self) -> bool:
        limit = 60 * self.config.minutes
        return bool(limit) and self.curve.counters(self.learner.steps).seconds >= limit

    def _publish(self, crew: Crew) -> None:
        crew.publish(Weights(self.epoch, self.tick, self.learner.version, self.learner.weights()))

    def _hold(self, arrival: Arrival) -> None:
        """Keep a fragment for a batch; in step only those made with the weights of now count."""
        if not self.waiting or (arrival.epoch, arrival.version) == (self.epoch, self.learner.version):
            self.held.append(arrival)

    def _batch(self) -> list[Arrival]:
        """The fragments of the next update, once they are there."""
        if most := 0 if self.waiting else self.config.max_staleness:
            oldest = self.learner.version + 1 - most
            fresh = [arrival for arrival in self.held if arrival.oldest >= oldest]
            self.curve.totals["dropped"] += len(self.held) - len(fresh)
            self.held = fresh
        if len(self.held) < self._need:
            return []
        batch, self.held = self.held, []
        return sorted(batch, key=lambda arrival: (arrival.number, arrival.place)) if self.waiting else batch

    @property
    def _need(self) -> int:
        """Fragments in a batch: as many of each sampler in step, otherwise of whoever was first. No more are held.
        A gradient is a batch of its own."""
        if self.config.gradients:
            return 1
        if self.waiting:
            return self.config.samplers * self.config.fragments
        one = self.config.environments * self.config.learner.fragment
        return max(1, -(-getattr(self.config.learner, "batch", 0) // one))

    def _lost(self, crew: Crew, reason: str) -> None:
        """A sampler was lost. In step, its battles cannot go on where they were: back to the last round."""
        self.losses += 1
        self.curve.totals["lost"] += 1
        if self.losses >= STUBBORN * (1 if self.waiting else self.config.samplers):
            raise SimulatorError(
                f"{self.losses} samplers in a row were lost in round {self.tick + 1}, which the game does not get "
                f"through. The last one: {reason}."
            )
        if not self.waiting:
            return
        lost, self.held = self.curve.totals["lost"], []
        self._restore(self.saved)
        self.curve.totals["lost"] = lost
        self.epoch += 1
        self._publish(crew)

    def _troubles(self, crew: Crew) -> Iterator[AnyEvent]:
        for trouble in crew.incidents():
            yield self._say(Incident, what=trouble.what, message=trouble.message)

    def _progressed(self, before: int) -> Iterator[AnyEvent]:
        """A round is over, ``before`` the one before it: examine the policy when that is due, write everything down."""
        every = self.config.evaluate_every
        if self.waiting and not (self.curve.ended or self.warned):
            self.warned = True
            yield self._say(Logged, message=too_short(self.config, self.curve.steps, self.longest))
        metrics = self.curve.metrics()
        self.curve.restart()
        self.losses = 0
        due = self.over or (every > 0 and self.tick // every > before // every)
        yield from self._told(metrics, due)

    def _told(self, metrics: Metrics, due: bool) -> Iterator[AnyEvent]:
        """Say what the round that is over was like, after an evaluation where that is ``due``. A wish ends the
        evaluation: the checkpoint of then holds what is unsaid, and whoever goes on from it repeats the evaluation."""
        self.unsaid = metrics if due else {}
        if due and not self._examine(self.over):
            self.saved = self._checkpoint()
            return
        metrics, self.unsaid = metrics | (self.curve.evaluation if due else {}), {}
        description, tensors = self.learner.policy().pack()
        artifacts = {"policy": self.store.put(tensors), "policy_description": self.store.put(description)}
        self.saved = artifacts["checkpoint"] = self._checkpoint()
        yield self._say(Progressed, metrics=metrics, artifacts=artifacts)
        self.pulse.restart()

    def _examine(self, last: bool) -> bool:
        """Measure the policy; False when somebody wished otherwise before that was done."""
        found = evaluate(self.config, self.learner.policy(), _LAST if last else 0, self.control)
        if found is not None:
            self.curve.examined(found)
        return found is not None

    def _checkpoint(self) -> str:
        arrays, meta = self.learner.state()
        study, curve = study_hash(self.config), self.curve.state()
        state = {"study": study, "learner": meta, "curve": curve, "tick": self.tick, "over": self.over,
                 "unsaid": self.unsaid}  # fmt: skip
        self.kept = self.learner.steps
        return self.store.put(pack(state, arrays))

    def _restore(self, digest: str) -> None:
        """Go on from a checkpoint. Raises ConfigError when it is another study's, StoreError when it is not there."""
        bundle = unpack(self.store.get(digest))
        if bundle.meta.get("study") != study_hash(self.config):
            raise ConfigError([("resume", "this checkpoint belongs to a study with other settings")])
        self.learner.load(bundle.arrays, bundle.meta["learner"])
        self.curve.load(bundle.meta["curve"])
        self.tick, self.over, self.unsaid = (bundle.meta[name] for name in ("tick", "over", "unsaid"))
        self.saved, self.kept = digest, self.learner.steps

    def _results(self) -> dict[str, str]:
        policy = self.learner.policy()
        description, tensors = policy.pack()
        found = {"policy": tensors, "policy_description": description, "onnx": exported(policy)}
        kept = {role: self.store.put(data) for role, data in found.items()}
        return kept | {"checkpoint": self.saved}

    def _summary(self) -> dict[str, Any]:
        counters = self.curve.counters(self.learner.steps)
        speed = counters.steps / counters.seconds if counters.seconds else 0.0
        totals = {name: float(value) for name, value in self.curve.totals.items()}
        told = {**self.curve.played(), **self.curve.spent, **self.curve.evaluation}
        return {"steps_per_second": speed, **totals, **told}

    def _say(self, kind: Any, **fields: Any) -> AnyEvent:
        counters = self.curve.counters(self.learner.steps)
        event: AnyEvent = kind(tick=self.tick, at=time.time(), counters=counters, **fields)
        return event


def study_hash(config: TrainConfig) -> str:
    """What a result depends on: everything but the name and where samplers run."""
    return content_hash(config.model_dump(mode="json", exclude={"name", "pool"}))
