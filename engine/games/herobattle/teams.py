"""Random valid teams, compiled.

Every choice of slots is equally likely among those within the rules: pieces and numbers are drawn one by one and the
team is thrown away when it breaks a rule.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from engine.games.herobattle.jit import entry, helper
from engine.games.herobattle.kernel import draw
from engine.games.herobattle.layout import F64, I32, I64
from engine.games.herobattle.spec import MAX_SOLDIERS, game_spec
from engine.simulators.contract import GameSpec
from engine.splitmix import mix


class Roster(NamedTuple):
    """What the sampler needs: costs float64[pieces], first index and size of each category int64[4, 2] (heroes,
    skills, equipment, soldiers), and limits: budget low, budget high, soldiers low, soldiers high."""

    costs: F64
    groups: I64
    limits: F64


def roster(spec: GameSpec | None = None) -> Roster:
    """The sampler's tables of a spec (the unpatched game where none is given)."""
    spec = spec or game_spec()
    groups = []
    for category in spec.categories:
        members = [i for i, p in enumerate(spec.pieces) if p.category == category.id]
        groups.append((members[0], len(members)))
    rules = spec.rules
    limits = np.array([rules.budget_low, rules.budget_high, rules.units_low, rules.units_high], dtype=float)
    return Roster(np.array([p.cost for p in spec.pieces]), np.array(groups, np.int64), limits)


@helper
def _pick(key: Any, turn: int, event: int, size: int) -> int:
    return int(draw(key, turn, np.uint64(event)) * size)


@helper
def _propose(row: I32, key: Any, turn: int, groups: I64) -> None:
    for slot in range(2):
        row[slot] = groups[slot, 0] + _pick(key, turn, slot, groups[slot, 1])
    for slot, group, event in ((2, 2, 2), (4, 3, 4)):
        size = groups[group, 1]
        one, other = _pick(key, turn, event, size), _pick(key, turn, event + 1, size - 1)
        step = 1 if slot == 2 else 2
        row[slot] = groups[group, 0] + one
        row[slot + step] = groups[group, 0] + other + (1 if other >= one else 0)
    row[5] = 1 + _pick(key, turn, 6, MAX_SOLDIERS)
    row[7] = _pick(key, turn, 7, MAX_SOLDIERS + 1)
    if row[7] == 0:
        row[6] = -1


@helper
def _cost(row: I32, costs: F64) -> Any:
    total = costs[row[0]] + costs[row[1]] + costs[row[2]] + costs[row[3]] + costs[row[4]] * row[5]
    return total + (costs[row[6]] * row[7] if row[6] >= 0 else 0.0)


@helper
def draw_team(row: I32, key: Any, costs: F64, groups: I64, limits: F64) -> Any:
    """Write the team of a key into a row; returns its cost."""
    turn, total, fits = 0, 0.0, False
    while not fits:
        _propose(row, key, turn, groups)
        turn += 1
        count = row[5] + row[7]
        total = _cost(row, costs)
        fits = limits[2] <= count <= limits[3] and limits[0] <= total <= limits[1]
    return total


@entry
def _sample(seed: Any, costs: F64, groups: I64, limits: F64, rows: I32, totals: F64) -> None:
    for r in range(rows.shape[0]):
        totals[r] = draw_team(rows[r], mix(seed + np.uint64(r)), costs, groups, limits)


def sample_teams(n: int, seed: int, tables: Roster | None = None) -> tuple[I32, F64]:
    """n random valid teams int32[n, 8] and their costs float64[n]; team r depends on the seed and r alone."""
    tables = tables or roster()
    rows, totals = np.empty((n, 8), np.int32), np.empty(n)
    _sample(np.uint64(mix(np.uint64(seed))), *tables, rows, totals)
    return rows, totals
