"""Players without training, for any game: baselines to measure against, and opponents that never change."""

from __future__ import annotations

import numpy as np

from engine.mdp.choosing import uniforms
from engine.mdp.interface import SeatSpec
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
