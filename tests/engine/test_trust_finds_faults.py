"""The trust bench can fail: each fault that the engine once had, or might get, is found by a case of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import t as student

from engine import confidence, means
from engine.bench.trust import examinations, ladders, ratios, strangers, undeclared
from engine.bench.trust import verdicts as trust
from engine.confidence import Range
from engine.metagame.ladder import Ladder
from engine.metagame.profiles import Profiles
from engine.styles import strangers as of_strangers
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


def test_it_finds_ladders_that_take_all_match_ups_for_equally_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    def case(rng: np.random.Generator) -> float:
        return float(ladders.misses("both", "98", 50, rng)[:-1].mean())

    def twins(rng: np.random.Generator) -> float:
        return float(ladders.set_apart("98", 50, rng)[0])

    assert not found(case)
    assert not found(twins)
    monkeypatch.setattr(Ladder, "_wanted", lambda self, contrast, careful: float(ndtri(careful.error)) ** 2)
    assert found(case)
    assert found(twins)


def test_it_finds_ranges_of_ladders_that_end_half_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def case(rng: np.random.Generator) -> float:
        return float(ladders.misses("winner8", "95", 30, rng)[:-1].mean())

    end = Profiles.end
    assert not found(case)
    monkeypatch.setattr(Profiles, "end", lambda self, contrast, deep: end(self, contrast, deep / 4))
    assert found(case)


@pytest.mark.parametrize("kind", ["rare0.0056", "back0.005"])
def test_it_finds_styles_that_are_judged_by_what_was_seen_alone(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said, by = ("holds", 0.16) if kind.startswith("rare") else ("fragile", 0.999 * strangers.FRAGILE)

    def wrong() -> float:
        return strangers.called(said, kind, 100, by, RUNS)

    assert wrong() <= strangers.ERROR
    monkeypatch.setattr(of_strangers, "FAR", 0.0)
    assert wrong() > 0.3
