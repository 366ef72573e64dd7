"""Many commanded battles as arrays: begun, advanced by one decision, observed; compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.games.herobattle import layout as at
from engine.games.herobattle.jit import entry, helper
from engine.games.herobattle.kernel import aim, begin, fight, life_of, muster, outcome, record, stream
from engine.games.herobattle.layout import F32, F64, I32, I64, U64
from engine.games.herobattle.orders import attract
from engine.games.herobattle.teams import draw_team
from engine.splitmix import combine

UNIT_NUMBERS, SIDE_NUMBERS = 14, 17
OBSERVED = 1 + 2 * (SIDE_NUMBERS + at.SIDE * UNIT_NUMBERS)
"""Numbers that a seat observes: the time, each side's own, then ten units of each side; missing and fallen units are
zeros, and the first number of a unit says whether it lives."""
SCORE, WIN, DEALT, TAKEN, WALKED, IDLE, GROUND, WAITED, WAITING, EXPLORED, FORWARD = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
"""Kinds of reward."""
SIGNALS = 10


class Fields(NamedTuple):
    """n battles in progress. Of each: ``rows`` int32[n, 2, 8] its teams, ``last`` int64[n, 2] how many kinds of unit
    they have, ``ticks`` int64[n], ``ledger`` and ``before`` float64[n, 2, LEDGER] counts now and before the decision,
    ``strength`` float64[n, 2] shares of life before it, ``ground`` uint8[n, 2, GRID, GRID] squares walked on,
    ``orders`` int64[n, 2, ORDERS] in force, and the kernel's tables."""

    rows: I32
    last: I64
    ticks: I64
    kinds: F64
    powers: F64
    state: F64
    units: F32
    marks: I64
    keys: U64
    harm: F32
    lure: F32
    ledger: F64
    before: F64
    strength: F64
    ground: NDArray[np.uint8]
    orders: I64


class Rules(NamedTuple):
    """What all battles have in common: the game's tables, as ``kernel.play`` takes them, what teams are drawn with
    (``teams.Roster``), whether both sides lead the same team, and whether the sides are exchanged."""

    pieces: F64
    parameters: F64
    edges: F64
    pair: I32
    soldiers: int
    costs: F64
    groups: I64
    limits: F64
    same: bool
    mirror: bool


def fields(n: int) -> Fields:
    """Room for n battles."""
    two = (n, 2)
    return Fields(
        np.zeros((*two, 8), np.int32), np.zeros(two, np.int64), np.zeros(n, np.int64),
        np.zeros((*two, 3, at.K_COLUMNS)), np.zeros((*two, at.P_COLUMNS)), np.zeros((*two, at.S_COLUMNS)),
        np.zeros((n, at.UNIT_CELLS), np.float32), np.zeros((n, at.MARK_CELLS), np.int64),
        np.zeros((n, at.UNITS), np.uint64), np.zeros((n, 18), np.float32), np.zeros((n, 18), np.float32),
        np.zeros((*two, at.LEDGER)), np.zeros((*two, at.LEDGER)), np.zeros(two),
        np.zeros((*two, at.GRID, at.GRID), np.uint8), np.zeros((*two, at.ORDERS), np.int64),
    )  # fmt: skip


@helper
def _draw_teams(seed: Any, rules: Rules, rows: I32) -> None:
    """Two teams with different heroes, or one for both sides."""
    one, other = (1, 0) if rules.mirror else (0, 1)
    draw_team(rows[one], combine(seed, np.uint64(1)), rules.costs, rules.groups, rules.limits)
    turn = np.uint64(2)
    draw_team(rows[other], combine(seed, turn), rules.costs, rules.groups, rules.limits)
    while rows[other, 0] == rows[one, 0]:
        turn += np.uint64(1)
        draw_team(rows[other], combine(seed, turn), rules.costs, rules.groups, rules.limits)
    if rules.same:
        for slot in range(8):
            rows[other, slot] = rows[one, slot]


@entry
def draw_rows(battles: I64, seeds: U64, rules: Rules, rows: I32) -> None:
    """Write the teams of these battles' seeds into their ``rows``."""
    for b in battles:
        _draw_teams(seeds[b], rules, rows[b])


@helper
def _start(b: int, first: Any, second: Any, rules: Rules, f: Fields) -> None:
    """Begin battle b with the teams in its row and these random streams of its sides."""
    f.kinds[b] = 0.0
    for side in range(2):
        f.last[b, side] = muster(
            f.rows[b, side], side, rules.pieces, rules.parameters, rules.edges, rules.pair, rules.soldiers,
            f.kinds[b], f.powers[b],
        )  # fmt: skip
    begin(
        f.kinds[b], f.powers[b], f.last[b], rules.parameters[at.FIELD], first, second, f.state[b], f.units[b],
        f.marks[b], f.keys[b], f.harm[b], f.lure[b],
    )  # fmt: skip
    f.ticks[b] = 0
    f.ledger[b], f.before[b], f.strength[b], f.ground[b], f.orders[b] = 0.0, 0.0, 1.0, 0, 0


@entry
def start(battles: I64, seeds: U64, rules: Rules, f: Fields) -> None:
    """Begin these battles with the teams in their ``rows``."""
    for b in battles:
        first, second = stream(seeds[b], 0), stream(seeds[b], 1)
        if rules.mirror:
            first, second = second, first
        _start(b, first, second, rules, f)


@entry
def start_with(first: U64, second: U64, rules: Rules, f: Fields) -> None:
    """Begin all battles with the teams in their ``rows``, and with these random streams of their sides uint64[n]."""
    for b in range(len(first)):
        _start(b, first[b], second[b], rules, f)


@helper
def _obey(side: int, order: I64, given: I64, kinds: F64, lure: F32, state: F64, units: F32, marks: I64) -> None:
    """Put an order into force: what it names seems near at once, and everybody aims again."""
    old = order[at.FOCUS]
    for part in range(at.ORDERS):
        order[part] = given[part]
    if old != at.NEAREST or order[at.FOCUS] != at.NEAREST:
        attract(side, order[at.FOCUS], kinds, lure, state, units, marks)
        for i in range(side * at.LANES, side * at.LANES + int(state[side, at.S_UNITS])):
            aim(i, 1 - side, units, marks)


@helper
def _squares(parameters: F64) -> Any:
    """How many squares the field has that are counted as ground."""
    half = min(parameters[at.FIELD], 0.5 * at.GRID * at.CELL)
    return (2.0 * half / at.CELL) ** 2


@helper
def _reward(
    kind: int, side: int, over: bool, now: F64, was: F64, ledger: F64, before: F64, results: F64, ticks: int,
    squares: Any,
) -> Any:  # fmt: skip
    foe, spent = 1 - side, max(ledger[side, at.L_UNIT_TICKS] - before[side, at.L_UNIT_TICKS], 1.0)
    if kind == SCORE:
        return (now[side] - was[side]) - (now[foe] - was[foe])
    if kind == WIN:
        return 2.0 * results[side, 2] - 1.0 if over else 0.0
    if kind == DEALT:
        return was[foe] - now[foe]
    if kind == TAKEN:
        return was[side] - now[side]
    if kind == WALKED:
        return (ledger[side, at.L_WALKED] - before[side, at.L_WALKED]) / spent
    if kind == IDLE:
        return (ledger[side, at.L_IDLE] - before[side, at.L_IDLE]) / spent
    if kind == FORWARD:
        return (ledger[side, at.L_FORWARD] - before[side, at.L_FORWARD]) / spent
    if kind == GROUND:
        return ledger[side, at.L_GROUND] - before[side, at.L_GROUND]
    if kind == EXPLORED:
        return (min(ledger[side, at.L_GROUND], squares) - min(before[side, at.L_GROUND], squares)) / squares
    waited = ticks if ledger[side, at.L_FIRST_BLOW] == 0.0 else 0.0
    return waited if kind == WAITED else waited / max(ticks, 1)


@entry
def advance(
    given: I64, every: int, rules: Rules, f: Fields, kinds: I64, rewards: F32, over: NDArray[np.bool_], results: F64,
    trace: F64, casts: Any,
) -> None:  # fmt: skip
    """One decision of every battle, ``every`` ticks long: ``given`` int64[n, 2, ORDERS]; ``rewards`` float32[n, 2, R]
    of these kinds; ``results`` float64[n, 2, 3]: strength (%), resources, win of both sides as they stand; ``trace``
    and ``casts``: where the last battle is written down (``kernel.play``), or nothing."""
    now, tally = np.zeros(2), np.zeros(2, np.int64)
    for b in range(given.shape[0]):
        state, units, marks = f.state[b], f.units[b], f.marks[b]
        f.before[b] = f.ledger[b]
        for side in range(2):
            _obey(side, f.orders[b, side], given[b, side], f.kinds[b], f.lure[b], state, units, marks)
        began = f.ticks[b]
        if began == 0:
            record(trace, 0, units)
        f.ticks[b] = fight(
            began, began + every, f.orders[b], f.ledger[b], f.ground[b], f.powers[b], rules.parameters, state, units,
            marks, f.keys[b], f.harm[b], trace, casts, tally,
        )  # fmt: skip
        alive = state[0, at.S_ALIVE] > 0.0 and state[1, at.S_ALIVE] > 0.0
        over[b] = not alive or f.ticks[b] >= int(rules.parameters[at.TIME_LIMIT])
        if over[b]:
            salvage = rules.parameters[at.SALVAGE] / 100.0
            outcome(f.kinds[b], f.powers[b], state, units, marks, salvage, results[b])
        for side in range(2):
            now[side] = life_of(side, units) / state[side, at.S_START]
        for side in range(2):
            for r in range(kinds.shape[0]):
                rewards[b, side, r] = _reward(
                    kinds[r], side, over[b], now, f.strength[b], f.ledger[b], f.before[b], results[b],
                    f.ticks[b] - began, _squares(rules.parameters),
                )  # fmt: skip
        f.strength[b] = now


@entry
def signals(battles: I64, side: int, rules: Rules, f: Fields, results: F64, out: F64) -> None:
    """Write how a seat played these battles, which are over, into float64[m, SIGNALS]: damage dealt and taken as shares
    of a team's life; the shares of its units' time walking and idle; paces a unit walked; the tick of its first blow;
    squares it walked on; the share of the battle that passed before its first blow; the share of the field's squares
    that it walked on; how far forward its units stood (``orders``)."""
    squares = _squares(rules.parameters)
    for row in range(battles.shape[0]):
        b = battles[row]
        ledger, spent = f.ledger[b, side], max(f.ledger[b, side, at.L_UNIT_TICKS], 1.0)
        out[row, 0] = 1.0 - results[b, 1 - side, 0] / 100.0
        out[row, 1] = 1.0 - results[b, side, 0] / 100.0
        out[row, 2] = ledger[at.L_WALKED] / spent
        out[row, 3] = ledger[at.L_IDLE] / spent
        out[row, 4] = ledger[at.L_WAY] / f.state[b, side, at.S_UNITS]
        out[row, 5] = ledger[at.L_FIRST_BLOW] if ledger[at.L_FIRST_BLOW] > 0.0 else f.ticks[b]
        out[row, 6] = ledger[at.L_GROUND]
        out[row, 7] = out[row, 5] / max(f.ticks[b], 1)
        out[row, 8] = min(ledger[at.L_GROUND], squares) / squares
        out[row, 9] = ledger[at.L_FORWARD] / spent


@helper
def _see_side(side: int, tick: int, powers: F64, state: F64, units: F32, out: F32) -> None:
    own = powers[side]
    out[0] = life_of(side, units) / state[side, at.S_START]
    out[1] = state[side, at.S_ALIVE] / at.SIDE
    out[2] = min(max(state[side, at.S_CAST] - tick, 0.0) / max(own[at.COOLDOWN], 1.0), 2.0)
    for k in range(4):
        out[3 + k] = 1.0 if int(own[at.TRIGGER] + 0.5) == k else 0.0
    out[7] = min(own[at.STRIKE] * state[side, at.S_BLOW] / 400.0, 2.0)
    out[8] = own[at.STUN] / 10.0
    out[9] = own[at.SHIELD] / 50.0
    for k, column in enumerate((at.WARD, at.RALLY, at.WEAKEN, at.SLOW)):
        out[10 + k] = own[column]
    out[14] = own[at.RADIUS] / 5.0
    out[15] = max(state[side, at.S_BLESSED] - tick, 0.0) / 20.0
    out[16] = 1.0 if tick <= state[side, at.S_CURSED] else 0.0


@helper
def _see_unit(i: int, side: int, sign: float, tick: int, kinds: F64, units: F32, marks: I64, out: F32) -> None:
    kind = marks[at.KIND + i]
    out[0] = 1.0
    out[1] = units[at.LIFE + i] / units[at.FULL + i]
    out[2] = units[at.LIFE + i] / 200.0
    out[3] = units[at.X + i] * sign / 10.0
    out[4] = units[at.Y + i] / 10.0
    out[5] = max(units[at.READY + i] - tick, 0.0) / units[at.WAIT + i]
    out[6] = max(units[at.STUNNED + i] - tick, 0.0) / 10.0
    out[7] = kinds[side, kind, at.K_DAMAGE] / kinds[side, kind, at.K_INTERVAL] / 4.0
    out[8] = kinds[side, kind, at.K_RANGE] / 6.0
    out[9] = units[at.STEP + i]
    for k in range(3):
        out[10 + k] = 1.0 if int(kinds[side, kind, at.K_CLASS]) == k else 0.0
    out[13] = units[at.COVER + i] / 50.0


@entry
def observe(seat: int, battles: I64, rules: Rules, f: Fields, out: F32) -> None:
    """Write a seat's observation of these battles into their rows of float32[n, OBSERVED], as if every seat stood on
    the left: own side first."""
    sign = 1.0 if seat == 0 else -1.0
    for b in battles:
        out[b] = 0.0
        out[b, 0] = f.ticks[b] / rules.parameters[at.TIME_LIMIT]
        for turn in range(2):
            side = seat if turn == 0 else 1 - seat
            place = 1 + turn * SIDE_NUMBERS
            _see_side(side, f.ticks[b], f.powers[b], f.state[b], f.units[b], out[b, place : place + SIDE_NUMBERS])
            place = 1 + 2 * SIDE_NUMBERS + turn * at.SIDE * UNIT_NUMBERS
            for u in range(at.SIDE):
                i = side * at.LANES + u
                if f.units[b, at.LIFE + i] > 0.0:
                    _see_unit(
                        i, side, sign, f.ticks[b], f.kinds[b], f.units[b], f.marks[b],
                        out[b, place + u * UNIT_NUMBERS : place + (u + 1) * UNIT_NUMBERS],
                    )  # fmt: skip
