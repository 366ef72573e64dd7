"""Sampling, crossover and mutation of lineups, compiled: every lineup they return is valid and repeats nothing.

A lineup is ``int32[teams, slots]``. Crossover is a grouping crossover for unordered teams (whole teams of one parent
injected, clashes dropped and refilled; Falkenauer 1996) or a uniform one over matched teams; mutation swaps, replaces,
recounts. Both end in a repair that descends on the sum of rule violations, and fall back on the mother, which is valid,
when the repair fails (Lamarckian, V-B, says only "similar to the TSP"). Each child draws from a generator of its own,
seeded by one number, so a batch gives the same children whole or in parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.lineups.mending import (
    allowed,
    below,
    chance,
    change,
    compiled,
    drawn,
    fill,
    place_required,
    put_in_order,
    repair,
    write,
)

_TRIES = 64


@compiled
def _closest(state: Any, lineup: Any, team: Any, taken: Any) -> Any:
    """The team of the lineup, not taken yet, that has most slots in common with ``team``; ties at random."""
    teams, best, found = lineup.shape[0], -1, -1
    start = below(state, teams)
    for k in range(teams):
        t = (start + k) % teams
        if not taken[t]:
            same = (lineup[t] == team).sum()
            if same > best:
                best, found = same, t
    return found


@compiled
def _inject(state: Any, child: Any, father: Any, rules: Any, taken: Any) -> bool:
    """Grouping crossover: some whole teams of the father replace the most similar ones; clashing slots are refilled."""
    teams = child.shape[0]
    source = below(state, teams)
    taken[:] = False
    for i in range(1 + below(state, teams - 1)):
        team = father[(source + i) % teams]
        t = _closest(state, child, team, taken)
        write(child[t], team)
        taken[t] = True
    for t in range(teams):
        for s in range(child.shape[1]):
            clashes = child[t, s] >= 0 and not rules.is_count[s] and not allowed(child, rules, t, s, child[t, s])
            if clashes and not taken[t]:
                child[t, s] = -1
                if not fill(state, child, rules, t, s):
                    return False
    return True


@compiled
def _blend(state: Any, child: Any, father: Any, rules: Any, taken: Any) -> None:
    """Uniform crossover over matched teams: each slot comes from the father where that repeats nothing."""
    taken[:] = False
    for t in range(child.shape[0]):
        u = _closest(state, father, child[t], taken)
        taken[u] = True
        for s in range(child.shape[1]):
            if rules.is_count[s] or not chance(state, 0.5):
                continue
            piece = father[u, s]
            if piece == child[t, s] or (piece >= 0 and not allowed(child, rules, t, s, piece)):
                continue
            child[t, s] = piece
            if rules.partner[s] >= 0:
                child[t, rules.partner[s]] = father[u, rules.partner[s]]


@compiled
def _swap(state: Any, child: Any, rules: Any) -> None:
    """Exchange one slot between two teams where that repeats nothing."""
    teams = child.shape[0]
    t, s = below(state, teams), below(state, child.shape[1])
    u = (t + 1 + below(state, teams - 1)) % teams
    if rules.is_count[s]:
        s = rules.partner[s]
    a, b, mate = child[t, s], child[u, s], rules.partner[s]
    child[t, s], child[u, s] = -1, -1
    if (b < 0 or allowed(child, rules, t, s, b)) and (a < 0 or allowed(child, rules, u, s, a)):
        child[t, s], child[u, s] = b, a
        if mate >= 0:
            child[t, mate], child[u, mate] = child[u, mate], child[t, mate]
    else:
        child[t, s], child[u, s] = a, b


@compiled
def _mutate(state: Any, child: Any, rules: Any, swapping: float) -> None:
    changes = 1
    while changes < 6 and chance(state, 0.4):
        changes += 1
    for _ in range(changes):
        if child.shape[0] > 1 and chance(state, swapping):
            _swap(state, child, rules)
        else:
            change(state, child, rules, below(state, child.shape[0]))


@compiled
def canonical(lineups: Any, rules: Any) -> None:
    """Bring int32[n, teams, slots] into canonical form, in place: equal lineups become equal arrays."""
    kept = np.empty(lineups.shape[2], dtype=np.int32)
    for i in range(lineups.shape[0]):
        put_in_order(lineups[i], rules, kept)


@compiled
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
            if drawn(state, out[i], rules) and repair(state, out[i], rules, cost, units, kept):
                found[i] = True
                put_in_order(out[i], rules, kept)
                break
    return out, found


@compiled
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
            for t in range(teams):
                write(child[t], mothers[i, t])
            whole = True
            if chance(state, crossover):
                if teams > 1 and chance(state, grouping):
                    whole = _inject(state, child, fathers[i], rules, taken)
                else:
                    _blend(state, child, fathers[i], rules, taken)
            if whole and chance(state, mutation):
                _mutate(state, child, rules, swapping)
            if whole and place_required(state, child, rules) and repair(state, child, rules, cost, units, kept):
                break
            for t in range(teams):
                write(child[t], mothers[i, t])
        put_in_order(out[i], rules, kept)
    return out
