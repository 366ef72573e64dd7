"""An agent that learns by itself and mixes with its neighbours (GALA: Assran et al. 2019, algorithm 1; PALA: Sun et al.
2023, algorithm 2).

Each iteration of v_i: n-step A2C on its own battles gives x_i; send x_i to N_out; where a message m_j of every j in
N_in is there, x_i ← p_ii x_i + Σ_j p_ij m_j (``engine.rl.gossip``). Only parameters are mixed, never the optimiser's
averages. τ, the staleness, is how many iterations in a row an agent may end without mixing. τ = 0 keeps PALA's order:
the message of iteration k leaves once the one before was read, and v_i mixes the messages of iteration k and no others.
τ = ∞ is GALA: who has no room is sent nothing, and who has not heard from everybody goes on.

Departures: 1. a wait is a poll of sockets, where PALA asks a broker in a loop; there is no broker. 2. GALA writes once
for all its out-neighbours, and not before all of them have read; here each link has room of its own, and a link that
gets room while v_i waits is sent x_i at once, so no two agents can wait for each other. 3. ``ordered`` false is the
papers' ablation: v_i mixes in each iteration with the last message of each neighbour that has ever sent one, new or
not. 4. Returns are those of n steps where the learner's ``trace`` λ is 1, as in the papers; where it is less, as in the
settings tuned for Pong (0.95), they are λ-returns that end after n steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.channel import Weights, decode_weights, encode_weights
from engine.config.gossip import GossipConfig
from engine.config.policies import AGENT
from engine.errors import EngineError
from engine.mdp.trajectory import Trajectory, join
from engine.peers import Peers, View
from engine.rl.gossip import combined, mixing, neighbours
from engine.rl.learner import Learner, Metrics, State
from engine.rl.sampler import Episode, Sampler

F32 = NDArray[np.float32]


TIMES = ("sampling_seconds", "learning_seconds", "acting_seconds", "waiting_seconds")
"""Of an agent: processor time of playing and of learning, and time by the clock in which it did both and in which it
waited."""


class Link(NamedTuple):
    """What an agent last took from a neighbour: ``age``, its own updates since; ``behind``: by how many updates the
    neighbour's message was older than its own parameters (negative: newer)."""

    sender: int
    age: int
    behind: int


class Report(NamedTuple):
    """What agent ``number`` did since its last report: its ``version`` now and the decisions it learned from in all,
    ``norms`` of its own steps ‖α G_i‖ and its metrics at each update, ended episodes, seconds by what they went into,
    and its links. ``state``: everything it needs to go on, at the end of a round."""

    number: int
    epoch: int
    version: int
    steps: int
    norms: list[float]
    metrics: list[Metrics]
    episodes: list[Episode]
    seconds: Metrics
    links: list[Link]
    state: State | None = None


class Agent:
    """v_i with its learner, its battles and its links."""

    def __init__(self, number: int, config: GossipConfig, learner: Learner, sampler: Sampler, peers: Peers) -> None:
        self.number, self.config, self.learner, self.sampler, self.peers = number, config, learner, sampler, peers
        self.view: View | None = None
        self._row: dict[int, float] = {}
        self._takes: tuple[int, ...] = ()
        self._sends: tuple[int, ...] = ()
        self._unsent: list[int] = []
        self._last: dict[int, Weights] = {}
        self._links: dict[int, Link] = {}
        self._skipped, self._took = 0, True
        self._message = memoryview(b"")
        self._rest()

    def follow(self, view: View, state: State | None = None, beginning: int | None = None) -> None:
        """Take its place in a view; go on from ``state``; begin its battles with this number."""
        if state is not None:
            self.learner.load(state)
            self._last, self._links, self._skipped, self._took = {}, {}, 0, True
            self._rest()
        if beginning is not None:
            self.sampler.finished()
            self.sampler.begin(beginning)
        topology, there = self.config.topology, view.numbers
        i, N_in, P = there.index(self.number), neighbours(topology, len(there)), mixing(topology, len(there))
        self._takes = tuple(there[j] for j in N_in[i])
        self._row = {there[j]: float(P[i, j]) for j in (i, *N_in[i])}
        sends = tuple(there[j] for j in range(len(there)) if i in N_in[j])
        self._unsent = [to for to in sends if to in self._unsent or not (self._took or to in self._sends)]
        self._sends, self.view = sends, view
        self._links = {j: self._links.get(j, Link(j, 0, 0)) for j in self._takes}
        self.peers.link(view, self._takes, sends)

    def act(self, before: Callable[[], None] | None = None) -> None:
        """Play and learn once; ``before``: called before each decision."""
        learner, view = self.learner, self.view
        assert view is not None
        x, set_out = learner.publish(), time.monotonic()
        self.sampler.load(Weights(AGENT, view.epoch, view.tick, learner.version, x))
        began = time.process_time()
        fragments: list[Trajectory] = [self.sampler.sample(before)[AGENT] for _ in range(self.config.fragments)]
        played = time.process_time()
        self._metrics.append(learner.update(join(fragments)))
        self._seconds["sampling_seconds"] += played - began
        self._seconds["learning_seconds"] += time.process_time() - played
        self._episodes += self.sampler.finished()
        mine = learner.publish()
        self._norms.append(float(np.linalg.norm(mine["actor"].astype(np.float64) - x["actor"])))
        self._message = encode_weights(Weights(AGENT, view.epoch, view.tick, learner.version, mine))
        self._unsent, self._took = list(self._sends), False
        self._seconds["acting_seconds"] += time.monotonic() - set_out

    def mixed(self) -> bool:
        """Send and mix as far as that is possible now; whether the iteration is over."""
        self._unsent = [to for to in self._unsent if not self.peers.post(to, self._message)]
        self._took = self._took or self._take()
        tau = self.config.staleness
        if self._took:
            self._skipped = 0
            return tau != 0 or not self._unsent
        if tau is not None and self._skipped >= tau:
            return False
        self._skipped += 1
        self._links = {j: link._replace(age=link.age + 1) for j, link in self._links.items()}
        return True

    def wait(self, timeout_s: float) -> None:
        """Wait until the iteration may go on."""
        began = time.monotonic()
        self.peers.wait(timeout_s)
        self._seconds["waiting_seconds"] += time.monotonic() - began

    def report(self, *, whole: bool) -> Report:
        """What it did since the last one; ``whole``: with its state."""
        assert self.view is not None
        found = Report(
            self.number, self.view.epoch, self.learner.version, self.learner.steps, self._norms, self._metrics,
            self._episodes, self._seconds, list(self._links.values()), self.learner.state() if whole else None,
        )  # fmt: skip
        self._rest()
        return found

    def close(self) -> None:
        """Close its game and its links."""
        self.sampler.close()
        self.peers.close()

    def _rest(self) -> None:
        self._norms: list[float] = []
        self._metrics: list[Metrics] = []
        self._episodes: list[Episode] = []
        self._seconds = dict.fromkeys(TIMES, 0.0)

    def _take(self) -> bool:
        """Mix, if the neighbours' messages are there."""
        unread = tuple(self.peers.unread())
        if not self.config.ordered:
            self._last |= {j: decode_weights(self.peers.read(j)) for j in unread}
            self._links = {j: link._replace(age=link.age + 1) for j, link in self._links.items()}
            self._mix({j: m for j, m in self._last.items() if j in self._row})
            return True
        if len(unread) < len(self._takes):
            return False
        self._mix({j: decode_weights(self.peers.read(j)) for j in self._takes})
        return True

    def _mix(self, messages: Mapping[int, Weights]) -> None:
        """x_i ← p_ii x_i + Σ_j p_ij m_j; the weight of who has sent nothing yet stays with v_i."""
        now = self.learner.version
        for j, m in messages.items():
            if self.config.waits and m.version != now:
                raise EngineError(f"Agent {self.number + 1} was sent update {m.version} by {j + 1} and needs {now}.")
            self._links[j] = Link(j, 0, now - m.version)
        row = {j: self._row[j] for j in messages}
        row[self.number] = 1.0 - sum(row.values()) if len(row) < len(self._takes) else self._row[self.number]
        x = {j: m.vectors["actor"] for j, m in messages.items()} | {self.number: self.learner.publish()["actor"]}
        self.learner.mix({"actor": combined(row, x)}, 1.0)
