"""The record of a training study: episodes and metrics of the round, totals over the study's life."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from engine.catalog import reach_of, weighted_ends
from engine.config.rl import AnyLearner
from engine.config.train import TrainConfig, TrainGame
from engine.events import Counters
from engine.mdp.interface import SeatSpec
from engine.rl.collector import Arrival
from engine.rl.examine import Examination
from engine.rl.learner import Metrics
from engine.rl.reward_terms import called
from engine.rl.sampler import Episode

_KEPT = ("staleness_max",)
"""Metrics that a round reports as a maximum, not as a mean."""


class PolicyCurve:
    """The learning curve of one policy. ``least``: lower bound of an episode's return. ``state`` and ``load`` are plain
    JSON."""

    def __init__(
        self, rewards: tuple[str, ...], weights: Iterable[float], signals: tuple[str, ...], least: float = -math.inf
    ) -> None:
        self.rewards, self.weights, self.signals = rewards, np.array(list(weights)), signals
        weighted = 0.0 if least == 0 and (self.weights >= 0).all() else -math.inf
        self.known = {"win": (0.0, 1.0), "score": (least, math.inf), "return": (weighted, math.inf)}
        self.totals = {"updates": 0, "episodes": 0, "dropped": 0, "skipped": 0}
        self.spent = {"sampling_seconds": 0.0, "learning_seconds": 0.0}
        self.evaluation: dict[str, float] = {}
        self.restart()

    def restart(self) -> None:
        """Begin a round."""
        self.episodes: list[Episode] = []
        self.steps, self.seconds = 0, dict.fromkeys(self.spent, 0.0)
        self._metrics: list[Metrics] = []

    def learned(self, arrivals: Iterable[Arrival], metrics: Metrics, steps: int, seconds: float) -> None:
        """Record one update from ``steps`` decisions in these fragments (0: it was skipped), which took ``seconds`` of
        processor time."""
        spent = [("learning_seconds", seconds)]
        for arrival in arrivals:
            self.episodes += arrival.episodes
            self.totals["episodes"] += len(arrival.episodes)
            spent.append(("sampling_seconds", arrival.seconds))
        for what, taken in spent:
            self.seconds[what] += taken
            self.spent[what] += taken
        self.totals["updates"] += 1
        self.totals["skipped"] += not steps
        self._metrics.append(metrics)
        self.steps += steps

    def examined(self, found: Mapping[str, Examination]) -> None:
        """Record the last evaluation with the 95 % ranges that are known: episodes against the first opponent under
        plain names, those against the others with the opponent's name."""
        self.evaluation = {}
        for i, (opponent, one) in enumerate(found.items()):
            self.evaluation |= self._measured(one, f"@{opponent}" if i else "")

    def _measured(self, found: Examination, against: str) -> dict[str, float]:
        numbers = {"return": found.returns @ self.weights, "score": found.score, "win": found.win}
        if len(self.rewards) > 1:
            numbers |= {f"return_{name}": found.returns[:, i] for i, name in enumerate(self.rewards)}
        numbers |= {name: found.signals[:, i] for i, name in enumerate(self.signals)}
        metrics: dict[str, float] = {}
        for name, values in numbers.items():
            mean, ends = found.mean(values, *self.known.get(name, ()))
            if math.isfinite(mean):
                metrics[f"evaluation_{name}{against}"] = mean
            if math.isfinite(ends.high - ends.low):
                metrics |= {f"evaluation_{name}_low{against}": ends.low, f"evaluation_{name}_high{against}": ends.high}
        return metrics

    def metrics(self) -> Metrics:
        """The round's numbers: means over its updates and over the episodes that ended in it."""
        found = {}
        for name in dict.fromkeys(name for metrics in self._metrics for name in metrics):
            values = [metrics[name] for metrics in self._metrics if name in metrics]
            found[name] = float(max(values) if name in _KEPT else np.mean(values))
        return found | self.played() | self.seconds

    def played(self) -> Metrics:
        """Metrics of the episodes that ended in this round; empty when none did."""
        if not self.episodes:
            return {}
        returns = np.array([episode.returns for episode in self.episodes])
        whole = returns @ self.weights
        found = {"return": float(whole.mean()), "return_least": float(whole.min()), "return_most": float(whole.max())}
        found["length"] = float(np.mean([episode.length for episode in self.episodes]))
        found |= {f"return_{name}": float(returns[:, i].mean()) for i, name in enumerate(self.rewards)}
        for name, values in (("score", [e.score for e in self.episodes]), ("win", [e.win for e in self.episodes])):
            value = float(np.mean(values))
            found |= {name: value} if math.isfinite(value) else {}
        return found

    def state(self) -> dict[str, Any]:
        """As JSON."""
        return {"totals": self.totals, "spent": self.spent, "evaluation": self.evaluation}

    def load(self, state: Mapping[str, Any]) -> None:
        """Continue from ``state``."""
        self.totals, self.spent = dict(state["totals"]), dict(state["spent"])
        self.evaluation = dict(state["evaluation"])
        self.restart()


class Curve:
    """How all policies of a study learn. Numbers of one that learns alone have plain names; where there are several,
    each has its policy's name and a slash in front. ``lost``: samplers, over the study's life."""

    def __init__(self, policies: Mapping[str, PolicyCurve]) -> None:
        self.policies, self.lost = dict(policies), 0
        self.before, self.began = 0.0, time.monotonic()
        self.restart()

    def restart(self) -> None:
        """Begin a round."""
        self._round_began = time.monotonic()
        for policy in self.policies.values():
            policy.restart()

    @property
    def steps(self) -> int:
        """Decisions learned from in this round."""
        return sum(policy.steps for policy in self.policies.values())

    @property
    def ended(self) -> int:
        """Episodes that ended in this round; one counts for each seat that learned in it."""
        return sum(len(policy.episodes) for policy in self.policies.values())

    @property
    def totals(self) -> dict[str, float]:
        """Over the study's life, of all policies together."""
        each = [policy.totals for policy in self.policies.values()]
        return {name: float(sum(totals[name] for totals in each)) for name in each[0]} | {"lost": float(self.lost)}

    def metrics(self) -> Metrics:
        """The round's numbers."""
        found = self._named({name: policy.metrics() for name, policy in self.policies.items()})
        found |= {"steps_per_second": self.steps / max(time.monotonic() - self._round_began, 1e-9)}
        return found | self._together("seconds") | self.totals

    def evaluations(self) -> Metrics:
        """The last evaluations."""
        return self._named({name: policy.evaluation for name, policy in self.policies.items()})

    def summary(self, steps: int) -> dict[str, Any]:
        """Results of the whole study, which learned from ``steps`` decisions, and of its last round."""
        counters = self.counters(steps)
        speed = counters.steps / counters.seconds if counters.seconds else 0.0
        played = self._named({name: policy.played() for name, policy in self.policies.items()})
        return {"steps_per_second": speed, **self.totals, **played, **self._together("spent"), **self.evaluations()}

    def _named(self, each: Mapping[str, Metrics]) -> Metrics:
        if len(each) == 1:
            return dict(next(iter(each.values())))
        return {f"{policy}/{name}": value for policy, metrics in each.items() for name, value in metrics.items()}

    def _together(self, what: str) -> Metrics:
        each: list[Metrics] = [getattr(policy, what) for policy in self.policies.values()]
        return {name: sum(seconds[name] for seconds in each) for name in each[0]}

    def counters(self, steps: int) -> Counters:
        """Totals over the study's whole life."""
        return Counters(steps=steps, seconds=self.before + time.monotonic() - self.began)

    def go_back(self, restore: Callable[[], None]) -> None:
        """``restore`` what a checkpoint has; samplers that were lost since, and the time that passed, still count."""
        lost, seconds = self.lost, self.counters(0).seconds
        restore()
        self.lost, self.before = lost, seconds

    def state(self) -> dict[str, Any]:
        """As JSON; of the study without its policies."""
        return {"lost": self.lost, "seconds": self.before + time.monotonic() - self.began}

    def load(self, state: Mapping[str, Any]) -> None:
        """Continue from ``state``."""
        self.lost, self.before, self.began = state["lost"], state["seconds"], time.monotonic()
        self.restart()


def policy_curve(game: TrainGame, learner: AnyLearner, seat: SeatSpec, longest: int) -> PolicyCurve:
    """The learning curve of a policy that learns on a seat; ``longest``: decisions of the longest episode, or 0."""
    weights = [learner.rewards[name].weight if name in learner.rewards else 1.0 for name in called(seat)]
    curve = PolicyCurve(seat.rewards, weights, seat.signals, game.least_return)
    if longest and len(weights) == 1 and reach_of(game.name, game.settings):
        curve.known["return"] = weighted_ends(game.name, game.settings, longest, weights[0])
    return curve


def too_short(
    config: TrainConfig, steps: int, longest: int, players: str = "samplers", counted: str = "decisions"
) -> str:
    """The message when battles, which restart at the end of every round, ended no episode in a round of ``steps``.
    ``longest``: decisions of the longest episode, or 0; ``players``: what waits for each other; ``counted``: what
    rounds are counted in."""
    battles = config.samplers * config.environments
    seats = config.learning_seats
    enough = f"{longest * battles * seats:,} decisions or more"
    sure = f", {enough} (an episode can last {longest:,})" if longest else ""
    every = config.checkpoint_every
    now = f", now {every:,} {counted}" if every else ", which a longer training does"
    of_seats = f" of their {seats} seats" if seats > 1 else ""
    return (
        f"No episode ended in this round: at its end all battles begin afresh, and {steps // (battles * seats):,} "
        f"decisions of each{of_seats} were too few for a whole one. So the round has no return, and how episodes end "
        f"is not learned. Make rounds longer{now}: several episodes of all {battles:,} battles{sure}. Or play fewer "
        f"battles together, or let {players} not wait for each update: then battles go on."
    )


def time_is_up(played: int, asked: int) -> str:
    """The message where the clock ended a training before all decisions that were asked for."""
    return f"Time is up: {played:,} of {asked:,} decisions were played."


def nothing_to_learn(update: int) -> str:
    """The message at the first update in which no decision of the agent counts."""
    return (
        f"Update {update:,} was skipped: in all of its decisions the agent was out of its battle, so there was nothing "
        "to learn from. The policy stays as it was. Further skipped updates are counted, and not told one by one."
    )
