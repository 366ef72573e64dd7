"""Battles of two players in a game for two sides, each on all seats of its side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.mdp.interface import MDP, MDPSpec
from engine.mdp.vector import Game, VectorMDP, in_turns
from engine.rl.cast import Candidate, Cast
from engine.rl.examine import first_by_decision, rounds_in_turns
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


class Meeting:
    """Battles of those ``seated`` on the two sides. ``won`` [seeds, sides]: wins of each; ``ended``: episodes that are
    over; ``moves``: decisions of these."""

    def __init__(
        self, game: Game, seated: tuple[str, str], players: Mapping[str, Player], seeds: NDArray[np.uint64],
        stopped: Callable[[], bool],
    ) -> None:  # fmt: skip
        self._game, self._seated, self._players, self._seeds, self._stopped = game, seated, players, seeds, stopped
        self.won: Floats = np.empty((len(seeds), 2))
        self.ended = self.moves = 0

    def decisions(self) -> Iterator[None]:
        """Play it; yields after every decision. Raises Cancelled once ``stopped``."""
        squad = self._game.spec.squad
        cast = Cast([[Candidate(name, learns=True)] for name in self._seated for _ in range(squad)])
        return self._in_turns(self._game, cast) if in_turns(self._game) else self._at_once(self._game, cast, squad)

    def _in_turns(self, game: MDP, cast: Cast) -> Iterator[None]:
        table = Table(game, self._seeds, cast, {}, self._players.__getitem__, episodes=1)
        for over in rounds_in_turns(table, self._stopped):
            for slot, _, results, played in over:
                win, score = (np.array([[getattr(result, what) for result in results]]) for what in ("win", "score"))
                self.won[slot.place] = shares(win, score)[0]
                self.moves += sum(own.decisions for own in played)
            self.ended += len(over)
            yield

    def _at_once(self, game: VectorMDP, cast: Cast, squad: int) -> Iterator[None]:
        seats = Seats(game.spec, cast, {name: self._players[name] for name in self._seated}, nobody_else)
        for over in first_by_decision(game, seats, self._seeds, self._stopped):
            if over is not None:
                battles, ended, rows = over
                self.won[battles] = shares(ended.win[rows, ::squad], ended.score[rows, ::squad])
                self.moves += int(ended.lengths[rows].sum())
                self.ended += len(battles)
            yield


def meet(
    game: Game, seated: tuple[str, str], players: Mapping[str, Player], seeds: NDArray[np.uint64],
    stopped: Callable[[], bool],
) -> tuple[Floats, int]:  # fmt: skip
    """A whole meeting: its wins, and its decisions. Raises as ``Meeting``."""
    meeting = Meeting(game, seated, players, seeds, stopped)
    for _ in meeting.decisions():
        pass
    return meeting.won, meeting.moves


def shares(win: Floats, score: Floats) -> Floats:
    """Share of wins of each side [m, 2], by score where the game does not name the winner."""
    by_score = 0.5 + 0.5 * np.sign(score - score[:, ::-1])
    return np.asarray(np.where(np.isnan(win), by_score, win))
