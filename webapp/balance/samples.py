"""What a formula comes to on lineups: the random ones a sample job played, or made-up ones within declared ranges.

A made-up lineup gives each team a power of its own, and every metric follows it with some noise, so strengths,
resources and wins belong together as they do in battles. Only the shape and size of a formula's values can be seen
on them, never how a game is balanced; the page says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.config import ObjectiveConfig
from engine.formula import Formula
from engine.formula_functions import STRONGEST, WEAKEST
from engine.simulators.contract import GameSpec, Metric
from webapp.lib.words import percent
from webapp.projects.models import Project

LINEUPS = 200
Played = Callable[[Project, ObjectiveConfig], NDArray[np.float64] | None]
"""What an objective with this very formula came to on random lineups that were played; None where there are none."""

PLAYED: dict[str, Played] = {}


def register(app: str, played: Played) -> None:
    """Let samples be of the lineups that an app has played."""
    PLAYED[app] = played


@dataclass(frozen=True)
class FormulaValues:
    """Values of one formula over lineups, after floor and cap. ``odd``: how many were no numbers."""

    played: bool
    lineups: int
    middle: float
    low: float
    high: float
    over: int | None
    odd: int

    @property
    def line(self) -> str:
        """Where the line lies among these values. On made-up lineups only its being out of reach means anything."""
        if self.over is None:
            return ""
        if self.played:
            share = percent(self.over / max(1, self.lineups))
            return f"{self.over} of {self.lineups} {'reaches' if self.over == 1 else 'reach'} the line ({share})."
        if self.over == 0:
            return "None of them reaches the line."
        return "All of them reach the line." if self.over == self.lineups - self.odd else ""


def made_up(spec: GameSpec, teams: int) -> dict[str, NDArray[Any]]:
    """Values of every variable of ``engine.lineups.schema.variables``: team variables [n, teams], others [n, 1]."""
    rng = np.random.default_rng(20)
    power = rng.beta(2.0, 2.0, (LINEUPS, teams))
    cost = _costs(spec, rng, teams)
    values: dict[str, NDArray[Any]] = {"cost": cost}
    for metric in spec.side_metrics:
        for ending in ("", "_vs_baselines", "_vs_teams", "_first", "_second"):
            noisy = np.clip(power + rng.normal(0, 0.08, power.shape), 0.0, 1.0)
            values[metric.name + ending] = _spread(metric, noisy, cost)
    for metric in spec.battle_metrics:
        values[metric.name] = _spread(metric, rng.random((LINEUPS, 1)), cost[:, :1])
    strength = values[spec.strength]
    values[STRONGEST] = strength.argmax(axis=-1)[:, None]
    values[WEAKEST] = strength.argmin(axis=-1)[:, None]
    return values


def _costs(spec: GameSpec, rng: np.random.Generator, teams: int) -> NDArray[np.float64]:
    low, high = spec.rules.budget_low, spec.rules.budget_high
    if not 0 < high < 1e8:
        mean = float(np.mean([p.cost for p in spec.pieces])) if spec.pieces else 100.0
        low, high = 2.0 * mean, 4.0 * mean
    return np.asarray(rng.uniform(low, high, (LINEUPS, 1)) * rng.uniform(0.98, 1.02, (LINEUPS, teams)))


def _spread(metric: Metric, share: NDArray[np.float64], cost: NDArray[np.float64]) -> NDArray[np.float64]:
    """``share`` in [0, 1] stretched over the metric's range; a metric without a top is taken to end at the cost."""
    low = metric.low if metric.low is not None else 0.0
    high = cost if metric.high is None else metric.high
    return np.asarray(low + share * (high - low))


def on_made_up(formula: Formula, objective: ObjectiveConfig | None, spec: GameSpec, teams: int) -> FormulaValues:
    """The formula on made-up lineups."""
    values = np.broadcast_to(formula.evaluate(made_up(spec, teams)), (LINEUPS,))  # a constant is one value
    return _summary(values, objective, played=False)


def on_played(project: Project, objective: ObjectiveConfig) -> FormulaValues | None:
    """The objective on random lineups that were played; None where there are none."""
    for played in PLAYED.values():
        values = played(project, objective)
        if values is not None:
            return _summary(values, objective, played=True)
    return None


def _summary(values: NDArray[np.float64], objective: ObjectiveConfig | None, *, played: bool) -> FormulaValues:
    good = values[np.isfinite(values)]
    odd = len(values) - len(good)
    if objective is not None and (objective.low is not None or objective.high is not None):
        good = np.clip(good, objective.low, objective.high)
    if not len(good):
        return FormulaValues(played, len(values), 0.0, 0.0, 0.0, None, odd)
    over = None
    if objective is not None and objective.threshold is not None:
        beyond = good >= objective.threshold if objective.direction == "max" else good <= objective.threshold
        over = int(beyond.sum())
    low, middle, high = np.quantile(good, [0.05, 0.5, 0.95])
    return FormulaValues(played, len(values), float(middle), float(low), float(high), over, odd)
