"""Evaluation of policies on whole episodes with seeds that training never uses, with intervals."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.confidence import Range
from engine.errors import Cancelled
from engine.mdp.agent import Agent
from engine.mdp.vector import Ended, Game, VectorMDP, in_turns
from engine.means import range_of
from engine.rl.cast import Cast, Snapshots, everywhere
from engine.rl.policy import Policy
from engine.rl.seats import Players, Seats, nobody_else
from engine.rl.turns import EndedBattle, Table
from engine.rng import battle_seeds

EXAMINATION = 0xE7A3
"""The match key of examinations: their seeds are never those of training."""


First = tuple[NDArray[np.int64], Ended, NDArray[np.bool_]]
"""Battles whose first episode ended in a step, the step's ``Ended``, and which of its rows belong to them."""


class Examination(NamedTuple):
    """Results of n episodes: ``returns`` float64[n, R] (undiscounted), ``score`` and ``win`` float64[n], ``signals``
    float64[n, S], ``lengths`` int64[n]."""

    returns: NDArray[np.float64]
    score: NDArray[np.float64]
    win: NDArray[np.float64]
    signals: NDArray[np.float64]
    lengths: NDArray[np.int64]

    def mean(self, what: NDArray[np.float64], low: float = -np.inf, high: float = np.inf) -> tuple[float, Range]:
        """The mean of one number per episode, and its 95 % range within the known bounds (``engine.means``). Infinite
        for few episodes, and for values with many ties and without bounds."""
        mean = float(what.mean())
        return mean, range_of(what, low, high)


def examine(
    policies: Mapping[int, Policy], mdp: Game, episodes: int, seed: int, *, explore: bool = False,
    cast: Cast | None = None, players: Players = nobody_else, snapshots: Snapshots | None = None, first: int = 0,
    stopped: Callable[[], bool] = lambda: False,
) -> dict[int, Examination]:  # fmt: skip
    """Evaluate policies on their seats: play ``episodes`` battles at once and count the first episode of each, so that
    short episodes are not over-represented. ``policies``: by seat. ``cast``: that of the other seats (default: the
    first of the policies), with its ``players`` and ``snapshots``; ``first``: the number of the first seed;
    ``explore``: draw actions instead of taking the likeliest. Raises Cancelled once ``stopped``, which is called at
    every decision."""
    seeds = examination_seeds(seed, first, episodes)
    names = {seat: f"examined policy of seat {seat}" for seat in policies}
    cast = cast or everywhere(next(iter(names.values())), len(mdp.spec.seats))
    for seat, name in names.items():
        cast = cast.facing(name, seat)
    found = {seat: _nothing_yet(policy, episodes) for seat, policy in policies.items()}
    actors = {names[seat]: policy.actor(explore) for seat, policy in policies.items()}
    if in_turns(mdp):
        agents = {name: Agent(actor, actor.model.spec.seat, memory=actor.memory) for name, actor in actors.items()}
        table = Table(mdp, seeds, cast, agents, players, snapshots=snapshots, episodes=1)
        _examine_in_turns(found, policies, first_in_turns(table, stopped))
    else:
        seats = Seats(mdp.spec, cast, actors, players)
        seats.snapshots = snapshots or {}
        _examine_together(found, first_episodes(mdp, seats, seeds, stopped))
    return found


def ends_by_settings(game: Game) -> Mapping[str, tuple[float, float]]:
    """Between what the signals lie, by name, whose ends a game's settings decide: its attribute ``ends``, if it has
    one."""
    found: Mapping[str, tuple[float, float]] = getattr(game, "ends", {})
    return found


def examination_seeds(seed: int, first: int, episodes: int) -> NDArray[np.uint64]:
    """Seeds uint64[episodes] of a study's episodes of examination, the ``first`` one's onwards."""
    return np.asarray(battle_seeds(seed, np.array([EXAMINATION], np.uint64), first, first + episodes)[0])


def _nothing_yet(policy: Policy, n: int) -> Examination:
    seat = policy.spec.seat
    returns, signals = np.zeros((n, len(seat.rewards))), np.zeros((n, len(seat.signals)))
    return Examination(returns, np.zeros(n), np.zeros(n), signals, np.zeros(n, np.int64))


def _examine_in_turns(
    found: Mapping[int, Examination], policies: Mapping[int, Policy], episodes: Iterator[EndedBattle]
) -> None:
    for slot, _, results, played in episodes:
        for seat, one in found.items():
            at, own, result = slot.place, played[seat], results[seat]
            one.returns[at], one.lengths[at] = own.returns, own.decisions
            one.score[at], one.win[at] = result.score, result.win
            one.signals[at] = [result.signals[name] for name in policies[seat].spec.seat.signals]


def _examine_together(found: Mapping[int, Examination], episodes: Iterator[First]) -> None:
    for i, ended, new in episodes:
        for seat, one in found.items():
            one.returns[i] = ended.returns[new, seat, : one.returns.shape[1]]
            one.score[i], one.win[i], one.lengths[i] = ended.score[new, seat], ended.win[new, seat], ended.lengths[new]
            one.signals[i] = ended.signals[seat][new, : one.signals.shape[1]]  # a game may tell more since


def first_in_turns(table: Table, stopped: Callable[[], bool]) -> Iterator[EndedBattle]:
    """Play the battles of a table until all its episodes have ended, and yield them as they end. Raises Cancelled as
    ``examine``."""
    return chain.from_iterable(rounds_in_turns(table, stopped))


def rounds_in_turns(table: Table, stopped: Callable[[], bool]) -> Iterator[list[EndedBattle]]:
    """The same round by round; nothing in those in which no battle ended."""
    with contextlib.closing(table):
        while not table.over:
            if stopped():
                raise Cancelled("The evaluation was asked to stop")
            yield table.round()


def first_episodes(
    mdp: VectorMDP, seats: Seats, seeds: NDArray[np.uint64], stopped: Callable[[], bool]
) -> Iterator[First]:
    """Play battles with these seeds until an episode of each has ended, and yield the first episodes as they end.
    Raises Cancelled as ``examine``."""
    return filter(None, first_by_decision(mdp, seats, seeds, stopped))


def first_by_decision(
    mdp: VectorMDP, seats: Seats, seeds: NDArray[np.uint64], stopped: Callable[[], bool]
) -> Iterator[First | None]:
    """The same after every decision; None where no first episode ended with it."""
    missing = np.ones(len(seeds), np.bool_)
    step = mdp.reset(seeds)
    seats.begin(seeds)
    while missing.any():
        if stopped():
            raise Cancelled("The evaluation was asked to stop")
        step = mdp.step(seats.act(step)[0])
        seats.ends(step)
        found = None
        if step.ended is not None:
            new = missing[step.ended.battles]
            battles = step.ended.battles[new]
            found = battles, step.ended, new
            missing[battles] = False
        yield found
        seats.move(step.ended)
