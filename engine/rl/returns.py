"""Values and advantages for actor-critics, on time-major arrays: one backward pass, compiled.

Symbols: r_t rewards, V_t values of the states at decisions, V'_t values of the states that followed, γ discount, λ
trace. Shapes are [T, B, R] (time, environment, named reward) except ``ended`` and ratios, [T, B]; γ and λ are [R]: each
named reward has a value head, a discount and a trace of its own.

Only ``following`` distinguishes the ends of episodes: V'_t is 0 where an episode *terminated* (nothing can follow), the
value of its last observation where it was *truncated* (it would have gone on), and V_{t+1} elsewhere. No trace crosses
either end, nor the end of a fragment, where V'_{T-1} bootstraps.

Sources: GAE, Schulman et al. 2016, eq 16; clipped traces, Lamarckian's asynchronous variant of PPO (named in the paper,
defined by its released code). V-trace is in ``engine.rl.impala``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.rl.compiled import compiled

Floats = NDArray[np.float32]
Bools = NDArray[np.bool_]


class Targets(NamedTuple):
    """Targets of an actor-critic: ``values`` for the critic, ``advantages`` for the policy; [T, B, R]."""

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


@compiled
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
