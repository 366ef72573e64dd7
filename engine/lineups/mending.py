"""Compiled primitives to draw, fill, check and repair one lineup, shared by everything that makes lineups.

A lineup is ``int32[teams, slots]``, changed in place. ``state`` uint64[1] is the caller's random generator.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.compiling import njit
from engine.lineups.rules import FREE, IN_LINEUP
from engine.rng import GOLDEN
from engine.splitmix import mix

_REPAIR_STEPS = 600
compiled = njit(cache=True, nogil=True)


@compiled
def next_number(state: Any) -> Any:
    """64 random bits; advances the generator."""
    state[0] += GOLDEN
    return mix(state[0])


@compiled
def below(state: Any, n: int) -> Any:
    """A random integer from 0 to n - 1."""
    return np.int64(next_number(state) % np.uint64(n))


@compiled
def chance(state: Any, p: float) -> Any:
    """True with probability p."""
    return np.float64(next_number(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0) < p


@compiled
def write(row: Any, source: Any) -> None:
    """Copy the numbers of a row into another one as long. Where an array is assigned to a slice numba also compiles how
    it would say that their shapes differ, which takes it three seconds."""
    for k in range(len(row)):
        row[k] = source[k]


@compiled
def required(rules: Any, piece: int) -> bool:
    """Whether the rules require this piece in every lineup."""
    for r in rules.required:  # noqa: SIM110 - the compiler knows no any()
        if r == piece:
            return True
    return False


@compiled
def _together(lineup: Any, rules: Any, t: int, s: int, piece: int) -> bool:
    """Whether no other slot of team t holds what ``piece`` is to be kept apart from."""
    for pair in rules.apart:
        for i in range(2):
            if pair[i] == piece and _holds(lineup, rules, t, s, pair[1 - i]):
                return False
    return True


@compiled
def _holds(lineup: Any, rules: Any, t: int, but: int, piece: int) -> bool:
    """Whether a slot of team t other than ``but`` holds a piece."""
    for k in range(lineup.shape[1]):  # noqa: SIM110 - the compiler knows no any()
        if k != but and not rules.is_count[k] and lineup[t, k] == piece:
            return True
    return False


@compiled
def allowed(lineup: Any, rules: Any, t: int, s: int, piece: int) -> bool:
    """Whether ``piece`` may stand in slot s of team t: it repeats nothing there, and may be together with the rest."""
    if not _together(lineup, rules, t, s, piece):
        return False
    scope = rules.scope[rules.category[piece]]
    if scope == FREE:
        return True
    first, last = (0, lineup.shape[0]) if scope == IN_LINEUP else (t, t + 1)
    for u in range(first, last):
        for k in range(lineup.shape[1]):
            if not rules.is_count[k] and lineup[u, k] == piece and (u != t or k != s):
                return False
    return True


@compiled
def put(state: Any, lineup: Any, rules: Any, t: int, s: int, piece: int) -> None:
    """Put a piece (or -1) in a slot, keeping its count within the slot's bounds."""
    lineup[t, s] = piece
    mate = rules.partner[s]
    if mate >= 0:
        if piece < 0:
            lineup[t, mate] = 0
        elif lineup[t, mate] < rules.low[mate] or lineup[t, mate] > rules.high[mate]:
            lineup[t, mate] = rules.low[mate] + below(state, rules.high[mate] - rules.low[mate] + 1)


@compiled
def fill(state: Any, lineup: Any, rules: Any, t: int, s: int) -> bool:
    """Put a random allowed piece in slot s of team t; False when there is none."""
    n = rules.pool_size[s]
    if n == 0:
        if rules.optional[s]:
            put(state, lineup, rules, t, s, -1)
        return bool(rules.optional[s])
    for _ in range(8):
        piece = rules.pool[s, below(state, n)]
        if allowed(lineup, rules, t, s, piece):
            put(state, lineup, rules, t, s, piece)
            return True
    start = below(state, n)
    for k in range(n):
        piece = rules.pool[s, (start + k) % n]
        if allowed(lineup, rules, t, s, piece):
            put(state, lineup, rules, t, s, piece)
            return True
    if rules.optional[s]:
        put(state, lineup, rules, t, s, -1)
    return bool(rules.optional[s])


@compiled
def _weigh(lineup: Any, rules: Any, t: int, cost: Any, units: Any) -> None:
    cost[t], units[t] = 0.0, 0
    for s in range(lineup.shape[1]):
        if rules.is_count[s]:
            units[t] += lineup[t, s]
        elif lineup[t, s] >= 0:
            mate = rules.partner[s]
            cost[t] += rules.price[lineup[t, s]] * (lineup[t, mate] if mate >= 0 else 1)


@compiled
def _team_penalty(rules: Any, cost: float, units: int) -> Any:
    scale = max(1.0, min(rules.budget[1], 1e6) * 0.1)
    over = max(0.0, rules.budget[0] - cost, cost - rules.budget[1]) / scale
    return over + max(0, rules.units[0] - units, units - rules.units[1])


@compiled
def _penalty(rules: Any, cost: Any, units: Any) -> Any:
    total, dearest, cheapest = 0.0, cost[0], cost[0]
    for t in range(len(cost)):
        total += _team_penalty(rules, cost[t], units[t])
        dearest, cheapest = max(dearest, cost[t]), min(cheapest, cost[t])
    if dearest > cheapest * (1 + rules.tolerance):
        total += (dearest - cheapest * (1 + rules.tolerance)) / max(1.0, cheapest) * 10
    return total


@compiled
def _worst_team(state: Any, rules: Any, cost: Any, units: Any) -> Any:
    """A team that breaks a rule by itself; otherwise the dearest or the cheapest."""
    start = below(state, len(cost))
    for k in range(len(cost)):
        t = (start + k) % len(cost)
        if _team_penalty(rules, cost[t], units[t]) > 0:
            return t
    return np.argmax(cost) if chance(state, 0.5) else np.argmin(cost)


@compiled
def change(state: Any, lineup: Any, rules: Any, t: int) -> bool:
    """One random small change inside team t that repeats nothing; False when the draw allows none."""
    s = below(state, lineup.shape[1])
    if rules.is_count[s]:
        if lineup[t, rules.partner[s]] < 0:
            return False
        if chance(state, 0.7):
            lineup[t, s] += 1 if chance(state, 0.5) else -1
        else:
            lineup[t, s] = rules.low[s] + below(state, rules.high[s] - rules.low[s] + 1)
        if lineup[t, s] > rules.high[s] or lineup[t, s] < rules.low[s]:
            lineup[t, s] = min(max(lineup[t, s], rules.low[s]), rules.high[s])
        other = below(state, lineup.shape[1])
        if other != s and rules.is_count[other] and lineup[t, rules.partner[other]] >= 0 and chance(state, 0.3):
            lineup[t, other] = rules.low[other] + below(state, rules.high[other] - rules.low[other] + 1)
        return True
    if lineup[t, s] >= 0 and required(rules, lineup[t, s]):
        return False
    if rules.optional[s] and lineup[t, s] >= 0 and chance(state, 0.3):
        put(state, lineup, rules, t, s, -1)
        return True
    return fill(state, lineup, rules, t, s)


@compiled
def repair(state: Any, lineup: Any, rules: Any, cost: Any, units: Any, kept: Any) -> Any:
    """Descend on the penalty until no rule is broken; False after too many steps."""
    for t in range(lineup.shape[0]):
        _weigh(lineup, rules, t, cost, units)
    penalty = _penalty(rules, cost, units)
    for _ in range(_REPAIR_STEPS):
        if penalty <= 0:
            return True
        t = _worst_team(state, rules, cost, units)
        write(kept, lineup[t])
        old_cost, old_units = cost[t], units[t]
        changed = change(state, lineup, rules, t)
        _weigh(lineup, rules, t, cost, units)
        new = _penalty(rules, cost, units)
        if changed and new <= penalty:
            penalty = new
        else:
            write(lineup[t], kept)
            cost[t], units[t] = old_cost, old_units
    return penalty <= 0


@compiled
def place_required(state: Any, lineup: Any, rules: Any) -> bool:
    """Place each required piece that is missing, never in the slot of another required one."""
    for piece in rules.required:
        if stands(lineup, rules, piece):
            continue
        placed = False
        for _ in range(64):
            t, s = below(state, lineup.shape[0]), below(state, lineup.shape[1])
            if rules.is_count[s] or not _in_pool(rules, s, piece):
                continue
            if lineup[t, s] >= 0 and required(rules, lineup[t, s]):
                continue
            if allowed(lineup, rules, t, s, piece):
                put(state, lineup, rules, t, s, piece)
                placed = True
                break
        if not placed:
            return False
    return True


@compiled
def stands(lineup: Any, rules: Any, piece: int) -> bool:
    for t in range(lineup.shape[0]):
        for s in range(lineup.shape[1]):
            if not rules.is_count[s] and lineup[t, s] == piece:
                return True
    return False


@compiled
def _in_pool(rules: Any, s: int, piece: int) -> bool:
    for k in range(rules.pool_size[s]):  # noqa: SIM110 - the compiler knows no any()
        if rules.pool[s, k] == piece:
            return True
    return False


@compiled
def drawn(state: Any, lineup: Any, rules: Any) -> bool:
    """A random lineup, perhaps not yet within its budgets."""
    lineup[:] = -1
    for t in range(lineup.shape[0]):
        for s in range(lineup.shape[1]):
            if rules.is_count[s]:
                continue
            if rules.partner[s] >= 0:
                lineup[t, rules.partner[s]] = 0
            if rules.optional[s] and chance(state, 0.4):
                continue
            if not fill(state, lineup, rules, t, s):
                return False
    return place_required(state, lineup, rules)


@compiled
def _before(a: Any, b: Any) -> Any:
    for k in range(len(a)):
        if a[k] != b[k]:
            return a[k] < b[k]
    return False


@compiled
def put_in_order(lineup: Any, rules: Any, kept: Any) -> None:
    """Sort interchangeable slots (empty last, with their counts; of equal pieces the smaller count first), then the
    teams."""
    slots = lineup.shape[1]
    for t in range(lineup.shape[0]):
        for i in range(slots):
            for j in range(i + 1, slots):
                if rules.group[i] >= 0 and rules.group[i] == rules.group[j]:
                    a, b = lineup[t, i], lineup[t, j]
                    m, n = rules.partner[i], rules.partner[j]
                    fewer = a == b and m >= 0 and n >= 0 and lineup[t, n] < lineup[t, m]
                    if b >= 0 and (a < 0 or b < a or fewer):
                        lineup[t, i], lineup[t, j] = b, a
                        if m >= 0 and n >= 0:
                            lineup[t, m], lineup[t, n] = lineup[t, n], lineup[t, m]
    for t in range(1, lineup.shape[0]):
        u = t
        while u > 0 and _before(lineup[u], lineup[u - 1]):
            write(kept, lineup[u])
            write(lineup[u], lineup[u - 1])
            write(lineup[u - 1], kept)
            u -= 1
