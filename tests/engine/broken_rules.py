"""Which rules lineups break, counted apart from what makes lineups: so the one can be checked by the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.lineups.rules import FREE, IN_LINEUP, CompiledRules


def violations(lineups: NDArray[np.int32], rules: CompiledRules) -> NDArray[np.int64]:
    """How many rules each of int32[n, teams, slots] breaks."""
    count = _slot_violations(lineups, rules) + _repeats(lineups, rules)
    cost, units = _weights(lineups, rules)
    count += ((cost < rules.budget[0] - 1e-9) | (cost > rules.budget[1] + 1e-9)).sum(axis=1)
    count += ((units < rules.units[0]) | (units > rules.units[1])).sum(axis=1)
    count += cost.max(axis=1) > rules.dearest(cost.min(axis=1)) + 1e-9
    pieces = lineups[:, :, ~rules.is_count].reshape(len(lineups), -1)
    for piece in rules.required:
        count += ~(pieces == piece).any(axis=1)
    for one, other in rules.apart:
        of_team = lineups[:, :, ~rules.is_count]
        count += ((of_team == one).any(axis=2) & (of_team == other).any(axis=2)).sum(axis=1)
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
