"""What a study remembers beside its algorithm: chunks of everything evaluated, totals, and the numbers of each tick."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.arrays import pack, unpack
from engine.config.lineups import ObjectiveSetConfig
from engine.events import Counters
from engine.evolution.algorithm import Arrays, Individual, columns
from engine.evolution.termination import Termination
from engine.indicators import STRONG, UNDER, half_width, hypervolume, verdicts
from engine.lineups.baselines import BaselineTeams
from engine.problem import Evaluation, Problem
from engine.store import Store


class Worst(NamedTuple):
    """The most extreme lineup that is over the line and strong: its value and 95 % interval."""

    value: float
    low: float
    high: float


class Record:
    """Grows with every evaluation; ``state`` and ``load`` are plain JSON and travel in the checkpoint."""

    def __init__(self, problem: Problem, config: ObjectiveSetConfig, baselines: BaselineTeams, store: Store) -> None:
        self.problem, self.config, self.baselines, self.store = problem, config, baselines, store
        self.signs = [1.0 if o.direction == "max" else -1.0 for o in config.objectives]
        self.thresholds = [o.threshold for o in config.objectives]
        self.strength = next((i for i, o in enumerate(config.objectives) if o.strength), None)
        self.line = next((i for i, t in enumerate(self.thresholds) if t is not None), None)
        self.chunks: list[str] = []
        self.totals = {"evaluations": 0, "battles": 0, "cached": 0, "failed": 0, "over": 0, "strong": 0}
        self.reference: list[list[float]] = []
        self.worst: Worst | None = None
        self.each = 0
        self.before, self.began = 0.0, time.monotonic()
        self.waiting: list[Individual] = []
        self.termination = Termination()

    def add(self, individual: Individual, evaluation: Evaluation) -> None:
        """Take in one evaluation."""
        self.waiting.append(individual)
        self.totals["evaluations"] += 1
        self.totals["battles"] += evaluation.cost
        self.totals["cached"] += evaluation.cached
        self.totals["failed"] += evaluation.status != "ok"
        self.each = self.each or evaluation.cost

    def close_chunk(self) -> str:
        """Store what arrived since the last chunk (in order of birth); its hash."""
        chunk = sorted(self.waiting, key=lambda i: i.evaluation.id)
        self.waiting = []
        arrays = self.arrays(chunk)
        self._judge(arrays)
        digest = self.store.put(pack(self.meta(), arrays))
        self.chunks.append(digest)
        return digest

    def put(self, members: list[Individual]) -> str:
        """Store some individuals as an artifact; its hash."""
        return self.store.put(pack(self.meta(), self.arrays(members)))

    def archive(self) -> str:
        """Store everything evaluated as one artifact; its hash."""
        parts = [unpack(self.store.get(digest)).arrays for digest in self.chunks]
        if self.waiting:
            parts.append(self.arrays(sorted(self.waiting, key=lambda i: i.evaluation.id)))
        parts = [part for part in parts if len(part["id"])] or [self.arrays([])]
        whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return self.store.put(pack(self.meta(), whole))

    def arrays(self, members: list[Individual]) -> Arrays:
        """The columns every artifact has."""
        arrays = columns(members, self.problem)
        metrics = arrays.pop("metrics")
        teams = metrics.shape[1] // 2
        return {**arrays, "cost": metrics[:, :teams], "team_strength": metrics[:, teams:]}

    def meta(self) -> dict[str, Any]:
        """What the columns mean."""
        b = self.baselines
        rows = [{"name": n, "row": r, "drawn": b.drawn} for n, r in zip(b.names, b.rows.tolist(), strict=True)]
        return {
            "objectives": [o.name for o in self.config.objectives],
            "median_baseline": {"value": b.median, "error": b.error, "samples": b.samples},
            "baselines": rows,
            "battles_each": self.each,
        }

    def _judge(self, arrays: Arrays) -> None:
        objective, half = arrays["objective"], half_width(arrays["error"], arrays["samples"])
        verdict = verdicts(objective, half, self.signs, self.thresholds, self.strength, self.baselines.median)
        self.totals["over"] += int((verdict != UNDER).sum())
        self.totals["strong"] += int((verdict == STRONG).sum())
        if not self.reference:
            good = objective[arrays["status"] == 0]
            if len(good):
                self.reference = [good.min(axis=0).tolist(), good.max(axis=0).tolist()]
        strong = np.flatnonzero(verdict == STRONG)
        if self.line is not None and len(strong):
            sign = self.signs[self.line]
            i = strong[np.argmax(sign * objective[strong, self.line])]
            value, h = float(objective[i, self.line]), float(half[i, self.line])
            if self.worst is None or sign * value > sign * self.worst.value:
                self.worst = Worst(value, value - h, value + h)

    def metrics(self, front: list[Individual]) -> dict[str, float]:
        """The tick's numbers, for charts and key figures."""
        found: dict[str, float] = {key: float(value) for key, value in self.totals.items()}
        found |= {"evaluated": found.pop("evaluations"), "front": float(len(front))}
        found["hypervolume"] = self.hypervolume(front)
        found["median_baseline"] = self.baselines.median
        if self.worst:
            found |= {"worst": self.worst.value, "worst_low": self.worst.low, "worst_high": self.worst.high}
        return found

    def hypervolume(self, front: list[Individual]) -> float:
        """In units of the box that the first tick's evaluations span, from its worst corner."""
        if not front or not self.reference:
            return 0.0
        low, high = (np.asarray(corner) for corner in self.reference)
        span = np.where(high > low, high - low, 1.0)
        points: NDArray[np.float64] = (np.stack([i.evaluation.objectives for i in front]) - low) / span
        corner = [0.0 if sign > 0 else 1.0 for sign in self.signs]
        return hypervolume(points, self.signs, corner)

    def counters(self) -> Counters:
        """Totals over the study's whole life."""
        return Counters(
            evaluations=self.totals["evaluations"],
            battles=self.totals["battles"],
            cached=self.totals["cached"],
            seconds=self.before + time.monotonic() - self.began,
        )

    def state(self) -> dict[str, Any]:
        """As JSON. What waits for its chunk is not part of it: a checkpoint is taken when nothing waits."""
        return {
            "chunks": self.chunks,
            "totals": self.totals,
            "reference": self.reference,
            "worst": list(self.worst) if self.worst else None,
            "each": self.each,
            "seconds": self.counters().seconds,
            "baselines": msgspec.to_builtins(self.baselines.state()),
            "termination": self.termination.state(),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Go on from ``state``."""
        self.chunks, self.totals = list(state["chunks"]), dict(state["totals"])
        self.reference, self.each = state["reference"], state["each"]
        self.worst = Worst(*state["worst"]) if state["worst"] else None
        self.before, self.began = state["seconds"], time.monotonic()
        self.termination.load(state["termination"])
