"""Lineups decoded from numbers, for searches that only move through numbers (random keys, Bean 1994).

Each slot's number picks a piece from its pool (or nothing) or a count. A piece that would repeat is replaced by the
next of the pool; broken budgets are mended by the operators' repair, whose random walk has a fixed seed. So equal
numbers always decode to the same lineup, and close numbers to similar lineups.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.compiling import njit
from engine.lineups.mending import allowed, drawn, place_required, put_in_order, repair
from engine.lineups.rules import CompiledRules

_EMPTY = 0.4
"""Share of [0, 1] that leaves an optional slot empty, as when lineups are drawn."""
_TRIES = 64
_jit = njit(cache=True, nogil=True)


def decode(numbers: NDArray[np.float64], rules: CompiledRules) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Canonical lineups int32[n, teams, slots] from float64[n, teams * slots] in [0, 1], and bool[n] whether a valid
    one was found."""
    slots = len(rules.is_count)
    picks = _picks(numbers.reshape(len(numbers), rules.teams, slots), rules)
    lineups, found = _decoded(picks, rules)
    return np.asarray(lineups), np.asarray(found)


def _picks(numbers: NDArray[np.float64], rules: CompiledRules) -> NDArray[np.int32]:
    """For each slot a count, or an index into the slot's pool (-1: nothing)."""
    filled = np.where(rules.optional, (numbers - _EMPTY) / (1 - _EMPTY), numbers)
    place = np.minimum(np.floor(filled * rules.pool_size), rules.pool_size - 1)
    span = rules.high - rules.low + 1
    count = rules.low + np.minimum(np.floor(numbers * span), span - 1)
    return np.where(rules.is_count, count, np.maximum(place, -1)).astype(np.int32)


@_jit
def _place(lineup: Any, picks: Any, rules: Any) -> bool:
    """Put the picks in their slots, or the next piece of the pool where a pick would repeat; False when a slot that
    must not be empty stays empty."""
    lineup[:] = -1
    for t in range(lineup.shape[0]):
        for s in range(lineup.shape[1]):
            if rules.is_count[s]:
                continue
            n, mate = rules.pool_size[s], rules.partner[s]
            if picks[t, s] >= 0:
                for k in range(n):
                    piece = rules.pool[s, (picks[t, s] + k) % n]
                    if allowed(lineup, rules, t, s, piece):
                        lineup[t, s] = piece
                        break
            if mate >= 0:
                lineup[t, mate] = picks[t, mate] if lineup[t, s] >= 0 else 0
            if lineup[t, s] < 0 and not rules.optional[s]:
                return False
    return True


@_jit
def _decoded(picks: Any, rules: Any) -> Any:
    n, teams, slots = picks.shape
    out = np.full((n, teams, slots), -1, dtype=np.int32)
    found = np.zeros(n, dtype=np.bool_)
    state = np.empty(1, dtype=np.uint64)
    cost, units = np.empty(teams), np.empty(teams, dtype=np.int64)
    kept = np.empty(slots, dtype=np.int32)
    for i in range(n):
        state[0] = 1
        for attempt in range(_TRIES):  # the first eighth from the picks, then whatever is valid
            near = attempt < _TRIES // 8
            whole = _place(out[i], picks[i], rules) if near else drawn(state, out[i], rules)
            if whole and place_required(state, out[i], rules) and repair(state, out[i], rules, cost, units, kept):
                put_in_order(out[i], rules, kept)
                found[i] = True
                break
    return out, found
