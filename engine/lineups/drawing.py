"""Compiled steps of drawing: one team slot by slot, and whether two teams may meet (``pairings``, ``groups``)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.compiling import njit
from engine.lineups.mending import next_number, stands
from engine.lineups.rules import FREE, IN_LINEUP, CompiledRules

EMPTY = 0.4
"""Chance that an optional slot stays empty, as when lineups are drawn (``operators``)."""
TRIES = 400_000
"""Draws before giving up: hardly any such team or pairing satisfies the rules."""
PLAIN = 500
"""Draws of what is to hold a piece before it is drawn as a scarce one (``scarce``), which is exact, too."""
FIRST: Any = np.int64(0)
SECOND: Any = np.int64(1)
"""Teams of a lineup. A 0 or 1 in a call is a type of its own to numba, which compiles the function anew for each."""
jit = njit(cache=True, nogil=True)


class Chances(NamedTuple):
    """``shares`` float64[slots]: the chance of each piece of a slot's pool; ``inside`` bool[slots, pieces]: which of
    them a slot may hold."""

    shares: NDArray[np.float64]
    inside: NDArray[np.bool_]

    @classmethod
    def of(cls, rules: CompiledRules) -> Chances:
        """Of the slots of these rules."""
        shares = np.where(rules.optional, 1 - EMPTY, 1.0) / np.maximum(rules.pool_size, 1)
        inside = np.zeros((len(rules.is_count), len(rules.price)), np.bool_)
        for s, size in enumerate(rules.pool_size):
            inside[s, rules.pool[s, :size]] = not rules.is_count[s]
        return cls(shares, inside)


def costs(rules: CompiledRules, rows: NDArray[np.int32]) -> NDArray[np.float64]:
    """Costs float64[n] of teams int32[n, slots]."""
    prices, total = np.append(rules.price, 0.0), np.zeros(len(rows))
    for s in np.flatnonzero(~rules.is_count):
        mate = rules.partner[s]
        total += prices[rows[:, s]] * (rows[:, mate] if mate >= 0 else 1)
    return total


@jit
def mark(state: Any) -> Any:
    """A random number in [0, 1)."""
    return np.float64(next_number(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@jit
def asks(pieces: Any) -> bool:
    """Whether any of these pieces is given."""
    for piece in pieces:  # noqa: SIM110 - the compiler knows no any()
        if piece >= 0:
            return True
    return False


@jit
def _slot_of(state: Any, piece: int, shares: Any, inside: Any) -> Any:
    """A random slot for a piece, with the probabilities of the slots that may hold it; -1 where none may."""
    total, last = 0.0, -1
    for s in range(len(shares)):
        total += shares[s] if inside[s, piece] else 0.0
    left = total * mark(state)
    for s in range(len(shares)):
        if inside[s, piece]:
            last = s
            if left < shares[s]:
                break
            left -= shares[s]
    return last


@jit
def _put(state: Any, lineup: Any, rules: Any, price: Any, t: int, s: int, piece: int) -> Any:
    """Put a piece in a slot, in a random amount where the slot has a count; returns (cost, amount)."""
    lineup[t, s] = piece
    mate = rules.partner[s]
    if mate < 0:
        return price[piece], 0
    many = rules.low[mate] + np.int64(mark(state) * (rules.high[mate] - rules.low[mate] + 1))
    lineup[t, mate] = many
    return price[piece] * many, many


@jit
def amount(lineup: Any, rules: Any, t: int, piece: int) -> Any:
    """(amount of the piece in a team, number of slots that hold it)."""
    many, slots = 0, 0
    for s in range(lineup.shape[1]):
        if not rules.is_count[s] and lineup[t, s] == piece:
            mate = rules.partner[s]
            many += lineup[t, mate] if mate >= 0 else 1
            slots += 1
    return many, slots


@jit
def _repeats(lineup: Any, rules: Any, t: int, u: int) -> bool:
    """Whether a piece of team t is repeated in team u against the rules."""
    for s in range(lineup.shape[1]):
        piece = lineup[t, s]
        if rules.is_count[s] or piece < 0:
            continue
        scope = rules.scope[rules.category[piece]]
        if scope == FREE or (t != u and scope != IN_LINEUP):
            continue
        for k in range(lineup.shape[1]):
            if not rules.is_count[k] and lineup[u, k] == piece and (t != u or k != s):
                return True
    return False


@jit
def draw_team(  # noqa: C901 - in parts it takes five times as long, and it runs some fifty times for each pairing
    state: Any, lineup: Any, rules: Any, t: int, pieces: Any, least: Any, shares: Any, inside: Any, price: Any,
    cost: Any,
) -> bool:  # fmt: skip
    """Draw one team; False when its given pieces fall on the same slot or in too small an amount, when it is thinned
    because they stand in several slots, and as soon as it costs too much or is too large."""
    lineup[t] = -1
    spent, units = 0.0, 0
    for piece in pieces:
        if piece >= 0:
            s = _slot_of(state, piece, shares, inside)
            if s < 0 or lineup[t, s] >= 0:
                return False
            more, many = _put(state, lineup, rules, price, t, s, piece)
            spent, units = spent + more, units + many
    for s in range(lineup.shape[1]):
        if rules.is_count[s] or lineup[t, s] >= 0:
            continue
        if rules.partner[s] >= 0:
            lineup[t, rules.partner[s]] = 0
        if rules.pool_size[s] == 0 or (rules.optional[s] and mark(state) < EMPTY):
            continue
        piece = rules.pool[s, np.int64(mark(state) * rules.pool_size[s])]
        more, many = _put(state, lineup, rules, price, t, s, piece)
        spent, units = spent + more, units + many
        if spent > rules.budget[1] or units > rules.units[1]:
            return False
    cost[t] = spent
    for k in range(len(pieces)):
        if pieces[k] >= 0:
            many, slots = amount(lineup, rules, t, pieces[k])
            if many < least[k] or (slots > 1 and mark(state) >= 1.0 / slots):
                return False
    return bool(rules.budget[0] <= spent <= rules.budget[1] and rules.units[0] <= units <= rules.units[1])


@jit
def is_whole(lineup: Any, rules: Any, t: int) -> bool:
    """Whether no slot of a team is empty that may not be, nothing repeats in it, and all may be together."""
    for s in range(lineup.shape[1]):
        if not rules.is_count[s] and not rules.optional[s] and lineup[t, s] < 0:
            return False
    for pair in rules.apart:
        if amount(lineup, rules, t, pair[0])[1] and amount(lineup, rules, t, pair[1])[1]:
            return False
    return not _repeats(lineup, rules, t, t)


@jit
def may_meet(lineup: Any, rules: Any, cost: Any) -> bool:
    """Whether two valid teams make a valid lineup."""
    for piece in rules.required:
        if not stands(lineup, rules, piece):
            return False
    return near(rules.tolerance, cost[0], cost[1]) and not _repeats(lineup, rules, FIRST, SECOND)


@jit
def near(tolerance: float, one: float, other: float) -> bool:
    """Whether two teams of these costs may meet."""
    cheap, dear = min(one, other), max(one, other)
    return bool(np.isinf(tolerance) or dear <= cheap * (1 + tolerance))
