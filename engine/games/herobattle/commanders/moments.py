"""A moment of a commanded battle as one row of numbers, to be drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.games.herobattle import layout as at
from engine.games.herobattle.commanders.battles import Fields
from engine.games.herobattle.layout import F64, I32

SIDE_PARTS, UNIT_PARTS = 2 + at.ORDERS, 5
ROW = 1 + 2 * SIDE_PARTS + 2 * at.SIDE * UNIT_PARTS
NOBODY = -1
_SLOTS = (0, 1, 2, 3, 4, 6)


def moment(f: Fields, battle: int) -> F64:
    """float64[ROW]: the tick; of both sides the share of life left, the tick of the last use of the skill (0: none yet)
    and the order in force; then of ten units of the left and ten of the right side: its kind (NOBODY: there is none), x
    and y in paces, its share of life, and which of the twenty it strikes at (NOBODY: nobody is in its reach)."""
    state, units, row = f.state[battle], f.units[battle], np.zeros(ROW)
    row[0] = f.ticks[battle]
    for side in range(2):
        own = row[1 + side * SIDE_PARTS :][:SIDE_PARTS]
        own[0] = units[at.LIFE + side * at.LANES :][: at.SIDE].sum() / state[side, at.S_START]
        own[1] = state[side, at.S_LAST_CAST]
        own[2:] = f.orders[battle, side]
        places = row[1 + 2 * SIDE_PARTS :].reshape(2, at.SIDE, UNIT_PARTS)[side]
        for u in range(at.SIDE):
            places[u] = _unit(f, battle, side * at.LANES + u, u < state[side, at.S_UNITS])
    return row


def _unit(f: Fields, battle: int, i: int, there: bool) -> tuple[float, ...]:
    units, marks = f.units[battle], f.marks[battle]
    if not there:
        return (NOBODY, 0.0, 0.0, 0.0, NOBODY)
    life = float(units[at.LIFE + i] / units[at.FULL + i])
    x, y, target = units[at.X + i], units[at.Y + i], int(marks[at.TARGET + i])
    away = (units[at.X + target] - x) ** 2 + (units[at.Y + target] - y) ** 2
    strikes = life > 0.0 and units[at.LIFE + target] > 0.0 and away <= units[at.REACH2 + i]
    seen = target // at.LANES * at.SIDE + target % at.LANES
    return (int(marks[at.KIND + i]), x, y, life, seen if strikes else NOBODY)


def labels(names: Sequence[str], rows: I32) -> list[str]:
    """What a drawing names, of both sides: hero, skill, two pieces of equipment, the first and the second kind of
    soldiers ("": none); ``rows`` int32[2, 8] the teams, ``names`` those of the game's pieces."""
    return [names[row[slot]] if row[slot] >= 0 else "" for row in rows for slot in _SLOTS]
