"""Which battles are played to see what a change does, and what they gave.

First every lineup is played a few times on both versions: the numbers that show within seconds. These battles also say
which team is the strongest and which the weakest after the change, so that no later battle has to choose. What follows
is fresh: replicates from ``FRESH`` on, in looks of 8, 16, 32, … of them, the same on both versions. After each look the
lineups whose verdict is settled are left alone; verdicts hold at every look, so that costs no certainty.

All battles of a look are asked for before any of the next, and what a look decides depends on all of its answers. So
the result depends neither on their order nor on interruptions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Bundle
from engine.evolution.algorithm import Parts, Progress
from engine.lineups.version_evaluator import CHANGED
from engine.problem import Evaluation, LineupContext, Request, of_kind

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
FIRST = 4
"""Replicates before the fresh ones."""
FRESH = 1_000_000
"""The first of the fresh replicates."""
BEFORE, AFTER = 0, 1


class ReplayPlan(NamedTuple):
    """``rows`` int32[2, n, teams, slots] on both versions; ``playable`` bool[2, n]: whether the rules let them be
    played; ``anchors`` int64[n, 2] as a search chose them, -1 where none did. ``looks``: fresh replicates at each;
    ``parts``: in how many at most each is shown; ``width``: of objectives and of what they are made of."""

    rows: Ints
    playable: NDArray[np.bool_]
    anchors: NDArray[np.int64]
    looks: tuple[int, ...]
    parts: int
    width: tuple[int, int]
    seed: int
    fidelity: str


class ReplayResults(NamedTuple):
    """What is known of both versions, [2, n, …]: ``first`` and ``first_error`` [m] by the battles before the fresh
    ones; of so many fresh replicates (``samples``) their ``values`` [most, m] and ``sums`` [most, k], not a number
    beyond those, the ``mean`` [m] and its ``error`` [m]; ``failed``: a battle could not be finished."""

    first: Floats
    first_error: Floats
    samples: NDArray[np.int64]
    values: Floats
    sums: Floats
    mean: Floats
    error: Floats
    failed: NDArray[np.bool_]

    @classmethod
    def nothing(cls, n: int, most: int, width: tuple[int, int]) -> ReplayResults:
        """Before the first battle."""
        m, k = width
        numbers = [np.full((2, n, m), np.nan) for _ in range(4)]
        tables = [np.full((2, n, most, each), np.nan) for each in (m, k)]
        none = np.zeros((2, n), np.int64)
        return cls(numbers[0], numbers[1], none, tables[0], tables[1], numbers[2], numbers[3], none.astype(np.bool_))


class Replay:
    """Asks for battles and takes in what they say, as an ``Algorithm`` does; a request is one lineup on one version in
    one look. ``settled``: of what was played, bool[n]: which lineups no further battle tells anything of."""

    def __init__(self, asked: ReplayPlan, settled: Callable[[ReplayResults], NDArray[np.bool_]]) -> None:
        self.asked, self.settled = asked, settled
        self.n, self.look, self.tick, self.played, self.cached = asked.rows.shape[1], 0, 0, 0, 0
        self.outcomes = ReplayResults.nothing(self.n, asked.looks[-1], asked.width)
        self.anchors = np.stack([asked.anchors, np.full_like(asked.anchors, -1)])
        self.wanted = asked.playable.copy()
        self.received = np.zeros_like(self.wanted)
        self._out = np.zeros_like(self.wanted)

    @property
    def done(self) -> bool:
        """Whether nothing more is asked for."""
        return not self.wanted.any()

    @property
    def fresh(self) -> bool:
        """Whether fresh battles have told something."""
        return bool(self.outcomes.samples.any())

    def ask(self, room: int) -> list[Request]:
        """``room`` requests at most, of the present look; both versions of a lineup in a row."""
        open_ = np.argwhere((self.wanted & ~self.received & ~self._out).T)[:room]
        self._out[open_[:, 1], open_[:, 0]] = True
        return [self._request(int(version), int(i)) for i, version in open_]

    def tell(self, evaluation: Evaluation) -> list[Progress]:
        """Take in a lineup's look. Raises KeyError for one that is not outstanding."""
        look, at = divmod(evaluation.id, 2 * self.n)
        i, version = divmod(at, 2)
        if look != self.look or not self.wanted[version, i] or self.received[version, i]:
            raise KeyError(evaluation.id)
        parts = self._parts
        self.received[version, i] = True
        self.played, self.cached = self.played + evaluation.cost, self.cached + evaluation.cached
        if evaluation.status != "ok":
            self.outcomes.failed[version, i] = True
        elif look:
            self._take(version, i, evaluation)
        else:
            self.outcomes.first[version, i] = evaluation.objectives
            self.outcomes.first_error[version, i] = np.sqrt(np.diagonal(evaluation.covariance))
            self.anchors[version, i] = of_kind(evaluation.context, LineupContext).anchors
        return self._closed(parts)

    def state(self) -> Parts:
        """Where it is and what was played."""
        meta = {"look": self.look, "tick": self.tick, "battles": self.played, "cached": self.cached}
        own = {"anchors": self.anchors, "wanted": self.wanted, "told": self.received}
        return {"replay": Bundle(meta, {**own, **self.outcomes._asdict()})}

    def load(self, parts: Parts) -> None:
        """Go on from a state."""
        meta, arrays = parts["replay"]
        self.look, self.tick, self.played, self.cached = (meta[k] for k in ("look", "tick", "battles", "cached"))
        self.anchors = arrays["anchors"].copy()
        self.wanted, self.received = (arrays[name].astype(np.bool_) for name in ("wanted", "told"))
        self._out = np.zeros_like(self.wanted)
        self.outcomes = ReplayResults(**{name: arrays[name].copy() for name in ReplayResults._fields})._replace(
            failed=arrays["failed"].astype(np.bool_)
        )

    def _request(self, version: int, i: int) -> Request:
        x, anchors = self.asked, tuple(self.anchors[version, i].tolist())
        ends = (FRESH, *(FRESH + look for look in x.looks))
        first, last = (0, FIRST) if not self.look else ends[self.look - 1 : self.look + 1]
        context = LineupContext(
            x.fidelity, patch=CHANGED if version == AFTER else "", anchors=anchors if min(anchors) >= 0 else ()
        )
        number = self.look * 2 * self.n + 2 * i + version
        return Request(number, x.rows[version, i], first, last, x.seed, context)

    def _take(self, version: int, i: int, evaluation: Evaluation) -> None:
        """Add the replicates of a look to those before."""
        p, at = self.outcomes, (version, i)
        before, own = int(p.samples[at]), evaluation.samples
        total = before + own
        error = np.sqrt(np.diagonal(evaluation.covariance))
        assert evaluation.values is not None
        p.values[at][before:total] = evaluation.values
        if evaluation.sums is not None:
            p.sums[at][before:total] = evaluation.sums
        if before:
            p.mean[at] = (before * p.mean[at] + own * evaluation.objectives) / total
            p.error[at] = np.sqrt((before * p.error[at]) ** 2 + (own * error) ** 2) / total
        else:
            p.mean[at], p.error[at] = evaluation.objectives, error
        p.samples[at] = total

    @property
    def _parts(self) -> int:
        """How many parts of this look are complete."""
        lineups = self.wanted.any(axis=0)
        ready = (self.received | ~self.wanted).all(axis=0) & lineups
        return int(ready.sum()) // max(-(-int(lineups.sum()) // self.asked.parts), 1)

    def _closed(self, before: int) -> list[Progress]:
        """The part that this answer has completed, and the look with the last one."""
        whole = bool((self.received | ~self.wanted).all())
        if self._parts == before and not whole:
            return []
        self.tick += 1
        if whole:
            self._next_look()
        return [Progress(self.tick)]

    def _next_look(self) -> None:
        over = self.settled(self.outcomes) if self.look else np.zeros(self.n, np.bool_)
        self.look += 1
        over |= self.outcomes.failed.any(axis=0) | (self.look > len(self.asked.looks))
        self.wanted = self.wanted & ~over
        self.received, self._out = np.zeros_like(self.wanted), np.zeros_like(self.wanted)
