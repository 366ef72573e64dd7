"""The loop of trainings: samplers play, policies learn, and each round ends with a checkpoint.

Synchronous: every sampler waits for each version of the weights, and batches are assembled in the order of samplers, so
the curve does not depend on where they run. All battles restart at every round, so a study that continues from a
checkpoint equals one that was never interrupted; a lost sampler, or a pause, returns the training to the last round.
Asynchronous: batches are assembled as fragments arrive, fragments older than ``max_staleness`` updates are dropped, and
a lost sampler is replaced while the others play on.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import Protocol

from engine.channel import Weights
from engine.config.rl import AnyLearner
from engine.config.whole_episodes import enough_ended
from engine.errors import ActorLost, Cancelled, SimulatorError
from engine.events import AnyEvent, Logged
from engine.rl.collector import Arrival
from engine.rl.policy import Policy
from engine.store import Store
from engine.study.control import Command, Control
from engine.study.curve import Curve, nothing_to_learn
from engine.study.policy_training import PolicyTraining
from engine.study.sampler_pool import SamplerPool
from engine.study.session import Session

_POLL_S = 0.2
LONGEST = 10
"""A synchronous round whose length is not configured may become this many times longer until enough episodes ended."""
STUBBORN = 5
"""Samplers that may be lost without progress (synchronous: in one round) before the game is blamed."""


def long_enough(curve: Curve, battles: int) -> int:
    """The fewest ticks in a synchronous round whose length is not configured: it lasts until each of ``battles`` has
    ended a few episodes, or ``LONGEST`` ticks."""
    return 1 if enough_ended(curve.ended, battles) else LONGEST


class Task(Protocol):
    """What a training says of itself to the loop."""

    @property
    def samplers(self) -> int: ...

    @property
    def minutes(self) -> float: ...

    @property
    def learners(self) -> Mapping[str, AnyLearner]: ...


class Learning(Session):
    """``active``: the policies that learn now, by name; ``saved``: the last checkpoint; ``kept``: decisions in it;
    ``epoch``: how often the training went back to it; ``over``: all is learned, or the time is up."""

    task: Task
    curve: Curve
    active: dict[str, PolicyTraining]

    def __init__(self, store: Store, control: Control, *, waiting: bool) -> None:
        super().__init__(store, control)
        self.waiting = waiting
        self.tick, self.epoch, self.losses = 0, 0, 0
        self.saved, self.kept = "", 0
        self.over = False

    @property
    @abstractmethod
    def steps(self) -> int:
        """Decisions learned from, of all policies."""

    @abstractmethod
    def done(self) -> bool:
        """Whether all is learned."""

    @abstractmethod
    def due(self) -> int:
        """The tick that the decisions learned from amount to."""

    @property
    def least(self) -> int:
        """The fewest ticks in a round."""
        return 1

    @abstractmethod
    def progressed(self, before: int) -> Iterator[AnyEvent]:
        """Close a round; ``before`` is the one before it. Writes the checkpoint."""

    @abstractmethod
    def checkpoint(self) -> str:
        """Write a checkpoint; its hash."""

    @abstractmethod
    def restore(self, digest: str) -> None:
        """Continue from a checkpoint. Raises ConfigError when it is another study's or has parts that this version does
        not know; StoreError when it is missing."""

    def remember(self) -> None:
        """At the end of a round, before the next one is played."""

    @property
    def learned_since(self) -> bool:
        """Whether anything was learned since the last checkpoint without a new decision."""
        return False

    def interrupted(self) -> Iterator[AnyEvent]:
        """Finish the round whose end a command interrupted."""
        return iter(())

    @property
    def finishing(self) -> bool:
        """Whether a command interrupted the end of a round."""
        return False

    def keep(self, command: Command) -> Iterator[AnyEvent]:
        """Checkpoint what was learned since the last round when a command comes, except where a synchronous study is to
        continue as if never interrupted: that one repeats the round."""
        since = self.steps - self.kept
        if not since and (self.waiting or not self.learned_since):
            return
        if not self.waiting:
            self.saved = self.checkpoint()
        elif command == "stop":
            begins = "whoever goes on from here begins before them, with the round."
            kept = f"What is left has learned from the {since:,} decisions since the last round, too; {begins}"
            yield self.say(Logged, message=kept)
        else:
            self.restore(self.saved)
            again = f"the {since:,} decisions since then are played again."
            yield self.say(Logged, message=f"In step a training goes on from its last round: {again}")

    def drive(self, samplers: SamplerPool) -> Generator[AnyEvent, None, Command]:
        """Train until all steps are done or the time is up. Returns the command that ended it early."""
        self._publish(samplers, self.active)
        self.curve.restart()
        self.throttle.restart()
        yield from self.interrupted()
        while not self.over:
            if command := self.control():
                return command
            if missing := sum(policy.need - len(policy.held) for policy in self.active.values()):
                for arrival in self._gathered(samplers, missing):
                    self.active[arrival.policy].hold(arrival, self.epoch)
            if reason := samplers.lost():
                self._lost(samplers, reason)
            elif batches := self._batches():
                yield from self._update(samplers, batches)
            yield from self.troubles(samplers)
            if self.throttle.due():
                yield self.say(Logged, message="")
        return self.control() if self.finishing else ""

    def _gathered(self, samplers: SamplerPool, missing: int) -> list[Arrival]:
        """The fragments that have arrived. If the pool dies after a command to end, that is no error: the command
        reached its actors, too."""
        try:
            return samplers.gather(_POLL_S, missing)
        except (ActorLost, Cancelled):
            if self.control():
                return []
            raise

    def _batches(self) -> dict[str, list[Arrival]]:
        """By policy, the fragments of the next update; in synchronous training, once all policies have theirs."""
        if self.waiting and any(len(policy.held) < policy.need for policy in self.active.values()):
            return {}
        found = {name: policy.batch() for name, policy in self.active.items()}
        return {name: batch for name, batch in found.items() if batch}

    def _update(self, samplers: SamplerPool, batches: dict[str, list[Arrival]]) -> Iterator[AnyEvent]:
        round_before, said = self.tick, []
        for name, batch in batches.items():
            before, policy = self.active[name].learner.steps, self.active[name]
            policy.learner.stopped = self.stopped
            policy.learn(batch)
            if policy.learner.cut:
                return
            if policy.learner.steps == before and policy.curve.totals["skipped"] == 1:
                said.append(nothing_to_learn(policy.curve.totals["updates"]))
        self.over = self.done() or self._time_is_up()
        self.losses = self.losses if self.waiting else 0
        tick = max(self.due(), self.tick + self.over)
        ended = tick > self.tick and (self.over or tick - self.tick >= self.least)
        if ended:
            self.tick = tick
            self.remember()
        if not self.over:
            self._publish(samplers, self.active if self.waiting or ended else batches)  # samplers play meanwhile
        for message in said:
            yield self.say(Logged, message=message)
        if ended:
            yield from self.progressed(round_before)

    def stored(self, policy: Policy) -> tuple[str, str]:
        """The hashes of a policy's weights and of its description."""
        description, tensors = policy.pack()
        return self.store.put(tensors), self.store.put(description)

    def _time_is_up(self) -> bool:
        limit = 60 * self.task.minutes
        return bool(limit) and self.curve.counters(self.steps).seconds >= limit

    def _publish(self, samplers: SamplerPool, names: Iterable[str]) -> None:
        for name in names:
            policy = self.active[name]
            learner, snapshots = policy.learner, tuple(policy.snapshots)
            samplers.publish(Weights(name, self.epoch, self.tick, learner.version, learner.publish(), snapshots))

    def _lost(self, samplers: SamplerPool, reason: str) -> None:
        """Handle a lost sampler. In synchronous training its battles cannot continue: go back to the last round."""
        self.losses += 1
        self.curve.lost += 1
        if self.losses >= STUBBORN * (1 if self.waiting else self.task.samplers):
            raise SimulatorError(
                f"{self.losses} samplers in a row were lost in round {self.tick + 1}, so the training ends. "
                f"The last one: {reason}."
            )
        if not self.waiting:
            return
        self.curve.go_back(lambda: self.restore(self.saved))
        self.epoch += 1
        self._publish(samplers, self.active)
