"""Everything evaluated and its Pareto front, which is updated one individual at a time.

The front is a contiguous matrix of costs that compiled loops scan from the newest member back, so an insertion costs at
most one pass. Each dominated individual stores one that dominates it (its witness). When an estimate is revised for the
worse, only the individuals with this witness are checked again, so that a front may also recede (noisy objectives:
Fieldsend & Everson 2015). The epsilon view is that of Laumanns, Thiele, Deb & Zitzler 2002: at most one member per box,
no box dominated by another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.compiling import njit
from engine.indicators import hypervolume

Floats = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]
FRONT, OUTSIDE = -1, -2
"""Witness of a member of the front, and of one that can never be there (failed, infeasible, NaN)."""
_BLOCK = 4096
_MORE = 65_536
_jit = njit(cache=True, nogil=True)


@_jit
def _no_worse(a: Any, b: Any) -> bool:
    for j in range(len(a)):  # noqa: SIM110 - the compiler knows no any()
        if a[j] > b[j]:
            return False
    return True


@_jit
def _write(member: Any, cost: Any) -> None:
    """Copy costs; numba takes three seconds to compile the assignment of an array to a slice."""
    for j in range(len(member)):
        member[j] = cost[j]


@_jit
def _insert(front: Any, rows: Any, n: int, cost: Any, row: int, witness: Any) -> int:
    """Insert ``row`` into a front of n members (in order of arrival) and return the front's new size. Sets ``witness``
    [capacity] for the row and for those it dominates. Of equal costs the first stays."""
    for k in range(n - 1, -1, -1):
        if _no_worse(front[k], cost):
            witness[row] = rows[k]
            return n
    kept = 0
    for k in range(n):
        if _no_worse(cost, front[k]):
            witness[rows[k]] = row
            continue
        if kept < k:
            rows[kept] = rows[k]
            _write(front[kept], front[k])
        kept += 1
    rows[kept] = row
    _write(front[kept], cost)
    witness[row] = FRONT
    return kept + 1


class Archive:
    """Rows in order of arrival. ``signs``: +1 for a maximised objective, -1 for a minimised one; ``genome``: shape and
    type of one genome. Growing never copies what is there (blocks of 4,096 rows)."""

    def __init__(self, signs: Sequence[float], genome: NDArray[Any]) -> None:
        self.signs = np.asarray(signs, dtype=np.float64)
        self._shape, self._dtype, self._n = genome.shape, genome.dtype, 0
        self._genomes: list[NDArray[Any]] = []
        self._objectives: list[Floats] = []
        self._witness = np.empty(_MORE, dtype=np.int64)
        self._front = np.empty((_BLOCK, len(self.signs)))
        self._rows = np.empty(_BLOCK, dtype=np.int64)
        self._size = 0

    def __len__(self) -> int:
        return self._n

    @property
    def front(self) -> NDArray[np.int64]:
        """Rows that no other row dominates, in order of arrival there; a read-only view, valid until the next
        change."""
        rows = self._rows[: self._size]
        rows.flags.writeable = False
        return rows

    @property
    def front_objectives(self) -> Floats:
        """Objectives float64[front, m] of those rows."""
        return np.asarray(-self.signs * self._front[: self._size])

    def insert(self, genome: NDArray[Any], objectives: Floats, feasible: bool = True) -> int:
        """Insert one individual (``feasible``: evaluated, no rule broken) and return its row."""
        row, block = self._n, self._n % _BLOCK
        if block == 0:
            self._genomes.append(np.empty((_BLOCK, *self._shape), dtype=self._dtype))
            self._objectives.append(np.empty((_BLOCK, len(self.signs))))
        self._genomes[-1][block], self._objectives[-1][block] = genome, objectives
        self._n += 1
        if row == len(self._witness):
            self._witness.resize(row + _MORE, refcheck=False)  # remaps pages where a copy would take milliseconds
        self._join(row, objectives, feasible)
        return row

    def revise(self, row: int, objectives: Floats, feasible: bool = True) -> None:
        """Replace the estimate of a row, which may remove it from the front or bring back rows that it dominated.
        Raises IndexError for a row that does not exist."""
        if not 0 <= row < self._n:
            raise IndexError(row)
        if self._witness[row] == FRONT:
            keep = self._rows[: self._size] != row
            size = self._size - 1
            self._rows[:size] = self._rows[: self._size][keep]
            self._front[:size] = self._front[: self._size][keep]
            self._size = size
        self._objectives[row // _BLOCK][row % _BLOCK] = objectives
        orphans = np.flatnonzero(self._witness[: self._n] == row)
        self._join(row, objectives, feasible)
        for orphan in orphans.tolist():
            self._join(orphan, self.objectives(orphan), True)

    def objectives(self, row: int) -> Floats:
        """Objectives float64[m] of a row."""
        return np.asarray(self._objectives[row // _BLOCK][row % _BLOCK])

    def genome(self, row: int) -> NDArray[Any]:
        """The genome of a row."""
        return np.asarray(self._genomes[row // _BLOCK][row % _BLOCK])

    def epsilon_view(self, epsilon: Sequence[float]) -> NDArray[np.int64]:
        """Rows of the front, at most one per box of sides ``epsilon`` (objective units): the one nearest the box's best
        corner, and none from a box that another box dominates."""
        cost, rows, sides = self._front[: self._size], self._rows[: self._size], np.asarray(epsilon, dtype=np.float64)
        boxes = np.floor(cost / sides)
        distance = (((cost - boxes * sides) / sides) ** 2).sum(axis=1)
        view = Archive([-1.0] * len(sides), np.empty(0))
        order = np.lexsort((rows, distance))
        for k in order.tolist():
            view.insert(np.empty(0), boxes[k])
        return np.sort(rows[order[view.front]])

    def hypervolume(self, reference: Sequence[float]) -> float:
        """Volume that the front dominates beyond a fixed ``reference``."""
        return hypervolume(self.front_objectives, self.signs.tolist(), reference)

    def state(self) -> Arrays:
        """Everything, as arrays."""
        objectives = np.concatenate([np.empty((0, len(self.signs))), *self._objectives])[: self._n]
        genomes = np.concatenate([np.empty((0, *self._shape), self._dtype), *self._genomes])[: self._n]
        witness, front = self._witness[: self._n].copy(), self.front.copy()
        return {"genome": genomes, "objective": objectives, "witness": witness, "front": front}

    def load(self, arrays: Arrays) -> None:
        """Replace the content by that of ``state``."""
        self._n = n = len(arrays["witness"])
        starts = range(0, n, _BLOCK)
        self._genomes = [_block(arrays["genome"][a : a + _BLOCK]) for a in starts]
        self._objectives = [_block(arrays["objective"][a : a + _BLOCK]) for a in starts]
        self._witness = np.empty(n + _MORE, dtype=np.int64)
        self._witness[:n] = arrays["witness"]
        self._size = len(arrays["front"])
        self._rows = np.empty(max(_BLOCK, self._size), dtype=np.int64)
        self._rows[: self._size] = arrays["front"]
        self._front = np.empty((len(self._rows), len(self.signs)))
        self._front[: self._size] = -self.signs * arrays["objective"][arrays["front"]]

    def _join(self, row: int, objectives: Floats, feasible: bool) -> None:
        if not feasible or not np.isfinite(objectives).all():
            self._witness[row] = OUTSIDE
            return
        if self._size == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
            self._front = np.concatenate([self._front, np.empty_like(self._front)])
        self._size = _insert(self._front, self._rows, self._size, -self.signs * objectives, row, self._witness)


def _block(rows: NDArray[Any]) -> NDArray[Any]:
    whole = np.empty((_BLOCK, *rows.shape[1:]), dtype=rows.dtype)
    whole[: len(rows)] = rows
    return whole
