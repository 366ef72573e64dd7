"""The record of evolved players: adds to ``Record`` the results of the best candidates and the use of time.

Artifacts have genes in the units of their settings (``genome`` float64[n, genes]), every measure, and the hash of each
candidate's training; ``low`` and ``high`` float64[n, goals] are the ends of 95 % ranges (``engine.means``), infinite
where there is none, and ``values`` float64[n, episodes, goals] those of each episode, if there are at most ``KEPT``.
Artifacts of fresh episodes also have ``ways`` float64[n, episodes, behaviour] where there are descriptors: on the same
seeds against another opponent, the differences between episodes tell far more than those between means.
Nothing in them depends on the clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from engine.arrays import pack
from engine.columns import Arrays
from engine.confidence import Range
from engine.config.evolve import EvolveConfig
from engine.evolution.algorithm import Individual
from engine.evolution.record import Record
from engine.evolution.survival import Survival
from engine.evorl.measures import TIMES, goal_ends
from engine.evorl.space import PlayerSpace
from engine.means import NOWHERE, range_by_count, range_of
from engine.problem import PLAIN, TRAINED, Evaluation, Floats, Genome, Problem, Request, TrainingContext
from engine.store import Store

_DIGEST = 64
KEPT = 1000
"""Largest number of episodes of a candidate whose values are kept. Beyond that it has ranges for bounded goals only,
from mean and count."""


class PlayerRecord(Record):
    """``spans``: when workers were busy in this attempt; ``seconds``: time of each candidate."""

    unit: ClassVar[str] = "steps"

    def __init__(self, config: EvolveConfig, problem: Problem, survival: Survival, store: Store) -> None:
        super().__init__(problem._replace(metrics=problem.metrics[: -len(TIMES)]), store)
        assert isinstance(problem.space, PlayerSpace)
        self.config, self.space, self.survival = config, problem.space, survival
        self.spans: list[tuple[float, float]] = []
        self.seconds: list[float] = []
        self.means: dict[str, float] = {}

    def add(self, request: Request, evaluation: Evaluation, tick: int) -> None:
        """Record the answer to a request, and how long it took."""
        super().add(request, evaluation, tick)
        began, busy, seconds = evaluation.metrics[-len(TIMES) :].tolist()
        if np.isfinite(began):
            self.spans.append((began, began + busy))
            self.seconds.append(seconds)

    def genes(self, genome: Genome) -> Genome:
        """The genes in the units of their settings, without networks, which artifacts name by hash."""
        return self.space.gene_values(genome)

    def shown(self, evaluation: Evaluation) -> Evaluation:
        """The evaluation without its times."""
        return evaluation._replace(metrics=evaluation.metrics[: -len(TIMES)])

    def arrays(self, members: Sequence[Individual]) -> Arrays:
        """The columns of every artifact, and ``trained`` uint8[n, 64]: the store hash of each candidate's training, as
        text (zeros: none)."""
        arrays = super().arrays(members)
        arrays["genome"] = arrays["genome"].reshape(len(members), len(self.space.genes))
        texts = [trained(i.evaluation).encode().ljust(_DIGEST, b"\0") for i in members]
        arrays["trained"] = np.frombuffer(b"".join(texts), np.uint8).reshape(-1, _DIGEST)
        arrays["values"] = self._values([i.evaluation for i in members])
        ends = np.array([[self._range(i.evaluation, j) for j in range(len(self.signs))] for i in members])
        arrays["low"], arrays["high"] = np.moveaxis(ends.reshape(len(members), len(self.signs), 2), 2, 0)
        return {("measure" if name == "metrics" else name): column for name, column in arrays.items()}

    def _values(self, found: Sequence[Evaluation]) -> Floats:
        """Tables [episodes, goals], NaN beyond their end and where they are not kept."""
        return _tables([e.values for e in found], len(self.signs))

    def put_fresh(self, members: Sequence[Individual]) -> str:
        """Adds what they did in each episode."""
        arrays, k = self.arrays([self.reported(i) for i in members]), len(self.problem.descriptors)
        arrays |= {"ways": _tables([i.evaluation.descriptors for i in members], k)} if k else {}
        return self.store.put(pack(self.meta(), arrays))

    def _range(self, e: Evaluation, j: int, error: float = 0.05) -> Range:
        """Range of one goal, that misses with this probability; none for failed evaluations."""
        ends = goal_ends(self.config, self.config.objectives[j])
        if e.status == "failed":
            return NOWHERE
        if e.values is None:
            return range_by_count(float(e.objectives[j]), e.samples, *ends, error)
        return range_of(e.values[:, j], *ends, error)

    def restored(self, arrays: Arrays) -> list[Individual]:
        """The inverse of ``arrays``."""
        found = super().restored({**arrays, "metrics": arrays["measure"]})
        contexts = [TrainingContext(artifacts={TRAINED: digest}) if digest else PLAIN for digest in digests(arrays)]
        counts = arrays["samples"].tolist()
        tables = arrays.get("values", np.empty((len(counts), 0, len(self.signs))))  # absent in earlier versions
        values = [table[:n] for table, n in zip(tables, counts, strict=True)]
        kept = [t if len(t) == n and np.isfinite(t).all() else None for t, n in zip(values, counts, strict=True)]
        return [
            i._replace(evaluation=i.evaluation._replace(context=c, values=v))
            for i, c, v in zip(found, contexts, kept, strict=True)
        ]

    def meta(self) -> dict[str, Any]:
        """Metadata of the columns."""
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
        """The smallest differences that matter, from the study where it states them."""
        return [aim.epsilon or usual for aim, usual in zip(self.config.objectives, super().epsilon(), strict=False)]

    def judge(self, arrays: Arrays) -> None:
        """Record the mean objectives of a tick's candidates."""
        known = arrays["objective"][arrays["status"] == 0]
        if len(known):
            means = known.mean(axis=0).tolist()
            self.means = {f"mean_{o.name}": m for o, m in zip(self.problem.objectives, means, strict=True)}

    def leader(self, front: Sequence[Individual]) -> int:
        """Index of the best by the first goal."""
        return int(np.argmax([self.signs[0] * i.evaluation.objectives[0] for i in front]))

    def best(self, front: Sequence[Individual]) -> dict[str, float]:
        """The best value of each goal by the estimates that selected it, with its 95 % range; and a tick's means. The
        best of many looks better than it is: so the range is one that would hold for everybody measured so far at once
        (Bonferroni). There is none from few episodes, or for values with many ties and without bounds."""
        found, error = dict(self.means), 0.05 / max(self.totals["evaluations"], 1)
        for j, objective in enumerate(self.problem.objectives):
            if not front:
                continue
            e = max((i.evaluation for i in front), key=lambda e: self.signs[j] * e.objectives[j])
            ends, name = self._range(e, j, error), f"best_{objective.name}"
            found |= {name: float(e.objectives[j])}
            if np.isfinite(ends.high - ends.low):
                found |= {f"{name}_low": ends.low, f"{name}_high": ends.high}
        return found

    def times(self, workers: int) -> dict[str, float]:
        """The workers' load in this attempt, the time of candidates, and whether slow ones are at a disadvantage
        (correlation of time and survival)."""
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
        """Continue from ``state``."""
        super().load(state)
        self.survival.load(state["survival"])
        self.means = state["means"]


def _tables(found: Sequence[Floats | None], columns: int) -> Floats:
    """float64[n, episodes, columns]: NaN beyond the end of each, and where there are none or more than ``KEPT``."""
    many = [0 if table is None or len(table) > KEPT else len(table) for table in found]
    whole = np.full((len(found), max(many, default=0), columns), np.nan)
    for row, table, n in zip(whole, found, many, strict=True):
        row[:n] = table if n else row[:n]
    return whole


def trained(evaluation: Evaluation) -> str:
    """Store hash of a candidate's training; empty where nothing was trained."""
    return evaluation.context.artifacts.get(TRAINED, "")


def digests(arrays: Arrays) -> list[str]:
    """The store hashes in the column ``trained``."""
    return [row.tobytes().rstrip(b"\0").decode() for row in arrays["trained"]]
