"""Teams that new prices make illegal, brought back within the rules by the least change.

The least change is the one in the fewest slots; of those the one that moves the least gold, counted slot by slot at the
new prices. What was changed in price stays where it is, for that is what is tried; only where nothing else helps may it
go as well. It is put in nowhere: the lineup would hold what is tried only by being refitted. A slot is changed to
another piece that the rules leave there, to nothing where it may be empty, or, of a count, to another number.

One slot is looked for among all such changes. Two to ``MOST`` slots are looked for by beam search (Lowerre 1976): of
what breaks the rules least so far, ``BEAM`` lineups are changed in one more slot each. So "in one slot" is exact, and a
change in more slots may have one in as many that moves less. Nothing is drawn at random: the same lineup and prices,
the same refit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.lineups.rules import FREE, IN_LINEUP, CompiledRules

Lineup = NDArray[np.int32]
Floats = NDArray[np.float64]
MOST, BEAM = 4, 32
_UNIT = 1e9
"""Gold that a unit too many or too few counts like."""
_EVEN = 1e-9
"""Less than this beyond a limit is rounding."""


def fits(rules: CompiledRules, lineup: Lineup) -> bool:
    """Whether a lineup int32[teams, slots] keeps to the rules: prices, units, and what may not repeat."""
    slots = [(t, s) for t in range(len(lineup)) for s in _pieces(rules) if lineup[t, s] >= 0]
    in_pools = all(lineup[t, s] in rules.pool[s, : rules.pool_size[s]] for t, s in slots)
    once = all(lineup[t, s] not in _taken(rules, lineup, t, s) for t, s in slots)
    whole = bool(np.isin(rules.required, lineup[:, _pieces(rules)]).all())
    return in_pools and once and whole and not _broken(rules, lineup[None])[0]


def refit(rules: CompiledRules, lineup: Lineup, tried: frozenset[int]) -> Lineup | None:
    """A lineup int32[teams, slots] that keeps to the rules, as near to this one as can be; None where none was found
    within ``MOST`` slots. ``tried``: the pieces, by their indices, that stay if they can and are put in nowhere."""
    found = _searched(rules, lineup, tried, tried)
    return found if found is not None or not tried else _searched(rules, lineup, frozenset(), tried)


def _searched(rules: CompiledRules, lineup: Lineup, kept: frozenset[int], out: frozenset[int]) -> Lineup | None:
    """``kept`` pieces stay, and those that are ``out`` are not put in."""
    front = lineup[None]
    for _ in range(MOST):
        tried = [lineups for one in front for lineups in _changed(rules, one, lineup, kept, out) if len(lineups)]
        if not tried:
            return None
        others = np.unique(np.concatenate(tried), axis=0)
        broken, moved = _broken(rules, others), _moved(rules, others, lineup)
        order = np.lexsort((moved, broken))
        if broken[order[0]] == 0:
            return np.asarray(others[order[0]])
        front = others[order[:BEAM]]
    return None


def _changed(
    rules: CompiledRules, lineup: Lineup, first: Lineup, kept: frozenset[int], out: frozenset[int]
) -> Iterator[NDArray[np.int32]]:
    """The lineup with one more slot unlike in ``first``, slot by slot, int32[k, teams, slots]."""
    fixed = {*kept, *rules.required.tolist()}
    for t, s in np.argwhere(lineup == first).tolist():
        mate, here = int(rules.partner[s]), int(lineup[t, s])
        if rules.is_count[s]:
            if lineup[t, mate] >= 0 and lineup[t, mate] == first[t, mate]:
                counts = np.arange(rules.low[s], rules.high[s] + 1)
                yield _with(lineup, t, s, counts[counts != here])
        elif here not in fixed:
            pool = rules.pool[s, : rules.pool_size[s]]
            pieces = pool[~np.isin(pool, [here, *out, *_taken(rules, lineup, t, s)])]
            if rules.optional[s] and here >= 0:
                pieces = np.append(pieces, -1)
            others = _with(lineup, t, s, pieces)
            if mate >= 0:  # a count goes with its piece
                many = np.where(others[:, t, mate] > 0, others[:, t, mate], rules.low[mate])
                others[:, t, mate] = np.where(pieces < 0, 0, many)
            yield others


def _with(lineup: Lineup, t: int, s: int, values: NDArray[Any]) -> NDArray[np.int32]:
    """One lineup for each value in a slot."""
    out = np.repeat(lineup[None], len(values), axis=0)
    out[:, t, s] = values
    return out


def _pieces(rules: CompiledRules) -> list[int]:
    """The slots that hold pieces."""
    return np.flatnonzero(~rules.is_count).tolist()


def _taken(rules: CompiledRules, lineup: Lineup, t: int, s: int) -> list[int]:
    """Pieces that may not stand in a slot as well, since they stand elsewhere."""
    held = ~rules.is_count & (lineup >= 0)
    held[t, s] = False
    scope = rules.scope[rules.category[np.where(held, lineup, 0)]]
    own = (np.arange(len(lineup)) == t)[:, None]
    found: list[int] = lineup[held & ((scope == IN_LINEUP) | ((scope != FREE) & own))].tolist()
    return found


def _gold(rules: CompiledRules, lineups: NDArray[np.int32]) -> Floats:
    """What each slot costs, of lineups int32[..., slots]; counts cost nothing by themselves."""
    price = np.append(rules.price, 0.0)
    gold = np.zeros(lineups.shape)
    for s in _pieces(rules):
        mate = int(rules.partner[s])
        gold[..., s] = price[lineups[..., s]] * (lineups[..., mate] if mate >= 0 else 1)
    return gold


def _broken(rules: CompiledRules, lineups: NDArray[np.int32]) -> Floats:
    """By how much lineups int32[n, teams, slots] break the rules of prices and units, float64[n]; 0: not at all."""
    cost = _gold(rules, lineups).sum(axis=-1)
    units = lineups[..., rules.is_count].sum(axis=-1)
    over = np.maximum(np.maximum(rules.budget[0] - cost, cost - rules.budget[1]), 0.0)
    apart = np.maximum(cost.max(axis=-1) - rules.dearest(cost.min(axis=-1)), 0.0)
    many = np.maximum(np.maximum(rules.units[0] - units, units - rules.units[1]), 0)
    total = np.where(over > _EVEN, over, 0.0).sum(axis=-1) + np.where(apart > _EVEN, apart, 0.0)
    return np.asarray(total + _UNIT * many.sum(axis=-1))


def _moved(rules: CompiledRules, lineups: NDArray[np.int32], first: Lineup) -> Floats:
    """How much gold was moved to make lineups int32[n, teams, slots] of the ``first``, float64[n]."""
    return np.asarray(np.abs(_gold(rules, lineups) - _gold(rules, first)).sum(axis=(-1, -2)))
