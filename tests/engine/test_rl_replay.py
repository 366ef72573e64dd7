"""Replay: what is kept, how often it is drawn, and what n steps add up to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from engine.errors import ConfigError
from engine.rl.replay import PrioritisedReplay, ReplayBuffer, n_steps


def filled(kind: str, n: int = 50, capacity: int = 64) -> ReplayBuffer:
    rng = np.random.default_rng(4)
    replay = PrioritisedReplay(capacity, rng, 0.6) if kind == "prioritised" else ReplayBuffer(capacity, rng)
    replay.add({"x": np.arange(n, dtype=np.float32), "y": np.arange(2 * n).reshape(n, 2)})
    return replay


@pytest.mark.parametrize("kind", ["uniform", "prioritised"])
def test_the_oldest_make_room_for_the_newest(kind: str) -> None:
    replay = filled(kind, 50)
    replay.add({"x": np.arange(100, 130, dtype=np.float32), "y": np.zeros((30, 2), np.int64)})
    assert replay.size == 64
    assert set(replay.columns["x"].tolist()) == {*range(16, 50), *range(100, 130)}


def test_transitions_that_are_spread_over_all_begin_with_the_first_row_and_end_with_the_last_without_a_draw() -> None:
    replay = ReplayBuffer(64, np.random.default_rng(3))
    replay.add({"action": np.arange(50)})
    before = replay.rng.bit_generator.state
    assert replay.spread(8)["action"].tolist() == [0, 7, 14, 21, 28, 35, 42, 49]
    assert replay.spread(500)["action"].tolist() == list(range(50))
    assert replay.rng.bit_generator.state == before


def test_uniform_frequencies_by_chi_square() -> None:
    counts = np.bincount(filled("uniform").sample(50_000).rows, minlength=50)
    assert chisquare(counts).pvalue > 0.001


@pytest.mark.parametrize("batch", [1, 7, 64])
def test_prioritised_frequencies_by_chi_square(batch: int) -> None:
    replay = filled("prioritised")
    errors = np.random.default_rng(5).gamma(1.0, 2.0, 50)
    replay.learned(np.arange(50), errors)
    rows = np.concatenate([replay.sample(batch).rows for _ in range(30_000 // batch)])
    p = (errors + 1e-6) ** 0.6
    expected = len(rows) * p / p.sum()
    many = expected > 5
    counts = np.bincount(rows, minlength=64)
    assert counts[50:].sum() == 0
    observed = np.append(counts[:50][many], counts[:50][~many].sum())
    wanted = np.append(expected[many], expected[~many].sum())
    observed, wanted = observed[wanted > 0], wanted[wanted > 0]
    assert chisquare(observed, wanted).pvalue > 0.001


def test_weights_correct_for_the_priorities_and_the_largest_is_one() -> None:
    replay = filled("prioritised")
    errors = np.linspace(0.1, 5, 50)
    replay.learned(np.arange(50), errors)
    sample = replay.sample(4096, beta=1.0)
    p = (errors + 1e-6) ** 0.6
    np.testing.assert_allclose(sample.weights, (p.min() / p)[sample.rows], rtol=1e-5)
    assert replay.sample(64, beta=0.0).weights.tolist() == [1.0] * 64
    # With β = 1 the weighted mean of anything is its mean over the buffer, times one factor.
    means = [
        (s.weights * s.columns["x"]).sum() / s.weights.sum() for s in (replay.sample(4096, 1.0) for _ in range(20))
    ]
    assert abs(np.mean(means) - 24.5) < 0.5


def test_what_is_new_is_drawn_as_often_as_what_was_most_surprising() -> None:
    replay = filled("prioritised")
    replay.learned(np.arange(50), np.full(50, 0.01))
    replay.learned(np.array([3]), np.array([8.0]))
    new = replay.add({"x": np.zeros(1, np.float32), "y": np.zeros((1, 2), np.int64)})
    rows = replay.sample(20_000).rows
    assert 0.9 < (rows == new[0]).sum() / (rows == 3).sum() < 1.1


@pytest.mark.parametrize("kind", ["uniform", "prioritised"])
def test_a_buffer_that_goes_on_from_its_state_draws_the_same(kind: str) -> None:
    replay = filled(kind)
    replay.learned(np.arange(50), np.linspace(0, 1, 50))
    arrays, meta = replay.state()
    again = filled(kind, n=1)
    again.load(arrays, meta)
    again.rng.bit_generator.state = replay.rng.bit_generator.state
    for _ in range(3):
        one, two = replay.sample(32, 0.5), again.sample(32, 0.5)
        np.testing.assert_array_equal(one.rows, two.rows)
        np.testing.assert_array_equal(one.weights, two.weights)
        np.testing.assert_array_equal(one.columns["y"], two.columns["y"])


def test_more_than_the_whole_buffer_at_once_is_an_error() -> None:
    with pytest.raises(ConfigError, match="capacity: it must be at least 65"):
        filled("uniform", 65)


def explicit(r: Any, terminated: Any, truncated: Any, n: int, t: int, b: int) -> tuple[float, float, int]:
    total, weight = 0.0, 1.0
    for s in range(t, min(t + n, len(r))):
        total, weight, last = total + weight * r[s, b], weight * 0.9, s
        if terminated[s, b] or truncated[s, b]:
            break
    return total, 0.0 if terminated[last, b] else weight, last


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_n_steps_stop_at_episodes_ends_and_at_the_fragment_s(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    r = rng.standard_normal((9, 3)).astype(np.float32)
    kind = rng.random((9, 3))
    found = n_steps(r, kind < 0.15, kind > 0.85, 0.9, n)
    for t in range(9):
        for b in range(3):
            total, factor, last = explicit(r, kind < 0.15, kind > 0.85, n, t, b)
            np.testing.assert_allclose(found.rewards[t, b], total, rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(found.factors[t, b], factor, rtol=1e-5)
            assert found.last[t, b] == last
