"""Bugs played again: the seed and the moves must show them, in a game of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from engine.evorl.findings import Bug, Findings
from engine.evorl.revived import Revived
from engine.evorl.watched import Oracles, Watched
from engine.mdp.interface import Array
from engine.mdp.places import Look
from engine.mdp.trajectory import Batch
from engine.mdp.vector import VectorMDP, VectorStep, noise_keys
from engine.rl.players import RandomPlayer, moved
from engine.rng import combine64

TRIES = 8
"""Battles that try to get away from where an agent is stuck."""
CRASHES = 3
"""Times that a program must crash by the same moves."""


Games = Callable[[int], VectorMDP]
"""Gives the game for so many battles."""


def replays(bug: Bug, games: Games, oracles: Oracles) -> Iterator[int]:
    """After how many decisions each replay of a bug's seed and moves shows it, 0 for one that does not; of being stuck,
    it is also to be shown that nothing else leads away. A program that crashes by chance may do so once more: its crash
    is replayed ``CRASHES`` times, all else once."""
    game = games(1)
    moves = _rows(bug, game)
    for _ in range(_times(bug, game)):
        shown = _shown_after(bug, moves, game, oracles)
        held = not shown or bug.kind != "stuck" or _is_held(bug, moves[:shown], games(TRIES), oracles)
        yield shown if held else 0


def shows_again(bug: Bug, games: Games, oracles: Oracles) -> bool:
    """Whether each replay of a bug shows it; none is played after one that does not."""
    return all(replays(bug, games, oracles))


def _times(bug: Bug, game: VectorMDP) -> int:
    return CRASHES if bug.kind == "crash" and isinstance(game, Revived) else 1


def _rows(bug: Bug, game: VectorMDP) -> list[Array]:
    """The moves of a bug as actions of one battle. Raises ConfigError, before anything is played, for what is none."""
    return [moved(game.spec.seats[0], move, 1, f"moves.{i}") for i, move in enumerate(bug.moves)]


def _shown_after(bug: Bug, moves: list[Array], game: VectorMDP, oracles: Oracles) -> int:
    """After how many decisions an oracle sees the bug again; 0: at none of them, or not in the episode of its seed."""
    seen = Findings()
    watched = Watched(game, oracles, seen)
    watched.reset(np.array([bug.seed], np.uint64))
    for played, move in enumerate(moves, 1):
        step = watched.step([move])
        if bug.key in seen.bugs:
            return played
        if step.ended is not None:
            return 0
    return 0


def _is_held(bug: Bug, moves: list[Array], game: VectorMDP, oracles: Oracles) -> bool:
    """Whether random moves after those of a bug lead nowhere else in any battle. False where an episode leaves too
    little time to tell."""
    look, seat = Look(game), game.spec.seats[0]
    step = game.reset(np.full(TRIES, bug.seed, np.uint64))
    for move in moves:
        step = game.step([np.repeat(move, TRIES, axis=0)])
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


class Replays:
    """Says of a bug whether it shows again, and counts the decisions that takes. ``most``: as many may be taken in
    all."""

    def __init__(self, games: Games, oracles: Oracles, most: float = np.inf) -> None:
        self._games, self._oracles, self.most = games, oracles, most

    def __call__(self, bug: Bug, found: Findings) -> bool | None:
        """Whether it does; None where that might take more decisions than are left, and is not tried. One replay tells
        whether it was a bug that is known."""
        each, times = len(bug.moves), 1 if bug.key in found.bugs else _times(bug, self._games(1))
        if bug.kind == "stuck":
            each += TRIES * (len(bug.moves) + self._oracles.stuck_after)
        if found.checked + each * times > self.most:
            return None
        for shown in islice(replays(bug, self._games, self._oracles), times):
            found.checked += each
            if not shown:
                return False
        return True
