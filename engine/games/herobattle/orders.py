"""What a commander's order does to his units, compiled.

An order changes where units walk, how far away an enemy seems when they choose a target, and whether the skill waits
for its trigger. Blows, damage, reach and speed are the battle's own. Everything is computed in a side's own unit order
and with x negated on the right, so that exchanging the sides exchanges the battle, bit for bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.games.herobattle.jit import helper

# isort: off
from engine.games.herobattle.layout import (
    ADVANCE, ALL_ON_ONE, CELL, CLOSE_RANKS, F32, F64, FAR_REACHING, GRID, HERO, HOLD, I64, K_DAMAGE, K_INTERVAL,
    K_RANGE, KIND, L_FIRST_BLOW, L_FORWARD, L_GROUND, L_IDLE, L_WAY, L_UNIT_TICKS, L_WALKED, LANES, LIFE, LURE,
    MOST_DANGEROUS, NEAREST, NEARLY_FALLEN, ON_HERO, ON_SOLDIERS, REACH2, S_UNITS, STANCE, STEP, STEP_BACK, STEP_X,
    STEP_Y, STUNNED, UNITS, WITHDRAW, X, Y,
)  # fmt: skip
# isort: on

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_PULL = 1.0 / 16.0  # on squared distance: an enemy of the named kind seems at a quarter of its distance
_LEAST = 1.0 / 256.0
_ARCHER = 3.0  # paces: what reaches further is far-reaching
_BESIDE = np.float32(1.5)  # paces: ranks are closed


@helper
def _nearest(i: int, foe: int, units: F32) -> Any:
    """(enemy, squared distance) of the nearest living enemy of unit i; (-1, 0) if there is none."""
    best, least = -1, _ZERO
    for j in range(foe * LANES, foe * LANES + LANES):
        if units[LIFE + j] > _ZERO:
            dx, dy = units[X + j] - units[X + i], units[Y + j] - units[Y + i]
            d2 = dx * dx + dy * dy
            if best < 0 or d2 < least:
                best, least = j, d2
    return best, least


@helper
def _centre(side: int, first: int, n: int, units: F32) -> Any:
    """(x, y, living) of the middle of a side's living units from number ``first`` on."""
    x, y, living = _ZERO, _ZERO, _ZERO
    for i in range(side * LANES + first, side * LANES + n):
        if units[LIFE + i] > _ZERO:
            x += units[X + i]
            y += units[Y + i]
            living += _ONE
    return x / max(living, _ONE), y / max(living, _ONE), living


@helper
def _walk(i: int, dx: Any, dy: Any, most: Any, field: Any, units: F32) -> None:
    """A step along (dx, dy), not longer than that nor than ``most``, and not out of the field."""
    length = np.sqrt(dx * dx + dy * dy)
    share = min(most / max(length, np.float32(1e-6)), _ONE)
    x, y = units[X + i] + dx * share, units[Y + i] + dy * share
    units[STEP_X + i] = min(max(x, -field), field) - units[X + i]
    units[STEP_Y + i] = min(max(y, -field), field) - units[Y + i]


@helper
def _back_off(i: int, side: int, field: Any, units: F32, within: Any) -> None:
    """A step away from the nearest enemy if it is nearer than ``within`` (squared; below 0: at any distance)."""
    enemy, d2 = _nearest(i, 1 - side, units)
    if enemy >= 0 and (within < _ZERO or d2 < within):
        scale = units[STEP + i] / max(np.sqrt(d2), np.float32(1e-3))
        dx, dy = units[X + i] - units[X + enemy], units[Y + i] - units[Y + enemy]
        _walk(i, dx * scale, dy * scale, units[STEP + i], field, units)


@helper
def _close_ranks(i: int, side: int, n: int, field: Any, units: F32) -> None:
    """Soldiers walk to their hero, the hero to the middle of the soldiers; beside each other they stand."""
    hero = side * LANES
    if i == hero:
        x, y, there = _centre(side, 1, n, units)
    else:
        x, y, there = units[X + hero], units[Y + hero], units[LIFE + hero]
    dx, dy = x - units[X + i], y - units[Y + i]
    units[STEP_X + i] = units[STEP_Y + i] = _ZERO
    if there > _ZERO and dx * dx + dy * dy > _BESIDE * _BESIDE:
        _walk(i, dx, dy, units[STEP + i], field, units)


@helper
def _stand(i: int, side: int, stance: int, strikes: bool, n: int, field: Any, units: F32) -> None:
    """Replace unit i's step towards its target by what its stance says."""
    if stance == HOLD:
        units[STEP_X + i] = units[STEP_Y + i] = _ZERO
    elif stance == STEP_BACK and not strikes:
        _back_off(i, side, field, units, units[REACH2 + i])
    elif stance == WITHDRAW:
        _back_off(i, side, field, units, np.float32(-1.0))
    elif stance == CLOSE_RANKS:
        _close_ranks(i, side, n, field, units)


@helper
def _enter(i: int, side: int, tick: int, strikes: bool, field: float, ledger: F64, ground: Any, units: F32) -> None:
    """Count what a living unit does in this tick, and how far forward it stands: 0 on the line where a side begins, or
    behind it, 1 in the middle of the field or beyond."""
    dx, dy = units[STEP_X + i], units[STEP_Y + i]
    way = np.sqrt(dx * dx + dy * dy)
    ledger[side, L_UNIT_TICKS] += 1.0
    ledger[side, L_WAY] += way
    if way > _ZERO:
        ledger[side, L_WALKED] += 1.0
    elif not strikes:
        ledger[side, L_IDLE] += 1.0
    if strikes and ledger[side, L_FIRST_BLOW] == 0.0:
        ledger[side, L_FIRST_BLOW] = tick
    sign = 1.0 if side == 0 else -1.0
    ledger[side, L_FORWARD] += min(max(1.0 + units[X + i] * sign / (0.5 * field), 0.0), 1.0)
    column = min(max(int(units[X + i] * sign / CELL + 0.5 * GRID), 0), GRID - 1)
    row = min(max(int(units[Y + i] / CELL + 0.5 * GRID), 0), GRID - 1)
    if ground[side, column, row] == 0:
        ground[side, column, row] = 1
        ledger[side, L_GROUND] += 1.0


@helper
def march(
    tick: int, due: int, orders: I64, ledger: F64, ground: Any, field: float, state: F64, units: F32, marks: I64
) -> None:
    """Let both sides' units walk as they are told, within ``field`` paces of the middle, and count what they do.
    ``due``: the units that strike in this tick, as bits."""
    for side in range(2):
        n = int(state[side, S_UNITS])
        for i in range(side * LANES, side * LANES + n):
            if units[LIFE + i] > _ZERO:
                strikes = (due >> i) & 1 == 1
                stance = orders[side, STANCE + marks[KIND + i]]
                if stance != ADVANCE and tick > units[STUNNED + i]:
                    _stand(i, side, stance, strikes, n, np.float32(field), units)
                _enter(i, side, tick, strikes, field, ledger, ground, units)


@helper
def _danger(j: int, side: int, kinds: F64, units: F32, marks: I64) -> Any:
    """Damage that an enemy deals in a tick, for each hit point it has left."""
    kind = marks[KIND + j]
    return kinds[side, kind, K_DAMAGE] / kinds[side, kind, K_INTERVAL] / max(units[LIFE + j], _ONE)


@helper
def _pull(j: int, foe: int, focus: int, most: float, chosen: int, kinds: F64, units: F32, marks: I64) -> Any:
    """Factor on the squared distance to enemy j, as ``focus`` has it. ``most``: the largest danger or number of hit
    points of any."""
    kind = marks[KIND + j]
    if focus in (NEARLY_FALLEN, MOST_DANGEROUS):
        share = units[LIFE + j] / most if focus == NEARLY_FALLEN else 1.0 - _danger(j, foe, kinds, units, marks) / most
        return max(share * share, _LEAST)
    if focus == ALL_ON_ONE:
        return _LEAST if j == chosen else 1.0
    named = (
        (focus == ON_HERO and kind == HERO)
        or (focus == ON_SOLDIERS and kind != HERO)
        or (focus == FAR_REACHING and kinds[foe, kind, K_RANGE] > _ARCHER)
    )
    return _PULL if named else 1.0


@helper
def attract(side: int, focus: int, kinds: F64, lure: F32, state: F64, units: F32, marks: I64) -> None:
    """Set how far away each enemy seems to a side's units (the blocks LURE). ``NEAREST``: as without a commander."""
    foe, most, chosen, least = 1 - side, 1e-9, -1, 0.0
    x, y, _ = _centre(side, 0, int(state[side, S_UNITS]), units)
    for j in range(foe * LANES, foe * LANES + int(state[foe, S_UNITS])):
        if units[LIFE + j] > _ZERO:
            much = _danger(j, foe, kinds, units, marks) if focus == MOST_DANGEROUS else units[LIFE + j]
            most = max(most, much)
            d2 = (units[X + j] - x) ** 2 + (units[Y + j] - y) ** 2
            if chosen < 0 or d2 < least:
                chosen, least = j, d2
    for j in range(foe * LANES, foe * LANES + int(state[foe, S_UNITS])):
        pull = 1.0 if focus == NEAREST else _pull(j, foe, focus, most, chosen, kinds, units, marks)
        for k in range(3):
            units[LURE + k * UNITS + j] = np.float32(lure[side * 9 + k * 3 + marks[KIND + j]] * pull)
