"""How good a policy is: whole episodes on seeds it was not trained on, with intervals."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.confidence import Range
from engine.errors import Cancelled
from engine.mdp import vector
from engine.mdp.agent import Agent
from engine.mdp.vector import Game, VectorMDP, in_turns
from engine.means import range_of
from engine.rl.cast import Cast, Snapshots, everywhere
from engine.rl.policy import Policy
from engine.rl.seats import Players, Seats, nobody_else
from engine.rl.turns import Ended, Table
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
    policy: Policy, mdp: Game, episodes: int, seed: int, *, seat: int = 0, explore: bool = False,
    cast: Cast | None = None, players: Players = nobody_else, snapshots: Snapshots | None = None, first: int = 0,
    stopped: Callable[[], bool] = lambda: False,
) -> Examination:  # fmt: skip
    """Play ``episodes`` episodes at once, one a battle, and count each battle's first: so short episodes do not count
    more often than long ones. ``cast``: who sits on the other seats (unless given, the policy itself), of whom
    ``players`` and ``snapshots`` are told; ``first``: the number of the first seed; ``explore``: draw actions instead
    of taking the likeliest. Raises Cancelled once it is ``stopped``, which is asked at every decision."""
    seeds = battle_seeds(seed, np.array([EXAMINATION], np.uint64), first, first + episodes)[0]
    cast = (cast or everywhere(_EXAMINED, len(mdp.spec.seats))).facing(_EXAMINED, seat)
    actor = policy.actor(explore)
    n, rewards, signals = episodes, len(policy.spec.seat.rewards), len(policy.spec.seat.signals)
    found = Examination(np.zeros((n, rewards)), np.zeros(n), np.zeros(n), np.zeros((n, signals)), np.zeros(n, np.int64))
    if in_turns(mdp):
        agents = {_EXAMINED: Agent(actor, policy.spec.seat, memory=actor.memory)}
        table = Table(mdp, seeds, cast, agents, players, snapshots=snapshots, episodes=1)
        for slot, _, results, played in first_in_turns(table, stopped):
            at, own, result = slot.place, played[seat], results[seat]
            found.returns[at], found.lengths[at] = own.returns, own.decisions
            found.score[at], found.win[at] = result.score, result.win
            found.signals[at] = [result.signals[name] for name in policy.spec.seat.signals]
        return found
    seats = Seats(mdp.spec, cast, {_EXAMINED: actor}, players)
    seats.snapshots = snapshots or {}
    for i, ended, new in first_episodes(mdp, seats, seeds, stopped):
        found.returns[i] = ended.returns[new, seat, :rewards]
        found.score[i], found.win[i], found.lengths[i] = (
            ended.score[new, seat],
            ended.win[new, seat],
            ended.lengths[new],
        )
        found.signals[i] = ended.signals[seat][new]
    return found


def first_in_turns(table: Table, stopped: Callable[[], bool]) -> Iterator[Ended]:
    """Play the battles of a table to the end of all episodes that it is to have, and give them as they end. Raises
    Cancelled as ``examine``."""
    with contextlib.closing(table):
        while not table.over:
            if stopped():
                raise Cancelled("The evaluation was asked to stop")
            yield from table.round()


def first_episodes(
    mdp: VectorMDP, seats: Seats, seeds: NDArray[np.uint64], stopped: Callable[[], bool]
) -> Iterator[tuple[NDArray[np.int64], vector.Ended, NDArray[np.bool_]]]:
    """Play battles with these seeds until an episode of each is over: (battles whose first episode ended, how the step
    ended things, which of its rows those are) of each step that ended any. Raises Cancelled as ``examine``."""
    missing = np.ones(len(seeds), np.bool_)
    step = mdp.reset(seeds)
    seats.begin(seeds)
    while missing.any():
        if stopped():
            raise Cancelled("The evaluation was asked to stop")
        step = mdp.step(seats.act(step)[0])
        seats.ends(step)
        if step.ended is not None:
            new = missing[step.ended.battles]
            battles = step.ended.battles[new]
            yield battles, step.ended, new
            missing[battles] = False
        seats.move(step.ended)
