"""Running mean and spread of observations, and of the discounted sum of rewards.

Statistics are merged by the parallel formula of Chan, Golub & LeVeque 1983, in float64, so that the division of samples
into batches does not matter except for rounding. Only learners change them; samplers get them with the weights, so
acting and learning use the same scale.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError

F64 = NDArray[np.float64]
CLIP = 10.0
"""Normalised observations and scaled rewards are clipped here (37 details of PPO, continuous 7 and 9)."""
_TINY = 1e-8


class Running:
    """Count, mean and sum of squared deviations of vectors of one shape."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.n = 0.0
        self.mean: F64 = np.zeros(shape)
        self.m2: F64 = np.zeros(shape)

    def add(self, samples: NDArray[np.generic]) -> None:
        """Merge samples [n, *shape]. Raises EngineError, and merges nothing, when one is not a finite number."""
        n = len(samples)
        if not n:
            return
        values = samples.astype(np.float64)
        mean = values.mean(axis=0)
        if not np.isfinite(mean).all():
            raise EngineError(
                "Learning went wrong: an observation, a reward or what is expected of it is not a finite number. Check "
                "what the game gives, or take a smaller learning rate."
            )
        delta, total = mean - self.mean, self.n + n
        self.m2 += ((values - mean) ** 2).sum(axis=0) + delta**2 * (self.n * n / total)
        self.mean += delta * (n / total)
        self.n = total

    @property
    def std(self) -> F64:
        """Standard deviation; 1 before there are two samples, and where all were equal."""
        if self.n < 2:
            return np.ones_like(self.mean)
        spread = np.sqrt(self.m2 / self.n)
        return np.where(spread > _TINY, spread, 1.0)

    def state(self) -> dict[str, F64]:
        """As arrays."""
        return {"n": np.array(self.n), "mean": self.mean.copy(), "m2": self.m2.copy()}

    def load(self, arrays: dict[str, NDArray[np.generic]]) -> None:
        """Continue from ``state``."""
        self.n = float(arrays["n"])
        self.mean, self.m2 = np.array(arrays["mean"], dtype=np.float64), np.array(arrays["m2"], dtype=np.float64)
