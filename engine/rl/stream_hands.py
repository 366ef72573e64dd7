"""The hands of a player that has limits of its own, wherever it sits: what it decides is held back as
``engine.mdp.limits`` does on given seats of a game, and nobody else's actions are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.config.limits import LimitsConfig
from engine.errors import ConfigError
from engine.mdp.interface import Array, SeatSpec, members_of
from engine.mdp.limits import FORBIDS, Hands
from engine.mdp.trajectory import Decision


class StreamHands:
    """What a player does in ``n`` streams; of a group, each member has hands of its own."""

    def __init__(self, seat: SeatSpec, n: int, limits: LimitsConfig) -> None:
        actions = [member.action for member in members_of(seat)]
        self._hands = [Hands(action, n, limits) for action in actions]
        self._ends = np.cumsum([len(action.bounds[0]) for action in actions])[:-1]

    def held(self, decision: Decision, masks: Array | None, streams: NDArray[np.int64] | None) -> Decision:
        """What is done now in these streams (None: in all), where this was decided now. Raises ConfigError in a game
        that forbids actions (``masks``)."""
        if masks is not None:
            raise ConfigError([("limits", FORBIDS)])
        return decision._replace(actions=self._do(decision.actions, streams))

    def _do(self, wanted: Array, streams: NDArray[np.int64] | None) -> Array:
        if len(self._hands) == 1:
            return self._hands[0].do(wanted, streams)
        parts = np.split(wanted, self._ends, axis=1)
        done = [hands.do(part, streams) for hands, part in zip(self._hands, parts, strict=True)]
        return np.concatenate(done, axis=1)

    def restart(self, streams: NDArray[np.int64]) -> None:
        """New episodes begin in these streams."""
        for hands in self._hands:
            hands.restart(streams)
