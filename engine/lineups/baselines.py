"""The baseline teams of a study: the studio's own, or mid-strength teams drawn from the game and labelled as drawn.

The strength of the median team is an estimate from the battles of all of them. The standard error of the team in the
middle would not do: which team that is depends on the same luck, and a steady team between two that vary a lot would
make the median look certain. So the interval's ends are the medians of the ends of the teams' intervals, each at a
level at which all of the lower (or upper) half hold together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import confidence
from engine.confidence import Observed
from engine.config.lineups import DrawnBaselines, LineupConfig
from engine.errors import SimulatorError
from engine.lineups.battle_counts import battles_between
from engine.lineups.encoding import LineupSpace, team_keys
from engine.lineups.rules import compile_rules
from engine.lineups.schema import team_name, team_row
from engine.rng import battle_seeds, combine64, generator
from engine.simulators.contract import OK, GameSpec, LineupSimulator, Metric, Patch

ALONE = 64
"""Replicates for a single baseline team, where a replicate has only two battles."""


class BaselineTeams(NamedTuple):
    """``rows`` int32[b, slots]; ``drawn`` or pasted; ``median``: strength of the median team; ``error``: its standard
    error, from which ``half_width`` with ``samples`` gives a 95 % interval (``median_error``); None where unknown.
    Of the ``battles`` behind these, the game did not finish ``unfinished``."""

    names: tuple[str, ...]
    rows: NDArray[np.int32]
    drawn: bool
    median: float
    error: float | None
    samples: int
    unfinished: int = 0
    battles: int = 0

    @property
    def note(self) -> str:
        """What battles that the game did not finish may do to what counts as strong; empty where it finished all."""
        if not self.unfinished:
            return ""
        return (
            f"The game did not finish {self.unfinished:,} of {self.battles:,} battles of the baseline teams; each of "
            "these counts as an average one: where it depends on who plays or wins which these are, so does what "
            "counts as strong."
        )

    def state(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {**self._asdict(), "names": list(self.names), "rows": self.rows.tolist()}

    @classmethod
    def load(cls, state: dict[str, Any]) -> BaselineTeams:
        """The inverse of ``state``."""
        rows = np.array(state["rows"], dtype=np.int32)
        return cls(**{**state, "names": tuple(state["names"]), "rows": rows})


def resolve(
    simulator: LineupSimulator, config: LineupConfig, patch: Patch, seed: int, fidelity: str = "full"
) -> BaselineTeams:
    """The baseline teams and the strength of the median one against the others; ``seed``: the study's, used where the
    baselines have none of their own. Raises ConfigError, SimulatorError."""
    spec = simulator.describe().patched(patch)
    drawn = isinstance(config.baselines, DrawnBaselines)
    if isinstance(config.baselines, DrawnBaselines):
        seed = seed if config.baselines.seed is None else config.baselines.seed
        rows = _draw(simulator, spec, config, patch, seed, fidelity)
        names = tuple(team_name(spec, row) for row in rows)
    else:
        teams = config.baselines.teams
        places = [f"lineups.baselines.teams.{i}.slots." for i in range(len(teams))]
        rows = np.stack([team_row(spec, t, place) for t, place in zip(teams, places, strict=True)])
        names = tuple(t.name or team_name(spec, row) for t, row in zip(teams, rows, strict=True))
    replicates = ALONE if len(rows) == 1 else 32 if spec.reproducible else 6
    against = [[j for j in range(len(rows)) if j != i] or [i] for i in range(len(rows))]
    sums, lost = _strengths(simulator, spec, rows, against, patch, seed, replicates, fidelity)
    median = float(np.median(sums.mean(axis=1)))
    strength = next(m for m in spec.side_metrics if m.name == spec.strength)
    battles = replicates * max(1, battles_between(rows))
    error = float(median_error(sums, battles, strength)) if spec.chance else 0.0
    played = 2 * replicates * sum(map(len, against))
    return BaselineTeams(names, rows, drawn, median, error if np.isfinite(error) else None, replicates, lost, played)


def median_error(sums: NDArray[np.float64], battles: int, metric: Metric) -> NDArray[np.float64]:
    """The standard error of the median of the teams' means, such that Student's two-sided 95 % interval and its
    one-sided 99 % bound have their coverage. ``sums`` float64[..., teams, replicates], each a mean over a share of the
    ``battles`` of a team; gives float64[...], infinite where a team never varied and the metric has no range.

    If the median of the lower ends is above the true median, then one of the k // 2 + 1 teams up to the middle has its
    own lower end above its mean: so these share one level (Bonferroni), however their results depend on each other. A
    team's own end is Student's, moved by the third moment towards the longer tail (Johnson 1978), and never nearer than
    rare events allow: n battles without an event are compatible with any event of probability below log(1 / α) / n.
    Opponents differ, so that event may take the whole range from the few battles that have it to lose.

    The median of several skewed means is less skewed than one. Where replicates of a single team take few different
    values, such as rare wins, its bound is also no nearer than what bets within the metric's range leave open; a single
    team of a metric without a range gets what bets on its replicates leave open, which is wide. Tests hold this for
    normal, exponential and 0-or-1 results, and for log-normal ones of a standard deviation of 1 in the logarithm, or of
    1.5 from 32 replicates on.
    """
    from scipy.special import stdtrit  # workers, which are given the teams, do without

    freedom = sums.shape[-1] - 1
    two, one = (_half(sums, battles, metric, error) / stdtrit(freedom, 1 - error) for error in (0.025, 0.01))
    return np.asarray(np.maximum(two, one))


def _half(sums: NDArray[np.float64], battles: int, metric: Metric, error: float) -> NDArray[np.float64]:
    """Half-width of the median's interval, with this ``error`` on each side."""
    mean, teams = sums.mean(axis=-1), sums.shape[-2]
    alpha = error / (teams // 2 + 1)
    below, above = _reach(sums, alpha)
    if metric.low is not None and metric.high is not None:
        unseen, each, whole = np.log(1 / alpha) / battles, battles / sums.shape[-1], metric.high - metric.low
        below = np.maximum(below, unseen * np.minimum((mean - metric.low) * each, whole))
        above = np.maximum(above, unseen * np.minimum((metric.high - mean) * each, whole))
    if teams == 1 and metric.low is not None and metric.high is not None:
        below = np.maximum(below, _coarse_reach(sums, metric.low, metric.high, alpha))
        above = np.maximum(above, _coarse_reach(-sums, -metric.high, -metric.low, alpha))
    elif teams == 1:
        below, above = (np.maximum(x, _open_reach(side * sums, alpha)) for x, side in ((below, 1.0), (above, -1.0)))
    middle = np.median(mean, axis=-1)
    half = np.maximum(middle - np.median(mean - below, axis=-1), np.median(mean + above, axis=-1) - middle)
    open_ended = metric.low is None or metric.high is None
    return np.where(open_ended & ~np.ptp(sums, axis=-1).all(axis=-1), np.inf, half)


def _coarse_reach(values: NDArray[np.float64], low: float, high: float, alpha: float) -> NDArray[np.float64]:
    """How far below the mean of each row of values, all within [low, high], the true one may lie, by what bets on so
    many values of that mean leave open; 0 for rows that take many different values."""
    means, of = np.unique(values.mean(axis=-1), return_inverse=True)
    lowest = [confidence.count_bounds(mean, values.shape[-1], low, high, 2 * alpha).low for mean in means.tolist()]
    few = np.apply_along_axis(confidence.coarse, -1, values)
    return np.where(few, (means - np.array(lowest))[of].reshape(few.shape), 0.0)


def _open_reach(values: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """How far below the mean of each row of values the true mean may lie where no lower bound is declared: by bets
    within the values' own reach (``confidence.seen``)."""

    def reach(row: NDArray[np.float64]) -> float:
        observed = Observed.of(row)
        return observed.mean - confidence.lowest(
            lambda line: confidence.seen(row, observed, line, True),
            observed.mean, observed.most - observed.least, -np.inf, alpha,
        )  # fmt: skip

    return np.apply_along_axis(reach, -1, values)


def _reach(sums: NDArray[np.float64], alpha: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How far below and above its mean the true mean of each row may lie, with an error of ``alpha`` on each side."""
    from scipy.special import stdtrit  # workers, which are given the teams, do without

    n, deviation = sums.shape[-1], sums - sums.mean(axis=-1, keepdims=True)
    t, spread = stdtrit(n - 1, 1 - alpha), np.sqrt((deviation**2).mean(axis=-1))
    skew = (deviation**3).mean(axis=-1) / np.where(spread > 0, spread, 1) ** 3
    moved = skew * (1 + 2 * t**2) / (6 * np.sqrt(n))
    error = spread / np.sqrt(n - 1)
    return error * (t + np.maximum(-moved, 0)), error * (t + np.maximum(moved, 0))


def _draw(
    simulator: LineupSimulator, spec: GameSpec, config: LineupConfig, patch: Patch, seed: int, fidelity: str
) -> NDArray[np.int32]:
    """Mid-strength teams that together are typical: random valid teams all play each other; of the middle half by
    strength, take those against which results differ least from results against the whole set."""
    wanted = config.baselines.count if isinstance(config.baselines, DrawnBaselines) else 0
    many, replicates = (max(64, 3 * wanted), 2) if spec.reproducible else (max(8, 2 * wanted), 1)
    alone = config.model_copy(update={"teams": 1, "cost_tolerance": None, "required": ()})
    rng = generator(seed, "baselines")
    rows = LineupSpace(compile_rules(spec, alone)).sample(rng, many)[:, 0]
    rows = rows[np.sort(np.unique(team_keys(rows), return_index=True)[1])]
    results = _round_robin(simulator, spec, rows, patch, seed, replicates, fidelity)
    order = np.argsort(results.mean(axis=1), kind="stable")
    start = max(0, min(len(order) // 4, (len(order) - wanted) // 2))
    middle = order[start : len(order) - start]
    return np.asarray(rows[np.sort(typical(results, middle, wanted))])


def typical(results: NDArray[np.float64], candidates: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
    """``wanted`` of the candidates, chosen so that results against them resemble results against all n as closely as
    possible.

    ``results`` float64[n, n]: the result of row i against column j. Greedy choice, then exchanges while they help; the
    measure is the variance over rows of (mean over the chosen columns - mean over all columns).
    """
    centred = results - results.mean(axis=0)
    target = centred.mean(axis=1)

    def misfit(chosen: list[int]) -> float:
        return float(((centred[:, chosen].mean(axis=1) - target) ** 2).mean())

    chosen: list[int] = []
    for _ in range(min(wanted, len(candidates))):
        left = [int(c) for c in candidates if c not in chosen]
        chosen.append(min(left, key=lambda c: misfit([*chosen, c])))
    for _ in range(20):
        left = [int(c) for c in candidates if c not in chosen]
        swaps = [[*chosen[:k], c, *chosen[k + 1 :]] for k in range(len(chosen)) for c in left]
        best = min(swaps, key=misfit, default=chosen)
        if misfit(best) >= misfit(chosen):
            break
        chosen = best
    return np.array(chosen, dtype=np.int64)


def _round_robin(
    simulator: LineupSimulator,
    spec: GameSpec,
    rows: NDArray[np.int32],
    patch: Patch,
    seed: int,
    replicates: int,
    fidelity: str,
) -> NDArray[np.float64]:
    """Mean strength left of each row against each other, from both seats: float64[rows, rows]; the diagonal holds each
    row's mean."""
    n = len(rows)
    left, right = np.nonzero(~np.eye(n, dtype=bool))
    one, other, _ = _play(simulator, spec, rows, left, right, patch, seed, replicates, fidelity)
    results = np.zeros((n, n))
    np.add.at(results, (left, right), one.mean(axis=1) / 2)
    np.add.at(results, (right, left), other.mean(axis=1) / 2)
    np.fill_diagonal(results, results.sum(axis=1) / max(n - 1, 1))
    return results


def _strengths(
    simulator: LineupSimulator,
    spec: GameSpec,
    rows: NDArray[np.int32],
    against: list[list[int]],
    patch: Patch,
    seed: int,
    replicates: int,
    fidelity: str,
) -> tuple[NDArray[np.float64], int]:
    """Mean strength left of each row over its opponents, from both seats: float64[rows, replicates]; and how many of
    these battles were not finished."""
    ones = np.repeat(np.arange(len(rows)), [len(a) for a in against])
    others = np.concatenate([np.asarray(a) for a in against])
    total, lost = np.zeros((len(rows), replicates)), 0
    for seat, seats in enumerate(((ones, others), (others, ones))):
        *found, left = _play(simulator, spec, rows, *seats, patch, seed, replicates, fidelity)
        np.add.at(total, ones, found[seat])
        lost += left
    return np.asarray(total / (2 * np.bincount(ones)[:, None])), lost


def _play(
    simulator: LineupSimulator,
    spec: GameSpec,
    rows: NDArray[np.int32],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    patch: Patch,
    seed: int,
    replicates: int,
    fidelity: str,
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Strength left of both sides, float64[matches, replicates] each; an unfinished battle counts as the average one;
    and how many are unfinished. Raises SimulatorError when no battle was finished."""
    keys, metric = team_keys(rows), [m.name for m in spec.side_metrics].index(spec.strength)
    seeds = battle_seeds(seed, combine64(keys[left], keys[right]), 0, replicates).ravel()
    wide = (np.repeat(rows[left], replicates, axis=0), np.repeat(rows[right], replicates, axis=0))
    answer = simulator.battles(*wide, seeds, patch, fidelity)
    if not (answer.status == OK).any():
        raise SimulatorError("The simulator finished none of the battles of the baseline teams.")
    value = np.where(answer.status[:, None] == OK, answer.side[:, :, metric], np.nan)
    value = np.nan_to_num(value, nan=float(np.nanmean(value))).reshape(len(left), replicates, 2)
    return value[..., 0], value[..., 1], int((answer.status != OK).sum())
