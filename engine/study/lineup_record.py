"""What a study of lineups remembers: beside what every record has, who is over the line, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from engine.config.lineups import ObjectiveSetConfig
from engine.evolution.algorithm import Arrays, Individual
from engine.indicators import STRONG, UNDER, half_width, verdicts
from engine.lineups.baselines import BaselineTeams
from engine.problem import Problem
from engine.store import Store
from engine.study.record import Record


class Worst(NamedTuple):
    """A lineup that is over the line and strong: its value and 95 % interval."""

    value: float
    low: float
    high: float


class LineupRecord(Record):
    """``over``: ids over the line; ``strong``: those of them that surely are and can win."""

    def __init__(self, problem: Problem, config: ObjectiveSetConfig, baselines: BaselineTeams, store: Store) -> None:
        super().__init__(problem, store)
        self.config, self.baselines = config, baselines
        self.thresholds = [o.threshold for o in config.objectives]
        self.strength = next((i for i, o in enumerate(config.objectives) if o.strength), None)
        self.line = next((i for i, t in enumerate(self.thresholds) if t is not None), None)
        self.over: set[int] = set()
        self.strong: dict[int, Worst] = {}

    def arrays(self, members: Sequence[Individual]) -> Arrays:
        """The columns every artifact has."""
        arrays = super().arrays(members)
        metrics = arrays.pop("metrics")
        teams = metrics.shape[1] // 2
        return {**arrays, "cost": metrics[:, :teams], "team_strength": metrics[:, teams:]}

    def restored(self, arrays: Arrays) -> list[Individual]:
        """The inverse of ``arrays``."""
        metrics = np.concatenate([arrays["cost"], arrays["team_strength"]], axis=1)
        return super().restored({**arrays, "metrics": metrics})

    def meta(self) -> dict[str, Any]:
        """What the columns mean."""
        b = self.baselines
        rows = [{"name": n, "row": r, "drawn": b.drawn} for n, r in zip(b.names, b.rows.tolist(), strict=True)]
        return {
            **super().meta(),
            "median_baseline": {"value": b.median, "error": b.error, "samples": b.samples},
            "baselines": rows,
            "battles_each": self.each,
        }

    def judge(self, arrays: Arrays) -> None:
        """Who is over the line, by the estimates as they are now."""
        objective, half = arrays["objective"], half_width(arrays["error"], arrays["samples"])
        verdict = verdicts(objective, half, self.signs, self.thresholds, self.strength, self.baselines.median)
        for k, i in enumerate(arrays["id"].tolist()):
            self.over.discard(i)
            self.strong.pop(i, None)
            if verdict[k] != UNDER:
                self.over.add(i)
            if verdict[k] == STRONG and self.line is not None:
                value, h = float(objective[k, self.line]), float(half[k, self.line])
                self.strong[i] = Worst(value, value - h, value + h)

    def settle(self, fresh: Sequence[Individual]) -> None:
        """Who is over the line is counted by the numbers that are shown."""
        self.judge(self.arrays(fresh))

    @property
    def worst(self) -> Worst | None:
        """The most extreme of the strong ones."""
        if self.line is None:
            return None
        sign = self.signs[self.line]
        return max(self.strong.values(), key=lambda found: sign * found.value, default=None)

    def metrics(self, front: Sequence[Individual]) -> dict[str, float]:
        """The tick's numbers, for charts and key figures."""
        found = super().metrics(front) | {"over": float(len(self.over)), "strong": float(len(self.strong))}
        found["median_baseline"] = self.baselines.median
        if worst := self.worst:
            found |= {"worst": worst.value, "worst_low": worst.low, "worst_high": worst.high}
        return found

    def state(self) -> dict[str, Any]:
        """As JSON, with the baselines as they were resolved."""
        return super().state() | {"baselines": msgspec.to_builtins(self.baselines.state())}
