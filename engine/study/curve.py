"""What a training study remembers beside its learner: episodes and metrics of the round, totals over its life."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from engine.config.train import TrainConfig
from engine.events import Counters
from engine.rl.collector import Arrival
from engine.rl.examine import Examination
from engine.rl.learner import Metrics
from engine.rl.sampler import Episode

_KEPT = ("staleness_max",)
"""Metrics of which a round shows the largest instead of the mean."""


class Curve:
    """``state`` and ``load`` are plain JSON and travel in the checkpoint, which is taken when a round is over."""

    def __init__(self, rewards: tuple[str, ...], weights: Iterable[float], signals: tuple[str, ...]) -> None:
        self.rewards, self.weights, self.signals = rewards, np.array(list(weights)), signals
        self.totals = {"updates": 0, "episodes": 0, "dropped": 0, "lost": 0}
        self.spent = {"sampling_seconds": 0.0, "learning_seconds": 0.0}
        self.evaluation: dict[str, float] = {}
        self.before, self.began = 0.0, time.monotonic()
        self.restart()

    def restart(self) -> None:
        """A round begins."""
        self._episodes: list[Episode] = []
        self._metrics: list[Metrics] = []
        self._sampling, self._learning = 0.0, 0.0
        self._round_steps, self._round_began = 0, time.monotonic()

    def learned(self, arrivals: Iterable[Arrival], metrics: Metrics, steps: int, seconds: float) -> None:
        """One update, from ``steps`` decisions of these fragments, which took these processor ``seconds``."""
        for arrival in arrivals:
            self._episodes += arrival.episodes
            self.totals["episodes"] += len(arrival.episodes)
            self._sampling += arrival.seconds
            self.spent["sampling_seconds"] += arrival.seconds
        self._learning += seconds
        self.spent["learning_seconds"] += seconds
        self.totals["updates"] += 1
        self._metrics.append(metrics)
        self._round_steps += steps

    @property
    def steps(self) -> int:
        """Decisions learned from in this round."""
        return self._round_steps

    @property
    def ended(self) -> int:
        """Episodes that ended in this round."""
        return len(self._episodes)

    def examined(self, found: Examination) -> None:
        """The last evaluation, with its 95 % intervals."""
        self.evaluation = {}
        numbers = {"return": found.returns @ self.weights, "score": found.score, "win": found.win}
        if len(self.rewards) > 1:
            numbers |= {f"return_{name}": found.returns[:, i] for i, name in enumerate(self.rewards)}
        numbers |= {name: found.signals[:, i] for i, name in enumerate(self.signals)}
        for name, values in numbers.items():
            mean, half = found.mean(values)
            if math.isfinite(mean):
                low, high = mean - half, mean + half
                self.evaluation |= {f"evaluation_{name}": mean, f"evaluation_{name}_low": low}
                self.evaluation |= {f"evaluation_{name}_high": high}

    def metrics(self) -> Metrics:
        """The round's numbers: means over its updates and over the episodes that ended in it."""
        found = {}
        for name in self._metrics[0] if self._metrics else ():
            values = [metrics[name] for metrics in self._metrics]
            found[name] = float(max(values) if name in _KEPT else np.mean(values))
        found |= self.played()
        seconds = max(time.monotonic() - self._round_began, 1e-9)
        found |= {"steps_per_second": self._round_steps / seconds}
        found |= {"sampling_seconds": self._sampling, "learning_seconds": self._learning}
        found |= {name: float(value) for name, value in self.totals.items()}
        return found

    def played(self) -> Metrics:
        """How the episodes that ended in this round went; nothing when none did."""
        if not self._episodes:
            return {}
        returns = np.array([episode.returns for episode in self._episodes])
        whole = returns @ self.weights
        found = {"return": float(whole.mean()), "return_least": float(whole.min()), "return_most": float(whole.max())}
        found["length"] = float(np.mean([episode.length for episode in self._episodes]))
        found |= {f"return_{name}": float(returns[:, i].mean()) for i, name in enumerate(self.rewards)}
        for name in ("score", "win"):
            value = float(np.mean([getattr(episode, name) for episode in self._episodes]))
            found |= {name: value} if math.isfinite(value) else {}
        return found

    def counters(self, steps: int) -> Counters:
        """Totals over the study's whole life."""
        return Counters(steps=steps, seconds=self.before + time.monotonic() - self.began)

    def state(self) -> dict[str, Any]:
        """As JSON."""
        seconds = self.before + time.monotonic() - self.began
        return {"totals": self.totals, "spent": self.spent, "evaluation": self.evaluation, "seconds": seconds}

    def load(self, state: dict[str, Any]) -> None:
        """Go on from ``state``."""
        self.totals, self.evaluation = dict(state["totals"]), dict(state["evaluation"])
        self.spent = dict(state["spent"])
        self.before, self.began = state["seconds"], time.monotonic()
        self.restart()


def too_short(config: TrainConfig, steps: int, longest: int) -> str:
    """What to say when battles that begin afresh at every round's end ended no episode in a round of ``steps``.
    ``longest``: moves of the longest episode, or 0."""
    battles = config.samplers * config.environments
    sure = f", {longest * battles:,} or more (an episode can last {longest:,} moves)" if longest else ""
    return (
        f"No episode ended in this round: at its end all battles begin afresh, and {steps // battles:,} moves of each "
        "were too few for a whole one. So no return is shown, and how episodes end is not learned. Set "
        f"checkpoint_every (steps in a round, now {config.checkpoint_every or 'left to us'}) to several episodes of "
        f"all {battles:,} battles{sure}, or play fewer battles together, or sample asynchronously, where battles go on."
    )
