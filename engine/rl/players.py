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
        self._rows = iter([moved(seat, move, 1, f"moves.{i}") for i, move in enumerate(moves)])

    def __call__(self, batch: Batch) -> Decision:
        """The next of its actions."""
        return Decision(next(self._rows))


def moved(seat: SeatSpec, move: object, n: int, place: str = "moves") -> Array:
    """The actions of n battles that all make the same move. Raises ConfigError, at this place, for what is none."""
    shown = str(move)[:40]
    if why := _no_numbers(seat, move):
        raise ConfigError([(place, f"{shown} is no move of this game: {why}")])
    try:
        actions = np.array([move] * n, seat.action.dtype)
    except (OverflowError, TypeError, ValueError) as error:
        raise ConfigError([(place, f"{shown} is no move of this game")]) from error
    if problem := action_problem(seat.action, actions, n) or _between(seat, actions):
        raise ConfigError([(place, f"{shown} is no move of this game: actions {problem}")])
    return actions


def _no_numbers(seat: SeatSpec, move: object) -> str:
    """What is wrong with the numbers of a move, which NumPy would make fit: 1.7, "1" and true are no choices."""
    whole = np.issubdtype(seat.action.dtype, np.integer)
    for number in move if isinstance(move, list | tuple) else [move]:
        if isinstance(number, list | tuple):
            continue  # too deep, which its shape says
        if isinstance(number, bool | np.bool_ | str) or not isinstance(number, int | float | np.number):
            return "it must be made of numbers"
        if whole and not isinstance(number, int | np.integer):
            return "it must be made of whole numbers"
    return ""


def _between(seat: SeatSpec, actions: Array) -> str:
    """What is wrong with choices that are written as fractions, beside numbers that may be any."""
    choices = actions.reshape(len(actions), -1)[:, : len(seat.action.choices)]
    return "have a choice that is no whole number" if (choices != np.floor(choices)).any() else ""
