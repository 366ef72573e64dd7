"""The record of a study whose agents mix: all of them together, each one, and how far apart they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.columns import Arrays
from engine.config.gossip import GossipConfig
from engine.mdp.interface import SeatSpec
from engine.rl.gossip import Ball, beta, distance, mixing
from engine.rl.gossip_agent import Link, Report
from engine.rl.learner import Metrics
from engine.study.curve import Curve, PolicyCurve, policy_curve
from engine.study.gossip_agents import name_of

OF_EACH = ("return", "score", "win")
"""What a round tells of each agent alone."""


class GossipCurve(Curve):
    """``whole``: what agents did together; ``each``: one for each agent. ``apart``: the distance between them at the
    end of the last round; ``size``: that of as many copies of their mean to zero; ``ball``: the bound of the distance,
    where agents wait for each other; ``links``: of each agent, as it told them last."""

    def __init__(self, config: GossipConfig, seat: SeatSpec, longest: int) -> None:
        made = (policy_curve(config.game, config.learner, seat, longest) for _ in range(1 + config.agents))
        self.whole, *self.each = made
        self.config, self.ball = config, Ball(beta(mixing(config.topology, config.agents)))
        self.apart = self.size = 0.0
        self.links: dict[int, list[Link]] = {}
        super().__init__({"agent": self.whole})

    def restart(self) -> None:
        """Begin a round."""
        super().restart()
        self._reports: list[list[tuple[Report, int]]] = [[] for _ in self.each]
        for curve in self.each:
            curve.restart()

    def reported(self, report: Report, steps: int) -> None:
        """Keep what an agent did, in which it learned from ``steps`` decisions, until the round is over: then the order
        in which reports came makes no difference."""
        self._reports[report.number].append((report, steps))
        self.links[report.number] = report.links

    def without_lost(self, present: Collection[int]) -> None:
        """Forget the links of agents that are not ``present``: they take nothing any more."""
        self.links = {i: links for i, links in self.links.items() if i in present}

    def closed(self, parameters: Sequence[NDArray[np.float32]]) -> None:
        """The round is over: all agents are at its end, with these parameters."""
        X = np.stack(parameters).astype(np.float64)
        self.apart, self.size = distance(X), float(np.sqrt(len(X)) * np.linalg.norm(X.mean(axis=0)))
        if self.config.waits:
            for norms in zip(*([n for report, _ in each for n in report.norms] for each in self._reports), strict=True):
                self.ball.step(norms)
        for curve, reports in zip(self.each, self._reports, strict=True):
            for report, steps in reports:
                _record(report, steps, (self.whole, curve))

    def metrics(self) -> Metrics:
        """The numbers of a closed round: of all, of each agent, and how they mixed."""
        found = super().metrics() | self._learned() | {"distance": self.apart, "size": self.size}
        if self.config.waits:
            found |= {"beta": self.ball.beta, "distance_bound": self.ball.epsilon, "cut_off": self._cut_off()}
        spent = [report.seconds for each in self._reports for report, _ in each]
        waited = sum(s["waiting_seconds"] for s in spent)
        whole = waited + sum(s["acting_seconds"] for s in spent)
        ages = [link.age for links in self.links.values() for link in links]
        found |= {"link_age": float(max(ages, default=0)), "waiting": waited / max(whole, 1e-9)}
        for i, curve in enumerate(self.each):
            played = curve.played()
            found |= {f"{name_of(i)}/{name}": played[name] for name in OF_EACH if name in played}
        return found

    def _cut_off(self) -> float:
        """The share of a round's decisions that belong to episodes which its end cut off, as battles then begin afresh:
        these count nowhere, and long ones are cut off more often."""
        return 1 - sum(episode.length for episode in self.whole.episodes) / max(self.whole.steps, 1)

    def _learned(self) -> Metrics:
        """Means of the learners' metrics over all updates of all agents."""
        rows = [metrics for each in self._reports for report, _ in each for metrics in report.metrics]
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: float(np.mean([row[name] for row in rows if name in row])) for name in names}

    def table(self) -> Arrays:
        """Every link, as it was at the end of the round: ``taker``, ``sender``, the taker's updates since it last mixed
        (``age``), and how many updates older than its own parameters the message was (``behind``)."""
        rows = [(taker, *link) for taker, links in sorted(self.links.items()) for link in links]
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


def _record(report: Report, steps: int, curves: Sequence[PolicyCurve]) -> None:
    """Add what an agent did to its own curve and to that of all."""
    seconds = report.seconds
    arrival: Any = SimpleNamespace(episodes=report.episodes, seconds=seconds["sampling_seconds"])
    for curve in curves:
        curve.learned([arrival], {}, steps, seconds["learning_seconds"])
        curve.totals["updates"] += len(report.norms) - 1
