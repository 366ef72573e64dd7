"""Battles of two players in a game for two sides, each on all seats of its side."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.mdp.interface import MDPSpec
from engine.mdp.vector import Game, in_turns
from engine.rl.cast import Candidate, Cast
from engine.rl.examine import first_episodes, first_in_turns
from engine.rl.seats import Player, Seats, nobody_else
from engine.rl.turns import Table

Floats = NDArray[np.float64]


def two_sides(spec: MDPSpec) -> None:
    """Raises ConfigError where a game does not have two sides alike."""
    seats, squad = spec.seats, spec.squad
    if len(seats) != 2 * squad:
        count = "one seat" if len(seats) == 1 else f"{len(seats)} seats"
        raise ConfigError([("game.name", f"policies play each other in games for two; this one has {count}")])
    if (seats[0].observations, seats[0].action) != (seats[squad].observations, seats[squad].action):
        raise ConfigError([("game.name", "the two seats see or do different things, so nobody can sit on both")])


def meet(
    game: Game, seated: tuple[str, str], players: Mapping[str, Player], seeds: NDArray[np.uint64],
    stopped: Callable[[], bool],
) -> tuple[Floats, int]:  # fmt: skip
    """Wins [seeds, sides] of those ``seated`` on the two sides, and the number of moves. Raises Cancelled once
    ``stopped``."""
    squad = game.spec.squad
    cast = Cast([[Candidate(name, learns=True)] for name in seated for _ in range(squad)])
    won, moves = np.empty((len(seeds), 2)), 0
    if in_turns(game):
        table = Table(game, seeds, cast, {}, players.__getitem__, episodes=1)
        for slot, _, results, played in first_in_turns(table, stopped):
            win, score = (np.array([[getattr(result, what) for result in results]]) for what in ("win", "score"))
            won[slot.place] = shares(win, score)[0]
            moves += sum(own.decisions for own in played)
        return won, moves
    seats = Seats(game.spec, cast, {name: players[name] for name in seated}, nobody_else)
    for battles, ended, rows in first_episodes(game, seats, seeds, stopped):
        won[battles] = shares(ended.win[rows, ::squad], ended.score[rows, ::squad])
        moves += int(ended.lengths[rows].sum())
    return won, moves


def shares(win: Floats, score: Floats) -> Floats:
    """Share of wins of each side [m, 2], by score where the game does not name the winner."""
    by_score = 0.5 + 0.5 * np.sign(score - score[:, ::-1])
    return np.asarray(np.where(np.isnan(win), by_score, win))
