"""Exact draws of a team that random draws hardly ever give: it must hold much of a piece, or a dear one, or two.

Every choice is made with its chance given that the team will hold the given pieces and keep its budget and its number
of units. The chance that the slots still to come will see to that is worked out backwards over what is held, fielded
and spent by then (dynamic programming). Gold is counted in the largest amount of which all prices are multiples. Where
that is too small it is counted in steps of the budget, rounded down for each slot: that allows a little too much, and a
team that breaks a rule is rejected as any other draw is. The teams that remain have the distribution of
``drawing.draw_team``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.lineups.drawing import EMPTY, is_whole, jit, mark
from engine.lineups.rules import FREE
from engine.splitmix import mix

STEPS, EXACT = 256, 4096
"""Steps of the highest cost in which gold is counted: finer ones let through fewer teams that are too dear, and take
longer to prepare; and the largest number of steps for prices that are all multiples of one."""
LARGEST = 10**8
"""Additions that a table may take, about a tenth of a second: with more, random draws are tried instead."""
ROUNDING = 1e-9
"""Shares of a step, or of a budget, by which sums may differ that were added up in another order."""
CENTS = 100
"""Prices are taken as whole numbers of hundredths where they are."""
_AGAIN = np.uint64(0x5CA2CE)


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


class Table(NamedTuple):
    """``left`` float64[slots + 1, held, units + 1, steps + 1]: the chance that the slots from the first of these on end
    in a team that holds all it should, with so much held, so many units and so much spent before. ``known``: it was
    worked out. ``possible``: there is such a team, as far as it tells."""

    held: Held
    options: Options
    left: NDArray[np.float64]
    known: bool
    possible: bool


@jit
def affordable(rules: Any, inside: Any, price: Any, pieces: Any, least: Any) -> bool:
    """Whether for each given piece the cheapest team with it, repetitions aside, keeps within the budget."""
    total, own = 0.0, np.zeros(len(pieces))
    for j in range(len(pieces)):
        own[j] = np.inf if pieces[j] >= 0 else 0.0
    for s in range(len(rules.is_count)):
        if rules.is_count[s]:
            continue
        cheapest, _ = _costs(rules, price, s)
        total += cheapest
        low, high = _counts(rules, s)
        for j in range(len(pieces)):
            if pieces[j] >= 0 and inside[s, pieces[j]]:
                once = rules.scope[rules.category[pieces[j]]] != FREE
                few = min(max(low, least[j]), high) if once else low
                own[j] = min(own[j], min(price[pieces[j]] * few, price[pieces[j]] * high) - cheapest)
    most = 0.0
    for more in own:
        most = max(most, more)
    return bool(total + most <= rules.budget[1] * (1 + ROUNDING))


@jit
def again(seed: Any) -> Any:
    """The state of the generator for scarce draws with a seed, where plain ones have found nothing."""
    return mix(seed ^ _AGAIN)


@jit
def alike(pieces: Any, least: Any, i: int, j: int) -> bool:
    """Whether requests i and j for pieces [n, k] in amounts of ``least`` [n, k] or more are equal."""
    for k in range(pieces.shape[1]):  # noqa: SIM110 - the compiler knows no all()
        if pieces[i, k] != pieces[j, k] or least[i, k] != least[j, k]:
            return False
    return True


@jit
def prepared(rules: Any, shares: Any, price: Any, pieces: Any, least: Any) -> Table:
    """The table for teams that hold these pieces, each in an amount of ``least`` or more; not ``known`` where a price
    is below 0, a piece is given twice, or it would take too long."""
    held = _held(rules, pieces, least)
    gold, units = _gold(rules, price, held), _most_units(rules)
    options = _options(rules, shares, price, held, gold, units > 0)
    shape = held.digit[-1] * (held.most[-1] + 1), units + 1, gold.steps + 1
    additions = 1.0 * shape[0] * shape[1] * shape[2] * len(options.piece)
    known = not _negative(price) and _differ(held.pieces) and additions <= LARGEST
    left = np.zeros((len(rules.is_count) + 1 if known else 0, *shape))
    if known:
        _fill(left, held, options, gold, rules)
    return Table(held, options, left, known, known and left[0, 0, 0, 0] > 0)


@jit
def draw_scarce(state: Any, lineup: Any, rules: Any, t: int, table: Any, price: Any, cost: Any) -> bool:
    """Draw one team that holds the given pieces, with the distribution of ``draw_team``; False when it breaks a rule.
    ``table`` must be ``possible``."""
    options, total, fielded, held, units, spent = table.options, 0.0, 0, 0, 0, 0
    for s in range(lineup.shape[1]):
        if rules.is_count[s]:
            continue
        i = _choice(state, table, s, held, units, spent)
        held, units, spent = _after(table.held, options, held, i), units + options.units[i], spent + options.steps[i]
        piece, many = options.piece[i], options.many[i]
        lineup[t, s] = piece
        if rules.partner[s] >= 0:
            lineup[t, rules.partner[s]] = many
            fielded += many
        total += price[piece] * many if piece >= 0 else 0.0
    cost[t] = total
    keeps = rules.budget[0] <= total <= rules.budget[1] and rules.units[0] <= fielded <= rules.units[1]
    return bool(keeps) and is_whole(lineup, rules, t)


@jit
def _fill(left: Any, held: Any, options: Any, gold: Any, rules: Any) -> None:
    """Work out the chances that are left, from the last slot to the first."""
    slots = len(rules.is_count)
    for units in range(left.shape[2]):
        for spent in range(left.shape[3]):
            enough = not gold.bound or (spent + gold.slack) * gold.step >= rules.budget[0] * (1 - ROUNDING)
            whole = enough and (left.shape[2] == 1 or units >= rules.units[0])
            left[slots, -1, units, spent] = 1.0 if whole else 0.0
    for s in range(slots - 1, -1, -1):
        if rules.is_count[s]:
            left[s] = left[s + 1]
        for i in range(options.first[s], options.first[s + 1]):
            for so_far in range(left.shape[1]):
                after = _after(held, options, so_far, i)
                if after >= 0:
                    _add(left[s, so_far], left[s + 1, after], options.share[i], options.units[i], options.steps[i])


@jit
def _choice(state: Any, table: Any, s: int, held: int, units: int, spent: int) -> Any:
    """An option for a slot, with its chance given that the team will be whole."""
    options, then = table.options, table.left[s + 1]
    rest, found = mark(state) * table.left[s, held, units, spent], options.first[s]
    for i in range(options.first[s], options.first[s + 1]):
        after = held if options.given[i] < 0 else _after(table.held, options, held, i)
        more, steps = units + options.units[i], spent + options.steps[i]
        if after < 0 or more >= then.shape[1] or steps >= then.shape[2]:
            continue
        chance = options.share[i] * then[after, more, steps]
        if chance > 0:  # of the last one, too, if rounding leaves a rest
            found = i
            if rest < chance:
                return found
            rest -= chance
    return found


@jit
def _held(rules: Any, pieces: Any, least: Any) -> Held:
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
def _options(rules: Any, shares: Any, price: Any, held: Any, gold: Any, counted: bool) -> Options:
    """The options of all slots; ``counted``: whether units are."""
    slots, most = len(rules.is_count), 0
    for s in range(slots):
        low, high = _counts(rules, s)
        most += 1 + rules.pool_size[s] * (high - low + 1)
    first, share, i = np.zeros(slots + 1, np.int64), np.zeros(most), 0
    piece, many, units = np.full(most, -1, np.int64), np.zeros(most, np.int64), np.zeros(most, np.int64)
    steps, given = np.zeros(most, np.int64), np.full(most, -1, np.int64)
    for s in range(slots):
        low, high = _counts(rules, s)
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
def _gold(rules: Any, price: Any, held: Any) -> Gold:
    """How to count gold: not at all where every team keeps its budget."""
    cheapest, dearest = 0.0, 0.0
    for s in range(len(rules.is_count)):
        least, most = _costs(rules, price, s)
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
def _costs(rules: Any, price: Any, s: int) -> Any:
    """(lowest, highest) cost of what a slot may hold."""
    low, high = _counts(rules, s)
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
def _most_units(rules: Any) -> int:
    """The most units that a team can have; 0 where their number breaks no rule, so need not be counted."""
    fewest, most = 0, 0
    for s in range(len(rules.is_count)):
        if rules.is_count[s]:
            fewest += 0 if rules.optional[rules.partner[s]] else rules.low[s]
            most += rules.high[s]
    bound = fewest < rules.units[0] or most > rules.units[1]
    return int(max(min(most, rules.units[1]), 1)) if bound else 0


@jit
def _negative(price: Any) -> bool:
    """Whether some price is below 0."""
    for each in price:  # noqa: SIM110 - the compiler knows no any()
        if each < 0:
            return True
    return False


@jit
def _differ(given: Any) -> bool:
    """Whether no piece is given twice."""
    for i in range(len(given)):
        for j in range(i):
            if given[i] >= 0 and given[i] == given[j]:
                return False
    return True


@jit
def _counts(rules: Any, s: int) -> Any:
    """(fewest, most) of a piece in a slot."""
    mate = rules.partner[s]
    return (np.int64(rules.low[mate]), np.int64(rules.high[mate])) if mate >= 0 else (np.int64(1), np.int64(1))


@jit
def _after(held: Any, options: Any, so_far: int, i: int) -> Any:
    """What is held with an option more; -1 where no team that is asked for has it."""
    j = options.given[i]
    if j < 0:
        return np.int64(so_far)
    now, many = so_far // held.digit[j] % (held.most[j] + 1), options.many[i]
    if held.once[j]:
        return np.int64(-1 if now or many < held.least[j] else so_far + held.digit[j])
    return np.int64(so_far + (min(now + many, held.most[j]) - now) * held.digit[j])


@jit
def _add(left: Any, after: Any, share: float, units: int, steps: int) -> None:
    """Add a choice that has this share and takes so many units and so much gold."""
    for u in range(left.shape[0] - units):
        for at in range(left.shape[1] - steps):
            left[u, at] += share * after[u + units, at + steps]
