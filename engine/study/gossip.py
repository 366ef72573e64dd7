"""Training studies whose agents learn side by side and mix: each round ends with a checkpoint of all of them.

Where agents wait for each other (τ = 0), all of them are at the same update at the end of a round and begin their
battles afresh, so a study that goes on from a checkpoint ends with the same parameters as one that was never
interrupted; when an agent is lost, all go back to the last round. Elsewhere a round is over once the agents have made
so many updates in all, and each has told how it is then; an agent that is lost is replaced, goes on from the last
checkpoint, and meanwhile the others close their ranks. The study's policy has the mean of the agents' parameters.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Generator, Iterator

import numpy as np

from engine.arrays import Bundle, pack
from engine.config.gossip import GossipConfig
from engine.config.policies import AGENT
from engine.errors import ActorLost, Cancelled, EngineError, SimulatorError
from engine.events import AnyEvent, Counters, Finished, Logged, Paused, Progressed, Started, Stopped
from engine.mdp.interface import SeatSpec
from engine.rl.devices import on_threads
from engine.rl.gossip_agent import Report
from engine.rl.learner import Metrics, State
from engine.rl.onnx import exported
from engine.rl.policy import Policy
from engine.simulators import references
from engine.store import Store
from engine.study import checkpoint
from engine.study.agent_pool import AgentPool, open_agents
from engine.study.control import Command, Control
from engine.study.curve import time_is_up, too_short
from engine.study.evaluation import LAST, MeasuredPolicies, evaluate
from engine.study.failures import not_begun, with_failure
from engine.study.gossip_agents import check_size, learner_of, name_of
from engine.study.gossip_curve import GossipCurve
from engine.study.gossip_rounds import PATIENCE_S, Rounds, slowdown, what_is_left
from engine.study.learner_factory import begin_with
from engine.study.sampler_factory import seated
from engine.study.session import Session

_POLL_S = 0.2
STUBBORN = 5
"""Agents that may be lost in a round before the game is blamed."""


def gossip(config: GossipConfig, store: Store, resume: str, control: Control) -> Iterator[AnyEvent]:
    """As ``engine.study.lineups.run``, for agents that learn side by side."""
    return with_failure(_Gossip(config, store, control).events(resume))


class _Gossip(Session):
    """``reported``: the last round of which an event told; ``states``: of the agents, as each told it last;
    ``versions``: their updates, as they told them last; ``rounds``: where rounds end; ``heard``: what agents told
    during an evaluation, and ``broken``: why they went on no longer. ``unnamed``: checkpoints that views name and
    events do not; ``kept``: decisions learned from in the last one, and ``forgone``: those that no state has."""

    def __init__(self, config: GossipConfig, store: Store, control: Control) -> None:
        super().__init__(store, control)
        self.config, self.training = config, config.training
        self.tick = self.reported = self.epoch = self.losses = self.kept = 0
        self.late = self.ended = False  # its minutes are over; and its last round is closed
        self.longest, self.warned = 0, False
        self.saved = ""
        self.pending: Metrics | None = None
        self.versions: list[int] = []
        self.rounds, self.forgone = Rounds(config), 0
        self.heard: list[Report] = []
        self.broken: EngineError | None = None
        self.unnamed: list[str] = []

    def events(self, resume: str) -> Iterator[AnyEvent]:
        config = self.config
        try:
            self._prepare(begun=bool(resume))
            if resume:
                self._restore(resume)
            opened = open_agents(config, self.store, should_stop=self.stopped)
        except Cancelled:
            yield not_begun(self.control, resume)
            return
        with on_threads(1), opened as agents:
            processes = config.pool.processes(config.agents)
            yield self.say(Started, workers=processes, pool=config.pool.kind, ticks=config.ticks, battles=0,
                            resumed=bool(resume))  # fmt: skip
            here = not config.pool.address  # how many processors another Ray has is not known
            used = 1 if config.pool.kind == "local" else len(os.sched_getaffinity(0))  # there they take turns
            if here and (crowded := slowdown(config.agents, used)):
                yield self.say(Logged, message=crowded)
            if not self.saved:
                self.saved = self._checkpoint()
                self.unnamed = [self.saved]
            try:
                command = yield from self._drive(agents)
            except EngineError:
                yield from self.troubles(agents)
                raise
        yield from self._ended(command)

    def reached(self) -> tuple[int, Counters]:
        return self.reported, self.curve.counters(self.steps)

    @property
    def steps(self) -> int:
        """Decisions learned from, of all agents."""
        return sum(self.learned)

    @property
    def updates(self) -> int:
        """Updates in the agents' states, of all of them."""
        return sum(self._stored_versions())

    @property
    def over(self) -> bool:
        """Whether all updates are made, or the time is up."""
        return self.late or self.updates >= self.config.updates * self.config.agents

    def _look_at_the_clock(self) -> None:
        limit = 60 * self.config.minutes
        begun = bool(limit) and min(self.versions) > 0  # processes may take longer than that to come up
        self.late = self.late or (begun and self.curve.counters(self.steps).seconds >= limit)

    def _prepare(self, *, begun: bool) -> None:
        """Everything as it begins: all agents with the same parameters."""
        with contextlib.closing(references.make(self.config.game, 1, self.stopped)) as game:
            spec = seated(self.training, game).spec
            self.seat: SeatSpec = spec.seats[0]
            self.longest = spec.max_ticks
            self.learner = learner_of(self.config, self.seat)
            if not begun:
                begin_with(self.learner, "start", self.config.start, self.store)
                references.begin(game, self.config.seed)
        self.states: list[State] = [self.learner.state() for _ in range(self.config.agents)]
        check_size(self.config, self.states[0])
        self.learned, self.versions = [0] * self.config.agents, self._stored_versions()
        self.curve = GossipCurve(self.config, self.seat, self.longest)

    def _drive(self, agents: AgentPool) -> Generator[AnyEvent, None, Command]:
        """Train until all updates are made. Returns the command that ended it early."""
        self._direct(agents)
        self.curve.restart()
        self.throttle.restart()
        if self.pending is not None:
            yield from self._close_round(agents, self.pending, due=True)
        while self.pending is None and not self.ended:
            if command := self.control():
                self._last_states(agents, command)
                return command
            for report in self._gathered(agents):
                if again := self._take(report):
                    yield self.say(Logged, message=again)
            self._look_at_the_clock()
            if self.late and self.config.waits:
                self._hurry(agents)
            if reason := agents.lost():
                self._lost(agents, reason)
            elif self._round_is_over(agents):
                yield from self._progressed(agents)
            yield from self.troubles(agents)
            if self.throttle.due():
                yield self.say(Logged, message="")
        return self.control() if self.pending is not None else ""

    def _gathered(self, agents: AgentPool) -> list[Report]:
        """The reports that have arrived. If the pool dies after a command to end, that is no error: the command reached
        its actors, too."""
        try:
            if self.broken is not None:
                raise self.broken
            heard, self.heard = self.heard, []
            return heard or agents.gather(_POLL_S)
        except (ActorLost, Cancelled):
            if self.control():
                return []
            raise

    def _listen(self, agents: AgentPool) -> None:
        """Keep for the next round what agents tell during an evaluation, so that none waits for this process, and one
        that is lost is replaced. Of an agent's states the newest is enough."""
        if self.over or self.broken is not None:
            return
        try:
            news = agents.listen()
        except EngineError as error:
            self.broken = error
            return
        newer = {report.number for report in news if report.state is not None}
        self.heard = [one._replace(state=None) if one.number in newer else one for one in self.heard] + news

    def _take(self, report: Report) -> str:
        """Record a report, unless its agent had not gone back yet with all others. Returns what to tell of an agent
        that was lost: the decisions that it had learned from since the checkpoint do not count."""
        if report.epoch != self.epoch:
            return ""
        i = report.number
        lost = self.learned[i] - report.steps
        self.curve.reported(report, max(0, report.steps - self.learned[i]))
        self.learned[i], self.versions[i] = report.steps, report.version
        if report.state is not None:
            self.states[i] = report.state
            self.rounds.awaited.discard(i)
        if lost <= 0:
            return ""
        return f"Agent {i + 1} goes on from the last round: {lost:,} decisions that it had learned from are lost."

    def _stored_versions(self) -> list[int]:
        """The updates of the agents in their states."""
        return [int(state["learner"].meta["version"]) for state in self.states]

    def _round_is_over(self, agents: AgentPool) -> bool:
        """Where agents wait for each other, once all have made the round's updates. Elsewhere once they have made so
        many together and each has told its state since: states of other times would lie further apart than the agents
        ever did, and a slow one's would be as it began. After the last round, however slow one is, nothing follows in
        which it could tell more."""
        if self.config.waits:
            return self._together
        due = self.config.updates_after(self.tick + 1) * self.config.agents
        if not (sum(self.versions) >= due or self.late):
            return False
        if self._stored_versions() == self.versions:
            return True
        self._hurry(agents)
        last = self.late or sum(self.versions) >= self.config.updates * self.config.agents
        return self.rounds.answered(agents) or (not last and time.monotonic() >= self.rounds.deadline)

    def _last_states(self, agents: AgentPool, command: Command) -> None:
        """After a command, have agents tell what they have learned since the last round, if that is not repeated: a
        study in which they wait for each other goes on from a pause as if it had never been interrupted."""
        waits = self.config.waits
        if waits and command == "pause":
            return
        deadline = time.monotonic() + PATIENCE_S
        with contextlib.suppress(ActorLost, Cancelled):
            while time.monotonic() < deadline and not agents.lost():
                self._hurry(agents)
                for report in agents.gather(_POLL_S):
                    self._take(report)
                if self._together if waits else self.rounds.answered(agents):
                    break
        if not waits:
            self.saved = self._checkpoint()
        elif not self._together:  # at different updates they are no agents of one study
            played = self.steps
            self._restore(self.saved)
            self.forgone = played - self.steps

    def _hurry(self, agents: AgentPool) -> None:
        """Have agents come to the end of the round, or tell how they are."""
        if self.config.waits:
            self.rounds.cut_short(agents, self.epoch, self.tick, self.saved, self.versions)
        else:
            self.rounds.ask(agents, self.epoch, self.tick, self.saved)

    @property
    def _together(self) -> bool:
        """Whether agents that wait for each other have told how they are at the end of the round."""
        return all(version == self.rounds.until for version in self._stored_versions())

    def _direct(self, agents: AgentPool) -> None:
        self.rounds.direct(agents, self.epoch, self.tick, self.saved)

    def _lost(self, agents: AgentPool, reason: str) -> None:
        """Handle a lost agent. Where agents wait for each other, all go back to the last round."""
        self.losses += 1
        self.curve.lost += 1
        if self.losses >= STUBBORN * (1 if self.config.waits else self.config.agents):
            raise SimulatorError(
                f"{self.losses} agents were lost in round {self.tick + 1}, so the training ends. The last one: "
                f"{reason}."
            )
        if not self.config.waits:
            return
        self.curve.go_back(lambda: self._restore(self.saved))
        self.epoch += 1
        self._direct(agents)

    def _progressed(self, agents: AgentPool) -> Iterator[AnyEvent]:
        """Close a round: the agents go on with the next one while this process writes and evaluates."""
        before, every, self.losses = self.tick, self.config.evaluate_every, 0
        self.tick, self.ended = self._rounds(), self.over
        self.curve.closed([state["learner"].arrays["weights"] for state in self.states])
        self.curve.without_lost(agents.present)
        metrics, links = self.curve.metrics(), self.curve.table()
        if self.config.waits and not (self.curve.ended or self.warned):
            self.warned = True
            yield self.say(Logged, message=too_short(self.training, self.curve.steps, self.longest, "agents"))
        self.curve.restart()
        self.links = self.store.put(pack({"topology": self.config.topology}, links))
        self.saved, self.kept = self._checkpoint(), self.steps
        if not self.over:
            self._direct(agents)
        self._forget_unnamed([self.saved])
        due = self.over or (every > 0 and self.tick // every > before // every)
        yield from self._close_round(agents, metrics, due)

    def _rounds(self) -> int:
        """Rounds whose updates are made: of agents that do not wait, several may be over since the last look."""
        config, rounds = self.config, self.tick + 1
        if self.updates >= config.updates * config.agents:
            return config.ticks
        while not config.waits and self.updates >= config.updates_after(rounds + 1) * config.agents:
            rounds += 1
        return rounds

    def _close_round(self, agents: AgentPool, metrics: Metrics, due: bool) -> Iterator[AnyEvent]:
        """Report the round, after an evaluation where one is ``due``. If a command ends the evaluation early, the
        checkpoint holds the pending metrics, and the attempt that continues from it evaluates again."""
        self.pending = metrics if due else None
        if due and not self._examine(agents):
            self.saved = self._checkpoint()
            return
        self.pending, self.reported = None, self.tick
        if due:
            metrics = metrics | self.curve.evaluations()
            self.saved = self._checkpoint()
        else:
            self.unnamed = []
        tensors, description = self._stored()
        artifacts = {"policy": tensors, "policy_description": description, "checkpoint": self.saved}
        yield self.say(Progressed, metrics=metrics, artifacts=artifacts | {"table": self.links})
        self.throttle.restart()

    def _forget_unnamed(self, now: list[str]) -> None:
        """Remove checkpoints that neither an event nor a view names any more; ``now``: those that no event names
        yet."""
        self.store.discard([digest for digest in self.unnamed if digest != self.saved])
        self.unnamed = now

    def _examine(self, agents: AgentPool) -> bool:
        """Evaluate the study's policy while agents go on; False when a command interrupted it."""
        measured = MeasuredPolicies(self.training, self.store, {AGENT: self._policy()}, {})
        found = evaluate(measured, LAST if self.over else 0, self.control, lambda: self._listen(agents))
        if found is not None:
            self.curve.whole.examined(found[AGENT])
        return found is not None

    def _policy(self) -> Policy:
        """The policy with the mean of the agents' parameters."""
        each = np.stack([state["learner"].arrays["weights"] for state in self.states]).astype(np.float64)
        weights = each.mean(axis=0).astype(np.float32)
        return Policy(self.learner.policy().spec, weights, self.updates // self.config.agents)

    def _stored(self) -> tuple[str, str]:
        description, tensors = self._policy().pack()
        return self.store.put(tensors), self.store.put(description)

    def _ended(self, command: Command) -> Iterator[AnyEvent]:
        """The last events. Of what agents did not tell, a study that goes on plays all again."""
        if not command and self.updates < self.config.updates * self.config.agents:
            yield self.say(Logged, message=time_is_up(self.steps, self.config.steps))
        self._forget_unnamed([])
        missing = self.forgone + self.steps - sum(int(state["learner"].meta["steps"]) for state in self.states)
        left = what_is_left(self.config.waits, command, missing, self.steps - self.kept)
        if command and self.pending is None and left:
            yield self.say(Logged, message=left)
        if command == "pause":
            yield self.say(Paused, artifacts={"checkpoint": self.saved})
            return
        kind, more = (Stopped, {"reason": "Stopped by request."}) if command else (Finished, {})
        yield self.say(kind, artifacts=self._results(), summary=self.curve.summary(self.steps), **more)

    def _results(self) -> dict[str, str]:
        tensors, description = self._stored()
        kept = {"policy": tensors, "policy_description": description, "checkpoint": self.saved}
        return kept | {"onnx": self.store.put(exported(self._policy()))} | ({"table": self.links} if self.links else {})

    links = ""

    def _checkpoint(self) -> str:
        round_ = self.curve.state() | {"pending": self.pending, "links": self.links, "learned": self.learned}
        if self.pending is not None:
            round_["reported"] = self.reported
        if self.ended:
            round_["ended"] = True
        parts = {"round": Bundle(round_, {})}
        for i, state in enumerate(self.states):
            parts |= {f"{part}/{name_of(i)}": bundle for part, bundle in state.items()}
        return checkpoint.write(self.config, self.tick, parts, self.store)

    def _restore(self, digest: str) -> None:
        """Continue from a checkpoint. Raises ConfigError when it is another study's, StoreError when it is missing."""
        self.tick, parts = checkpoint.read(self.config, digest, self.store)
        meta = parts["round"].meta
        for i in range(self.config.agents):
            end = f"/{name_of(i)}"
            self.states[i] = {name.removesuffix(end): part for name, part in parts.items() if name.endswith(end)}
        self.learned = [int(state["learner"].meta["steps"]) for state in self.states]
        self.kept = self.steps
        self.versions = self._stored_versions()
        self.curve.load(meta)
        self.late = self.ended = meta.get("ended", False)
        self.pending, self.links, self.saved = meta["pending"], meta["links"], digest
        self.reported = meta.get("reported", self.tick)
