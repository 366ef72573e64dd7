"""What evolution of players remembers: beside what every record has, what the best reach, and where the time goes.

Artifacts show genes in the units of their settings (``genome`` float64[n, genes]), every measure, and the hash of what
training made of each candidate. Nothing in them depends on the clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from engine.config.evolve import EvolveConfig
from engine.evolution.algorithm import Arrays, Individual
from engine.evolution.survival import Survival
from engine.indicators import half_width
from engine.problem import Evaluation, Genome, Problem, Request
from engine.store import Store
from engine.study.brood import TIMES, Brood
from engine.study.record import Record

_DIGEST = 64


class EvolveRecord(Record):
    """``spans``: when workers were busy in this attempt; ``seconds``: what each candidate took."""

    unit: ClassVar[str] = "steps"

    def __init__(self, config: EvolveConfig, problem: Problem, survival: Survival, store: Store) -> None:
        super().__init__(problem._replace(metrics=problem.metrics[: -len(TIMES)]), store)
        assert isinstance(problem.space, Brood)
        self.config, self.space, self.survival = config, problem.space, survival
        self.spans: list[tuple[float, float]] = []
        self.seconds: list[float] = []
        self.means: dict[str, float] = {}

    def add(self, request: Request, evaluation: Evaluation, tick: int) -> None:
        """Take in the answer to a request, and how long it took."""
        super().add(request, evaluation, tick)
        began, busy, seconds = evaluation.metrics[-len(TIMES) :].tolist()
        if np.isfinite(began):
            self.spans.append((began, began + busy))
            self.seconds.append(seconds)

    def genes(self, genome: Genome) -> Genome:
        """In the units of their settings; networks are named by hash instead."""
        return self.space.numbers(genome)

    def shown(self, evaluation: Evaluation) -> Evaluation:
        """Without the times."""
        return evaluation._replace(metrics=evaluation.metrics[: -len(TIMES)])

    def arrays(self, members: Sequence[Individual]) -> Arrays:
        """The columns every artifact has."""
        arrays = super().arrays(members)
        arrays["genome"] = arrays["genome"].reshape(len(members), len(self.space.genes))
        arrays.setdefault("trained", np.zeros((len(members), _DIGEST), np.uint8))
        return {("measure" if name == "metrics" else name): column for name, column in arrays.items()}

    def restored(self, arrays: Arrays) -> list[Individual]:
        """The inverse of ``arrays``."""
        return super().restored({**arrays, "metrics": arrays["measure"]})

    def meta(self) -> dict[str, Any]:
        """What the columns mean."""
        return {
            **super().meta(),
            "directions": [o.direction for o in self.problem.objectives],
            "measures": list(self.problem.metrics),
            "behaviour": list(self.problem.descriptors),
            "genes": [
                {"path": g.place, "low": g.low, "high": g.high, "log": g.log, "whole": g.whole}
                for g in self.space.genes
            ],
        }

    def epsilon(self) -> list[float]:
        """The differences that matter as the study says them."""
        return [aim.epsilon or usual for aim, usual in zip(self.config.objectives, super().epsilon(), strict=False)]

    def judge(self, arrays: Arrays) -> None:
        """How the candidates of a tick are on average."""
        known = arrays["objective"][arrays["status"] == 0]
        if len(known):
            means = known.mean(axis=0).tolist()
            self.means = {f"mean_{o.name}": m for o, m in zip(self.problem.objectives, means, strict=True)}

    def leader(self, front: Sequence[Individual]) -> int:
        """Which of these is the best by the first goal."""
        return int(np.argmax([self.signs[0] * i.evaluation.objectives[0] for i in front]))

    def best(self, front: Sequence[Individual]) -> dict[str, float]:
        """The best of each goal with its 95 % interval, by the estimates that chose it; and a tick's means."""
        found = dict(self.means)
        for j, objective in enumerate(self.problem.objectives):
            if not front:
                continue
            e = max((i.evaluation for i in front), key=lambda e: self.signs[j] * e.objectives[j])
            value, error = float(e.objectives[j]), np.sqrt(max(float(e.covariance[j, j]), 0.0))
            half = float(half_width(np.array([error]), np.array([e.samples]))[0])
            name = f"best_{objective.name}"
            found |= {name: value, f"{name}_low": value - half, f"{name}_high": value + half}
        return found

    def times(self, workers: int) -> dict[str, float]:
        """How busy the workers were in this attempt, what candidates take, and whether slow ones are at a
        disadvantage (correlation of time and survival)."""
        found: dict[str, float] = {}
        if self.spans:
            first, last = min(a for a, _ in self.spans), max(b for _, b in self.spans)
            found["utilisation"] = sum(b - a for a, b in self.spans) / max(workers * (last - first), 1e-9)
            found |= {"seconds_mean": float(np.mean(self.seconds)), "seconds_most": max(self.seconds)}
        if np.isfinite(self.survival.correlation):
            found["time_survival"] = self.survival.correlation
        return found

    def state(self) -> dict[str, Any]:
        """As JSON."""
        return super().state() | {"survival": self.survival.state(), "means": self.means}

    def load(self, state: dict[str, Any]) -> None:
        """Go on from ``state``."""
        super().load(state)
        self.survival.load(state["survival"])
        self.means = state["means"]
