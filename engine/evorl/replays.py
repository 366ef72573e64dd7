"""Bugs played again: the seed and the moves must show them, in a game of their own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.evorl.findings import Bug, Findings
from engine.evorl.watched import Oracles, Watched
from engine.mdp.interface import Array, SeatSpec
from engine.mdp.places import Look
from engine.mdp.trajectory import Batch
from engine.mdp.vector import VectorMDP, VectorStep, noise_keys
from engine.rl.players import RandomPlayer
from engine.rng import combine64

TRIES = 8
"""Battles that try to get away from where an agent is stuck."""


def shows_again(bug: Bug, game: VectorMDP, oracles: Oracles) -> bool:
    """Whether a bug's seed and moves show it in this game."""
    seen = Findings()
    watched = Watched(game, oracles, seen)
    watched.reset(np.array([bug.seed], np.uint64))
    for move in bug.moves:
        watched.step([_moved(game.spec.seats[0], move, 1)])
    return bug.key in seen.bugs


def is_held(bug: Bug, game: VectorMDP, oracles: Oracles) -> bool:
    """Whether random moves after those of a bug lead nowhere else in any battle. False where an episode leaves too
    little time to tell."""
    look, seat = Look(game), game.spec.seats[0]
    step = game.reset(np.full(TRIES, bug.seed, np.uint64))
    for move in bug.moves:
        step = game.step([_moved(seat, move, TRIES)])
    player, seeds = RandomPlayer(seat), combine64(bug.seed, np.arange(TRIES, dtype=np.uint64))
    going, tried = np.ones(TRIES, np.bool_), 0
    if step.ended is not None:
        return False
    for tick in range(oracles.stuck_after):
        tried += int(going.sum())
        step = game.step([player(_batch(step, seeds, tick)).actions])
        if (going & (step.terminated | ((look.now(step) != bug.place) & ~step.truncated))).any():
            return False
        going &= ~step.truncated
    return tried >= oracles.stuck_after


def _batch(step: VectorStep, seeds: NDArray[np.uint64], tick: int) -> Batch:
    return Batch(step.observations[0], step.masks[0], noise_keys(seeds, np.full(TRIES, tick), 0))


def _moved(seat: SeatSpec, move: object, n: int) -> Array:
    """The actions of n battles that all make the same move."""
    return np.array([move] * n, seat.action.dtype)


class Replays:
    """Says of a bug whether it shows again; ``games``: makes the game for so many battles."""

    def __init__(self, games: Callable[[int], VectorMDP], oracles: Oracles) -> None:
        self._games, self._oracles = games, oracles

    def __call__(self, bug: Bug, found: Findings) -> bool:
        """Whether it does; what that took is counted. Which battle crashed a program nobody knows, so one that crashes
        none is no bug that was lost."""
        found.checked += len(bug.moves)
        if not shows_again(bug, self._games(1), self._oracles):
            found.unshown += bug.kind != "crash"
            return False
        if bug.kind != "stuck":
            return True
        found.checked += TRIES * (len(bug.moves) + self._oracles.stuck_after)
        return is_held(bug, self._games(TRIES), self._oracles)
