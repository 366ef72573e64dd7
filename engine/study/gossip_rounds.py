"""Where the rounds of agents that mix end: after so many updates, or sooner, where time is up or a command has come."""

from __future__ import annotations

import time
from collections.abc import Sequence

from engine.config.gossip import GossipConfig
from engine.study.agent_pool import AgentPool, Direction
from engine.study.control import Command

PATIENCE_S = 10.0
"""Seconds in which agents tell how they are: at the end of a round those that do not wait for each other, and after a
command all of them."""
HEARD_S = 1.5
"""Seconds after which agents have heard where a round ends that is cut short, and the study how far they were."""


class Rounds:
    """``until``: updates of each agent at the end of the round where they wait for each other, and ``beyond``: by how
    many that lies beyond the furthest one in a round that is cut short (0: it is not), which began ``set_out``.
    ``asked``: the tick at whose end agents that do not wait were asked for their states, ``awaited``: who has not
    answered, until ``deadline``."""

    def __init__(self, config: GossipConfig) -> None:
        self.config = config
        self.until = self.beyond = self.asked = 0
        self.set_out = self.deadline = 0.0
        self.awaited = set[int]()

    def direct(self, agents: AgentPool, epoch: int, tick: int, saved: str) -> None:
        """Have agents go on in the round after ``tick``."""
        self.until, self.beyond = self.config.updates_after(tick + 1) if self.config.waits else 0, 0
        self.set_out = time.monotonic()
        agents.direct(Direction(epoch, tick, self.until, saved))

    def ask(self, agents: AgentPool, epoch: int, tick: int, saved: str) -> None:
        """Have agents that do not wait for each other tell their states, once a round."""
        if self.asked != tick + 1:
            self.asked, self.awaited = tick + 1, set(agents.present)
            self.deadline = time.monotonic() + PATIENCE_S
            agents.direct(Direction(epoch, self.asked, 0, saved))

    def answered(self, agents: AgentPool) -> bool:
        """Whether all who were asked and have been there since have told their states."""
        self.awaited &= set(agents.present)  # who takes the place of one that is lost was not asked
        return not self.awaited

    def cut_short(self, agents: AgentPool, epoch: int, tick: int, saved: str, versions: Sequence[int]) -> None:
        """End the round of agents that wait for each other soon: at the update which all of them reach next or, as they
        go on until they hear of it, some further on. Where one was further still, further on again."""
        due, furthest = self.config.updates_after(tick + 1), max(versions)
        if self.beyond and furthest <= self.until:
            return
        made, took = furthest - self.config.updates_after(tick), time.monotonic() - self.set_out
        ahead = 0 if self.config.pool.kind == "local" else round(HEARD_S * made / max(took, HEARD_S))
        self.beyond = 2 * self.beyond or 1 + ahead
        self.until = min(due, furthest + self.beyond)
        agents.direct(Direction(epoch, tick, self.until, saved))


def what_is_left(waits: bool, command: Command, missing: int, since: int) -> str:
    """What a command leaves of the ``since`` decisions after the last round, of which no state has ``missing``; empty
    where there is nothing to say."""
    if waits and command == "stop" and missing:
        return f"What is left has not learned from the {missing:,} decisions since the last round."
    if missing:
        which = "the {:,} decisions since then" if waits else "{:,} decisions that they did not tell of in time"
        return f"The agents go on from their last round: {which.format(missing)} are played again."
    if not (waits and since):
        return ""
    begins = "whoever goes on from here begins before them, with the round."
    return f"What is left has learned from the {since:,} decisions since the last round, too; {begins}"


def slowdown(agents: int, processors: int) -> str:
    """What to tell where agents share processors; empty where they do not."""
    if agents <= processors:
        return ""
    those, times = f"{processors} processor{'s' * (processors > 1)}", f"{agents / processors:.3g}"
    return (
        f"{agents} agents share {those}: expect the training to take about {times} times as long as with a "
        "processor for each."
    )
