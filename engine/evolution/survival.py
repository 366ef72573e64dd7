"""Whether slow candidates are at a disadvantage: the correlation of time and survival (Scott & De Jong 2015). A
candidate survives if it is still alive after as many others as the population holds were learnt from."""

from __future__ import annotations

import math
from collections import deque
from typing import Any

from engine.evolution.algorithm import Algorithm
from engine.evolution.fair import FairQueue
from engine.evolution.noise import Resampling
from engine.evolution.search import PopulationSearch

_SUMS = 6


def search_in(algorithm: Algorithm) -> PopulationSearch:
    """The search inside its wrappers."""
    while isinstance(algorithm, FairQueue | Resampling):
        algorithm = algorithm.search
    assert isinstance(algorithm, PopulationSearch)
    return algorithm


class Survival:
    """Follows each candidate from when it is learnt from until its fate is known. Call ``before`` and ``after`` around
    each tell."""

    def __init__(self, search: PopulationSearch) -> None:
        self.search = search
        self.seconds: dict[int, float] = {}
        self.waiting: deque[int] = deque()
        self.sums = [0.0] * _SUMS
        self._outstanding: set[int] = set()

    def before(self, candidate: int, seconds: float) -> None:
        """Call before the search is told an answer that took ``seconds``."""
        self._outstanding = set(self.search.outstanding)
        if candidate in self._outstanding:
            self.seconds[candidate] = seconds

    def after(self) -> list[tuple[float, bool]]:
        """Call after the search was told. Returns (seconds, survived) of the candidates whose fate is now known."""
        learnt = sorted(self._outstanding - set(self.search.outstanding))
        self.waiting.extend(learnt)
        found: list[tuple[float, bool]] = []
        while len(self.waiting) > self.search.N:
            i = self.waiting.popleft()
            found.append((self.seconds.pop(i, 0.0), i in self.search.alive()))
        for seconds, survived in found:
            self._count(math.log(max(seconds, 1e-6)), float(survived))
        return found

    def _count(self, x: float, y: float) -> None:
        self.sums = [a + b for a, b in zip(self.sums, (1.0, x, y, x * x, y * y, x * y), strict=True)]

    @property
    def correlation(self) -> float:
        """Correlation of the logarithm of time and survival; NaN while all times or all fates are equal."""
        n, x, y, xx, yy, xy = self.sums
        spread = (n * xx - x * x) * (n * yy - y * y)
        return (n * xy - x * y) / math.sqrt(spread) if n > 2 and spread > 1e-9 * n * n else math.nan

    def state(self) -> dict[str, Any]:
        """As JSON."""
        return {"seconds": list(self.seconds.items()), "waiting": list(self.waiting), "sums": self.sums}

    def load(self, state: dict[str, Any]) -> None:
        """The inverse of ``state``."""
        self.seconds = {i: s for i, s in state["seconds"]}
        self.waiting, self.sums = deque(state["waiting"]), list(state["sums"])
