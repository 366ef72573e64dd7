"""Where a battle is and what goes wrong in it, for hunts for bugs.

A *place* is a whole number that stands for part of a game's state: a cell of a map, a room with its door open. How much
of a game was covered is counted in places. A game may say them (``Placed``); of any other, a place is what its seat
sees, coarsely: each number of it in ``STEPS`` steps of its range, or in halves where it has no range, and a picture as
11 × 8 cells in 8 shades of its range (the cells of Go-Explore: Ecoffet, Huizinga, Lehman, Stanley, Clune 2021). Of
several pictures it is the newest. Colours may come last: three of them are mixed to grey, of other numbers of planes
the last one counts.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from engine.mdp.interface import Array, ArraySpec, Observations, SeatSpec
from engine.mdp.vector import VectorMDP, VectorStep
from engine.rng import combine64

STEPS = 8
_ROWS, _COLUMNS, _COLOURS = 8, 11, 3


class FloorPlan(NamedTuple):
    """The map of a game whose places are cells: ``walls`` bool[rows, columns]; place = row · columns + column."""

    walls: NDArray[np.bool_]


class Fault(NamedTuple):
    """Something that must not happen, as a game says it."""

    kind: Literal["crash", "assertion"]
    what: str


@runtime_checkable
class Placed(Protocol):
    """A game over arrays that says where its battles are."""

    plan: FloorPlan

    def places(self) -> NDArray[np.int64]:
        """int64[n]: where each battle is; where an episode ended, that is in the new one."""
        ...

    def last_places(self) -> NDArray[np.int64]:
        """int64[n]: where each battle's last episode ended."""
        ...


@runtime_checkable
class Faulty(Protocol):
    """A game over arrays that checks itself."""

    faults: tuple[Fault, ...]

    def broken(self) -> NDArray[np.int64]:
        """int64[n]: which of ``faults`` each battle's last decision showed; -1: none."""
        ...


def walls_of(game: VectorMDP) -> NDArray[np.bool_] | None:
    """The walls of a game's map; None for a game without one."""
    return game.plan.walls if isinstance(game, Placed) else None


class Look:
    """Where the battles of a game are: by the game itself, or by what its first seat sees."""

    def __init__(self, game: VectorMDP) -> None:
        self._placed = game if isinstance(game, Placed) else None
        self._seat = game.spec.seats[0]

    def now(self, step: VectorStep) -> NDArray[np.int64]:
        """int64[n]: where each battle is after a step; where an episode ended, that is in the new one."""
        return seen_as(self._seat, step.observations[0]) if self._placed is None else self._placed.places().copy()

    def last(self, step: VectorStep) -> NDArray[np.int64]:
        """int64[m]: where the episodes ended that ended in a step."""
        assert step.ended is not None
        if self._placed is not None:
            return self._placed.last_places()[step.ended.battles]
        return seen_as(self._seat, step.ended.observations[0])


def seen_as(seat: SeatSpec, seen: Observations) -> NDArray[np.int64]:
    """Places int64[n], 0 to 2⁶³ − 1, of what a seat sees in n battles."""
    found = np.zeros(len(next(iter(seen.values()))), np.uint64)
    for spec in seat.observations:
        for column in _cells(spec, seen[spec.name]).T:
            found = combine64(found, column.astype(np.int64).view(np.uint64))
    return (found >> np.uint64(1)).astype(np.int64)


def _cells(spec: ArraySpec, seen: Array) -> NDArray[np.float64]:
    """Coarse numbers [n, k] of one array that is seen."""
    if (pictures := _pictures(spec.shape, seen)) is not None:
        return _shades(pictures, *_ends(spec))
    flat = seen.reshape(len(seen), -1).astype(np.float64)
    if spec.low is None or spec.high is None or spec.low >= spec.high:
        return np.clip(np.floor(2 * np.nan_to_num(flat)), -1e15, 1e15)
    return np.floor(np.clip((np.nan_to_num(flat) - spec.low) / (spec.high - spec.low), 0.0, 1.0) * STEPS)


def _pictures(shape: tuple[int, ...], seen: Array) -> NDArray[np.float64] | None:
    """The newest picture [n, rows, columns] of each battle; None where what is seen of this shape is none."""
    if len(shape) >= 2 and min(shape[-2:]) >= _COLUMNS:
        return seen.reshape(len(seen), -1, *shape[-2:])[:, -1].astype(np.float64)
    if len(shape) >= 3 and min(shape[-3:-1]) >= _COLUMNS:
        newest = seen.reshape(len(seen), -1, *shape[-3:])[:, -1].astype(np.float64)
        return np.asarray(newest.mean(axis=3) if shape[-1] == _COLOURS else newest[..., -1])
    return None


def _ends(spec: ArraySpec) -> tuple[float, float]:
    """The darkest and the lightest number of a picture."""
    if spec.low is not None and spec.high is not None and spec.low < spec.high:
        return spec.low, spec.high
    return (0.0, 255.0) if spec.dtype == "uint8" else (0.0, 1.0)


def _shades(newest: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
    """Pictures [n, rows, columns] of numbers from ``low`` to ``high``, coarsely."""
    newest = np.clip(np.nan_to_num(newest), low, high) - low
    rows = np.array_split(newest, _ROWS, axis=1)
    cells = [part.mean(axis=(1, 2)) for row in rows for part in np.array_split(row, _COLUMNS, axis=2)]
    beyond = (high - low) + (high - low) / 255  # so that the lightest is of the last shade
    return np.floor(np.stack(cells, axis=1) / beyond * STEPS)
