"""Objectives and their covariance from battles: formulas over team means, jackknifed over replicates.

Theta is a formula of the means over all replicates; theta_i the same without replicate i. The jackknife covariance is
(R - 1)/R * sum (theta_i - mean)(theta_i - mean)^T (Efron & Tibshirani 1993, ch. 11), which includes the choice of the
strongest and weakest team. With ``anchors`` that choice is fixed, so fresh samples measure it without bias, and each
replicate has a value of its own: its pseudo-value R theta - (R - 1) theta_i. Theta is the mean of these for sums and
differences; for ratios only to first order, and not near a kink such as abs() at 0.

Replicates that are all equal, or take few values, do not make a result certain: at 97.5 % confidence, up to one
replicate in 1 / (1 - 0.025^(1/R)) could still differ. Where the bounds of values are known, the standard error is no
smaller than that implies.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.config.lineups import ObjectiveSetConfig
from engine.errors import ConfigError
from engine.formula import COST, Formula, goal, parse
from engine.formula_functions import STRONGEST, WEAKEST
from engine.lineups.matches import PlayedBattles
from engine.lineups.parts import Sums
from engine.lineups.schema import spans, unbounded, variables
from engine.problem import Objective
from engine.simulators.contract import GameSpec

Floats = NDArray[np.float64]


class Measured(NamedTuple):
    """Objectives of n lineups: ``mean`` float64[n, m], ``covariance`` float64[n, m, m], ``violation`` float64[n],
    ``anchors`` int64[n, 2] (strongest, weakest team), ``strength`` float64[n, T] of each team over all its battles,
    ``values`` float64[n, R, m] the jackknife pseudo-value of each replicate; for an objective that is a weighted sum of
    means, its value for that replicate alone. ``sums`` float64[n, R, k], where ``anchors`` were given: each replicate's
    terms of the other objectives (``engine.lineups.parts``)."""

    mean: Floats
    covariance: Floats
    violation: Floats
    anchors: NDArray[np.int64]
    strength: Floats
    values: Floats
    sums: Floats | None


def check(spec: GameSpec, config: ObjectiveSetConfig, teams: int) -> list[Formula]:
    """Every formula parsed: objectives, then constraints. Raises ConfigError with the place of each that is wrong."""
    team, lineup = (set(names) for names in variables(spec, teams))
    found: list[tuple[str, str]] = []
    formulas: list[Formula] = []
    places = [(f"objectives.objectives.{i}.formula", o.formula, goal) for i, o in enumerate(config.objectives)]
    places += [(f"objectives.constraints.{i}", text, parse) for i, text in enumerate(config.constraints)]
    for place, text, read in places:
        try:
            formulas.append(read(text, team, lineup))
        except ConfigError as error:
            found += [(place, p.message) for p in error.problems]
    if found:
        raise ConfigError(found)
    return formulas


class Objectives:
    """The objectives of one study, ready to measure."""

    def __init__(self, spec: GameSpec, config: ObjectiveSetConfig, teams: int, baselines: int) -> None:
        parsed = check(spec, config, teams)
        self.spec, self.config, self.teams, self.baselines = spec, config, teams, baselines
        self.formulas, self.constraints = parsed[: len(config.objectives)], parsed[len(config.objectives) :]
        self.side = [m.name for m in spec.side_metrics]
        self.battle = [m.name for m in spec.battle_metrics]
        self.strength = self.side.index(spec.strength)
        self.bounded = not unbounded(spec, config, teams)
        self.sums = Sums(spec, config.objectives, teams)

    def describe(self) -> tuple[Objective, ...]:
        """The objectives, for ``Problem``."""
        return tuple(Objective(o.name, o.title, o.direction, o.unit, o.threshold) for o in self.config.objectives)

    def measure(self, played: PlayedBattles, costs: Floats, anchors: NDArray[np.int64] | None = None) -> Measured:
        """Objectives of the lineups that were played; ``costs`` float64[n, T]; ``anchors`` int64[n, 2] or None."""
        values = self._values(played, costs)
        strength = values[self.side[self.strength]]
        if anchors is None:
            values[STRONGEST] = strength.argmax(axis=-1)[..., None]
            values[WEAKEST] = strength.argmin(axis=-1)[..., None]
        else:
            values[STRONGEST], values[WEAKEST] = anchors[:, None, :1], anchors[:, None, 1:]
        # A formula over costs alone is the same for every replicate.
        columns = [np.broadcast_to(self._clipped(i, values), strength.shape[:2]) for i in range(len(self.formulas))]
        theta = np.stack(columns, axis=-1)
        replicates = strength.shape[1] - 1
        with np.errstate(invalid="ignore"):  # a formula may give inf here; the evaluator reports such lineups
            spread = theta[:, 1:] - theta[:, 1:].mean(axis=1, keepdims=True)
            covariance = (spread[:, :, :, None] * spread[:, :, None, :]).sum(axis=1) * (replicates - 1) / replicates
            each = _each(theta)
        sums = None if anchors is None else _each(self.sums.of(values, strength.shape[:2]))
        self._not_too_sure(covariance, each, costs)
        violation = np.zeros(len(strength))
        for formula in self.constraints:
            violation += np.maximum(0.0, -np.broadcast_to(formula.evaluate(values), strength.shape[:2])[:, 0])
        picked = np.concatenate(
            [np.broadcast_to(values[k], (*strength.shape[:2], 1))[:, 0] for k in (STRONGEST, WEAKEST)], axis=-1
        )
        return Measured(theta[:, 0].copy(), covariance, violation, picked, strength[:, 0], each, sums)

    def limits(self, costs: Floats) -> Floats:
        """Bounds float64[n, 2, m] of every replicate's objectives, for lineups of costs float64[n, T]; valid where they
        are ``bounded``."""
        low, high, *_ = spans(self.spec, self.config.objectives, costs)
        return np.stack([low, high], axis=1)

    def _not_too_sure(self, covariance: Floats, each: Floats, costs: Floats) -> None:
        """Raise the variance of objectives with few distinct values (``confidence.coarse``) to the least that the
        number of replicates supports, where the bounds of values are known."""
        replicates, k = each.shape[1], max(2, -(-2 * each.shape[1] // 5))
        ordered = np.sort(each, axis=1)
        with np.errstate(invalid="ignore"):
            near = ordered[:, k - 1 :] - ordered[:, : replicates - k + 1] <= 1e-9 * np.ptp(ordered, axis=1)[:, None]
        few = near.any(axis=1)
        if few.any():
            from scipy.special import stdtrit  # loaded by a worker only where it is asked for

            low, high, exact, _ = spans(self.spec, self.config.objectives, costs)
            few &= ~exact & np.isfinite(high - low)
            least = (high - low) * (1 - 0.025 ** (1 / replicates)) / stdtrit(max(replicates - 1, 1), 0.975)
            variance = np.einsum("njj->nj", covariance)
            variance[few] = np.maximum(variance[few], least[few] ** 2)

    def _clipped(self, i: int, values: dict[str, Any]) -> Floats:
        config = self.config.objectives[i]
        result = self.formulas[i].evaluate(values)
        if config.low is None and config.high is None:
            return result
        return np.clip(result, config.low, config.high)

    def _values(self, played: PlayedBattles, costs: Floats) -> dict[str, Any]:
        """Variables as [n, 1 + R, T] (all replicates, then without each one), battle metrics as [n, 1 + R, 1]."""
        versus, baseline = _left_out(played.versus), _left_out(played.baseline)
        opponents = self.teams - 1
        every = (versus + baseline) / (opponents + self.baselines)
        values: dict[str, Any] = {COST: costs[:, None, :]}
        for k, name in enumerate(self.side):
            values[name] = every[..., k].mean(axis=-1)
            values[f"{name}_first"], values[f"{name}_second"] = every[..., 0, k], every[..., 1, k]
            values[f"{name}_vs_baselines"] = baseline[..., k].mean(axis=-1) / self.baselines
            if opponents:
                values[f"{name}_vs_teams"] = versus[..., k].mean(axis=-1) / opponents
        for k, name in enumerate(self.battle, start=len(self.side)):
            values[name] = every[..., k].mean(axis=(-1, -2))[..., None]
        return values


def _each(theta: Floats) -> Floats:
    """Pseudo-values [n, R, k] from [n, 1 + R, k] (all replicates, then without each one); computed relative to theta,
    because sums of many replicates lose digits."""
    return np.asarray(theta[:, :1] + (theta.shape[1] - 2) * (theta[:, :1] - theta[:, 1:]))


def _left_out(sums: Floats) -> Floats:
    """Means [n, 1 + R, T, 2, k] of [n, T, 2, R, k]: over all replicates, then leaving out each."""
    replicates = sums.shape[3]
    total = sums.sum(axis=3)
    without = (total[:, :, :, None] - sums) / (replicates - 1)
    stacked = np.concatenate([total[:, :, :, None] / replicates, without], axis=3)
    return np.moveaxis(stacked, 3, 1)
