"""The record of evolved players: what every record has, what the best ones reach, and where the time goes.

Artifacts show genes in the units of their settings (``genome`` float64[n, genes]), every measure, and the hash of what
training made of each candidate; ``low`` and ``high`` float64[n, goals] are the ends of 95 % ranges (``engine.means``),
infinite where there is none, and ``values`` float64[n, episodes, goals] what each episode said, where those are
``KEPT`` at most. Nothing in them depends on the clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from engine.columns import Arrays
from engine.confidence import Range
from engine.config.evolve import EvolveConfig
from engine.evolution.algorithm import Individual
from engine.evolution.record import Record
from engine.evolution.survival import Survival
from engine.evorl.measures import TIMES
from engine.evorl.space import PlayerSpace
from engine.means import NOWHERE, range_by_count, range_of
from engine.problem import PLAIN, TRAINED, Evaluation, Floats, Genome, Problem, Request, TrainingContext
from engine.store import Store

_DIGEST = 64
KEPT = 1000
"""Episodes of a candidate of which each one's values are kept. Measured further beyond that, it has ranges for goals
with known ends only, by mean and count."""


class PlayerRecord(Record):
    """``spans``: when workers were busy in this attempt; ``seconds``: what each candidate took."""

    unit: ClassVar[str] = "steps"

    def __init__(self, config: EvolveConfig, problem: Problem, survival: Survival, store: Store) -> None:
        super().__init__(problem._replace(metrics=problem.metrics[: -len(TIMES)]), store)
        assert isinstance(problem.space, PlayerSpace)
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
        return self.space.gene_values(genome)

    def shown(self, evaluation: Evaluation) -> Evaluation:
        """Without the times."""
        return evaluation._replace(metrics=evaluation.metrics[: -len(TIMES)])

    def arrays(self, members: Sequence[Individual]) -> Arrays:
        """The columns every artifact has, and ``trained`` uint8[n, 64]: the store hash of what training made of each
        candidate, as text (zeros: nothing)."""
        arrays = super().arrays(members)
        arrays["genome"] = arrays["genome"].reshape(len(members), len(self.space.genes))
        texts = [trained(i.evaluation).encode().ljust(_DIGEST, b"\0") for i in members]
        arrays["trained"] = np.frombuffer(b"".join(texts), np.uint8).reshape(-1, _DIGEST)
        arrays["values"] = self._values([i.evaluation for i in members])
        ends = np.array([[self._range(i.evaluation, j) for j in range(len(self.signs))] for i in members])
        arrays["low"], arrays["high"] = np.moveaxis(ends.reshape(len(members), len(self.signs), 2), 2, 0)
        return {("measure" if name == "metrics" else name): column for name, column in arrays.items()}

    def _values(self, found: Sequence[Evaluation]) -> Floats:
        """Tables [episodes, goals], not a number beyond their end and where they are not kept."""
        many = [0 if e.values is None or len(e.values) > KEPT else len(e.values) for e in found]
        table = np.full((len(found), max(many, default=0), len(self.signs)), np.nan)
        for row, e, n in zip(table, found, many, strict=True):
            row[:n] = e.values if n else row[:n]
        return table

    def _range(self, e: Evaluation, j: int) -> Range:
        """Of one goal. What evaluations that failed say is nothing."""
        ends = self.config.ends(self.config.objectives[j])
        if e.status == "failed":
            return NOWHERE
        if e.values is None:
            return range_by_count(float(e.objectives[j]), e.samples, *ends)
        return range_of(e.values[:, j], *ends)

    def restored(self, arrays: Arrays) -> list[Individual]:
        """The inverse of ``arrays``."""
        found = super().restored({**arrays, "metrics": arrays["measure"]})
        contexts = [TrainingContext(artifacts={TRAINED: digest}) if digest else PLAIN for digest in digests(arrays)]
        counts = arrays["samples"].tolist()
        tables = arrays.get("values", np.empty((len(counts), 0, len(self.signs))))  # earlier versions left none
        told = [table[:n] for table, n in zip(tables, counts, strict=True)]
        kept = [t if len(t) == n and np.isfinite(t).all() else None for t, n in zip(told, counts, strict=True)]
        return [
            i._replace(evaluation=i.evaluation._replace(context=c, values=v))
            for i, c, v in zip(found, contexts, kept, strict=True)
        ]

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
        """The best of each goal with its 95 % range, by the estimates that chose it; and a tick's means. No range
        where there is none: from a few episodes, or where episodes take few different values and have no known ends."""
        found = dict(self.means)
        for j, objective in enumerate(self.problem.objectives):
            if not front:
                continue
            e = max((i.evaluation for i in front), key=lambda e: self.signs[j] * e.objectives[j])
            ends, name = self._range(e, j), f"best_{objective.name}"
            found |= {name: float(e.objectives[j])}
            if np.isfinite(ends.high - ends.low):
                found |= {f"{name}_low": ends.low, f"{name}_high": ends.high}
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


def trained(evaluation: Evaluation) -> str:
    """Store hash of what training made of a candidate; empty where nothing was trained."""
    return evaluation.context.artifacts.get(TRAINED, "")


def digests(arrays: Arrays) -> list[str]:
    """The store hashes in the column ``trained``."""
    return [row.tobytes().rstrip(b"\0").decode() for row in arrays["trained"]]
