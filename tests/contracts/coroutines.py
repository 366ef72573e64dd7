"""A game over arrays as coroutines, so that tests can play it both ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.mdp.battle import SteppedMDP, Tick
from engine.mdp.interface import MDPSpec, Result, State
from engine.mdp.vector import VectorMDP


def mdp_from_vector(make: Callable[[tuple[int, ...]], VectorMDP], spec: MDPSpec, *, patience: int = 1) -> SteppedMDP:
    """An ``MDP`` over a compiled game. ``make`` gives the game with these seats played from outside; ``spec`` is the
    game with all its seats."""
    return SteppedMDP(spec, lambda: _OneBattle(make), patience=patience)


class _OneBattle:
    """``Simulation`` of one battle of a ``VectorMDP``."""

    def __init__(self, make: Callable[[tuple[int, ...]], VectorMDP]) -> None:
        self._make = make

    def begin(self, seed: int, played: Sequence[int]) -> None:
        """As ``Simulation.begin``; all seats act at the same time."""
        self._column = {seat: i for i, seat in enumerate(sorted(played))}
        self._vector = self._make(tuple(self._column))
        self._now = self._vector.reset(np.array([seed], np.uint64))

    def state(self, seat: int) -> State:
        """A seat's state; after the end, its last one."""
        i, ended = self._column[seat], self._now.ended
        observations, masks = (ended or self._now).observations[i], (ended or self._now).masks[i]
        return State({name: array[0] for name, array in observations.items()}, None if masks is None else masks[0])

    def step(self, actions: Sequence[Any]) -> Tick:
        """One decision."""
        rows = []
        for i, seat in enumerate(self._column):
            action = self._vector.spec.seats[i].action
            rows.append(np.asarray(actions[seat]).astype(action.dtype, copy=False).reshape(1, *action.row))
        step = self._now = self._vector.step(rows)
        widths = [len(seat.rewards) for seat in self._vector.spec.seats]
        rewards: list[Any] = [None] * (max(self._column) + 1)
        alive = [False] * len(rewards)
        for seat, i in self._column.items():
            rewards[seat], alive[seat] = step.rewards[0, i, : widths[i]].copy(), bool(step.alive[0, i])
        whole = step.alive.all()
        return Tick(rewards, bool(step.terminated[0]), bool(step.truncated[0]), None if whole else alive)

    def result(self, seat: int) -> Result:
        """A seat's result in the episode that just ended."""
        i, ended = self._column[seat], self._now.ended
        assert ended is not None, "asked only after the end"
        names = self._vector.spec.seats[i].signals
        signals = dict(zip(names, ended.signals[i][0].tolist(), strict=True))
        return Result(float(ended.win[0, i]), float(ended.score[0, i]), signals)

    def close(self) -> None:
        """Close the game."""
        self._vector.close()
