"""Checks of team rows from outside, because the compiled loop has no bounds checks of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import SimulatorError
from engine.games.herobattle.jit import entry, helper
from engine.games.herobattle.layout import SIDE
from engine.simulators.contract import GameSpec

I32 = NDArray[np.int32]

_FINE, _NOT_A_PIECE, _NO_COUNT, _COUNT_OF_NOTHING, _TOO_MANY, _REPEATED = 0, 1, 2, 3, 4, 5


@helper
def _piece_fault(row: I32, low: I32, high: I32) -> Any:
    for slot in (0, 1, 2, 3, 4, 6):
        empty = slot == 6 and row[slot] == -1
        if not empty and not low[slot] <= row[slot] < high[slot]:
            return slot, _NOT_A_PIECE
    if row[2] == row[3]:
        return 3, _REPEATED
    if row[4] == row[6]:
        return 6, _REPEATED
    return -1, _FINE


@helper
def _count_fault(row: I32, most: int) -> Any:
    for slot in (4, 6):
        if row[slot] < 0 and row[slot + 1] != 0:
            return slot + 1, _COUNT_OF_NOTHING
        if row[slot] >= 0 and row[slot + 1] < 1:
            return slot + 1, _NO_COUNT
        if row[slot + 1] > most:
            return slot + 1, _TOO_MANY
    return (7, _TOO_MANY) if row[5] + row[7] > most else (-1, _FINE)


@entry
def _first_fault(rows: I32, low: I32, high: I32, most: int) -> Any:
    """(row, slot, fault) of the first invalid team; fault 0 if all are valid."""
    for r in range(rows.shape[0]):
        slot, fault = _piece_fault(rows[r], low, high)
        if fault == _FINE:
            slot, fault = _count_fault(rows[r], most)
        if fault != _FINE:
            return r, slot, fault
    return -1, -1, _FINE


def slot_ranges(spec: GameSpec) -> tuple[I32, I32]:
    """First and last-plus-one index of the pieces that may stand in each slot: int32[slots] twice."""
    low, high = np.zeros(len(spec.slots), np.int32), np.zeros(len(spec.slots), np.int32)
    for s, slot in enumerate(spec.slots):
        members = [i for i, p in enumerate(spec.pieces) if p.category == slot.category]
        low[s], high[s] = (members[0], members[-1] + 1) if members else (0, 0)
    return low, high


def _explain(spec: GameSpec, rows: I32, row: int, slot: int, fault: int) -> str:
    value = int(rows[row, slot])
    reason = {
        _NOT_A_PIECE: f"{value} is not a piece of category '{spec.slots[slot].category}'",
        _NO_COUNT: f"{value} of a kind of soldiers that is there; at least 1 is needed",
        _COUNT_OF_NOTHING: f"{value} of an empty slot; it has to be 0",
        _TOO_MANY: f"more than {SIDE - 1} soldiers in one team",
        _REPEATED: f"piece {value} stands in the team twice",
    }[fault]
    return f"slot '{spec.slots[slot].id}': {reason}"


def check_rows(spec: GameSpec, ranges: tuple[I32, I32], left: I32, right: I32, seeds: int) -> None:
    """Raise SimulatorError with side, row and slot unless both arrays are valid teams int32[seeds, slots]. ``ranges``:
    the spec's ``slot_ranges``."""
    slots = len(spec.slots)
    for name, rows in (("left", left), ("right", right)):
        if rows.shape != (seeds, slots):
            raise SimulatorError(
                f"{name} teams have shape {rows.shape}; with {seeds} seeds it has to be ({seeds}, {slots}).",
                permanent=True,
            )
        row, slot, fault = _first_fault(rows, *ranges, SIDE - 1)
        if fault != _FINE:
            raise SimulatorError(f"{name} team in row {row}, {_explain(spec, rows, row, slot, fault)}.", permanent=True)
