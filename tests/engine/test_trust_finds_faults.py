"""The trust bench can fail: each fault that the engine once had, or might get, is found by a case of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy.stats import t as student

from engine import confidence, means
from engine.bench.trust import examinations, ratios, undeclared
from engine.bench.trust import verdicts as trust
from engine.confidence import Range
from engine.verdicts import Sample, most_extreme

RUNS = 40
Count = Callable[[np.random.Generator], float]


def found(count: Count) -> bool:
    """Whether a case fails its goal over a few runs."""
    share = float(np.mean([count(np.random.default_rng(seed)) for seed in range(RUNS)]))
    return share > 0.05 + 3 * math.sqrt(0.05 * 0.95 / RUNS)


def of_one(samples: Sequence[Sample], j: int, sign: float, of: int) -> tuple[int, Range]:
    return most_extreme(samples, j, sign, 1)


def by_students_t(self: means.Mean, line: float) -> float:
    spread = float(self.values.std(ddof=1)) / math.sqrt(len(self.values))
    if spread < 1e-12:
        return 99.0 if self.mean > line + 1e-12 else -99.0
    return -math.log(max(float(student.sf((self.mean - line) / spread, len(self.values) - 1)), 1e-300))


@pytest.mark.parametrize("noise", ["ties", "mirrored"])
def test_it_finds_a_furthest_one_that_is_told_with_the_range_of_one(
    noise: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def case(rng: np.random.Generator) -> float:
        return float(trust.equal_300(rng, trust.TRIED[noise]))

    assert not found(case)
    monkeypatch.setattr(trust, "most_extreme", of_one)
    assert found(case)


def test_it_finds_scores_of_few_values_that_are_taken_for_fine_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    def case(rng: np.random.Generator) -> float:
        return float(examinations.examined("exam-score", rng, 20)[0])

    assert not found(case)
    monkeypatch.setattr(confidence, "coarse", lambda values: False)
    assert found(case)


@pytest.mark.parametrize("noise", ["ties", "mirrored", "wins", "discrete"])
def test_it_finds_lists_that_take_student_s_t_for_evidence(noise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def case(rng: np.random.Generator) -> float:
        return float(trust.lists(rng, trust.TRIED[noise]))

    assert not found(case)
    monkeypatch.setattr(means.Mean, "evidence", by_students_t)
    assert found(case)


def test_it_finds_battles_with_baselines_that_count_for_those_between_teams(monkeypatch: pytest.MonkeyPatch) -> None:
    def case(rng: np.random.Generator) -> float:
        return ratios.wrong("lists-vs-teams", rng, 16)[1]

    assert not found(case)
    monkeypatch.setattr(ratios, "battles_each", lambda *_: np.array([[2 * ratios.MANY_BASELINES]]))
    assert found(case)


def test_it_finds_ranges_that_only_what_was_seen_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    def case(rng: np.random.Generator) -> float:
        return float(np.mean([undeclared.misses("lognormal-1.5", 8, rng) for _ in range(10)]))

    assert not found(case)
    monkeypatch.setattr(confidence, "FEW", 0.0)
    monkeypatch.setattr(confidence, "OPEN_REACH", 0.5)
    assert found(case)
