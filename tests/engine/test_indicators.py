"""Intervals, verdicts, fronts, over-representation and families, against what is known of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from engine import indicators
from engine.confidence import coarse
from engine.evolution.estimates import estimate
from engine.indicators import STRONG, UNDER, UNSURE


def test_the_interval_is_student_s() -> None:
    error, samples = np.array([1.0, 2.0]), np.array([4, 16])
    expected = [stats.t.ppf(0.975, 3), 2 * stats.t.ppf(0.975, 15)]
    np.testing.assert_allclose(indicators.half_width(error, samples), expected)
    assert np.isinf(indicators.half_width(np.array([1.0]), np.array([1])))[0]
    assert indicators.half_width(np.ones((2, 3)), samples).shape == (2, 3)


def test_equal_values_have_no_interval_however_large_they_are() -> None:
    """Means of large numbers are rounded, which is no spread: 12,345.6 was told as known to 0.00000000001."""
    values = np.tile([12345.6, 0.1, 3e9 + 0.1], (48, 1))
    mean, covariance = estimate(values)
    error = indicators.standard_errors(covariance[None], mean[None])
    assert (error == 0).all()
    assert np.isinf(indicators.half_width(error, np.array([48]))).all()
    assert coarse(np.repeat([0.1 + 0.2, 0.3, 0.1 * 3], 16))


def test_the_interval_holds_its_rate() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(3, 5, (20_000, 6))
    half = indicators.half_width(x.std(axis=1, ddof=1) / np.sqrt(6), np.full(20_000, 6))
    assert 0.944 < (np.abs(x.mean(axis=1) - 3) <= half).mean() < 0.956


@pytest.mark.parametrize("total", range(1, 700, 13))
def test_of_none_and_of_all_the_share_s_interval_has_an_exact_end(total: int) -> None:
    assert indicators.wilson(0, total)[0] == 0.0
    assert indicators.wilson(total, total)[1] == 1.0
    assert 0 < indicators.wilson(1, total + 1)[0] < 1 / (total + 1)


def test_the_share_s_interval_is_wilson_s() -> None:
    low, high = indicators.wilson(985, 1000)
    assert (round(low, 3), round(high, 3)) == (0.975, 0.991)
    assert indicators.wilson(0, 0) == (0, 1)


def test_over_and_strong_needs_both_ends_of_the_evidence() -> None:
    objective = np.array([[2.5, 30.0], [2.5, 22.0], [2.05, 30.0], [1.9, 30.0], [np.nan, 1.0]])
    half = np.full((5, 2), [0.2, 3.0])
    found = indicators.verdicts(objective, half, (1, 1), (2.0, None), 1, 21.0)
    assert found.tolist() == [STRONG, UNSURE, UNSURE, UNDER, UNDER]


def test_a_line_on_a_minimised_objective_counts_downwards() -> None:
    found = indicators.verdicts(np.array([[1.0], [3.0]]), np.zeros((2, 1)), (-1,), (2.0,))
    assert found.tolist() == [STRONG, UNDER]


@given(points=arrays(float, st.tuples(st.integers(1, 30), st.integers(1, 4)), elements=st.integers(0, 6)))
@settings(max_examples=200, deadline=None)
def test_the_front_is_exactly_who_nobody_beats(points: np.ndarray) -> None:
    kept = indicators.non_dominated(points, [1] * points.shape[1])
    for i, row in enumerate(points):
        beaten = ((points >= row).all(axis=1) & (points > row).any(axis=1)).any()
        twin_before = (points[:i] == row).all(axis=1).any()
        assert kept[i] == (not beaten and not twin_before)


def test_rows_that_are_not_numbers_are_never_on_a_front() -> None:
    assert indicators.non_dominated(np.array([[np.nan, 9], [1, 1]]), (1, 1)).tolist() == [False, True]


def test_hypervolume_of_a_staircase() -> None:
    assert indicators.hypervolume(np.array([[2.0, 1], [1, 2]]), (1, 1), (0, 0)) == pytest.approx(3)
    assert indicators.hypervolume(np.empty((0, 2)), (1, 1), (0, 0)) == 0


def presence(rng: np.random.Generator, n: int, pieces: int = 40) -> np.ndarray:
    return rng.random((n, pieces)) < 0.1


def test_a_piece_planted_in_the_top_set_is_the_most_over_represented() -> None:
    rng = np.random.default_rng(1)
    top, background = presence(rng, 100), presence(rng, 2000)
    top[:60, 7] = True
    top[:40, [11, 12]] = True
    ranked = indicators.representation(top, background)
    assert ranked[0].pieces == (7,)
    assert ranked[0].q < 1e-6
    assert {r.pieces[0] for r in ranked[1:3]} == {11, 12}
    pairs = indicators.representation(top, background, pairs=True)
    assert pairs[0].pieces == (11, 12)
    assert ranked[-1].odds < 1.5


def test_without_a_difference_few_pieces_are_significant() -> None:
    rng = np.random.default_rng(2)
    found = indicators.representation(presence(rng, 300, 200), presence(rng, 3000, 200))
    assert sum(r.q < 0.05 for r in found) <= 3


def test_families_are_the_pieces_that_set_lineups_apart() -> None:
    rng = np.random.default_rng(3)
    p, over = presence(rng, 1000), np.zeros(1000, bool)
    over[:60] = True
    p[:30, [3, 4]] = True
    p[30:50, 9] = True
    p[60:90, 3] = True  # alone, the first of the pair is also common elsewhere
    found = indicators.families(p, over)
    assert found[0].pieces == (3, 4)
    assert set(range(30)) <= set(found[0].rows.tolist())
    assert found[1].pieces == (9,)
    rows = np.concatenate([f.rows for f in found])
    assert len(rows) == len(set(rows.tolist())), "a lineup is in one family"
    assert over[rows].all()


def test_nothing_over_the_line_is_no_family() -> None:
    assert indicators.families(presence(np.random.default_rng(1), 50), np.zeros(50, bool)) == []
