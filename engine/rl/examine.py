"""How good a policy is: whole episodes on seeds it was not trained on, with intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.confidence import Range
from engine.errors import Cancelled
from engine.mdp.vector import Ended, VectorMDP
from engine.means import range_of
from engine.rl.cast import Cast, Snapshots, everywhere
from engine.rl.policy import Policy
from engine.rl.seats import Players, Seats, nobody_else
from engine.rng import battle_seeds

EXAMINATION = 0xE7A3
"""The match key of examinations: their seeds are never those of training."""
_EXAMINED = "examined policy"


class Examination(NamedTuple):
    """Of n episodes: ``returns`` float64[n, R] (undiscounted), ``score`` and ``win`` float64[n], ``signals``
    float64[n, S], ``lengths`` int64[n]."""

    returns: NDArray[np.float64]
    score: NDArray[np.float64]
    win: NDArray[np.float64]
    signals: NDArray[np.float64]
    lengths: NDArray[np.int64]

    def mean(self, what: NDArray[np.float64], low: float = -np.inf, high: float = np.inf) -> tuple[float, Range]:
        """The mean of one number an episode, and its 95 % range, by what is known of its ends (``engine.means``);
        infinite where nothing is known: from a few episodes, or from values that take few different ones and have no
        ends."""
        mean = float(what.mean())
        return mean, range_of(what, low, high)


def examine(
    policy: Policy, mdp: VectorMDP, episodes: int, seed: int, *, seat: int = 0, explore: bool = False,
    cast: Cast | None = None, players: Players = nobody_else, snapshots: Snapshots | None = None, first: int = 0,
    stopped: Callable[[], bool] = lambda: False,
) -> Examination:  # fmt: skip
    """Play ``episodes`` episodes at once, one a battle, and count each battle's first: so short episodes do not count
    more often than long ones. ``cast``: who sits on the other seats (unless given, the policy itself), of whom
    ``players`` and ``snapshots`` are told; ``first``: the number of the first seed; ``explore``: draw actions instead
    of taking the likeliest. Raises Cancelled once it is ``stopped``, which is asked at every decision."""
    seeds = battle_seeds(seed, np.array([EXAMINATION], np.uint64), first, first + episodes)[0]
    cast = (cast or everywhere(_EXAMINED, len(mdp.spec.seats))).facing(_EXAMINED, seat)
    seats = Seats(mdp.spec, cast, {_EXAMINED: policy.actor(explore)}, players)
    seats.snapshots = snapshots or {}
    found = _Found(episodes, seat, len(policy.spec.seat.rewards), len(policy.spec.seat.signals))
    step = mdp.reset(seeds)
    seats.begin(seeds)
    while not found.all():
        if stopped():
            raise Cancelled("The evaluation was asked to stop")
        step = mdp.step(seats.act(step)[0])
        seats.ends(step)
        if step.ended is not None:
            found.add(step.ended)
        seats.move(step.ended)
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
