"""Returns and their corrections against explicit sums, and the identities that tie them together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.rl import returns
from engine.rl.impala import vtrace

T, B, R = 23, 3, 2
F32 = NDArray[np.float32]


class Fragment:
    """A random fragment whose episodes end in its middle, in both ways."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.r = rng.standard_normal((T, B, R)).astype(np.float32)
        self.V = rng.standard_normal((T + 1, B, R)).astype(np.float32)
        self.final = rng.standard_normal((T, B, R)).astype(np.float32)
        kind = rng.random((T, B))
        self.terminated, self.truncated = kind < 0.1, kind > 0.9
        self.ended = self.terminated | self.truncated
        self.after = returns.following(self.V, self.terminated, self.truncated, self.final)
        self.gamma = np.array([0.9, 0.97], np.float32)
        self.ratio = rng.gamma(2.0, 0.6, (T, B)).astype(np.float32)

    @property
    def values(self) -> F32:
        return self.V[:-1]

    def monte_carlo(self) -> NDArray[np.float64]:
        """Discounted rewards to the end of the episode or the fragment, and what followed there; one at a time."""
        found = np.zeros((T, B, R))
        for t in range(T):
            for b in range(B):
                weight = np.ones(R)
                for s in range(t, T):
                    found[t, b] += weight * self.r[s, b]
                    weight = weight * self.gamma
                    if self.ended[s, b] or s == T - 1:
                        found[t, b] += weight * self.after[s, b]
                        break
        return found


@pytest.fixture(params=range(3))
def fragment(request: pytest.FixtureRequest) -> Fragment:
    return Fragment(request.param)


def close(a: NDArray[np.floating], b: NDArray[np.floating]) -> None:
    np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)


def test_what_follows_is_nothing_after_termination_and_the_last_observation_after_truncation(
    fragment: Fragment,
) -> None:
    f = fragment
    assert (f.after[f.terminated] == 0).all()
    np.testing.assert_array_equal(f.after[f.truncated], f.final[f.truncated])
    np.testing.assert_array_equal(f.after[~f.ended], f.V[1:][~f.ended])


def test_an_episode_that_terminated_in_its_last_allowed_step_is_not_bootstrapped() -> None:
    both = np.ones((1, 1), np.bool_)
    ones = np.ones((2, 1, 1), np.float32)
    assert returns.following(ones, both, both, ones[:1]) == 0


def test_gae_of_one_is_monte_carlo_minus_value(fragment: Fragment) -> None:
    f = fragment
    found = returns.gae(f.r, f.values, f.after, f.ended, f.gamma, np.ones(R, np.float32))
    close(found.advantages, f.monte_carlo() - f.values)
    close(found.values, f.monte_carlo())


def test_gae_of_zero_is_the_one_step_error(fragment: Fragment) -> None:
    f = fragment
    found = returns.gae(f.r, f.values, f.after, f.ended, f.gamma, np.zeros(R, np.float32))
    close(found.advantages, f.r + f.gamma * f.after - f.values)


def test_vtrace_of_ratio_one_is_monte_carlo(fragment: Fragment) -> None:
    f = fragment
    ones, lam = np.ones((T, B), np.float32), np.ones(R, np.float32)
    found = vtrace(f.r, f.values, f.after, f.ended, f.gamma, lam, ones)
    close(found.values, f.monte_carlo())
    close(found.advantages, f.monte_carlo() - f.values)


def test_vtrace_of_ratio_zero_is_the_value(fragment: Fragment) -> None:
    f = fragment
    zeros, lam = np.zeros((T, B), np.float32), np.ones(R, np.float32)
    found = vtrace(f.r, f.values, f.after, f.ended, f.gamma, lam, zeros)
    np.testing.assert_array_equal(found.values, f.values)
    assert not found.advantages.any()


def test_vtrace_s_recursion_is_its_explicit_sum(fragment: Fragment) -> None:
    f = fragment
    lam = np.array([1.0, 0.9], np.float32)
    found = vtrace(f.r, f.values, f.after, f.ended, f.gamma, lam, f.ratio, 1.2, 0.9)
    rho, c = np.minimum(f.ratio, 1.2), np.minimum(f.ratio, 0.9)
    for t in range(T):
        for b in range(B):
            total, weight = f.values[t, b].astype(np.float64), np.ones(R)
            for s in range(t, T):
                total += weight * rho[s, b] * (f.r[s, b] + f.gamma * f.after[s, b] - f.values[s, b])
                if f.ended[s, b]:
                    break
                weight = weight * f.gamma * lam * c[s, b]
            close(found.values[t, b], total)


def test_clipped_traces_of_ratio_one_are_gae_and_of_zero_stop_at_once(fragment: Fragment) -> None:
    f = fragment
    lam = np.full(R, 0.95, np.float32)
    arguments = (f.r, f.values, f.after, f.ended, f.gamma, lam)
    ones, zeros = (np.full((T, B), x, np.float32) for x in (1, 0))
    np.testing.assert_array_equal(
        returns.clipped_traces(*arguments, ones).advantages, returns.gae(*arguments).advantages
    )
    stopped = returns.clipped_traces(*arguments, zeros)
    np.testing.assert_array_equal(stopped.values, f.values)
    close(stopped.advantages, f.r + f.gamma * f.after - f.values)


def test_clipped_traces_have_the_values_of_vtrace(fragment: Fragment) -> None:
    f = fragment
    lam, c = np.ones(R, np.float32), np.minimum(f.ratio, 1)
    mine = returns.clipped_traces(f.r, f.values, f.after, f.ended, f.gamma, lam, c)
    theirs = vtrace(f.r, f.values, f.after, f.ended, f.gamma, lam, f.ratio)
    close(mine.values, theirs.values)


def test_each_named_reward_has_a_discount_and_a_trace_of_its_own(fragment: Fragment) -> None:
    f = fragment
    lam = np.array([0.5, 0.9], np.float32)
    both = returns.gae(f.r, f.values, f.after, f.ended, f.gamma, lam)
    for k in range(R):
        one = slice(k, k + 1)
        alone = returns.gae(
            f.r[..., one].copy(), f.values[..., one].copy(), f.after[..., one].copy(), f.ended, f.gamma[one], lam[one]
        )
        np.testing.assert_array_equal(alone.advantages, both.advantages[..., one])


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, T - 1))
def test_nothing_reaches_over_the_end_of_an_episode(seed: int, at: int) -> None:
    f = Fragment(seed)
    f.terminated[at - 1] = True
    f.ended = f.terminated | f.truncated
    after = returns.following(f.V, f.terminated, f.truncated, f.final)
    lam = np.full(R, 0.9, np.float32)

    def all_of(r: F32) -> list[F32]:
        arguments = (r, f.values, after, f.ended, f.gamma)
        return [
            returns.gae(*arguments, lam).advantages[:at],
            vtrace(*arguments, lam, f.ratio).values[:at],
        ]

    other = f.r.copy()
    other[at:] += 100
    for a, b in zip(all_of(f.r), all_of(other), strict=True):
        np.testing.assert_array_equal(a, b)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.1, 3.0), st.floats(0.0, 3.0))
def test_a_larger_clip_never_moves_vtrace_s_first_correction_back(seed: int, clip: float, more: float) -> None:
    """With c̄ = 0 the correction is ρ δ: monotone in ρ̄."""
    f = Fragment(seed)
    lam = np.ones(R, np.float32)
    moved = [
        np.abs(vtrace(f.r, f.values, f.after, f.ended, f.gamma, lam, f.ratio, bar, 0.0).values - f.values)
        for bar in (clip, clip + more)
    ]
    assert (moved[1] >= moved[0] - 1e-5).all()
