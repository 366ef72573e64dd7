"""How good a policy is: whole episodes on seeds it was not trained on, with intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from engine.errors import Cancelled
from engine.mdp.interface import Array
from engine.mdp.trajectory import Batch
from engine.mdp.vector import Ended, VectorMDP
from engine.rl.policy import Policy
from engine.rl.sampler import Keys, Player
from engine.rng import battle_seeds

EXAMINATION = 0xE7A3
"""The match key of examinations: their seeds are never those of training."""


class Examination(NamedTuple):
    """Of n episodes: ``returns`` float64[n, R] (undiscounted), ``score`` and ``win`` float64[n], ``signals``
    float64[n, S], ``lengths`` int64[n]."""

    returns: NDArray[np.float64]
    score: NDArray[np.float64]
    win: NDArray[np.float64]
    signals: NDArray[np.float64]
    lengths: NDArray[np.int64]

    def mean(self, what: NDArray[np.float64], confidence: float = 0.95) -> tuple[float, float]:
        """(mean, half width of its interval by Student's t) of one number an episode; NaN for a single episode."""
        n = len(what)
        spread = what.std(ddof=1) / np.sqrt(n) if n > 1 else np.nan
        return float(what.mean()), float(student.ppf((1 + confidence) / 2, max(n - 1, 1)) * spread)


def examine(
    policy: Policy, mdp: VectorMDP, episodes: int, seed: int, *, seat: int = 0, explore: bool = False,
    others: Mapping[int, Player] | None = None, first: int = 0, stopped: Callable[[], bool] = lambda: False,
) -> Examination:  # fmt: skip
    """Play ``episodes`` episodes at once, one a battle, and count each battle's first: so short episodes do not count
    more often than long ones. ``first``: the number of the first seed; ``explore``: draw actions instead of taking the
    likeliest. Raises Cancelled once it is ``stopped``, which is asked at every decision."""
    seeds = battle_seeds(seed, np.array([EXAMINATION], np.uint64), first, first + episodes)[0]
    actor = policy.actor(explore)
    players: dict[int, Player] = {**(others or {}), seat: actor}
    nothing: dict[str, Array] = {}
    memory = {name: np.zeros((episodes, *shape), np.float32) for name, shape in actor.memory.items()}
    keys = {place: Keys(seeds, place) for place in players}
    found = _Found(episodes, seat, len(policy.spec.seat.rewards), len(policy.spec.seat.signals))
    step = mdp.reset(seeds)
    while not found.all():
        if stopped():
            raise Cancelled("The evaluation was asked to stop")
        seen, masks = step.observations, step.masks
        decisions = {
            place: player(Batch(seen[place], masks[place], keys[place].now(), memory if place == seat else nothing))
            for place, player in players.items()
        }
        step = mdp.step([decisions[place].actions for place in sorted(players)])
        memory = decisions[seat].state
        if step.ended is not None:
            found.add(step.ended)
            for array in memory.values():
                array[step.ended.battles] = 0
        for key in keys.values():
            key.move(step.ended)
    return found.examination


class _Found:
    """The first episode of each battle."""

    def __init__(self, n: int, seat: int, rewards: int, signals: int) -> None:
        self._seat, self._R = seat, rewards
        self._missing = np.ones(n, np.bool_)
        self.examination = Examination(
            np.zeros((n, rewards)), np.zeros(n), np.zeros(n), np.zeros((n, signals)), np.zeros(n, np.int64)
        )

    def all(self) -> bool:
        return not self._missing.any()

    def add(self, ended: Ended) -> None:
        new = self._missing[ended.battles]
        i, e, seat = ended.battles[new], self.examination, self._seat
        e.returns[i] = ended.returns[new, seat, : self._R]
        e.score[i], e.win[i], e.lengths[i] = ended.score[new, seat], ended.win[new, seat], ended.lengths[new]
        e.signals[i] = ended.signals[seat][new]
        self._missing[i] = False
