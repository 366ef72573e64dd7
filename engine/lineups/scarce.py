"""Exact draws of a team that random draws hardly ever give: it must hold much of a piece, or a dear one, or two.

Every choice is made with its chance given that the team will hold the given pieces and keep its budget and its number
of units. The chance that the slots still to come will see to that is worked out backwards over what is held, fielded
and spent by then (dynamic programming; ``counting``). A team that breaks a rule all the same, such as a repeated piece,
is rejected as any other draw is. The teams that remain have the distribution of ``drawing.draw_team``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.lineups.counting import (
    ROUNDING,
    Held,
    Options,
    asked,
    gold_of,
    most_units,
    options_of,
    slot_costs,
    slot_counts,
)
from engine.lineups.drawing import is_whole, jit, mark
from engine.lineups.mending import write
from engine.lineups.rules import FREE
from engine.splitmix import mix

LARGEST = 10**8
"""Additions that a table may take, about a tenth of a second: with more, random draws are tried instead."""
_AGAIN = np.uint64(0x5CA2CE)


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
        cheapest, _ = slot_costs(rules, price, s)
        total += cheapest
        low, high = slot_counts(rules, s)
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
    held = asked(rules, pieces, least)
    gold, units = gold_of(rules, price, held), most_units(rules)
    options = options_of(rules, shares, price, held, gold, units > 0)
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
            for so_far in range(left.shape[1]):
                for units in range(left.shape[2]):
                    write(left[s, so_far, units], left[s + 1, so_far, units])
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
