"""The compiled battle loop.

One battle at a time over small arrays that are allocated once per call. Every unit decides on the state at the start of
a tick; damage and movement take effect together at its end, sums run in each side's own unit order, and the right side
is the left one with x negated. So exchanging the sides (and their random streams) exchanges the result, bit for bit. A
random number is a hash of (seed, side, unit, tick, event) only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.games.herobattle.jit import entry, float_bits, helper, trailing_zeros

# isort: off
from engine.games.herobattle.layout import (
    AGAINST, AT_ONCE, BACK, BANNER_GUARD, BANNER_KINDS, COOLDOWN, COST, COVER, DURATION, EDGE, E_EDGE, E_GUARD,
    E_HASTE, E_HERO_HP, E_RANGE, E_SOLDIER_HP, E_SPEED, E_THORNS, F32, F64, FIELD, FIRST_USE, FULL, GUARD, HELD, HERO,
    HP, HURT, I32, I64, KIND, K_AGAINST, K_CLASS, K_COLUMNS, K_COUNT, K_DAMAGE, K_EDGE, K_GUARD, K_HP, K_INTERVAL,
    K_RANGE, K_SPEED, K_VALUE, LANES, LIFE, LURE, MARK_CELLS, NO_CLASS, OPENING, PACE, P_ASSAULT, P_CARRIED,
    P_COLUMNS, P_GRUDGE, P_LAST_STAND, P_OPENING, P_THORNS, RADIUS, RALLY, REACH, REACH2, READY, ROLL_SPREAD, SALVAGE,
    SHIELD, SIDE, SKILL, SLOW, STEP, STEP_X, STEP_Y, STRIKE, STUN, STUNNED, S_ALIVE, S_BLESSED, S_BLOW, S_CAST,
    S_COLUMNS, S_CURSED, S_FELL, S_FELL_AT, S_LAST_CAST, S_MIGHT, S_PACE, S_PROVOKED_AT, S_START, S_UNITS, TARGET,
    TARGET_X, TARGET_Y, TIME_LIMIT, TRIGGER, U64, UNITS, UNIT_CELLS, WAIT, WARD, WEAKEN, X, Y,
)  # fmt: skip

# isort: on
from engine.games.herobattle.orders import march
from engine.rng import GOLDEN
from engine.splitmix import mix

_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_S32, _S11 = np.uint64(32), np.uint64(11)
_UNIT = 1.0 / 9007199254740992.0
EVENT_BLOW, EVENT_SKILL, EVENT_START = np.uint64(1), np.uint64(2), np.uint64(3)
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_LEFT: Any = np.int64(0)
_RIGHT: Any = np.int64(1)
"""The sides, for functions that numba would compile anew for each plain 0 or 1 in a call."""
_FAR = 0x7FFFFFFF
_WORN = 0.65
_MELEE = 3.0
_RETARGET = 8


@helper
def stream(seed: np.uint64, side: int) -> Any:
    """The random stream of one side of a battle."""
    return mix(mix(seed + GOLDEN) + np.uint64(side + 1) * _M2)


@helper
def draw(key: np.uint64, tick: int, event: np.uint64) -> float:
    """A number in [0, 1) for one event of one unit in one tick."""
    x = (key + np.uint64(tick) * GOLDEN + event) * _M1
    x = (x ^ (x >> _S32)) * _M2
    return float((x ^ (x >> _S32)) >> _S11) * _UNIT


@helper
def _add_kind(kinds: F64, side: int, kind: int, pieces: F64, p: int, count: int) -> None:
    for c in range(K_AGAINST):
        kinds[side, kind, c] = pieces[p, HP + c]
    total = pieces[p, EDGE] + pieces[p, EDGE + 1] + pieces[p, EDGE + 2]
    for c in range(3):
        kinds[side, kind, K_EDGE + c] = pieces[p, EDGE + c] / total if total > 0.0 else 1.0 / 3.0
        kinds[side, kind, K_AGAINST + c] = pieces[p, AGAINST + c] / 100.0 if kind != HERO else 0.0
    kinds[side, kind, K_CLASS] = NO_CLASS
    kinds[side, kind, K_VALUE] = pieces[p, COST]
    kinds[side, kind, K_COUNT] = count


@helper
def _equip(kinds: F64, powers: F64, side: int, last: int, pieces: F64, e: int, f: int) -> None:
    haste = 1.0 + (pieces[e, E_HASTE] + pieces[f, E_HASTE]) / 100.0
    speed = 1.0 + (pieces[e, E_SPEED] + pieces[f, E_SPEED]) / 100.0
    for kind in range(last):
        body = E_HERO_HP if kind == HERO else E_SOLDIER_HP
        kinds[side, kind, K_HP] *= 1.0 + (pieces[e, body] + pieces[f, body]) / 100.0
        kinds[side, kind, K_DAMAGE] *= 1.0 + (pieces[e, body + 1] + pieces[f, body + 1]) / 100.0
        kinds[side, kind, K_INTERVAL] /= max(haste, 0.1)
        kinds[side, kind, K_SPEED] *= max(speed, 0.0)
    kinds[side, HERO, K_RANGE] = max(kinds[side, HERO, K_RANGE] + pieces[e, E_RANGE] + pieces[f, E_RANGE], 0.5)
    powers[side, P_CARRIED] += pieces[e, COST] + pieces[f, COST]
    for c in range(5):
        powers[side, P_THORNS + c] = (pieces[e, E_THORNS + c] + pieces[f, E_THORNS + c]) / 100.0
    powers[side, P_OPENING] = min(powers[side, P_OPENING], 0.8)


@helper
def _banner(kinds: F64, side: int, last: int, pieces: F64, row: I32, parameters: F64) -> None:
    """The hero's attack and guard attributes, equipment included, and the soldiers' share of them."""
    h, e, f = row[0], row[2], row[3]
    total = 0.0
    for c in range(3):
        kinds[side, HERO, K_EDGE + c] = pieces[h, EDGE + c] + pieces[e, E_EDGE + c] + pieces[f, E_EDGE + c]
        total += kinds[side, HERO, K_EDGE + c]
    share, cover = parameters[BANNER_KINDS] / 100.0, parameters[BANNER_GUARD] / 100.0
    for c in range(3):
        kinds[side, HERO, K_EDGE + c] = kinds[side, HERO, K_EDGE + c] / total if total > 0.0 else 1.0 / 3.0
        worn = pieces[e, E_GUARD + c] + pieces[f, E_GUARD + c]
        lent = pieces[h, GUARD + c] * cover + worn
        kinds[side, HERO, K_GUARD + c] += worn
        for kind in range(1, last):
            own = kinds[side, kind, K_EDGE + c]
            kinds[side, kind, K_EDGE + c] = own + (kinds[side, HERO, K_EDGE + c] - own) * share
            kinds[side, kind, K_GUARD + c] += lent


@helper
def muster(
    row: I32, side: int, pieces: F64, parameters: F64, edges: F64, pair: I32, soldiers: int, kinds: F64, powers: F64
) -> int:
    """Fill one side's kinds and powers from its team row; returns how many kinds of unit it has."""
    last = 2 if row[6] < 0 else 3
    _add_kind(kinds, side, HERO, pieces, row[0], 1)
    for kind in range(1, last):
        slot = 2 + 2 * kind
        _add_kind(kinds, side, kind, pieces, row[slot], row[slot + 1])
        kinds[side, kind, K_CLASS] = row[slot] - soldiers
    for c in range(P_THORNS):
        percent = c == WARD or c == RALLY or c == WEAKEN or c == SLOW
        powers[side, c] = pieces[row[1], c] / (100.0 if percent else 1.0)
    powers[side, P_CARRIED] = pieces[row[1], COST]
    _equip(kinds, powers, side, last, pieces, row[2], row[3])
    _banner(kinds, side, last, pieces, row, parameters)
    edge = 1.0 + edges[row[0]] + edges[row[1]] + edges[row[2]] + edges[row[3]]
    members = 0
    for slot in range(4):
        members += 1 if row[slot] == pair[0] or row[slot] == pair[1] else 0
    if members == 2:
        edge += edges[edges.shape[0] - 1]
    for kind in range(last):
        kinds[side, kind, K_HP] *= edge
        kinds[side, kind, K_DAMAGE] *= edge
    return last


@helper
def _matchups(kinds: F64, harm: F32, lure: F32) -> None:
    """Damage of one blow, and the weight on squared distance when choosing a target, by side and pair of kinds."""
    for side in range(2):
        for a in range(3):
            for b in range(3):
                taken = 0.0
                for c in range(3):
                    guard = min(max(kinds[1 - side, b, K_GUARD + c], -75.0), 75.0)
                    taken += kinds[side, a, K_EDGE + c] * (1.0 - guard / 100.0)
                bonus = 1.0
                kind = int(kinds[1 - side, b, K_CLASS])
                if kind < 3:
                    bonus += kinds[side, a, K_AGAINST + kind]
                harm[side * 9 + a * 3 + b] = kinds[side, a, K_DAMAGE] * taken * bonus
                lure[side * 9 + a * 3 + b] = 1.0 / max(bonus * bonus, 0.01)


@helper
def _deploy(side: int, last: int, kinds: F64, gap: float, key: Any, units: F32, marks: I64, keys: U64) -> int:
    """Put one side's units on the field; returns how many there are. The right side mirrors the left in x."""
    n = 0
    for k in range(last):
        for _ in range(int(kinds[side, k, K_COUNT])):
            i = side * LANES + n
            keys[i] = mix(key + np.uint64(n) * GOLDEN)
            marks[KIND + i] = k
            units[LIFE + i] = units[FULL + i] = kinds[side, k, K_HP]
            units[STEP + i] = units[PACE + i] = kinds[side, k, K_SPEED]
            units[REACH2 + i] = kinds[side, k, K_RANGE] ** 2
            units[WAIT + i] = kinds[side, k, K_INTERVAL]
            units[READY + i] = kinds[side, k, K_INTERVAL] * draw(keys[i], 0, EVENT_BLOW)
            back = 0.5 * gap + (2.5 if kinds[side, k, K_RANGE] > _MELEE else 0.0)
            units[X + i] = -back if side == 0 else back
            row = 1.1 * ((n + 1) // 2)
            units[Y + i] = (row if n % 2 == 1 else -row) + 0.6 * draw(keys[i], 0, EVENT_START)
            n += 1
    return n


@helper
def aim(i: int, foe: int, units: F32, marks: I64) -> None:
    """Unit i aims at the nearest living enemy, by distances weighted with how well its kind does against theirs.
    Squared distances are compared by their bits, with the last four replaced by the enemy's number, which breaks
    ties."""
    base = foe * LANES
    lure = units[LURE + marks[KIND + i] * UNITS + base :]
    xs, ys, life = units[X + base :], units[Y + base :], units[LIFE + base :]
    x, y = units[X + i], units[Y + i]
    best = _FAR
    for j in range(LANES):
        dx, dy = xs[j] - x, ys[j] - y
        d = (dx * dx + dy * dy) * lure[j]
        key = (float_bits(d) & ~(LANES - 1)) | j
        best = min(best, key if life[j] > _ZERO else _FAR)
    marks[TARGET + i] = base + (best & (LANES - 1))


@helper
def _move(units: F32, tick: Any) -> Any:
    """For all units at once: a step towards the target or, if that is in range and the unit is ready, a bit in the
    returned mask of units that strike in this tick."""
    due = np.int64(0)
    for i in range(2 * LANES):
        dx = units[TARGET_X + i] - units[X + i]
        dy = units[TARGET_Y + i] - units[Y + i]
        d2 = dx * dx + dy * dy
        able = (units[LIFE + i] > _ZERO) & (tick > units[STUNNED + i])
        far = d2 > units[REACH2 + i]
        step = min(units[STEP + i] / np.sqrt(d2), _ONE)
        step = step if able & far else _ZERO
        units[STEP_X + i] = dx * step
        units[STEP_Y + i] = dy * step
        due |= np.int64(able & (not far) & (tick >= units[READY + i])) << i
    return due


@helper
def _strike(
    due: int, tick: int, spread: float, powers: F64, state: F64, units: F32, marks: I64, keys: U64, harm: F32
) -> None:
    """The blows of one tick, in the order of the units."""
    while due != 0:
        i = trailing_zeros(due)
        due &= due - 1
        side = i >> 4
        t = marks[TARGET + i]
        idle = np.float32(tick) - units[READY + i]
        units[READY + i] = np.float32(tick) - (idle - np.floor(idle)) + units[WAIT + i]  # keeps the fraction of a tick
        roll = 1.0 + spread * (2.0 * draw(keys[i], tick, EVENT_BLOW) - 1.0)
        blow = np.float32(harm[side * 9 + marks[KIND + i] * 3 + marks[KIND + t]] * state[side, S_MIGHT] * roll)
        units[HURT + t] += blow
        if marks[KIND + t] == HERO:
            units[BACK + i] += np.float32(blow * powers[1 - side, P_THORNS])


@helper
def _settle(units: F32) -> Any:
    """Apply steps and damage of a tick; returns how many units fell."""
    fell = np.int64(0)
    for i in range(2 * LANES):
        units[X + i] += units[STEP_X + i]
        units[Y + i] += units[STEP_Y + i]
        before = units[LIFE + i]
        harm = units[HURT + i] + units[BACK + i]
        covered = min(harm, units[COVER + i])
        units[COVER + i] -= covered
        after = max(before - (harm - covered), _ZERO)
        units[LIFE + i] = after
        units[HURT + i] = _ZERO
        units[BACK + i] = _ZERO
        fell += np.int64((before > _ZERO) & (after <= _ZERO))
    return fell


@helper
def life_of(side: int, units: F32) -> float:
    total = 0.0
    for i in range(side * LANES, side * LANES + SIDE):
        total += units[LIFE + i]
    return total


@helper
def _can_cast(side: int, tick: int, state: F64, units: F32) -> Any:
    hero = side * LANES
    return not (tick < state[side, S_CAST] or units[LIFE + hero] <= 0.0 or tick <= units[STUNNED + hero])


@helper
def _may_cast(side: int, tick: int, powers: F64, state: F64, units: F32) -> Any:
    """Whether the hero can use the skill and its trigger says so."""
    if not _can_cast(side, tick, state, units):
        return False
    trigger = powers[side, TRIGGER]
    if trigger < 0.5:
        return True
    if trigger < 1.5:
        return life_of(side, units) < _WORN * state[side, S_START]
    return state[side, S_FELL_AT if trigger < 2.5 else S_PROVOKED_AT] > state[side, S_LAST_CAST]


@helper
def _ordered_cast(side: int, tick: int, orders: Any, powers: F64, state: F64, units: F32) -> Any:
    """``_may_cast``, or what a commander orders instead of the trigger."""
    if orders is not None:
        if orders[side, SKILL] == HELD:
            return False
        if orders[side, SKILL] == AT_ONCE:
            return _can_cast(side, tick, state, units)
    return _may_cast(side, tick, powers, state, units)


@helper
def _cast(
    side: int, tick: int, reach: float, powers: F64, state: F64, units: F32, marks: I64, keys: U64, harm: F32
) -> bool:
    """Use the hero's skill if its target is in reach; it takes effect from the next tick, a shield from this one."""
    hero, foe = side * LANES, 1 - side
    t = marks[TARGET + hero]
    radius = powers[side, RADIUS] * powers[side, RADIUS]
    if powers[side, STRIKE] > 0.0 or powers[side, STUN] > 0.0:
        dx, dy = units[X + t] - units[X + hero], units[Y + t] - units[Y + hero]
        if dx * dx + dy * dy > reach * reach:
            return False
        strike = powers[side, STRIKE] * state[side, S_MIGHT] * (0.8 + 0.4 * draw(keys[hero], tick, EVENT_SKILL))
        for j in range(foe * LANES, foe * LANES + SIDE):
            dx, dy = units[X + j] - units[X + t], units[Y + j] - units[Y + t]
            if units[LIFE + j] > 0.0 and dx * dx + dy * dy <= radius:
                units[HURT + j] += np.float32(strike * harm[side * 9 + marks[KIND + j]] / state[side, S_BLOW])
                units[STUNNED + j] = max(units[STUNNED + j], np.float32(tick + powers[side, STUN]))
    if powers[side, SHIELD] > 0.0:
        for j in range(hero, hero + SIDE):
            dx, dy = units[X + j] - units[X + hero], units[Y + j] - units[Y + hero]
            if units[LIFE + j] > 0.0 and dx * dx + dy * dy <= radius:
                units[COVER + j] = max(units[COVER + j], np.float32(powers[side, SHIELD]))
    state[side, S_BLESSED] = state[foe, S_CURSED] = tick + powers[side, DURATION]
    state[side, S_CAST] = tick + powers[side, COOLDOWN]
    state[side, S_LAST_CAST] = state[foe, S_PROVOKED_AT] = tick
    return True


@helper
def _might(side: int, tick: int, opening: float, powers: F64, state: F64, units: F32) -> Any:
    """Factor on this side's blows in this tick, from own and enemy skills and equipment."""
    foe = 1 - side
    might = 1.0 + powers[side, P_GRUDGE] * state[side, S_FELL]
    if powers[side, P_LAST_STAND] > 0.0 and life_of(side, units) < 0.5 * state[side, S_START]:
        might *= 1.0 + powers[side, P_LAST_STAND]
    if tick <= state[side, S_BLESSED]:
        might *= 1.0 + powers[side, RALLY]
    if tick <= state[side, S_CURSED]:
        might *= 1.0 - powers[foe, WEAKEN]
    if tick <= state[foe, S_BLESSED]:
        might *= 1.0 - powers[foe, WARD]
    if tick <= opening:
        might *= (1.0 + powers[side, P_ASSAULT]) * (1.0 - powers[foe, P_OPENING])
    return might


@helper
def _pace(side: int, tick: int, powers: F64, state: F64, units: F32) -> None:
    """Update the units' speed when a slowing skill begins or ends."""
    pace = 1.0 - powers[1 - side, SLOW] if tick <= state[side, S_CURSED] else 1.0
    if pace != state[side, S_PACE]:
        state[side, S_PACE] = pace
        for i in range(side * LANES, side * LANES + SIDE):
            units[STEP + i] = units[PACE + i] * np.float32(pace)


@helper
def _sights(tick: int, state: F64, units: F32, marks: I64) -> None:
    """Aim again where due (each unit every eighth tick), then look up the positions of all targets."""
    for side in range(2):
        n = int(state[side, S_UNITS])
        for k in range((-tick) & (_RETARGET - 1), n, _RETARGET):
            aim(side * LANES + k, 1 - side, units, marks)
        for i in range(side * LANES, side * LANES + n):
            units[TARGET_X + i] = units[X + marks[TARGET + i]]
            units[TARGET_Y + i] = units[Y + marks[TARGET + i]]


@helper
def _bury(tick: int, state: F64, units: F32, marks: I64) -> None:
    """Count the living after units fell; units that aimed at a fallen one aim again."""
    for side in range(2):
        n, alive = int(state[side, S_UNITS]), 0
        for i in range(side * LANES, side * LANES + n):
            alive += 1 if units[LIFE + i] > 0.0 else 0
        if alive < state[side, S_ALIVE]:
            state[side, S_FELL] += state[side, S_ALIVE] - alive
            state[side, S_FELL_AT] = tick
            state[side, S_ALIVE] = alive
            for i in range((1 - side) * LANES, (1 - side) * LANES + int(state[1 - side, S_UNITS])):
                if units[LIFE + marks[TARGET + i]] <= 0.0:
                    aim(i, side, units, marks)


@helper
def record(trace: F64, tick: int, units: F32) -> None:
    if trace.shape[0] > 0:
        for i in range(2 * LANES):
            trace[tick, i, 0] = units[X + i]
            trace[tick, i, 1] = units[Y + i]
            trace[tick, i, 2] = units[LIFE + i]


@helper
def begin(
    kinds: F64, powers: F64, last: I64, gap: float, first: Any, second: Any, state: F64, units: F32, marks: I64,
    keys: U64, harm: F32, lure: F32,
) -> None:  # fmt: skip
    _matchups(kinds, harm, lure)
    state[:] = 0.0
    units[:] = _ZERO
    marks[:] = 0
    for side in range(2):
        n = _deploy(side, last[side], kinds, gap, first if side == 0 else second, units, marks, keys)
        state[side, S_UNITS] = state[side, S_ALIVE] = n
        state[side, S_START] = life_of(side, units)
        state[side, S_CAST] = powers[side, FIRST_USE]
        state[side, S_PACE] = 1.0
        state[side, S_BLOW] = max(kinds[side, HERO, K_DAMAGE], 1e-9)
    for i in range(UNITS):
        for k in range(3):
            units[LURE + k * UNITS + i] = lure[(1 - i // LANES) * 9 + k * 3 + marks[KIND + i]]
    for side in range(2):
        for k in range(int(state[side, S_UNITS])):
            aim(side * LANES + k, 1 - side, units, marks)


@helper
def fight(
    tick: int, until: int, orders: Any, ledger: Any, ground: Any, powers: F64, parameters: F64, state: F64, units: F32,
    marks: I64, keys: U64, harm: F32, trace: F64, casts: Any, tally: I64,
) -> int:  # fmt: skip
    """Fight one battle from ``tick`` to ``until`` or its end; returns the tick it came to. The survivors are left in
    ``units``. ``orders`` int64[2, ORDERS]: what each side's commander says; ``ledger`` and ``ground`` count
    what follows; None: nobody commands, and this is compiled without a trace of them."""
    limit, spread = min(int(parameters[TIME_LIMIT]), until), parameters[ROLL_SPREAD] / 100.0
    unit_ticks = attack_ticks = 0
    while tick < limit and state[0, S_ALIVE] > 0.0 and state[1, S_ALIVE] > 0.0:
        tick += 1
        unit_ticks += int(state[0, S_ALIVE] + state[1, S_ALIVE])
        for side in range(2):
            state[side, S_MIGHT] = _might(side, tick, parameters[OPENING], powers, state, units)
            _pace(side, tick, powers, state, units)
        _sights(tick, state, units, marks)
        due = _move(units, np.float32(tick))
        if orders is not None:
            march(tick, due, orders, ledger, ground, parameters[FIELD], state, units, marks)
        if due != 0:
            attack_ticks += 1
            _strike(due, tick, spread, powers, state, units, marks, keys, harm)
        ready = (
            _ordered_cast(0, tick, orders, powers, state, units),
            _ordered_cast(1, tick, orders, powers, state, units),
        )
        for side in range(2):
            if ready[side] and _cast(side, tick, parameters[REACH], powers, state, units, marks, keys, harm):
                if trace.shape[0] > 0:
                    casts[tick, side] = 1
        if _settle(units) > 0:
            _bury(tick, state, units, marks)
        record(trace, tick, units)
    tally[0] = unit_ticks
    tally[1] = attack_ticks
    return tick


@helper
def outcome(kinds: F64, powers: F64, state: F64, units: F32, marks: I64, salvage: float, side_out: F64) -> None:
    """Strength left (%), resources left and win of both sides, float64[2, 3]. Skill and equipment keep their value in
    proportion to the team's strength; the share ``salvage`` of losses is recovered."""
    for side in range(2):
        strength = life_of(side, units) / state[side, S_START]
        worth, whole = powers[side, P_CARRIED] * strength, powers[side, P_CARRIED]
        for i in range(side * LANES, side * LANES + int(state[side, S_UNITS])):
            worth += kinds[side, marks[KIND + i], K_VALUE] * (units[LIFE + i] / units[FULL + i])
            whole += kinds[side, marks[KIND + i], K_VALUE]
        side_out[side, 0] = 100.0 * strength
        side_out[side, 1] = worth + salvage * (whole - worth)
    for side in range(2):
        ours, theirs = side_out[side, 0], side_out[1 - side, 0]
        side_out[side, 2] = 1.0 if ours > theirs else (0.5 if ours == theirs else 0.0)


@entry
def play(
    left: I32, right: I32, first: U64, second: U64, pieces: F64, parameters: F64, edges: F64, pair: I32, soldiers: int,
    side_out: F64, duration: F64, tallies: I64, trace: F64, casts: Any,
) -> None:  # fmt: skip
    """Fight n battles. ``first`` and ``second`` are the sides' random streams, uint64[n]."""
    kinds, powers, state = np.zeros((2, 3, K_COLUMNS)), np.zeros((2, P_COLUMNS)), np.zeros((2, S_COLUMNS))
    harm, lure = np.zeros(18, np.float32), np.zeros(18, np.float32)
    units, marks, keys = np.zeros(UNIT_CELLS, np.float32), np.zeros(MARK_CELLS, np.int64), np.zeros(UNITS, np.uint64)
    last, tally = np.zeros(2, np.int64), np.zeros(2, np.int64)
    for b in range(left.shape[0]):
        kinds[:] = 0.0
        last[0] = muster(left[b], _LEFT, pieces, parameters, edges, pair, soldiers, kinds, powers)
        last[1] = muster(right[b], _RIGHT, pieces, parameters, edges, pair, soldiers, kinds, powers)
        begin(kinds, powers, last, parameters[FIELD], first[b], second[b], state, units, marks, keys, harm, lure)
        record(trace, 0, units)
        duration[b, 0] = fight(
            0, _FAR, None, None, None, powers, parameters, state, units, marks, keys, harm, trace, casts, tally
        )
        outcome(kinds, powers, state, units, marks, parameters[SALVAGE] / 100.0, side_out[b])
        if tallies.shape[0] > 0:
            tallies[b, 0] = tally[0]
            tallies[b, 1] = tally[1]


@entry
def streams(seeds: U64) -> Any:
    """The random streams of the left and the right sides, uint64[n] each, from the seeds of n battles."""
    first, second = np.empty_like(seeds), np.empty_like(seeds)
    for b in range(seeds.shape[0]):
        first[b] = stream(seeds[b], 0)
        second[b] = stream(seeds[b], 1)
    return first, second


NO_TRACE = np.zeros((0, UNITS, 3))
NO_CASTS = np.zeros((0, 2), np.uint8)
