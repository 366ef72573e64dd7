"""Ranges and evidence at every look: exact where that can be counted, by simulation where it cannot."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special
from scipy.stats import t as student

from engine.confidence import (
    Observed,
    Range,
    bounds,
    bounds_once,
    coarse,
    count_bounds,
    e_bh,
    full,
    growth,
    log_evidence,
    log_t_evidence,
    lowest,
    reach_of,
    seen,
    t_bounds,
    t_half,
    unseen,
)  # fmt: skip
from engine.means import NOWHERE, Mean, range_of, widened


@pytest.mark.parametrize("p", [0.01, 0.3, 0.5, 0.9])
def test_a_bet_against_the_truth_is_expected_to_win_nothing(p: float) -> None:
    """Over all 2^10 outcomes of ten battles won with probability p, the mean wealth is 1 exactly."""
    wealth = 0.0
    for outcome in itertools.product((0.0, 1.0), repeat=10):
        chance = math.prod(p if x else 1 - p for x in outcome)
        wealth += chance * math.exp(log_evidence(np.array(outcome), 0, 1, p))
    assert wealth == pytest.approx(1.0, abs=1e-12)


def test_evidence_does_not_depend_on_the_order_of_the_values() -> None:
    values = np.random.default_rng(1).random(30)
    assert log_evidence(values, 0, 1, 0.4) == pytest.approx(log_evidence(values[::-1], 0, 1, 0.4), rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.floats(-100, 100), st.floats(0.1, 1000))
def test_bounds_are_where_the_evidence_is_strong_enough(seed: int, n: int, low: float, span: float) -> None:
    values = low + span * np.random.default_rng(seed).beta(0.4, 0.7, n)
    found = bounds(values, low, low + span)
    assert low - 1e-9 * span <= found.low <= values.mean() + 1e-9 * span
    assert values.mean() - 1e-9 * span <= found.high <= low + span + 1e-9 * span
    if found.low > low + 1e-6 * span:
        assert log_evidence(values, low, low + span, found.low) == pytest.approx(math.log(40), abs=1e-3)
    moved = bounds(values + 7, low + 7, low + span + 7)
    np.testing.assert_allclose(np.array(moved) - 7, found, atol=1e-6 * span)


def test_values_that_are_all_alike_leave_what_their_count_leaves() -> None:
    """16 losses of 16: the truth may be 20 % wins (Clopper and Pearson say 0.206), and more looks take a little
    more."""
    found = bounds(np.zeros(16), 0, 1)
    assert found.low == 0
    assert 0.2 < found.high < 0.3
    assert bounds(np.zeros(2000), 0, 1).high < 0.003


@pytest.mark.parametrize("n", [1, 2, 3, 50])
def test_values_that_all_lie_at_an_end_leave_a_range_from_there(n: int) -> None:
    none, all_ = bounds_once(np.zeros(n), 0.0, 1.0), bounds_once(np.ones(n), 0.0, 1.0)
    assert none.low == 0.0
    assert all_.high == 1.0
    assert 0 < none.high == pytest.approx(1 - all_.low)
    assert n < 50 or none.high < 0.2


@cache
def range_of_wins(battles: int, wins: int) -> Range:
    """Of so many battles; the same whichever of them were won."""
    return bounds(np.repeat([1.0, 0.0], [wins, battles - wins]), 0, 1)


@pytest.mark.parametrize("p", [0.01, 0.1, 0.5, 0.99])
def test_at_twenty_looks_together_the_range_of_a_win_rate_misses_in_no_more_than_one_of_twenty(p: float) -> None:
    rng, wrong = np.random.default_rng(3), 0
    for _ in range(400):
        wins = np.cumsum(rng.random(320) < p)
        looks = (range_of_wins(n, int(wins[n - 1])) for n in range(16, 321, 16))
        wrong += any(not found.low <= p <= found.high for found in looks)
    assert wrong <= 0.05 * 400


def test_the_t_sequence_is_wang_and_ramdas_s_and_holds_at_twenty_looks() -> None:
    """Their Theorem: the likelihood ratio of a normal prior of unit information on the effect, right Haar on the
    spread."""
    mean, error, n = 1.3, 0.4, 12
    t2, nu = (mean / error) ** 2, n - 1
    byhand = (1 + n) ** -0.5 * ((1 + t2 / nu) / (1 + t2 / (nu * (1 + n)))) ** (n / 2)
    assert log_t_evidence(mean, error, n, 0.0) == pytest.approx(math.log(byhand))
    assert log_t_evidence(0.0, error, n, 0.0) == -math.inf
    rng, wrong = np.random.default_rng(5), 0
    for _ in range(1000):
        x = rng.normal(3, 2, 320)
        ends = [t_bounds(x[:k].mean(), x[:k].std(ddof=1) / k**0.5, k) for k in range(16, 321, 16)]
        wrong += any(not end.low <= 3 <= end.high for end in ends)
    assert wrong <= 0.05 * 1000


def test_the_ends_of_the_t_sequence_are_where_its_evidence_is_one_in_twenty() -> None:
    half = t_half(0.7, 40)
    assert log_t_evidence(half, 0.7, 40, 0.0) == pytest.approx(math.log(20))
    assert t_half(0.7, 1) == t_half(0.0, 40) == math.inf


def width(x: np.ndarray) -> float:
    """Of the range of normal values without bounds."""

    def end(sign: float) -> float:
        return lowest(
            lambda m: seen(sign * x, Observed.of(sign * x), m, True), sign * float(x.mean()), 1.0, -math.inf, 0.025
        )

    return -end(-1.0) - end(1.0)


def test_on_normal_noise_ranges_are_at_most_twice_as_wide_as_students() -> None:
    rng = np.random.default_rng(2)
    for n in (256, 1024, 4096):
        ratio = []
        for _ in range(20):
            x = rng.normal(size=n)
            ratio.append(width(x) / (2 * student.ppf(0.975, n - 1) * x.std(ddof=1) / n**0.5))
        assert np.mean(ratio) <= 2


def test_values_of_which_two_of_five_are_alike_are_coarse_whatever_their_rounding() -> None:
    assert coarse(np.array([0.0, 0.0, 1.0, 1.0, 1.0]))
    assert coarse(np.array([0.1 + 0.2, 0.3, 1.0, 2.0, 3.0]))
    assert coarse(np.array([5.0]))
    assert not coarse(np.arange(3.0))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.booleans())
def test_evidence_by_what_was_seen_is_never_more_than_symmetric_noise_allows(seed: int, n: int, open_: bool) -> None:
    """Each value on the far side of the line tells log 2 at most; and it falls as the line rises."""
    values = np.random.default_rng(seed).normal(5, 0.01, n)
    observed = Observed.of(values)
    told = [seen(values, observed, line, open_) for line in (-100.0, 0.0, 4.0, 4.99)]
    assert max(told) <= n * math.log(2)
    assert all(a >= b - 1e-9 for a, b in itertools.pairwise(told))
    assert seen(values, observed, 6.0, open_) == -math.inf
    assert growth(values, 4.99, reach_of(observed, len(values), 4.99, open_)) <= math.log(2)


def test_what_none_of_the_battles_showed_is_allowed_for_as_bets_on_equal_battles_do() -> None:
    """Sixty battles that all ended at 0.9, bounds 0 and 1: the same as betting on sixty equal values."""
    best = max(float(np.log1p(f * (0.9 / 0.8 - 1)).sum()) for f in np.linspace(0, 1, 101)[:, None])
    assert unseen(0.9, 0.0, 60, 0.8) == pytest.approx(60 * best)
    assert unseen(0.9, -math.inf, 60, 0.8) == math.inf
    assert unseen(0.9, 0.0, 60, 0.95) == -math.inf


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.data())
def test_no_battles_of_the_same_mean_hide_more_than_the_few_that_have_most_to_lose(
    usual: list[float], data: st.DataObject
) -> None:
    """Upsets with a chance of their own in each battle, all of them total: the chance that 20 replicates show none."""
    chances = [data.draw(st.floats(0, 0.99)) for _ in usual]
    mean = sum(usual) / len(usual)
    line = sum(y * (1 - q) for y, q in zip(usual, chances, strict=True)) / len(usual)
    hidden = 20 * sum(math.log1p(-q) for q in chances)
    if line > 0:
        told = unseen(mean, 0.0, 20 * full(mean, 0.0, 1.0, len(usual)), line)
        assert told == -math.inf or told <= -hidden + 1e-9
    assert full(0.5, 0.0, math.inf, 8) == 1
    assert full(1.0, 0.0, 1.0, 8) == 8


def test_the_lowest_mean_left_is_where_the_evidence_becomes_too_weak() -> None:
    assert lowest(lambda m: 3 - m, 2.0, 0.1, -math.inf, math.exp(-2)) == pytest.approx(1.0, abs=1e-6)
    assert lowest(lambda m: 3 - m, 2.0, 0.1, 1.5, math.exp(-2)) == 1.5
    assert lowest(lambda m: 0.0, 2.0, 0.1, -math.inf, 0.05) == -math.inf


def bisected(evidence: Callable[[float], float], start: float, step: float, floor: float, error: float) -> float:
    """What ``lowest`` says, by nothing but halving."""
    low, needed = start, -math.log(error)
    while low > floor and evidence(low) < needed:
        low, step = max(low - step, floor), 2 * step
    if evidence(low) < needed:
        return floor
    high = start
    for _ in range(32):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if evidence(middle) >= needed else (low, middle)
    return low


@pytest.mark.parametrize("error", [0.025, 1e-5])
@pytest.mark.parametrize("low", [-10.0, -math.inf])
@pytest.mark.parametrize("noise", ["normal", "exponential", "wins", "humps"])
def test_the_lowest_mean_left_is_that_of_plain_halvings_to_the_last_bit_in_half_the_looks(
    noise: str, low: float, error: float
) -> None:
    rng, looks = np.random.default_rng(4), 0
    draw = {
        "normal": rng.normal,
        "exponential": lambda size: rng.exponential(1.0, size),
        "wins": lambda size: (rng.random(size) < 0.3) * 8.0,
        "humps": lambda size: rng.normal(size=size) ** 3,
    }
    for n in (32, 64, 256) * 5:
        mean = Mean(draw[noise](size=n), low, math.inf, 4.0)

        def evidence(line: float, mean: Mean = mean) -> float:
            nonlocal looks
            looks += 1
            return mean.evidence(line)

        asked = (evidence, mean.mean, float(np.ptp(mean.values)), low, error)
        found, taken = lowest(*asked), looks
        assert found == bisected(*asked)
        if math.isfinite(found) and found > low:
            assert 2 * taken < looks - taken
        looks = 0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-5, 15), min_size=1, max_size=30))
def test_with_equal_shares_the_list_is_that_of_benjamini_and_hochberg_on_one_over_e(logs: list[float]) -> None:
    n = len(logs)
    told = e_bh(np.array(logs), np.full(n, 1 / n))
    p = np.exp(-np.array(logs))
    order = np.argsort(p, kind="stable")
    passed = np.flatnonzero(p[order] <= 0.05 * np.arange(1, n + 1) / n)
    expected = np.zeros(n, dtype=bool)
    expected[order[: passed[-1] + 1 if len(passed) else 0]] = True
    assert told.tolist() == expected.tolist()


def test_examining_more_lineups_later_takes_no_finding_away() -> None:
    rng = np.random.default_rng(4)
    logs, shares = rng.normal(4, 3, 30), np.full(30, 0.5 / 30)
    first = e_bh(logs, shares)
    later = e_bh(np.concatenate([logs, rng.normal(-2, 1, 50)]), np.concatenate([shares, np.full(50, 1 / 6 / 50)]))
    assert first.any()
    assert (later[:30] >= first).all()


@cache
def range_of_mean(mean: float, battles: int) -> Range:
    """As many wins of as many battles come again and again."""
    return count_bounds(mean, battles, 0.0, 1.0)


@pytest.mark.parametrize("p", [0.02, 0.5, 0.9])
def test_bounds_by_mean_and_count_hold_at_every_look_for_wins_and_for_anything_between(p: float) -> None:
    rng, missed = np.random.default_rng(3), np.zeros(2)
    for _ in range(300):
        wins = (rng.random(320) < p) * 1.0
        for k, x in enumerate((wins, np.minimum(rng.beta(p, 1 - p, 320), 1.0))):
            ends = [range_of_mean(float(x[:n].mean()), n) for n in range(16, 321, 16)]
            missed[k] += any(not low <= p <= high for low, high in ends)
    assert (missed / 300 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 300)).all()


def test_bounds_by_mean_and_count_are_where_the_mixture_of_robbins_says() -> None:
    """Over all 2^8 outcomes a bet against the truth is expected to win nothing; its ends are where it reaches 20."""
    for p in (0.1, 0.5):
        wealth = 0.0
        for outcome in itertools.product((0, 1), repeat=8):
            wins = sum(outcome)
            chance = p**wins * (1 - p) ** (8 - wins)
            mixture = special.beta(wins + 0.5, 8 - wins + 0.5) / special.beta(0.5, 0.5)
            wealth += mixture
            low, high = count_bounds(wins / 8, 8, 0.0, 1.0)
            assert (low <= p <= high) == (mixture / chance < 20)
        assert wealth == pytest.approx(1.0)
    assert count_bounds(5.0, 10, 0.0, 10.0) == pytest.approx([10 * x for x in count_bounds(0.5, 10, 0.0, 1.0)])


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 80), shape=st.floats(0.1, 5), error=st.floats(1e-4, 0.04))
def test_a_range_that_is_widened_is_never_narrower_than_one_from_the_values(
    seed: int, n: int, shape: float, error: float
) -> None:
    values = np.random.default_rng(seed).beta(shape, 0.7, n)
    wide, told = widened(float(values.mean()), bounds(values, 0.0, 1.0), error), bounds(values, 0.0, 1.0, error)
    assert wide.low <= told.low + 1e-6
    assert wide.high >= told.high - 1e-6


@given(st.lists(st.floats(-1e3, 1e3), min_size=7, max_size=7, unique=True).filter(lambda v: not coarse(np.array(v))))
def test_values_without_declared_ends_have_a_range_from_seven_on(values: list[float]) -> None:
    """As ``engine.means``, the engine's guide and Help say; from eight on where two ranges hold at once."""
    seven = np.array(values)
    assert range_of(seven) != NOWHERE
    assert range_of(seven[:6]) == NOWHERE
    assert range_of(seven, error=0.025) == NOWHERE


def test_the_number_of_values_that_a_range_takes_is_told_alike_everywhere() -> None:
    root = Path(__file__).parents[2]
    said = {"engine/means.py": "from seven of them on", "engine/README.md": "from seven episodes on",
            "templates/projects/help_agents.html": "need seven episodes or more"}  # fmt: skip
    for file, words in said.items():
        assert words in (root / file).read_text(), file
