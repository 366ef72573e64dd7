"""Exact draws of a team that random draws hardly ever give, because a dear piece leaves little for the rest of it.

Every choice is made with its chance given that the team will hold the piece and keep its budget and its number of
units. The chance that the slots still to come will see to that is worked out backwards over what is spent by then
(dynamic programming), with gold counted in steps of the budget, rounded down for each slot; so it allows a little too
much, and a team that breaks a rule is rejected as any other draw is. The teams that remain have the distribution of
``drawing.draw_team``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.lineups.drawing import EMPTY, amount, is_whole, jit, mark
from engine.lineups.rules import FREE

STEPS = 256
"""Steps of the highest budget in which gold is counted: finer ones let through fewer teams that are too dear, and take
longer to prepare."""
ROUNDING = 1e-9
"""Shares of a step, or of a budget, by which sums may differ that were added up in another order."""


@jit
def can_prepare(rules: Any, price: Any, pieces: Any) -> bool:
    """Whether teams can be drawn so: with one given piece, a highest budget, and no price below 0."""
    for k in range(1, len(pieces)):
        if pieces[k] >= 0:
            return False
    return bool(pieces[0] >= 0 and 0 < rules.budget[1] < np.inf and price.min() >= 0)


@jit
def prepared(rules: Any, shares: Any, inside: Any, price: Any, given: int) -> Any:
    """``left`` float64[slots + 1, 2, units + 1, STEPS + 1]: the chance that the slots from the first of these on end in
    a team that holds the given piece, for which the slots before do not or do have the place, and keeps its budget,
    with so many units and so much spent before; up to a factor. ``left[0, 0, 0, 0]`` is 0 where there is no such team.
    """
    slots = len(rules.is_count)
    left = np.zeros((slots + 1, 2, _most_units(rules) + 1, STEPS + 1))
    for units in range(rules.units[0], left.shape[2]):
        for spent in range(STEPS + 1):  # rounded down for each slot, it may be as much more
            enough = (spent + slots) * rules.budget[1] >= rules.budget[0] * STEPS * (1 - ROUNDING)
            left[slots, 1, units, spent] = 1.0 if enough else 0.0
    for s in range(slots - 1, -1, -1):
        if rules.is_count[s]:
            left[s] = left[s + 1]
            continue
        low, high = _counts(rules, s)
        for k in range(-2, rules.pool_size[s]):
            piece, share = _option(rules, shares, inside, given, s, k)
            for many in range(low, high + 1) if share > 0 else range(0):
                each = share / (high - low + 1)
                units, spent = _takes(rules, price, s, piece, many)
                if k == -2:
                    _add(left[s, 0], left[s + 1, 1], each, units, spent)
                else:
                    _add(left[s, 0], left[s + 1, 0], each, units, spent)
                    _add(left[s, 1], left[s + 1, 1], each, units, spent)
    return left


@jit
def draw_scarce(
    state: Any, lineup: Any, rules: Any, t: int, pieces: Any, least: Any, shares: Any, inside: Any, price: Any,
    left: Any, cost: Any,
) -> bool:  # fmt: skip
    """Draw one team that holds the given piece, the first of ``pieces``, as ``draw_team`` does and with the same
    distribution; False when it breaks a rule. ``left``: see ``prepared``."""
    lineup[t] = -1
    total, placed, units, spent = 0.0, 0, 0, 0
    for s in range(lineup.shape[1]):
        if rules.is_count[s]:
            continue
        k, many = _choice(state, rules, shares, inside, price, pieces[0], s, left, placed, units, spent)
        piece, _ = _option(rules, shares, inside, pieces[0], s, k)
        placed = 1 if k == -2 else placed
        more, steps = _takes(rules, price, s, piece, many)
        units, spent = units + more, spent + steps
        lineup[t, s] = piece
        if rules.partner[s] >= 0:
            lineup[t, rules.partner[s]] = more
        total += _gold(rules, price, s, piece, many)
    cost[t] = total
    held, places = amount(lineup, rules, t, pieces[0])
    if held < least[0] or (places > 1 and mark(state) >= 1.0 / places):
        return False
    return bool(rules.budget[0] <= total <= rules.budget[1]) and is_whole(lineup, rules, t)


@jit
def _most_units(rules: Any) -> int:
    """The most units that a team can have."""
    most = 0
    for s in range(len(rules.is_count)):
        most += rules.high[s] if rules.is_count[s] else 0
    return int(min(most, rules.units[1]))


@jit
def _counts(rules: Any, s: int) -> Any:
    """(fewest, most) of a piece in a slot."""
    mate = rules.partner[s]
    return (np.int64(rules.low[mate]), np.int64(rules.high[mate])) if mate >= 0 else (np.int64(1), np.int64(1))


@jit
def _option(rules: Any, shares: Any, inside: Any, given: int, s: int, k: int) -> Any:
    """(piece, share) of choice k of a slot: -2 the given piece in its place, -1 nothing, or a piece of the pool. A
    piece that may stand once in a team is only ever in its place."""
    if k == -2:
        return np.int64(given), shares[s] if inside[s, given] else 0.0
    if k == -1:
        return np.int64(-1), EMPTY if rules.optional[s] and rules.pool_size[s] else 1.0 * (rules.pool_size[s] == 0)
    piece = np.int64(rules.pool[s, k])
    once = piece == given and rules.scope[rules.category[piece]] != FREE
    return piece, 0.0 if once else shares[s]


@jit
def _gold(rules: Any, price: Any, s: int, piece: int, many: int) -> Any:
    return 0.0 if piece < 0 else price[piece] * many if rules.partner[s] >= 0 else price[piece]


@jit
def _takes(rules: Any, price: Any, s: int, piece: int, many: int) -> Any:
    """(units, whole steps of gold) that so many of a piece in a slot take."""
    units = many if piece >= 0 and rules.partner[s] >= 0 else 0
    return units, max(np.int64(_gold(rules, price, s, piece, many) / rules.budget[1] * STEPS - ROUNDING), 0)


@jit
def _add(left: Any, after: Any, share: float, units: int, spent: int) -> None:
    """Add a choice that has this share and takes so many units and so much gold."""
    for u in range(left.shape[0] - units):
        for at in range(left.shape[1] - spent):
            left[u, at] += share * after[u + units, at + spent]


@jit
def _choice(
    state: Any, rules: Any, shares: Any, inside: Any, price: Any, given: int, s: int, left: Any, placed: int,
    units: int, spent: int,
) -> Any:  # fmt: skip
    """A choice for a slot (``_option``) and the amount, with their chances given that the team will be whole."""
    low, high = _counts(rules, s)
    rest, found = mark(state) * left[s, placed, units, spent], (-1, low)
    for k in range(-2 + placed, rules.pool_size[s]):
        piece, share = _option(rules, shares, inside, given, s, k)
        after = left[s + 1, 1 if k == -2 else placed]
        for many in range(low, high + 1):
            more, steps = _takes(rules, price, s, piece, many)
            if share <= 0 or units + more >= after.shape[0] or spent + steps > STEPS:
                continue
            chance = share / (high - low + 1) * after[units + more, spent + steps]
            if chance > 0:  # of the last one, too, if rounding leaves a rest
                found = k, many
                if rest < chance:
                    return found
                rest -= chance
    return found
