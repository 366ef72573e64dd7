"""The battles of a round robin and their results.

All pairs advance together, a part of their meetings at a time, so there is a whole table after the first part, and each
later part only narrows its ranges. Battle 2m of a pair is the first of its meeting m, battle 2m + 1 the second, with
exchanged seats; its seed is a hash of the study's seed, the two teams and that number
(``engine.lineups.pairing_evaluator``). So a table depends neither on the order of answers nor on interruptions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle
from engine.evolution.algorithm import Parts, Progress
from engine.metagame.matchups import Floats, pairs_of
from engine.problem import Evaluation, Request


class RoundRobin:
    """Requests battles and collects their results, as an ``Algorithm`` does. ``teams`` int32[n, slots]; a request is
    one pair in one part."""

    def __init__(self, teams: NDArray[np.int32], meetings: int, ticks: int, seed: int) -> None:
        self.teams, self.seed, self.ticks = teams, seed, ticks
        self.pairs = pairs_of(len(teams))
        self.ends = np.linspace(0, meetings, self.ticks + 1).astype(np.int64)
        self.received = np.zeros((self.ticks, len(self.pairs.first)), np.bool_)
        self._results: Floats = np.full((len(self.pairs.first), meetings), np.nan)
        self._next = 0

    @property
    def tick(self) -> int:
        """Number of leading parts that are complete."""
        return int(np.logical_and.accumulate(self.received.all(axis=1)).sum())

    @property
    def done(self) -> bool:
        """Whether all parts are complete."""
        return bool(self.received.all())

    @property
    def played(self) -> int:
        """Number of battles played."""
        return 2 * int((self.received.sum(axis=1) * np.diff(self.ends)).sum())

    @property
    def results(self) -> Floats:
        """Results of the complete parts, as ``matchups`` takes them."""
        return self._results[:, : self.ends[self.tick]]

    def ask(self, room: int) -> list[Request]:
        """At most ``room`` requests, part by part."""
        found: list[Request] = []
        while self._next < self.received.size and len(found) < room:
            if not self.received.flat[self._next]:
                found.append(self._request(self._next))
            self._next += 1
        return found

    def tell(self, evaluation: Evaluation) -> list[Progress]:
        """Record the result of a request. Raises KeyError for one that is not outstanding."""
        if not 0 <= evaluation.id < self.received.size or self.received.flat[evaluation.id]:
            raise KeyError(evaluation.id)
        before, (part, pair) = self.tick, divmod(evaluation.id, len(self.pairs.first))
        if evaluation.values is not None:
            ahead = evaluation.values[:, 0].reshape(-1, 2)
            self._results[pair, self.ends[part] : self.ends[part + 1]] = 0.5 + (ahead[:, 0] - ahead[:, 1]) / 2
        self.received[part, pair] = True
        return [Progress(tick) for tick in range(before + 1, self.tick + 1)]

    def state(self) -> Parts:
        """The results so far."""
        return {"table": Bundle({}, {"results": self._results, "told": self.received})}

    def load(self, parts: Parts) -> None:
        """Continue from a state."""
        arrays = parts["table"].arrays
        self._results, self.received = arrays["results"].copy(), arrays["told"].astype(np.bool_)
        self._next = 0

    def _request(self, at: int) -> Request:
        part, pair = divmod(at, len(self.pairs.first))
        first, last = (2 * int(end) for end in self.ends[part : part + 2])
        meeting = self.teams[[self.pairs.first[pair], self.pairs.second[pair]]]
        rows = np.tile(np.stack([meeting, meeting[::-1]]), ((last - first) // 2, 1, 1))
        return Request(at, rows, first, last, self.seed)
