"""How what a team holds, fields and spends is counted, to draw it exactly (``scarce``).

Gold is counted in the largest amount of which all prices are multiples. Where that is too small it is counted in steps
of the budget, rounded down for each slot: that allows a little too much.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.lineups.drawing import EMPTY, jit
from engine.lineups.rules import FREE

STEPS, EXACT = 256, 4096
"""Steps of the highest cost in which gold is counted: finer ones let through fewer teams that are too dear, and take
longer to prepare; and the largest number of steps for prices that are all multiples of one."""
ROUNDING = 1e-9
"""Shares of a step, or of a budget, by which sums may differ that were added up in another order."""
CENTS = 100
"""Prices are taken as whole numbers of hundredths where they are."""


class Gold(NamedTuple):
    """How gold is counted: the worth of a ``step``, the number of ``steps`` that a team may spend, and the ``rest`` of
    a step beside them. ``exact``: all prices are multiples of it, but perhaps that of the first given piece. ``slack``:
    steps by which a team may have spent more than is counted. ``bound``: some teams break the budget."""

    step: float
    steps: int
    rest: float
    exact: bool
    slack: int
    bound: bool


class Options(NamedTuple):
    """What may stand in slots: that of slot s from ``first[s]`` to ``first[s + 1]``. A ``piece`` (-1: none), how
    ``many`` of it, the ``units`` and ``steps`` of gold that they take, which of the given pieces it is (-1: none of
    them), and the ``share`` of it among random draws; all [options]."""

    first: NDArray[np.int64]
    piece: NDArray[np.int64]
    many: NDArray[np.int64]
    units: NDArray[np.int64]
    steps: NDArray[np.int64]
    given: NDArray[np.int64]
    share: NDArray[np.float64]


class Held(NamedTuple):
    """What teams are to hold: given ``pieces`` int64[k] (-1: none), each in an amount of ``least`` int64[k] or more.
    ``once`` bool[k]: a team holds it in one slot at most. What a team holds so far is a number, whose digits are the
    amounts up to ``most`` int64[k], and ``digit`` int64[k] are the values of these."""

    pieces: NDArray[np.int64]
    least: NDArray[np.int64]
    once: NDArray[np.bool_]
    most: NDArray[np.int64]
    digit: NDArray[np.int64]


@jit
def asked(rules: Any, pieces: Any, least: Any) -> Held:
    """What teams are to hold."""
    k = len(pieces)
    given, few, most, digit = np.zeros(k, np.int64), np.zeros(k, np.int64), np.zeros(k, np.int64), np.ones(k, np.int64)
    once = np.zeros(k, np.bool_)
    for j in range(k):
        given[j], few[j] = pieces[j], max(least[j], 1)
        if given[j] >= 0:
            once[j] = rules.scope[rules.category[given[j]]] != FREE
            most[j] = 1 if once[j] else few[j]
        if j:
            digit[j] = digit[j - 1] * (most[j - 1] + 1)
    return Held(given, few, once, most, digit)


@jit
def options_of(rules: Any, shares: Any, price: Any, held: Any, gold: Any, counted: bool) -> Options:
    """The options of all slots; ``counted``: whether units are."""
    slots, most = len(rules.is_count), 0
    for s in range(slots):
        low, high = slot_counts(rules, s)
        most += 1 + rules.pool_size[s] * (high - low + 1)
    first, share, i = np.zeros(slots + 1, np.int64), np.zeros(most), 0
    piece, many, units = np.full(most, -1, np.int64), np.zeros(most, np.int64), np.zeros(most, np.int64)
    steps, given = np.zeros(most, np.int64), np.full(most, -1, np.int64)
    for s in range(slots):
        low, high = slot_counts(rules, s)
        if rules.optional[s] and not rules.is_count[s]:
            share[i] = EMPTY if rules.pool_size[s] else 1.0
            i += 1
        for k in range(rules.pool_size[s]):
            for n in range(low, high + 1):
                piece[i], many[i], share[i] = rules.pool[s, k], n, shares[s] / (high - low + 1)
                units[i] = n if counted and rules.partner[s] >= 0 else 0
                given[i] = _which(held.pieces, piece[i])
                steps[i] = _steps(gold, price[piece[i]] * n, given[i] == 0, held.once[0])
                i += 1
        first[s + 1] = i
    return Options(first, piece[:i], many[:i], units[:i], steps[:i], given[:i], share[:i])


@jit
def _steps(gold: Any, cost: float, odd: bool, once: bool) -> Any:
    """The steps of gold that are counted for a cost: rounded down, so that no team that keeps its budget is left out.
    The first given piece, whose price may be ``odd`` among multiples, is rounded up where a team holds it ``once``:
    then the others may spend the steps that are left, and no more."""
    steps = cost / gold.step
    if odd and gold.exact and once:
        return max(np.int64(np.ceil(steps - gold.rest - ROUNDING)), np.int64(0))
    return np.int64(steps + ROUNDING) if gold.exact else max(np.int64(steps - ROUNDING), np.int64(0))


@jit
def _which(pieces: Any, piece: int) -> Any:
    """The place of a piece among these; -1: none."""
    for j in range(len(pieces)):
        if pieces[j] == piece:
            return np.int64(j)
    return np.int64(-1)


@jit
def gold_of(rules: Any, price: Any, held: Any) -> Gold:
    """How to count gold: not at all where every team keeps its budget."""
    cheapest, dearest = 0.0, 0.0
    for s in range(len(rules.is_count)):
        least, most = slot_costs(rules, price, s)
        cheapest, dearest = cheapest + least, dearest + most
    bound = rules.budget[0] > cheapest * (1 - ROUNDING) or rules.budget[1] < dearest * (1 + ROUNDING)
    top, unit, slack = min(rules.budget[1], dearest), _unit(rules, price, -1), 0
    if unit * EXACT < top:
        unit = _unit(rules, price, held.pieces[0])
    exact = not bound or top <= 0 or 0 < top / EXACT <= unit
    if not bound or top <= 0:
        step = 4 * dearest + 1
    elif exact:
        step, odd = unit, price[held.pieces[0]] / unit if held.pieces[0] >= 0 else 0.0
        if abs(odd - np.rint(odd)) > ROUNDING:
            slack = 1 if held.once[0] else len(rules.is_count)
    else:
        step, slack = top / STEPS, len(rules.is_count)  # each slot is rounded down
    steps = int(top / step + ROUNDING)
    return Gold(step, steps, max(top / step - steps, 0.0), exact, slack, bound)


@jit
def slot_costs(rules: Any, price: Any, s: int) -> Any:
    """(lowest, highest) cost of what a slot may hold."""
    low, high = slot_counts(rules, s)
    least, most = 0.0 if rules.optional[s] or not rules.pool_size[s] else np.inf, 0.0
    for k in range(rules.pool_size[s]):
        each = price[rules.pool[s, k]]
        least, most = min(least, each * low, each * high), max(most, each * low, each * high)
    return least, most


@jit
def _unit(rules: Any, price: Any, but: int) -> float:
    """The largest amount of gold of which the prices of all pieces that may be fielded are multiples, ``but`` one; 0.0
    where some are no whole hundredths."""
    unit = 0
    for s in range(len(rules.is_count)):
        for k in range(rules.pool_size[s]):
            cents = price[rules.pool[s, k]] * CENTS
            other = int(cents + 0.5) if rules.pool[s, k] != but else 0
            if rules.pool[s, k] != but and abs(cents - other) > ROUNDING * CENTS:
                return 0.0
            while other:
                unit, other = other, unit % other
    return unit / CENTS


@jit
def most_units(rules: Any) -> int:
    """The most units that a team can have; 0 where their number breaks no rule, so need not be counted."""
    fewest, most = 0, 0
    for s in range(len(rules.is_count)):
        if rules.is_count[s]:
            fewest += 0 if rules.optional[rules.partner[s]] else rules.low[s]
            most += rules.high[s]
    bound = fewest < rules.units[0] or most > rules.units[1]
    return int(max(min(most, rules.units[1]), 1)) if bound else 0


@jit
def slot_counts(rules: Any, s: int) -> Any:
    """(fewest, most) of a piece in a slot."""
    mate = rules.partner[s]
    return (np.int64(rules.low[mate]), np.int64(rules.high[mate])) if mate >= 0 else (np.int64(1), np.int64(1))
