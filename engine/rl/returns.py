"""Returns, advantages and their corrections, on time-major arrays: one backward pass each, compiled.

Symbols: r_t rewards, V_t values of the states that were acted in, V'_t values of the states that followed, γ discount,
λ trace. Shapes are [T, B, R] (time, environment, named reward) but for ``ended`` and ratios, [T, B]; γ and λ are [R]:
each named reward has a value head, a discount and a trace of its own.

Episode ends are told apart once, in ``following``: V'_t is 0 where an episode *terminated* (nothing can follow), the
value of its last observation where it was *truncated* (something would have followed), and V_{t+1} elsewhere. No trace
reaches over either end, nor over the end of a fragment, where V'_{T-1} bootstraps.

Sources: GAE, Schulman et al. 2016, eq 16; V-trace, Espeholt et al. 2018, eq 1 and remark 1; clipped traces, the
asynchronous variant of PPO of Lamarckian (its paper names it, its released code shows it).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

F = TypeVar("F", bound=Callable[..., Any])
Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]


def _compiled(function: F) -> F:
    return cast(F, njit(cache=True, nogil=True, error_model="numpy")(function))


class Targets(NamedTuple):
    """What an actor-critic learns from: ``values`` for the critic, ``advantages`` for the policy; [T, B, R]."""

    values: Floats
    advantages: Floats


def following(values: Floats, terminated: Bools, truncated: Bools, final: Floats) -> Floats:
    """V'_t [T, B, R]. ``values`` [T + 1, B, R]; ``final`` [T, B, R]: value of an episode's last observation, read
    where ``truncated`` and not ``terminated``."""
    ends = truncated & ~terminated
    return np.where(terminated[..., None], np.float32(0), np.where(ends[..., None], final, values[1:]))


def gae(rewards: Floats, values: Floats, after: Floats, ended: Bools, gamma: Floats, lam: Floats) -> Targets:
    """Generalised advantage estimation: δ_t = r_t + γ V'_t − V_t and A_t = δ_t + γ λ A_{t+1}; values A_t + V_t.

    λ = 1 is Monte-Carlo minus value, λ = 0 the one-step error.
    """
    ones = np.ones(ended.shape, dtype=np.float32)
    return clipped_traces(rewards, values, after, ended, gamma, lam, ones)


def clipped_traces(
    rewards: Floats, values: Floats, after: Floats, ended: Bools, gamma: Floats, lam: Floats, c: Floats
) -> Targets:
    """GAE whose traces are cut by clipped ratios c_t = min(c̄, π(a_t|s_t) / μ(a_t|s_t)) [T, B], for data of an older
    policy μ: A_t = δ_t + γ λ c_{t+1} A_{t+1}; values V_t + c_t A_t.

    A_t is not multiplied by c_t itself: PPO's ratio does that. With c = 1 it is GAE; with c the ratios of ``vtrace``
    and λ = 1 the values are V-trace's.
    """
    advantages = np.empty_like(rewards)
    targets = np.empty_like(rewards)
    _traces(rewards, values, after, ended, gamma, lam, c, advantages, targets)
    return Targets(targets, advantages)


def n_step(rewards: Floats, after: Floats, ended: Bools, gamma: Floats, n: int) -> Floats:
    """G_t = r_t + γ r_{t+1} + … + γ^{m−1} r_{t+m−1} + γ^m V'_{t+m−1} [T, B, R], where m is n or what is left of the
    episode or the fragment."""
    returns = np.empty_like(rewards)
    _n_step(rewards, after, ended, gamma, n, returns)
    return returns


def vtrace(
    rewards: Floats, values: Floats, after: Floats, ended: Bools, gamma: Floats, lam: Floats, ratio: Floats,
    rho_bar: float = 1.0, c_bar: float = 1.0,
) -> Targets:  # fmt: skip
    """V-trace: ρ_t = min(ρ̄, ratio_t), c_t = λ min(c̄, ratio_t), v_t = V_t + ρ_t δ_t + γ c_t (v_{t+1} − V_{t+1});
    advantages ρ_t (r_t + γ v_{t+1} − V_t), where v_{t+1} is V'_t at the end of an episode or a fragment.

    ``ratio`` [T, B] = π(a_t|s_t) / μ(a_t|s_t). Ratios of 1 and λ = 1 give n-step returns, ratios of 0 give V.
    """
    targets = np.empty_like(rewards)
    advantages = np.empty_like(rewards)
    rho, c = np.minimum(ratio, np.float32(rho_bar)), np.minimum(ratio, np.float32(c_bar))
    _vtrace(rewards, values, after, ended, gamma, lam, rho, c, targets, advantages)
    return Targets(targets, advantages)


@_compiled
def _traces(
    rewards: Floats, values: Floats, after: Floats, ended: Bools, gamma: Floats, lam: Floats, c: Floats,
    advantages: Floats, targets: Floats,
) -> None:  # fmt: skip
    T, B, R = rewards.shape
    for b in range(B):
        for k in range(R):
            last = np.float32(0)
            for t in range(T - 1, -1, -1):
                delta = rewards[t, b, k] + gamma[k] * after[t, b, k] - values[t, b, k]
                carried = np.float32(0) if ended[t, b] else last
                advantage = delta + gamma[k] * lam[k] * carried
                last = c[t, b] * advantage
                advantages[t, b, k] = advantage
                targets[t, b, k] = values[t, b, k] + last


@_compiled
def _n_step(rewards: Floats, after: Floats, ended: Bools, gamma: Floats, n: int, returns: Floats) -> None:
    T, B, R = rewards.shape
    for b in range(B):
        for k in range(R):
            for t in range(T):
                total, weight, s = np.float32(0), np.float32(1), t
                while True:
                    total += weight * rewards[s, b, k]
                    weight *= gamma[k]
                    if ended[s, b] or s == T - 1 or s == t + n - 1:
                        break
                    s += 1
                returns[t, b, k] = total + weight * after[s, b, k]


@_compiled
def _vtrace(
    rewards: Floats, values: Floats, after: Floats, ended: Bools, gamma: Floats, lam: Floats, rho: Floats, c: Floats,
    targets: Floats, advantages: Floats,
) -> None:  # fmt: skip
    T, B, R = rewards.shape
    for b in range(B):
        for k in range(R):
            for t in range(T - 1, -1, -1):
                V, V_next = values[t, b, k], after[t, b, k]
                delta = rewards[t, b, k] + gamma[k] * V_next - V
                cut = ended[t, b] or t == T - 1
                v_next = V_next if cut else targets[t + 1, b, k]
                targets[t, b, k] = V + rho[t, b] * delta + gamma[k] * lam[k] * c[t, b] * (v_next - V_next)
                advantages[t, b, k] = rho[t, b] * (rewards[t, b, k] + gamma[k] * v_next - V)
