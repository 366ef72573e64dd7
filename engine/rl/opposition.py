"""The casts of self-play: one policy learns, from either seat in turn, and a pool gives its opponents.

The seat of a battle's first episode is a hash of the battle's seed; from episode to episode the seats are exchanged.
The opponent is drawn by a hash of (battle's seed, episode) with the pool's weights, and is the same from either seat.
So a cast depends on the battle, the episode and the pool as it came with the weights, and on nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.rl.cast import U64, Candidate, Cast, Snapshots, uniform
from engine.rng import combine64

_CAST, _OPPONENT = 0x0BB0, 1


class Opposition(Cast):
    """``learner`` against opponents by name with their ``weights``; ``seat``: where it always sits (None: on either).
    Raises ConfigError where nobody has a weight above 0."""

    def __init__(self, learner: str, weights: Mapping[str, float], seat: int | None = None) -> None:
        if not any(weight > 0 for weight in weights.values()):
            raise ConfigError([("opponents", "there is nobody to play against")])
        weights = dict(sorted(weights.items()))  # a checkpoint may tell them in another order
        candidates = [
            Candidate(learner, learns=True),
            *(Candidate(name, weight) for name, weight in weights.items()),
        ]
        super().__init__([candidates, candidates])
        self.weights, self.seat = weights, seat
        self._ends = np.cumsum(list(weights.values()))

    def expected(self, policy: str) -> float:
        """One seat of every episode."""
        return 1.0

    def facing(self, policy: str, seat: int) -> Opposition:
        """The same opponents for ``policy`` on one seat."""
        return Opposition(policy, self.weights, seat)

    def draw(self, battles: U64, episodes: NDArray[np.int64], snapshots: Snapshots) -> NDArray[np.int64]:
        """Indices into ``names``, int64[n, 2]."""
        others = 1 + self.opponents(battles, episodes)
        seat = (combine64(battles, _CAST) & np.uint64(1)).astype(np.int64) + episodes
        seat = seat % 2 if self.seat is None else np.full(len(others), self.seat)
        return np.stack([np.where(seat == place, 0, others) for place in (0, 1)], axis=1)

    def opponents(self, battles: U64, episodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The opponent in each of n episodes, int64[n]: its place among ``weights``."""
        keys = combine64(combine64(battles, _CAST), episodes.astype(np.uint64))
        found = np.searchsorted(self._ends, uniform(keys, _OPPONENT, 0) * self._ends[-1], side="right")
        return np.asarray(np.minimum(found, len(self._ends) - 1), np.int64)
