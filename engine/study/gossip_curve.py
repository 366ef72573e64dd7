"""The record of a study whose agents mix: all of them together, each one, and how far apart they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.columns import Arrays
from engine.config.gossip import GossipConfig
from engine.mdp.interface import SeatSpec
from engine.rl.collector import Arrival
from engine.rl.gossip import Ball, beta, distance, mixing
from engine.rl.gossip_agent import Report
from engine.rl.learner import Metrics
from engine.study.curve import Curve, PolicyCurve
from engine.study.gossip_agents import name_of

TOLD = ("return", "score", "win")
"""What a round tells of each agent alone."""
SPENT = ("sampling_seconds", "learning_seconds", "waiting_seconds")


def policy_curve(config: GossipConfig, seat: SeatSpec) -> PolicyCurve:
    """A learning curve of one of the study's policies."""
    rewards = config.learner.rewards
    weights = [rewards[name].weight if name in rewards else 1.0 for name in seat.rewards]
    return PolicyCurve(seat.rewards, weights, seat.signals, config.game.least_return)


class GossipCurve(Curve):
    """``whole``: what agents did together; ``each``: one for each agent. ``apart``: the distance between them at the
    end of the last round; ``ball``: its bound, where agents wait for each other."""

    def __init__(self, config: GossipConfig, seat: SeatSpec) -> None:
        self.whole, self.each = policy_curve(config, seat), [policy_curve(config, seat) for _ in range(config.agents)]
        self.config, self.ball = config, Ball(beta(mixing(config.topology, config.agents)))
        self.apart = 0.0
        super().__init__({"agent": self.whole})

    def restart(self) -> None:
        """Begin a round."""
        super().restart()
        self._norms: list[list[float]] = [[] for _ in self.each]
        self._links: dict[int, Report] = {}
        self._waited = self._worked = 0.0
        for curve in self.each:
            curve.restart()

    def reported(self, report: Report, steps: int) -> None:
        """Record what an agent did, in which it learned from ``steps`` decisions."""
        i, seconds = report.number, report.seconds
        self._norms[i] += report.norms
        self._links[i] = report
        self._waited += seconds["waiting_seconds"]
        self._worked += sum(seconds.values())
        arrival: Any = Arrival(i, "agent", 0, 0, 0, None, report.episodes, seconds["sampling_seconds"])  # type: ignore[arg-type]
        for curve in (self.whole, self.each[i]):
            curve.learned([arrival], report.metrics, steps, seconds["learning_seconds"])
            curve.totals["updates"] += len(report.norms) - 1

    def closed(self, parameters: Sequence[NDArray[np.float32]]) -> None:
        """All agents are at the end of a round, with these parameters."""
        self.apart = distance(np.stack(parameters).astype(np.float64))
        if self.config.waits:
            for norms in zip(*self._norms, strict=True):
                self.ball.step(norms)

    def metrics(self) -> Metrics:
        """The round's numbers: of all, of each agent, and how they mixed."""
        found = super().metrics() | {"distance": self.apart}
        if self.config.waits:
            found["distance_bound"] = self.ball.epsilon
        ages = [link.age for report in self._links.values() for link in report.links]
        found |= {"link_age": float(max(ages, default=0)), "waiting": self._waited / max(self._worked, 1e-9)}
        for i, curve in enumerate(self.each):
            played = curve.played()
            found |= {f"{name_of(i)}/{name}": played[name] for name in TOLD if name in played}
        return found

    def table(self) -> Arrays:
        """Every link, as it was at the end of the round: ``taker``, ``sender``, the taker's updates since it last mixed
        (``age``), and how many updates older than its own parameters the message was (``behind``)."""
        rows = [(i, *link) for i, report in sorted(self._links.items()) for link in report.links]
        columns = np.array(rows, np.int64).reshape(-1, 4).T
        return dict(zip(("taker", "sender", "age", "behind"), columns, strict=True))

    def state(self) -> dict[str, Any]:
        """As JSON."""
        mine = {"epsilon": self.ball.epsilon, "apart": self.apart, "each": [curve.state() for curve in self.each]}
        return super().state() | {"whole": self.whole.state()} | mine

    def load(self, state: Mapping[str, Any]) -> None:
        """Continue from ``state``."""
        self.whole.load(state["whole"])
        for curve, known in zip(self.each, state["each"], strict=True):
            curve.load(known)
        self.ball.epsilon, self.apart = float(state["epsilon"]), float(state["apart"])
        super().load(state)
