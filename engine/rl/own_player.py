"""A player of one's own: somebody's code, which may give back anything. What it does is checked where it does it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.catalog import imported
from engine.errors import ConfigError
from engine.mdp.interface import SeatSpec, action_problem
from engine.mdp.trajectory import Batch, Decision


class OwnPlayer:
    """What ``factory`` (``package.module:function``) makes for a seat. Raises ConfigError at ``factory`` where that is
    no player; so does a decision that cannot be played."""

    def __init__(self, factory: str, seat: SeatSpec) -> None:
        self.factory, self._seat = factory, seat
        try:
            made: Any = imported(factory)(seat)
        except Exception as error:  # somebody's own code
            raise self._wrong(f"it did not make a player: {type(error).__name__}: {error}") from error
        memory = getattr(made, "memory", None)
        if not callable(made) or not isinstance(memory, Mapping):
            lacks = "that cannot be called with a batch" if not callable(made) else "without a table “memory”"
            raise self._wrong(f"it made {_kind(made)} {lacks}, which is no player (engine.rl.seats.Player)")
        self._player, self.memory = made, memory

    def __call__(self, batch: Batch) -> Decision:
        """Its decision for each row."""
        try:
            decision = self._player(batch)
        except Exception as error:  # as above
            raise self._ill(f"could not decide: {type(error).__name__}: {error}") from error
        if not isinstance(decision, Decision):
            raise self._ill(f"gave back {_kind(decision)}; it must be a Decision (engine.mdp.trajectory)")
        if not isinstance(decision.actions, np.ndarray):
            raise self._ill(f"gave back actions that are {_kind(decision.actions)}; they must be an array")
        if problem := action_problem(self._seat.action, decision.actions, len(batch.keys)):
            raise self._ill(f"gave back actions that {problem}")
        if missing := [name for name in self.memory if name not in decision.state]:
            raise self._ill(f"gave back no state {missing[0]!r}, which is in its memory")
        return decision

    def _ill(self, why: str) -> ConfigError:
        return self._wrong(f"the player of {self.factory} {why}")

    def _wrong(self, why: str) -> ConfigError:
        return ConfigError([("factory", why)])


def _kind(given: Any) -> str:
    """What something is, for people who program."""
    return "None" if given is None else f"an object of type {type(given).__name__}"
