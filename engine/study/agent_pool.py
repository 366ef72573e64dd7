"""The agents of a study that mixes: in this process, or in actors that are linked to each other."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

from engine.catalog import SAMPLERS
from engine.config.gossip import GossipConfig
from engine.peers import VIEW, Member, PeersHere, View
from engine.problem import ShouldStop
from engine.rl.gossip_agent import Agent, Report
from engine.runtime.outcomes import Trouble
from engine.store import Store
from engine.study.agent_wire import decode
from engine.study.gossip_agents import AgentOrder, beginning_of, make_agent, state_of
from engine.study.pools import LocalWorkers, RemoteWorkers, workers

if TYPE_CHECKING:
    from engine.runtime.supervisor import Supervisor

BOUND = 8
"""Messages of an agent that may wait for the driver."""


class Direction(NamedTuple):
    """What all agents are to do; as in ``engine.peers.View``."""

    epoch: int
    tick: int
    until: int
    checkpoint: str


class AgentPool(AbstractContextManager["AgentPool"], Protocol):
    """Agents of one study. Use it as a context manager, or call ``close``."""

    def direct(self, direction: Direction) -> None:
        """Tell all agents what to do, without waiting for them."""
        ...

    def gather(self, timeout_s: float) -> list[Report]:
        """Reports that have arrived; waits up to ``timeout_s`` for the first. Raises SimulatorError, ConfigError or
        EngineError when an agent cannot go on, ActorLost when the cluster is gone (a new attempt can continue)."""
        ...

    def listen(self) -> list[Report]:
        """As ``gather``, of agents that go on by themselves while this process does something else; nobody waits."""
        ...

    @property
    def present(self) -> Collection[int]:
        """The numbers of the agents that are there."""
        ...

    def lost(self) -> str:
        """Why an agent was lost since the last call, empty when none was; another one takes its place."""
        ...

    def incidents(self) -> list[Trouble]:
        """The incidents since the last call."""
        ...

    def close(self) -> None:
        """End all agents and leave nothing behind. Safe to call twice."""
        ...


class LocalAgents(LocalWorkers):
    """Agents that take turns in this process. Those that do not wait for each other mix when it is their turn, so the
    same study gives the same numbers."""

    def __init__(self, config: GossipConfig, store: Store, should_stop: ShouldStop = lambda: False) -> None:
        self._config, self._store, self._views = config, store, 0
        self._asked = False  # how they are at the next update
        board: dict[int, PeersHere] = {}
        self.agents: list[Agent] = []
        for i in range(config.agents):
            self.agents.append(make_agent(config, store, i, PeersHere(i, board), should_stop))
        self._members = tuple(agent.peers.member(config.agents) for agent in self.agents)

    def direct(self, direction: Direction) -> None:
        """As ``AgentPool``."""
        self._views += 1
        view = View(self._views, *direction, self._members)
        before = self.agents[0].view
        self._asked = self._asked or (not self._config.waits and before is not None and before.tick != view.tick)
        for agent in self.agents:
            back = agent.view is None or agent.view.epoch != view.epoch
            state = state_of(self._config, self._store, view.checkpoint, agent.number) if back else None
            beginning = beginning_of(self._config, view, 0) if back or view.until else None
            agent.follow(view, state, beginning)

    def gather(self, timeout_s: float) -> list[Report]:
        """One iteration of all; their reports at the end of a round. Not interrupted by ``timeout_s``, but by a stop if
        an external program plays. Raises Cancelled."""
        if not self._views:
            return []
        pending = self.agents
        if self._config.waits:
            for agent in pending:
                agent.act()
            while pending:
                pending = [agent for agent in pending if not agent.mixed()]
        else:
            for agent in pending:
                agent.act()
                agent.mixed()
        made, view = self.agents[0].learner.version, self.agents[0].view
        assert view is not None
        ends = made >= view.until if view.until else self._asked or made % self._config.every == 0
        whole, self._asked = ends or made >= self._config.updates, False
        return [agent.report(whole=whole) for agent in self.agents]

    def listen(self) -> list[Report]:
        """None: they go on in ``gather`` alone."""
        return []

    @property
    def present(self) -> Collection[int]:
        """As ``AgentPool``."""
        return range(self._config.agents)

    def close(self) -> None:
        """Close the games."""
        for agent in self.agents:
            agent.close()


class RemoteAgents(RemoteWorkers):
    """Agents in actors. The first view waits for all of them, and so does one of another epoch where they wait for each
    other; elsewhere those that are there close their ranks round one that is lost."""

    def __init__(self, workers: Supervisor, config: GossipConfig) -> None:
        super().__init__(workers)
        self._config = config
        self._here: dict[int, Member] = {}
        self._direction: Direction | None = None
        self._views, self._begun, self._stale = 0, False, True

    def direct(self, direction: Direction) -> None:
        """As ``AgentPool``."""
        self._direction, self._stale = direction, True
        self._show()

    def gather(self, timeout_s: float) -> list[Report]:
        """As ``AgentPool``."""
        found = []
        for one in self._workers.gather(timeout_s):
            message = decode(one.worker, one.frames)
            if isinstance(message, Report):
                found.append(message)
            else:
                self._here[message.number], self._stale = message, True
        for gone in self._here.keys() - self._workers.working:
            del self._here[gone]
            self._stale = True
        self._show()
        return found

    def listen(self) -> list[Report]:
        """As ``AgentPool``."""
        return self.gather(0.0)

    @property
    def present(self) -> Collection[int]:
        """As ``AgentPool``."""
        return self._here.keys()

    def _show(self) -> None:
        """Publish who is there, if that has changed and they can go on."""
        everybody = len(self._here) == self._config.agents
        if self._direction is None or not self._stale or not self._here:
            return
        if everybody or (self._begun and not self._config.waits):
            self._views, self._begun, self._stale = self._views + 1, True, False
            self._workers.publish(View(self._views, *self._direction, tuple(self._here.values())).encode())


def open_agents(
    config: GossipConfig, store: Store, allowed: tuple[str, ...] = ("engine.",),
    should_stop: ShouldStop = lambda: False,
) -> AgentPool:  # fmt: skip
    """The agents of a study. Raises ConfigError, SimulatorError when a game cannot be made here, Cancelled, ActorLost
    when there is no Ray at the address."""
    if config.pool.kind == "local":
        return LocalAgents(config, store, should_stop)

    def payload(number: int, life: int) -> bytes:
        return msgspec.json.encode(AgentOrder(config.model_dump(mode="json"), store.address, number, life))

    apart = workers(
        config.pool, SAMPLERS["gossip"], payload, config.agents, title="Agent", policies=(VIEW,), bound=BOUND,
        together=True, should_stop=should_stop, allowed=allowed,
    )  # fmt: skip
    return RemoteAgents(apart, config)
