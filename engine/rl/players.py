"""Players without training, for any game: a mark to measure against, and opponents that never change."""

from __future__ import annotations

import numpy as np

from engine.mdp.interface import SeatSpec
from engine.mdp.trajectory import Batch, Decision
from engine.rl.distributions import Distribution, uniforms


class RandomPlayer:
    """Every legal choice as likely as any other, and every parameter anywhere between its bounds."""

    def __init__(self, seat: SeatSpec) -> None:
        self.memory: dict[str, tuple[int, ...]] = {}
        self._distribution = Distribution(seat.action)
        self._low, self._high = seat.action.bounds

    def __call__(self, batch: Batch) -> Decision:
        """Actions drawn from the keys alone."""
        d = self._distribution
        outputs = np.zeros((len(batch.keys), d.outputs), np.float32)
        actions = d.draw(outputs, np.zeros(d.D, np.float32), batch.masks, batch.keys).actions
        first = d.K + 2 * d.D  # numbers of a key's stream that the draw did not use
        for i in range(d.D):
            share = uniforms(batch.keys, first + i).astype(np.float32)
            actions[:, len(d.acting.choices) + i] = self._low[i] + (self._high[i] - self._low[i]) * share
        return Decision(actions)
