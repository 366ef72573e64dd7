"""“Strong” counts the baseline's own error: a lineup as strong as the median baseline team is not confirmed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from engine.lineups.baselines import median_error
from engine.simulators.contract import Metric
from engine.verdicts import ERROR, Goals, Sample, confirmed

RUNS, LINEUPS, FRESH = 200, 12, 256
WIN = Metric("win", "Win", "", "higher", 0, 1)
Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


def wins(chance: float) -> Draw:
    return lambda rng, shape: (rng.random(shape) < chance).astype(np.float64)


def ties(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Nine battles of ten are drawn."""
    return np.where(rng.random(shape) < 0.9, 0.5, (rng.random(shape) < 0.5).astype(np.float64))


NOISES: dict[str, Draw] = {"rare wins": wins(0.02), "wins": wins(0.3), "heavy ties": ties}
BASELINES = [(1, 64, 2), (2, 32, 2), (3, 6, 4), (8, 6, 14)]
"""Teams, replicates, and battles of each of these: as few as games have."""


def strong_as(values: np.ndarray) -> Sample:
    """A lineup far over its line, with these fresh values [n] of its strength."""
    both = np.stack([np.full(len(values), 9.0), values], axis=1)
    error = both.std(axis=0, ddof=1) / np.sqrt(len(values))
    first = np.array([True, False])
    return Sample(both.mean(axis=0), error, len(values), both, np.zeros(2), np.array([9.0, 1.0]), first, ~first | first,
                  np.full(2, len(values)), 1 / LINEUPS)  # fmt: skip


def wrong(draw: Draw, teams: int, replicates: int, battles: int, error_known: bool = True) -> float:
    """The share of runs in which any lineup is confirmed, though each is as strong as all baseline teams are."""
    rng = np.random.default_rng(3)
    sums = draw(rng, (RUNS, teams, replicates, battles)).mean(axis=3)
    medians, errors = np.median(sums.mean(axis=2), axis=1), median_error(sums, replicates * battles, WIN)
    lineups = draw(rng, (RUNS, LINEUPS, FRESH, 2)).mean(axis=3)
    found = 0
    for median, error, values in zip(medians.tolist(), errors.tolist(), lineups, strict=True):
        own = (error if np.isfinite(error) else None) if error_known else 0.0
        goals = Goals([1.0, 1.0], [1.0, None], 1, (median, own, replicates))
        best = values[np.argsort(values.mean(axis=1))[-3:]]
        found += bool(confirmed([[strong_as(each)] for each in best], goals).any())
    return found / RUNS


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("teams", "replicates", "battles"), BASELINES)
def test_at_most_one_list_in_twenty_takes_a_lineup_for_stronger_than_a_baseline_that_it_equals(
    noise: str, teams: int, replicates: int, battles: int
) -> None:
    assert wrong(NOISES[noise], teams, replicates, battles) <= ERROR + 3 * np.sqrt(ERROR * (1 - ERROR) / RUNS)


def test_it_would_be_more_often_if_the_median_were_taken_for_the_truth() -> None:
    assert wrong(wins(0.3), 3, 6, 4, error_known=False) > 3 * ERROR
