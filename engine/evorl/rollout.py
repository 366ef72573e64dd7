"""One episode of one policy, as experience to learn from."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import Cancelled
from engine.mdp.interface import Array, Observations
from engine.mdp.trajectory import Batch, Trajectory
from engine.mdp.vector import VectorMDP, noise_keys
from engine.rl.policy import Actor

_LOOK = 64
"""Decisions between two looks whether to stop."""


class Rollout(NamedTuple):
    """``rewards`` float64[R], undiscounted sums; ``length`` in decisions."""

    trajectory: Trajectory
    rewards: NDArray[np.float64]
    length: int


class _Tape(NamedTuple):
    """What an episode consists of, a decision after the other; ``seen`` has one entry more."""

    seen: list[dict[str, Array]]
    actions: list[Array]
    rewards: list[NDArray[np.float32]]


def rollout(
    game: VectorMDP, actor: Actor, seed: int, longest: int, stopped: Callable[[], bool] = lambda: False
) -> Rollout:
    """The episode that begins with ``seed``, played on the only seat until it is out of it, cut off after the
    ``longest`` decisions. Its noise depends on the seed alone. Raises Cancelled once ``stopped``, SimulatorError."""
    seeds, one = np.array([seed], np.uint64), np.zeros(1, np.int64)
    step = game.reset(seeds)
    tape = _Tape([_copied(step.observations[0])], [], [])
    while True:
        tick = len(tape.actions)
        if tick % _LOOK == 0 and stopped():
            raise Cancelled("The episode was asked to stop")
        decision = actor(Batch(step.observations[0], step.masks[0], noise_keys(seeds, one + tick, 0)))
        step = game.step([decision.actions])
        tape.actions.append(decision.actions)
        tape.rewards.append(step.rewards[:, 0].copy())
        over = step.ended is not None
        tape.seen.append(_copied(step.ended.observations[0] if step.ended is not None else step.observations[0]))
        if over or not step.alive[0, 0] or len(tape.actions) == longest:
            return _rollout(tape, terminated=bool(step.terminated[0]) or not (over or step.alive[0, 0]))


def _copied(seen: Observations) -> dict[str, Array]:
    return {name: array.copy() for name, array in seen.items()}


def _rollout(tape: _Tape, terminated: bool) -> Rollout:
    T = len(tape.actions)
    rewards = np.stack(tape.rewards)
    last = np.zeros((T, 1), np.bool_)
    last[-1] = True
    none = np.zeros_like(last)
    index = np.zeros((0, 2), np.int64) if terminated else np.array([[T - 1, 0]])
    return Rollout(
        Trajectory(
            {name: np.stack([each[name] for each in tape.seen]) for name in tape.seen[0]},
            np.stack(tape.actions), np.zeros((T, 1), np.float32), rewards,
            last if terminated else none, none if terminated else last, np.zeros((T, 1), np.int64),
            index, {name: array[: len(index)] for name, array in tape.seen[-1].items()},
        ),
        rewards.sum(axis=(0, 1), dtype=np.float64), T,
    )  # fmt: skip
