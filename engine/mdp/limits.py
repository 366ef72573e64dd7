"""A game in which players react late and seldom change what they do.

What a seat decides reaches its hands ``delay`` decisions later; until the first decision does, they are idle. Hands
change what they do at most once in ``apart`` decisions: a change that comes sooner is dropped, and happens once it is
allowed if the player still wants it then. What players see, and everything else, is as ever. So one mechanism serves
training, measuring and watching, and whoever plays an exported agent elsewhere holds its actions back in the same way
(``Hands`` is all there is to it).

A game that forbids actions now and then cannot be played so: a late action may be forbidden by then.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.config.limits import LimitsConfig
from engine.errors import ConfigError
from engine.mdp.interface import ActionSpec, Array, MDPSpec, action_problem
from engine.mdp.vector import Game, VectorMDP, VectorStep, in_turns

SAID = (
    "drawing", "scenery", "labels", "positions", "last_positions", "plan", "places", "last_places", "faults", "broken",
    "soonest", "most", "ends",
)  # fmt: skip
"""What a game may say beside a ``VectorMDP`` (``engine.rl.recording.Drawable``, ``engine.mdp.places``, for hunts how
soon and how clearly it can be won, and the ``ends`` of signals that its settings decide): true with limits, too."""
FORBIDS = "this game forbids actions now and then, and a late action may be forbidden by then: leave the limits out"
IN_TURNS = "its players wait for each other's turns, so nobody can be late: leave the limits out"


class Hands:
    """What one seat of n battles does, given what it decided."""

    def __init__(self, action: ActionSpec, n: int, limits: LimitsConfig) -> None:
        self._idle, self._apart = action.idle(1), limits.apart
        self._waiting = [action.idle(n) for _ in range(limits.delay)]
        self._at, self._now = 0, action.idle(n)
        self._since = np.full(n, limits.apart)

    def do(self, wanted: Array, battles: NDArray[np.int64] | None = None) -> Array:
        """What they do now [n, …], where this is what was decided now; ``battles``: in these alone, in which they are
        called at every decision of an episode."""
        at = slice(None) if battles is None else battles
        due = wanted
        if self._waiting:
            line = self._waiting[self._at]
            due, line[at] = line[at].copy(), wanted
            self._at = (self._at + 1) % len(self._waiting)
        now, since = self._now[at], self._since[at]
        other = (due != now).reshape(len(due), -1).any(axis=1) & (since >= self._apart)
        now[other] = due[other]
        since += 1
        since[other] = 1
        self._now[at], self._since[at] = now, since
        return now

    def restart(self, battles: NDArray[np.int64]) -> None:
        """Begin new episodes in these battles."""
        for held in (*self._waiting, self._now):
            held[battles] = self._idle
        self._since[battles] = self._apart


class Limited:
    """A game whose ``seats`` (by their place among those played from outside) have limits. It has what of ``SAID`` the
    game has."""

    def __init__(self, game: VectorMDP, limits: LimitsConfig, seats: Collection[int]) -> None:
        self.game, self._limits, self._seats = game, limits, tuple(seats)
        vars(self).update({name: getattr(game, name) for name in SAID if hasattr(game, name)})

    @property
    def spec(self) -> MDPSpec:
        """That of the game."""
        return self.game.spec

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """As ``VectorMDP.reset``. Raises ConfigError for a game that forbids actions."""
        actions = [seat.action for seat in self.spec.seats]
        self._hands = {seat: Hands(actions[seat], len(seeds), self._limits) for seat in self._seats}
        step = self.game.reset(seeds)
        if any(step.masks[seat] is not None for seat in self._seats):
            raise ConfigError([("limits", FORBIDS)])
        return step

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """As ``VectorMDP.step``."""
        done = list(actions)
        for seat, hands in self._hands.items():
            if problem := action_problem(self.spec.seats[seat].action, actions[seat], len(actions[seat])):
                raise ConfigError([(f"seat {seat}", f"the actions {problem}")])
            done[seat] = hands.do(actions[seat])
        step = self.game.step(done)
        if step.ended is not None:
            for hands in self._hands.values():
                hands.restart(step.ended.battles)
        return step

    def close(self) -> None:
        """Release the game's resources."""
        self.game.close()


def limited(game: Game, limits: LimitsConfig | None, seats: Collection[int] | None = None) -> Game:
    """The game with limits on these seats (None: on all); the game itself where there are none. Raises ConfigError for
    a game in turns."""
    if limits is None or not limits.any:
        return game
    if in_turns(game):
        raise ConfigError([("limits", IN_TURNS)])
    return Limited(game, limits, range(len(game.spec.seats)) if seats is None else seats)
