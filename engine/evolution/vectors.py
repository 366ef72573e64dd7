"""Any coding as real vectors, for searches that only move through numbers (swarms)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError
from engine.problem import Genome, Space

Floats = NDArray[np.float64]


class Vectors:
    """Vectors float64[k, n] that stand for genomes: in [0, 1] by the space's random keys (Bean 1994; for real numbers:
    shares of their ranges), or, where the space has no bounds (weights of networks), in units of its spread."""

    def __init__(self, space: Space) -> None:
        found: Any = space
        self.space = found
        low = getattr(found, "low", None)
        self.bounded = low is None or bool(np.isfinite(low).all())
        if self.bounded and not hasattr(found, "decode"):
            why = "this algorithm moves through numbers, and these genomes cannot be made from numbers; choose another"
            raise ConfigError([("algorithm.kind", why)])
        self.n = int(found.width if self.bounded else len(found.low))
        self.start, self.spread = getattr(found, "start", 0.0), getattr(found, "spread", 1.0)

    def sample(self, rng: np.random.Generator, k: int) -> Floats:
        """k random vectors."""
        if self.bounded:
            return rng.random((k, self.n))
        return np.asarray((self.space.sample(rng, k) - self.start) / self.spread, np.float64)

    def genomes(self, x: Floats) -> Genome:
        """The genomes that vectors stand for."""
        if self.bounded:
            return np.asarray(self.space.decode(x))
        return np.asarray(self.start + self.spread * x, dtype=getattr(self.space, "dtype", np.float64))
