"""Arrays from coroutines: a game that is written as an ``MDP``, played many battles at a time.

Both ways give the same trajectories (tests prove it), so a game needs to be written only once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError, SimulatorError
from engine.mdp.checks import Blame
from engine.mdp.episodes import Episodes
from engine.mdp.interface import MDP, Array, Battle, Controller, MDPSpec, action_problem
from engine.mdp.vector import Ended, VectorStep


class VectorFromMDP:
    """``VectorMDP`` over n battles of an ``MDP``, all of whose seats are played from outside.

    Raises SimulatorError for a game that is played in turns, which has no such form: use ``engine.mdp.driver``.
    """

    def __init__(self, mdp: MDP) -> None:
        if mdp.spec.in_turns:
            raise _not_together(mdp.spec)
        self._mdp, self.spec, self._blame = mdp, mdp.spec, Blame(mdp.spec.name)
        self._battles: list[Battle] = []
        self._ticks: list[Callable[[], None]] = []

    def reset(self, seeds: NDArray[np.uint64]) -> VectorStep:
        """As ``VectorMDP.reset``."""
        self.close()
        n, seats = len(seeds), self.spec.seats
        self._episodes = Episodes(self.spec, seeds)
        self._alive = np.ones((n, len(seats)), np.bool_)
        self._cut = np.zeros_like(self._alive)
        self._rewards = np.zeros((n, len(seats), self.spec.rewards), np.float32)
        self._observations = tuple(
            {s.name: np.empty((n, *s.shape), np.dtype(s.dtype)) for s in seat.observations} for seat in seats
        )
        self._masks: list[NDArray[np.bool_] | None] = [None] * len(seats)
        self._battles, self._ticks = [None] * n, [None] * n  # type: ignore[list-item]
        with self._blame:
            for i in range(n):
                self._begin(i)
        return self._step(np.zeros(n, np.bool_), np.zeros(n, np.bool_), None)

    def _begin(self, i: int) -> None:
        self._blame.battle, self._blame.doing = i, "reset"
        battle = self._mdp.reset(*range(len(self.spec.seats)), seed=int(self._episodes.seeds[i]))
        self._battles[i], self._ticks[i] = battle, battle.ticks.__await__().__next__
        self._alive[i] = True
        for controller in battle.controllers:
            self._see(i, controller)

    def _see(self, i: int, controller: Controller) -> None:
        if not controller.acting and self._alive[i, controller.seat]:
            raise _not_together(self.spec)
        state = controller.get_state()
        for name, array in state.observations.items():
            self._observations[controller.seat][name][i] = array
        if state.mask is not None:
            self._mask(controller.seat)[i] = state.mask

    def _mask(self, seat: int) -> NDArray[np.bool_]:
        mask = self._masks[seat]
        if mask is None:
            mask = self._masks[seat] = np.ones((len(self._battles), self.spec.seats[seat].action.legal), np.bool_)
        return mask

    def step(self, actions: Sequence[Array]) -> VectorStep:
        """As ``VectorMDP.step``."""
        n = len(self._battles)
        for seat, (spec, rows) in enumerate(zip(self.spec.seats, actions, strict=True)):
            problem = action_problem(spec.action, rows, n)
            if problem:
                raise ConfigError([(f"seat {seat}", f"the actions {problem}")])
        terminated, truncated = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
        self._out, self._cut = np.zeros_like(self._alive), np.zeros_like(self._alive)
        with self._blame:
            for i in range(n):
                self._blame.battle, self._blame.doing = i, "step"
                terminated[i], truncated[i] = self._tick(i, [rows[i] for rows in actions])
        rewards = self._rewards
        self._episodes.add(rewards)
        over = np.flatnonzero(terminated | truncated)
        ended = self._end(over) if len(over) else None
        return self._step(terminated, truncated, ended)

    def _tick(self, i: int, actions: Sequence[Any]) -> tuple[bool, bool]:
        """One decision of one battle; returns (terminated, truncated)."""
        battle = self._battles[i]
        waits = [controller(actions[controller.seat]).__await__() for controller in battle.controllers]
        try:
            while True:
                self._ticks[i]()
                outcomes = [_answer(wait) for wait in waits]
                if battle.done or any(outcome is not None for outcome in outcomes):
                    break
        except StopIteration:
            outcomes = [_answer(wait) for wait in waits]
        for controller in battle.controllers:
            reward = controller.get_reward()
            self._rewards[i, controller.seat, : len(reward)] = reward
        if battle.done:
            cut = [self._alive[i, s] and o is not None and o.truncated for s, o in enumerate(outcomes)]
            self._out[i] = ~np.array(cut, np.bool_)
            for controller in battle.controllers:
                self._alive[i, controller.seat] = False
                self._see(i, controller)
            return not any(cut), any(cut)
        for controller, outcome in zip(battle.controllers, outcomes, strict=True):
            if outcome is not None and outcome.done:
                self._cut[i, controller.seat] = self._alive[i, controller.seat] and outcome.truncated
                self._alive[i, controller.seat] = False
            self._see(i, controller)
        return False, False

    def _end(self, over: NDArray[np.int64]) -> Ended:
        last = tuple({name: array[over] for name, array in seen.items()} for seen in self._observations)
        masks = tuple(None if mask is None else mask[over] for mask in self._masks)
        results = [[controller.get_result() for controller in self._battles[i].controllers] for i in over]
        totals = self._episodes.end(over)
        signals = tuple(
            np.array([[row[s].signals[name] for name in spec.signals] for row in results]).reshape(len(over), -1)
            for s, spec in enumerate(self.spec.seats)
        )
        win, score = (np.array([[getattr(r, f) for r in row] for row in results]) for f in ("win", "score"))
        with self._blame:
            for i in over:
                self._battles[i].close()
                self._begin(int(i))
        return Ended(over, *totals, win, score, signals, last, masks, self._out[over])

    def _step(self, terminated: NDArray[np.bool_], truncated: NDArray[np.bool_], ended: Ended | None) -> VectorStep:
        return VectorStep(
            self._observations, tuple(self._masks), self._rewards, terminated, truncated, self._alive, ended,
            self._cut if self._cut.any() else None,
        )  # fmt: skip

    def close(self) -> None:
        """End all battles."""
        for battle in self._battles:
            battle.close()
        self._battles = []


def _not_together(spec: MDPSpec) -> SimulatorError:
    said = f"{spec.name} is played in turns, so it cannot step all seats together; play it as coroutines"
    return SimulatorError(said, permanent=True)


def _answer(wait: Any) -> Any:
    """The answer of an awaited controller, None while it still waits."""
    try:
        next(wait)
    except StopIteration as end:
        return end.value
    return None
