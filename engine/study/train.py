"""Training studies: samplers play, learners learn, and each round ends with a checkpoint.

Synchronous: every sampler waits for each version of the weights, and batches are assembled in the order of samplers, so
the curve does not depend on where they run. All battles restart at every round, so a study that continues from a
checkpoint equals one that was never interrupted; a lost sampler, or a pause, returns the training to the last round.
Asynchronous: batches are assembled as fragments arrive, fragments older than ``max_staleness`` updates are dropped, and
a lost sampler is replaced while the others play on.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator

from engine.arrays import Bundle
from engine.channel import Weights
from engine.config.train import TrainConfig
from engine.config.whole_episodes import enough_ended
from engine.errors import ActorLost, Cancelled, ConfigError, EngineError, SimulatorError
from engine.events import AnyEvent, Counters, Finished, Logged, Paused, Progressed, Started, Stopped
from engine.rl.collector import Arrival
from engine.rl.learner import Metrics, on_threads
from engine.rl.onnx import exported
from engine.rl.policy import Policy
from engine.rl.take_home import folders
from engine.store import Store
from engine.study import checkpoint
from engine.study.control import Command, Control
from engine.study.curve import nothing_to_learn, too_short
from engine.study.evaluation import Measured, evaluate
from engine.study.failures import not_begun, with_failure
from engine.study.learner_factory import make_learners
from engine.study.sampler_pool import SamplerPool, open_samplers
from engine.study.session import Session

_POLL_S = 0.2
_LAST = 1_000_000
"""The first seed of the last evaluation; evaluations during training never reach it."""
LONGEST = 10
"""A synchronous round whose length is not configured may become this many times longer until enough episodes ended."""
STUBBORN = 5
"""Samplers that may be lost without progress (synchronous: in one round) before the game is blamed."""


def train(config: TrainConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups``, for a training study."""
    return with_failure(_Train(config, store, control).events(resume))


class _Train(Session):
    def __init__(self, config: TrainConfig, store: Store, control: Control) -> None:
        super().__init__(store, control)
        self.config = config
        self.waiting = config.sampling == "synchronous"
        self.tick, self.epoch, self.losses = 0, 0, 0
        self.saved, self.kept = "", 0
        self.over = self.warned = False
        self.pending: Metrics = {}

    def events(self, resume: str) -> Iterator[AnyEvent]:
        config = self.config
        try:
            made = make_learners(config, self.store, begun=bool(resume), should_stop=self.stopped)
            self.policies, self.curve, self.longest = made
            if resume:
                self._restore(resume)
            opened = open_samplers(config, self.store, self.tick, should_stop=self.stopped)
        except Cancelled:
            yield not_begun(self.control, resume)
            return
        with on_threads(config.threads), opened as samplers:
            yield self.say(Started, workers=config.samplers, pool=config.pool.kind, ticks=config.ticks, battles=0,
                            resumed=bool(resume))  # fmt: skip
            self.saved = self.saved or self._checkpoint()
            try:
                command = yield from self._drive(samplers)
            except EngineError:
                yield from self.troubles(samplers)
                raise
        if command:
            yield from self._kept(command)
        if command == "pause":
            yield self.say(Paused, artifacts={"checkpoint": self.saved})
        elif command == "stop":
            yield self.say(
                Stopped, reason="Stopped by request.", artifacts=self._results(), summary=self.curve.summary(self.steps)
            )
        else:
            yield self.say(Finished, artifacts=self._results(), summary=self.curve.summary(self.steps))

    @property
    def steps(self) -> int:
        """Decisions learned from, of all policies."""
        return sum(policy.learner.steps for policy in self.policies.values())

    def _kept(self, command: Command) -> Iterator[AnyEvent]:
        """Checkpoint what was learned since the last round when a command comes, except where a synchronous study is to
        continue as if never interrupted: that one repeats the round."""
        since = self.steps - self.kept
        if not since:
            return
        if not self.waiting:
            self.saved = self._checkpoint()
        elif command == "stop":
            begins = f"whoever goes on begins {since:,} decisions earlier, with the round."
            yield self.say(Logged, message=f"The agent has learned from all of it; {begins}")
        else:
            self._restore(self.saved)
            again = f"the {since:,} decisions since then are played again."
            yield self.say(Logged, message=f"In step a training goes on from its last round: {again}")

    def _drive(self, samplers: SamplerPool) -> Generator[AnyEvent, None, Command]:
        """Train until all steps are done or the time is up. Returns the command that ended it early."""
        self._publish(samplers, self.policies)
        self.curve.restart()
        self.throttle.restart()
        if self.pending:
            yield from self._close_round(self.pending, due=True)
        while not self.over:
            if command := self.control():
                return command
            if missing := sum(policy.need - len(policy.held) for policy in self.policies.values()):
                for arrival in self._gathered(samplers, missing):
                    self.policies[arrival.policy].hold(arrival, self.epoch)
            if reason := samplers.lost():
                self._lost(samplers, reason)
            elif batches := self._batches():
                yield from self._update(samplers, batches)
            yield from self.troubles(samplers)
            if self.throttle.due():
                yield self.say(Logged, message="")
        return self.control() if self.pending else ""

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
        if self.waiting and any(len(policy.held) < policy.need for policy in self.policies.values()):
            return {}
        found = {name: policy.batch() for name, policy in self.policies.items()}
        return {name: batch for name, batch in found.items() if batch}

    def _update(self, samplers: SamplerPool, batches: dict[str, list[Arrival]]) -> Iterator[AnyEvent]:
        round_before, said = self.tick, []
        for name, batch in batches.items():
            before, policy = self.policies[name].learner.steps, self.policies[name]
            policy.learn(batch)
            if policy.learner.steps == before and policy.curve.totals["skipped"] == 1:
                said.append(nothing_to_learn(policy.curve.totals["updates"]))
        self.over = self.steps >= self.config.steps or self._time_is_up()
        self.losses = self.losses if self.waiting else 0
        tick = max(self.steps // self.config.every, self.tick + self.over)
        ended = tick > self.tick and (self.over or tick - self.tick >= self._least)
        if ended:
            self.tick = tick
            self._remember()
        if not self.over:
            self._publish(samplers, self.policies if self.waiting or ended else batches)  # samplers play meanwhile
        for message in said:
            yield self.say(Logged, message=message)
        if ended:
            yield from self._progressed(round_before)

    def _remember(self) -> None:
        """At the end of a round, make snapshots of the policies available as opponents in the next."""
        for policy in self.policies.values():
            if policy.kept:
                policy.snapshots.append(self._stored(policy.learner.policy())[1])

    def _stored(self, policy: Policy) -> tuple[str, str]:
        """The hashes of a policy's weights and of its description."""
        description, tensors = policy.pack()
        return self.store.put(tensors), self.store.put(description)

    @property
    def _least(self) -> int:
        """The fewest ticks in a round, at whose end synchronous training restarts all battles. That cuts episodes
        short, so where no round length is configured, a round lasts until each battle has ended a few, or LONGEST
        ticks."""
        if not self.waiting or self.config.checkpoint_every:
            return 1
        each = self.config.each // next(iter(self.config.learners.values())).fragment
        return 1 if enough_ended(self.curve.ended, each) else LONGEST

    def _time_is_up(self) -> bool:
        limit = 60 * self.config.minutes
        return bool(limit) and self.curve.counters(self.steps).seconds >= limit

    def _publish(self, samplers: SamplerPool, names: Iterable[str]) -> None:
        for name in names:
            policy = self.policies[name]
            learner, snapshots = policy.learner, tuple(policy.snapshots)
            samplers.publish(Weights(name, self.epoch, self.tick, learner.version, learner.publish(), snapshots))

    def _lost(self, samplers: SamplerPool, reason: str) -> None:
        """Handle a lost sampler. In synchronous training its battles cannot continue: go back to the last round."""
        self.losses += 1
        self.curve.lost += 1
        if self.losses >= STUBBORN * (1 if self.waiting else self.config.samplers):
            raise SimulatorError(
                f"{self.losses} samplers in a row were lost in round {self.tick + 1}, which the game does not get "
                f"through. The last one: {reason}."
            )
        if not self.waiting:
            return
        lost = self.curve.lost
        self._restore(self.saved)
        self.curve.lost = lost
        self.epoch += 1
        self._publish(samplers, self.policies)

    def _progressed(self, before: int) -> Iterator[AnyEvent]:
        """Close a round; ``before`` is the one before it. Evaluates the policies when that is due, and writes the
        checkpoint."""
        every = self.config.evaluate_every
        if self.waiting and not (self.curve.ended or self.warned):
            self.warned = True
            yield self.say(Logged, message=too_short(self.config, self.curve.steps, self.longest))
        metrics = self.curve.metrics()
        self.curve.restart()
        self.losses = 0
        due = self.over or (every > 0 and self.tick // every > before // every)
        yield from self._close_round(metrics, due)

    def _close_round(self, metrics: Metrics, due: bool) -> Iterator[AnyEvent]:
        """Report the round, after an evaluation where one is ``due``. If a command ends the evaluation early, the
        checkpoint holds the pending metrics, and the attempt that continues from it evaluates again."""
        self.pending = metrics if due else {}
        if due and not self._examine(self.over):
            self.saved = self._checkpoint()
            return
        metrics, self.pending = metrics | (self.curve.evaluations() if due else {}), {}
        artifacts: dict[str, str] = {}
        for name, policy in self.policies.items():
            tensors, description = self._stored(policy.learner.policy())
            artifacts |= {self._role("policy", name): tensors, self._role("policy_description", name): description}
        self.saved = artifacts["checkpoint"] = self._checkpoint()
        yield self.say(Progressed, metrics=metrics, artifacts=artifacts)
        self.throttle.restart()

    def _role(self, role: str, policy: str) -> str:
        """The role of a policy's artifact: the plain role where only one policy learns."""
        return role if len(self.policies) == 1 else f"{role}/{policy}"

    def _examine(self, last: bool) -> bool:
        """Evaluate the policies; False when a command interrupted it."""
        present = {name: policy.learner.policy() for name, policy in self.policies.items()}
        snapshots = {name: policy.snapshots for name, policy in self.policies.items()}
        measured = Measured(self.config, self.store, present, snapshots)
        found = evaluate(measured, _LAST if last else 0, self.control)
        for name, against in (found or {}).items():
            self.policies[name].curve.examined(against)
        return found is not None

    def _checkpoint(self) -> str:
        self.kept = self.steps
        parts = {"round": Bundle(self.curve.state() | {"over": self.over, "pending": self.pending}, {})}
        for policy in self.policies.values():
            parts |= policy.parts()
        return checkpoint.write(self.config, self.tick, parts, self.store)

    def _restore(self, digest: str) -> None:
        """Continue from a checkpoint. Raises ConfigError when it is another study's or has parts that this version does
        not know; StoreError when it is missing."""
        self.tick, parts = checkpoint.read(self.config, digest, self.store)
        told = parts.pop("round").meta
        for name, policy in self.policies.items():
            policy.load({key: parts.pop(key) for key in list(parts) if key.endswith(f"/{name}")})
        if parts:
            why = f"this checkpoint has parts that this study does not know: {', '.join(sorted(parts))}; start it anew"
            raise ConfigError([("resume", why)])
        self.curve.load(told)
        self.over, self.pending, self.saved, self.kept = told["over"], told["pending"], digest, self.steps

    def _results(self) -> dict[str, str]:
        kept: dict[str, str] = {}
        for name, policy in self.policies.items():
            now = policy.learner.policy()
            tensors, description = self._stored(now)
            found = {"policy": tensors, "policy_description": description, "onnx": self.store.put(exported(now))}
            if len(members := now.members()) > 1:
                found["members"] = self.store.put(folders(members))
            kept |= {self._role(role, name): digest for role, digest in found.items()}
        return kept | {"checkpoint": self.saved}

    def reached(self) -> tuple[int, Counters]:
        return self.tick, self.curve.counters(self.steps)
