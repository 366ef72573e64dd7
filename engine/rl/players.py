"""Players without training, for any game: baselines to measure against, opponents that never change, and actions that
are taken again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.errors import ConfigError
from engine.mdp.choosing import uniforms
from engine.mdp.interface import Array, SeatSpec, action_problem
from engine.mdp.trajectory import Batch, Decision
from engine.rl.distributions import Distribution


class RandomPlayer:
    """Uniform over legal choices, and uniform between the bounds of every parameter."""

    def __init__(self, seat: SeatSpec) -> None:
        self.memory: dict[str, tuple[int, ...]] = {}
        self._distribution = Distribution(seat.action)
        self._low, self._high = seat.action.bounds

    def __call__(self, batch: Batch) -> Decision:
        """Random actions that depend on the keys alone."""
        d = self._distribution
        outputs = np.zeros((len(batch.keys), d.outputs), np.float32)
        actions = d.draw(outputs, np.zeros(d.D, np.float32), batch.masks, batch.keys).actions
        first = d.K + 2 * d.D  # the first number of a key's stream that the draw did not use
        for i in range(d.D):
            share = uniforms(batch.keys, first + i).astype(np.float32)
            actions[:, len(d.acting.choices) + i] = self._low[i] + (self._high[i] - self._low[i]) * share
        return Decision(actions)


class NotedPlayer:
    """Takes ``moves``, one after the other, in one battle. Raises ConfigError for what is no action of the seat."""

    def __init__(self, seat: SeatSpec, moves: Sequence[object]) -> None:
        self.memory: dict[str, tuple[int, ...]] = {}
        self._rows = iter([moved(seat, move, 1) for move in moves])

    def __call__(self, batch: Batch) -> Decision:
        """The next of its actions."""
        return Decision(next(self._rows))


def moved(seat: SeatSpec, move: object, n: int) -> Array:
    """The actions of n battles that all make the same move. Raises ConfigError for what is none."""
    try:
        actions = np.array([move] * n, seat.action.dtype)
    except (OverflowError, TypeError, ValueError) as error:
        raise ConfigError([("moves", f"{str(move)[:40]} is no move of this game")]) from error
    if problem := action_problem(seat.action, actions, n):
        raise ConfigError([("moves", f"{str(move)[:40]} is no move of this game: actions {problem}")])
    return actions
