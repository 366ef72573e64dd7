"""Battles of one step of the search for changes: asked for in blocks, told in any order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.problem import Evaluation, PatchedContext, Request
from engine.worth.experiment import BLOCK

Floats = NDArray[np.float64]
FIRST_ID = 2**40
"""Ids of the requests of an experiment are below."""


class Play(NamedTuple):
    """Pairings int32[n, 2, slots], n a multiple of ``BLOCK``, that are played with ``changes``; where ``turned``
    bool[n], the first team has the second seat. Their battles have the numbers from ``first`` on: equal numbers and
    teams have equal luck."""

    rows: NDArray[np.int32]
    turned: NDArray[np.bool_]
    first: int = 0
    changes: Mapping[str, float] = {}


class Plays:
    """What is played in a step, and by how much the first teams were ahead, by win and by strength; not a number where
    a battle could not be finished. ``before``: blocks of the steps before it."""

    def __init__(self, plays: Sequence[Play], before: int, seed: int) -> None:
        self.plays, self.before, self.seed = plays, before, seed
        self._ends = np.cumsum([0, *(len(play.rows) for play in plays)])
        self.ahead = np.full((int(self._ends[-1]), 2), np.nan)
        self.received = np.zeros(len(self.ahead) // BLOCK, np.bool_)
        self._next = 0

    @property
    def over(self) -> bool:
        """Whether every outcome has come."""
        return bool(self.received.all())

    def ask(self, room: int) -> list[Request]:
        """At most so many requests of what was neither asked for nor received."""
        found: list[Request] = []
        while self._next < len(self.received) and len(found) < room:
            if not self.received[self._next]:
                found.append(self._request(self._next))
            self._next += 1
        return found

    def tell(self, evaluation: Evaluation) -> None:
        """Take in a block. Raises KeyError for one that is not outstanding."""
        block = evaluation.id - FIRST_ID - self.before
        if not 0 <= block < len(self.received) or self.received[block]:
            raise KeyError(evaluation.id)
        at, turned = slice(BLOCK * block, BLOCK * (block + 1)), self._of(block)[1]
        if evaluation.values is not None:
            self.ahead[at] = np.where(turned[:, None], -1.0, 1.0) * evaluation.values
        self.received[block] = True

    def outcomes(self) -> list[Floats]:
        """Of each play float64[n, 2]."""
        return [self.ahead[a:b] for a, b in zip(self._ends[:-1], self._ends[1:], strict=True)]

    def _request(self, block: int) -> Request:
        rows, turned, first, changes = self._of(block)
        seated = np.where(turned[:, None, None], rows[:, ::-1], rows)
        name = FIRST_ID + self.before + block
        return Request(name, seated, first, first + BLOCK, self.seed, PatchedContext(changes=changes))

    def _of(self, block: int) -> Play:
        at = BLOCK * block
        i = int(np.searchsorted(self._ends, at, "right")) - 1
        play, start = self.plays[i], at - int(self._ends[i])
        own = slice(start, start + BLOCK)
        return Play(play.rows[own], play.turned[own], play.first + start, play.changes)


def blocks(battles: float, least: int = 4, most: int = 10**6) -> int:
    """A whole number of blocks near so many battles, in battles."""
    return BLOCK * min(max(int(battles) // BLOCK, least), most)
