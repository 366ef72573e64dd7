"""Sampling, crossover and mutation of lineups, compiled: every lineup they return is valid and repeats nothing.

A lineup is ``int32[teams, slots]``. Crossover is a grouping crossover for unordered teams (whole teams of one parent
injected, clashes dropped and refilled; Falkenauer 1996) or a uniform one over matched teams; mutation swaps, replaces,
recounts. Both end in a repair that walks downhill on the sum of rule violations, and fall back on the mother, which is
valid, when it does not arrive (research notes 2.8; Lamarckian V-B says only "similar to the TSP"). Each child draws
from a generator of its own, seeded by one number, so a batch gives the same children whole or in parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from engine.lineups.rules import FREE, IN_LINEUP, CompiledRules
from engine.rng import GOLDEN
from engine.splitmix import mix

_REPAIR_STEPS = 600
_TRIES = 64
_jit = njit(cache=True, nogil=True)


@_jit
def _next(state: Any) -> Any:
    state[0] += GOLDEN
    return mix(state[0])


@_jit
def _below(state: Any, n: int) -> Any:
    return np.int64(_next(state) % np.uint64(n))


@_jit
def _chance(state: Any, p: float) -> Any:
    return np.float64(_next(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0) < p


@_jit
def _required(rules: Any, piece: int) -> bool:
    for r in rules.required:  # noqa: SIM110 - the compiler knows no any()
        if r == piece:
            return True
    return False


@_jit
def _allowed(lineup: Any, rules: Any, t: int, s: int, piece: int) -> bool:
    """Whether ``piece`` may stand in slot s of team t without repeating there."""
    scope = rules.scope[rules.category[piece]]
    if scope == FREE:
        return True
    first, last = (0, lineup.shape[0]) if scope == IN_LINEUP else (t, t + 1)
    for u in range(first, last):
        for k in range(lineup.shape[1]):
            if not rules.is_count[k] and lineup[u, k] == piece and (u != t or k != s):
                return False
    return True


@_jit
def _set(state: Any, lineup: Any, rules: Any, t: int, s: int, piece: int) -> None:
    """Put a piece (or -1) in a slot, keeping its count within the slot's bounds."""
    lineup[t, s] = piece
    mate = rules.partner[s]
    if mate >= 0:
        if piece < 0:
            lineup[t, mate] = 0
        elif lineup[t, mate] < rules.low[mate] or lineup[t, mate] > rules.high[mate]:
            lineup[t, mate] = rules.low[mate] + _below(state, rules.high[mate] - rules.low[mate] + 1)


@_jit
def _fill(state: Any, lineup: Any, rules: Any, t: int, s: int) -> bool:
    """Put a random allowed piece in slot s of team t; False when there is none."""
    n = rules.pool_size[s]
    if n == 0:
        if rules.optional[s]:
            _set(state, lineup, rules, t, s, -1)
        return bool(rules.optional[s])
    for _ in range(8):
        piece = rules.pool[s, _below(state, n)]
        if _allowed(lineup, rules, t, s, piece):
            _set(state, lineup, rules, t, s, piece)
            return True
    start = _below(state, n)
    for k in range(n):
        piece = rules.pool[s, (start + k) % n]
        if _allowed(lineup, rules, t, s, piece):
            _set(state, lineup, rules, t, s, piece)
            return True
    if rules.optional[s]:
        _set(state, lineup, rules, t, s, -1)
    return bool(rules.optional[s])


@_jit
def _weigh(lineup: Any, rules: Any, t: int, cost: Any, units: Any) -> None:
    cost[t], units[t] = 0.0, 0
    for s in range(lineup.shape[1]):
        if rules.is_count[s]:
            units[t] += lineup[t, s]
        elif lineup[t, s] >= 0:
            mate = rules.partner[s]
            cost[t] += rules.price[lineup[t, s]] * (lineup[t, mate] if mate >= 0 else 1)


@_jit
def _team_penalty(rules: Any, cost: float, units: int) -> Any:
    scale = max(1.0, min(rules.budget[1], 1e6) * 0.1)
    over = max(0.0, rules.budget[0] - cost, cost - rules.budget[1]) / scale
    return over + max(0, rules.units[0] - units, units - rules.units[1])


@_jit
def _penalty(rules: Any, cost: Any, units: Any) -> Any:
    total, dearest, cheapest = 0.0, cost[0], cost[0]
    for t in range(len(cost)):
        total += _team_penalty(rules, cost[t], units[t])
        dearest, cheapest = max(dearest, cost[t]), min(cheapest, cost[t])
    if dearest > cheapest * (1 + rules.tolerance):
        total += (dearest - cheapest * (1 + rules.tolerance)) / max(1.0, cheapest) * 10
    return total


@_jit
def _worst_team(state: Any, rules: Any, cost: Any, units: Any) -> Any:
    """A team that breaks a rule by itself, else the dearest or the cheapest."""
    start = _below(state, len(cost))
    for k in range(len(cost)):
        t = (start + k) % len(cost)
        if _team_penalty(rules, cost[t], units[t]) > 0:
            return t
    return np.argmax(cost) if _chance(state, 0.5) else np.argmin(cost)


@_jit
def _change(state: Any, lineup: Any, rules: Any, t: int) -> bool:
    """One random small change inside team t that repeats nothing; False when the draw leads nowhere."""
    s = _below(state, lineup.shape[1])
    if rules.is_count[s]:
        if lineup[t, rules.partner[s]] < 0:
            return False
        if _chance(state, 0.7):
            lineup[t, s] += 1 if _chance(state, 0.5) else -1
        else:
            lineup[t, s] = rules.low[s] + _below(state, rules.high[s] - rules.low[s] + 1)
        if lineup[t, s] > rules.high[s] or lineup[t, s] < rules.low[s]:
            lineup[t, s] = min(max(lineup[t, s], rules.low[s]), rules.high[s])
        other = _below(state, lineup.shape[1])
        if other != s and rules.is_count[other] and lineup[t, rules.partner[other]] >= 0 and _chance(state, 0.3):
            lineup[t, other] = rules.low[other] + _below(state, rules.high[other] - rules.low[other] + 1)
        return True
    if lineup[t, s] >= 0 and _required(rules, lineup[t, s]):
        return False
    if rules.optional[s] and lineup[t, s] >= 0 and _chance(state, 0.3):
        _set(state, lineup, rules, t, s, -1)
        return True
    return _fill(state, lineup, rules, t, s)


@_jit
def _repair(state: Any, lineup: Any, rules: Any, cost: Any, units: Any, kept: Any) -> Any:
    """Walk downhill on the penalty until nothing is broken; False after too many steps."""
    for t in range(lineup.shape[0]):
        _weigh(lineup, rules, t, cost, units)
    penalty = _penalty(rules, cost, units)
    for _ in range(_REPAIR_STEPS):
        if penalty <= 0:
            return True
        t = _worst_team(state, rules, cost, units)
        kept[:] = lineup[t]
        old_cost, old_units = cost[t], units[t]
        changed = _change(state, lineup, rules, t)
        _weigh(lineup, rules, t, cost, units)
        new = _penalty(rules, cost, units)
        if changed and new <= penalty:
            penalty = new
        else:
            lineup[t] = kept
            cost[t], units[t] = old_cost, old_units
    return penalty <= 0


@_jit
def _place_required(state: Any, lineup: Any, rules: Any) -> bool:
    """Make sure that each required piece stands somewhere, never on top of another required one."""
    for piece in rules.required:
        if _stands(lineup, rules, piece):
            continue
        placed = False
        for _ in range(64):
            t, s = _below(state, lineup.shape[0]), _below(state, lineup.shape[1])
            if rules.is_count[s] or not _in_pool(rules, s, piece):
                continue
            if lineup[t, s] >= 0 and _required(rules, lineup[t, s]):
                continue
            if _allowed(lineup, rules, t, s, piece):
                _set(state, lineup, rules, t, s, piece)
                placed = True
                break
        if not placed:
            return False
    return True


@_jit
def _stands(lineup: Any, rules: Any, piece: int) -> bool:
    for t in range(lineup.shape[0]):
        for s in range(lineup.shape[1]):
            if not rules.is_count[s] and lineup[t, s] == piece:
                return True
    return False


@_jit
def _in_pool(rules: Any, s: int, piece: int) -> bool:
    for k in range(rules.pool_size[s]):  # noqa: SIM110 - the compiler knows no any()
        if rules.pool[s, k] == piece:
            return True
    return False


@_jit
def _sample(state: Any, lineup: Any, rules: Any) -> bool:
    """A random lineup, perhaps not yet within its budgets."""
    lineup[:] = -1
    for t in range(lineup.shape[0]):
        for s in range(lineup.shape[1]):
            if rules.is_count[s]:
                continue
            if rules.partner[s] >= 0:
                lineup[t, rules.partner[s]] = 0
            if rules.optional[s] and _chance(state, 0.4):
                continue
            if not _fill(state, lineup, rules, t, s):
                return False
    return _place_required(state, lineup, rules)


@_jit
def _closest(state: Any, lineup: Any, team: Any, taken: Any) -> Any:
    """The team of the lineup, not taken yet, that has most slots in common with ``team``; ties at random."""
    teams, best, found = lineup.shape[0], -1, -1
    start = _below(state, teams)
    for k in range(teams):
        t = (start + k) % teams
        if not taken[t]:
            same = (lineup[t] == team).sum()
            if same > best:
                best, found = same, t
    return found


@_jit
def _inject(state: Any, child: Any, father: Any, rules: Any, taken: Any) -> bool:
    """Grouping crossover: some whole teams of the father replace their likes; what then clashes is refilled."""
    teams = child.shape[0]
    source = _below(state, teams)
    taken[:] = False
    for i in range(1 + _below(state, teams - 1)):
        team = father[(source + i) % teams]
        t = _closest(state, child, team, taken)
        child[t] = team
        taken[t] = True
    for t in range(teams):
        for s in range(child.shape[1]):
            clashes = child[t, s] >= 0 and not rules.is_count[s] and not _allowed(child, rules, t, s, child[t, s])
            if clashes and not taken[t]:
                child[t, s] = -1
                if not _fill(state, child, rules, t, s):
                    return False
    return True


@_jit
def _blend(state: Any, child: Any, father: Any, rules: Any, taken: Any) -> None:
    """Uniform crossover over matched teams: each slot comes from the father where that repeats nothing."""
    taken[:] = False
    for t in range(child.shape[0]):
        u = _closest(state, father, child[t], taken)
        taken[u] = True
        for s in range(child.shape[1]):
            if rules.is_count[s] or not _chance(state, 0.5):
                continue
            piece = father[u, s]
            if piece == child[t, s] or (piece >= 0 and not _allowed(child, rules, t, s, piece)):
                continue
            child[t, s] = piece
            if rules.partner[s] >= 0:
                child[t, rules.partner[s]] = father[u, rules.partner[s]]


@_jit
def _swap(state: Any, child: Any, rules: Any) -> None:
    """Exchange one slot between two teams where that repeats nothing."""
    teams = child.shape[0]
    t, s = _below(state, teams), _below(state, child.shape[1])
    u = (t + 1 + _below(state, teams - 1)) % teams
    if rules.is_count[s]:
        s = rules.partner[s]
    a, b, mate = child[t, s], child[u, s], rules.partner[s]
    child[t, s], child[u, s] = -1, -1
    if (b < 0 or _allowed(child, rules, t, s, b)) and (a < 0 or _allowed(child, rules, u, s, a)):
        child[t, s], child[u, s] = b, a
        if mate >= 0:
            child[t, mate], child[u, mate] = child[u, mate], child[t, mate]
    else:
        child[t, s], child[u, s] = a, b


@_jit
def _mutate(state: Any, child: Any, rules: Any, swapping: float) -> None:
    changes = 1
    while changes < 6 and _chance(state, 0.4):
        changes += 1
    for _ in range(changes):
        if child.shape[0] > 1 and _chance(state, swapping):
            _swap(state, child, rules)
        else:
            _change(state, child, rules, _below(state, child.shape[0]))


@_jit
def _before(a: Any, b: Any) -> Any:
    for k in range(len(a)):
        if a[k] != b[k]:
            return a[k] < b[k]
    return False


@_jit
def _canonical(lineup: Any, rules: Any, kept: Any) -> None:
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
            kept[:] = lineup[u]
            lineup[u] = lineup[u - 1]
            lineup[u - 1] = kept
            u -= 1


@_jit
def canonical(lineups: Any, rules: Any) -> None:
    """Bring int32[n, teams, slots] into canonical form, in place: the same lineup always reads the same."""
    kept = np.empty(lineups.shape[2], dtype=np.int32)
    for i in range(lineups.shape[0]):
        _canonical(lineups[i], rules, kept)


@_jit
def sample(seeds: Any, rules: Any, slots: int) -> Any:
    """One random valid lineup for each uint64 seed: (int32[n, teams, slots], bool[n] found)."""
    n = len(seeds)
    out = np.full((n, rules.teams, slots), -1, dtype=np.int32)
    found = np.zeros(n, dtype=np.bool_)
    state = np.empty(1, dtype=np.uint64)
    cost, units = np.empty(rules.teams), np.empty(rules.teams, dtype=np.int64)
    kept = np.empty(slots, dtype=np.int32)
    for i in range(n):
        state[0] = seeds[i]
        for _ in range(_TRIES):
            if _sample(state, out[i], rules) and _repair(state, out[i], rules, cost, units, kept):
                found[i] = True
                _canonical(out[i], rules, kept)
                break
    return out, found


@_jit
def offspring(
    seeds: Any, mothers: Any, fathers: Any, rules: Any,
    crossover: float, mutation: float, grouping: float, swapping: float,
) -> Any:  # fmt: skip
    """One valid child for each pair of valid parents int32[n, teams, slots] and uint64 seed. ``crossover``,
    ``mutation``: the chance of each; ``grouping``: the share of crossovers that inject whole teams; ``swapping``: the
    share of a mutation's changes that swap a slot between two teams."""
    out = mothers.copy()
    n, teams, slots = out.shape
    state = np.empty(1, dtype=np.uint64)
    cost, units = np.empty(teams), np.empty(teams, dtype=np.int64)
    kept, taken = np.empty(slots, dtype=np.int32), np.empty(teams, dtype=np.bool_)
    for i in range(n):
        state[0] = seeds[i]
        for _ in range(4):
            child = out[i]
            child[:] = mothers[i]
            whole = True
            if _chance(state, crossover):
                if teams > 1 and _chance(state, grouping):
                    whole = _inject(state, child, fathers[i], rules, taken)
                else:
                    _blend(state, child, fathers[i], rules, taken)
            if whole and _chance(state, mutation):
                _mutate(state, child, rules, swapping)
            if whole and _place_required(state, child, rules) and _repair(state, child, rules, cost, units, kept):
                break
            child[:] = mothers[i]
        _canonical(out[i], rules, kept)
    return out


def violations(lineups: NDArray[np.int32], rules: CompiledRules) -> NDArray[np.int64]:
    """How many rules each of int32[n, teams, slots] breaks, counted independently of the operators (tests, imports)."""
    count = _slot_violations(lineups, rules) + _repeats(lineups, rules)
    cost, units = _weights(lineups, rules)
    count += ((cost < rules.budget[0] - 1e-9) | (cost > rules.budget[1] + 1e-9)).sum(axis=1)
    count += ((units < rules.units[0]) | (units > rules.units[1])).sum(axis=1)
    count += cost.max(axis=1) > rules.dearest(cost.min(axis=1)) + 1e-9
    pieces = lineups[:, :, ~rules.is_count].reshape(len(lineups), -1)
    for piece in rules.required:
        count += ~(pieces == piece).any(axis=1)
    return count


def _weights(lineups: NDArray[np.int32], rules: CompiledRules) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    cost = np.zeros(lineups.shape[:2])
    for s in np.flatnonzero(~rules.is_count):
        price = np.append(rules.price, 0.0)[lineups[..., s]]
        cost += price * lineups[..., rules.partner[s]] if rules.partner[s] >= 0 else price
    return cost, lineups[..., rules.is_count].sum(axis=2, dtype=np.int64)


def _slot_violations(lineups: NDArray[np.int32], rules: CompiledRules) -> NDArray[np.int64]:
    count = np.zeros(len(lineups), dtype=np.int64)
    for s in range(lineups.shape[2]):
        values = lineups[..., s]
        if rules.is_count[s]:
            filled = lineups[..., rules.partner[s]] >= 0
            wrong = np.where(filled, (values < rules.low[s]) | (values > rules.high[s]), values != 0)
        else:
            pool = rules.pool[s, : rules.pool_size[s]]
            wrong = ~np.isin(values, pool) & ~((values == -1) & rules.optional[s])
        count += wrong.sum(axis=1)
    return count


def _repeats(lineups: NDArray[np.int32], rules: CompiledRules) -> NDArray[np.int64]:
    count = np.zeros(len(lineups), dtype=np.int64)
    pieces = lineups[..., ~rules.is_count]
    scope = np.append(rules.scope[rules.category], FREE)[pieces]
    for wide, axis in ((False, 2), (True, 1)):
        chosen = np.where((scope == IN_LINEUP) if wide else (scope != FREE), pieces, -1)
        chosen = chosen.reshape(len(lineups), -1) if wide else chosen
        ordered = np.sort(chosen, axis=axis)
        again = (np.diff(ordered, axis=axis) == 0) & (np.take(ordered, range(1, ordered.shape[axis]), axis=axis) >= 0)
        count += again.reshape(len(lineups), -1).sum(axis=1)
    return count
