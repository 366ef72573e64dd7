"""The agents of a study that mixes: one in a worker of its own, and how it is made."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import msgspec

from engine.channel import Frame, Subscriber
from engine.config.base import parse
from engine.config.gossip import GossipConfig
from engine.errors import ConfigError
from engine.mdp.interface import SeatSpec
from engine.mdp.vector import in_turns
from engine.peers import Member, Peers, View
from engine.problem import ShouldStop
from engine.rl.devices import on_threads
from engine.rl.factory import make_learner
from engine.rl.gossip_agent import Agent
from engine.rl.learner import Learner, State
from engine.runtime.channels import MAX_FRAME_BYTES
from engine.simulators import references
from engine.store import Store
from engine.stores import open_store
from engine.study import checkpoint
from engine.study.agent_wire import encode_member, encode_report
from engine.study.sampler_factory import at_once, seated

LIVES = 1_000
"""Beginnings reserved per round, where agents do not wait: each life of an agent plays battles of its own."""
REPORT_S = 0.5
"""Seconds between two reports within a round, at least."""
_WAIT_S = 0.2
_BESIDE_BYTES = 2**20  # of a report, beside what the agent has learned


class AgentOrder(msgspec.Struct, frozen=True):
    """The payload for an actor: the study, its store's address, the agent's number and its life."""

    config: dict[str, object]
    store: str
    number: int
    life: int


def name_of(number: int) -> str:
    """The name of an agent in checkpoints and metrics."""
    return f"agent-{number + 1}"


def learner_of(config: GossipConfig, seat: SeatSpec) -> Learner:
    """An agent's learner: all begin with the same parameters. Raises ConfigError at the setting that does not fit."""
    return make_learner(config.learner, seat, config.seed, max(1, config.steps // config.agents))


def check_size(config: GossipConfig, state: State) -> None:
    """Raises ConfigError where an agent in another process could not send what it has learned."""
    needed = sum(array.nbytes for array in state["learner"].arrays.values())
    if config.pool.kind == "ray" and needed + _BESIDE_BYTES > MAX_FRAME_BYTES:
        much, most = -(-needed // 2**20), MAX_FRAME_BYTES >> 20
        why = f"an agent has {much:,} MiB to send, and {most:,} can be; use fewer units"
        raise ConfigError([("learner.network", why)])


def make_agent(
    config: GossipConfig, store: Store, number: int, peers: Peers, should_stop: ShouldStop = lambda: False
) -> Agent:
    """Agent ``number`` with its game. Raises ConfigError, SimulatorError, and Cancelled once ``should_stop`` returns
    True."""
    game = seated(config.training, references.make(config.game, config.environments, should_stop))
    if in_turns(game):
        game.close()
        raise ConfigError([("game.name", "its seats take turns, and agents that mix play alone: choose another game")])
    made = at_once(config.training, game, store, number)
    (actor,) = made.actors.values()
    return Agent(number, config, learner_of(config, actor.model.spec.seat), made, peers)


def state_of(config: GossipConfig, store: Store, digest: str, number: int) -> State:
    """What an agent goes on from, of a checkpoint. Raises ConfigError and StoreError as ``checkpoint.read``."""
    end = f"/{name_of(number)}"
    parts = checkpoint.read(config, digest, store).parts
    return {name.removesuffix(end): part for name, part in parts.items() if name.endswith(end)}


def beginning_of(config: GossipConfig, view: View, life: int) -> int:
    """The number with which an agent's battles begin in a view."""
    return view.tick if config.waits else view.tick * LIVES + life


class Mixing:
    """Runs one agent until its process ends, in which it goes on from one checkpoint after the other.
    ``_went_beyond``: the view by which the agent had gone beyond its round, as it has told."""

    def __init__(self, agent: Agent, store: Store, life: int) -> None:
        self.agent, self.config, self.store, self.life = agent, agent.config, store, life
        self.me: Member = agent.peers.member(agent.config.agents)
        self._since = self._lives = self._went_beyond = 0
        self._report_at = 0.0

    def stream(self, subscriber: Subscriber, beat: Callable[[bool], None]) -> Iterator[list[Frame]]:
        """Play, learn and mix for ever, with one thread of torch."""
        self._subscriber, self._beat = subscriber, beat
        yield encode_member(self.me)
        with on_threads(1):
            while True:
                while not self._busy():
                    beat(True)
                    self._look(_WAIT_S)
                    yield []
                yield from self._iterate()

    def close(self) -> None:
        """Close its agent."""
        self.agent.close()

    def _busy(self) -> bool:
        """Whether there is something to do: always, except before the first view and at the end of a round in which
        agents wait for each other."""
        view = self.agent.view
        return view is not None and (not view.until or self.agent.learner.version < view.until)

    def _iterate(self) -> Iterator[list[Frame]]:
        """One iteration, unless a new epoch breaks it off; and a report when it is time."""
        agent, lives = self.agent, self._lives
        agent.act(lambda: self._beat(False))
        self._look(0.0)
        while lives == self._lives and not agent.mixed():
            self._beat(False)
            if self._is_beyond():
                yield encode_report(agent.report(whole=False))
            agent.wait(_WAIT_S)
            self._look(0.0)
        if lives != self._lives:
            return
        self._since += 1
        if whole := not self._busy() or self._since >= self.config.every:
            self._since = 0
        if whole or time.monotonic() >= self._report_at:
            self._report_at = time.monotonic() + REPORT_S
            yield encode_report(agent.report(whole=whole))

    def _is_beyond(self) -> bool:
        """Whether the round is to end before this update, and that has not been told since: neighbours which are there
        already would wait for the study to say that it ends later, and this agent for them."""
        view = self.agent.view
        if view is None or not view.until or self.agent.learner.version <= view.until:
            return False
        before, self._went_beyond = self._went_beyond, view.number
        return before != view.number

    def _look(self, timeout_s: float) -> None:
        """Follow a newer view, if one has come that this agent is in."""
        frame = self._subscriber.newest(timeout_s)
        if frame is None:
            return
        view, now = View.decode(frame), self.agent.view
        if view.member(self.agent.number) != self.me or (now is not None and view.number <= now.number):
            return
        if now is None or view.epoch != now.epoch:
            # Who takes the place of one that was lost may come while the others are asked how they are: it tells, too.
            self._since, self._lives = 0 if self.config.waits else self.config.every, self._lives + 1
            state = state_of(self.config, self.store, view.checkpoint, self.agent.number)
            self.agent.follow(view, state, beginning_of(self.config, view, self.life))
        elif view.until and view.tick != now.tick:
            self.agent.follow(view, beginning=beginning_of(self.config, view, self.life))
        else:
            if view.tick != now.tick:
                self._since = self.config.every  # a round ends: how it is now is wanted with the next iteration
            self.agent.follow(view)


def build(payload: bytes) -> Mixing:
    """The agent of an actor."""
    from engine.runtime.zmq_peers import ZmqPeers  # a local study does not load ZeroMQ

    order = msgspec.json.decode(payload, type=AgentOrder)
    config, store = parse(GossipConfig, order.config), open_store(order.store)
    return Mixing(make_agent(config, store, order.number, ZmqPeers(order.number)), store, order.life)
