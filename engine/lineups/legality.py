"""Why a lineup may not be fielded: its teams are those of an earlier build, and prices and rules have changed since."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from engine.lineups.drawing import costs
from engine.lineups.rules import FREE, IN_LINEUP, CompiledRules
from engine.simulators.contract import GameSpec
from engine.text import figures

Lineup = NDArray[np.int32]
ROUNDING = 1e-9


def obstacles(lineup: Lineup, rules: CompiledRules, spec: GameSpec) -> list[str]:
    """What keeps a lineup int32[teams, slots] from being fielded under the rules, a clause each; none where it may."""
    return [*_slots(lineup, rules, spec), *_repeats(lineup, rules, spec), *_weights(lineup, rules), *_missing(
        lineup, rules, spec
    )]  # fmt: skip


def _slots(lineup: Lineup, rules: CompiledRules, spec: GameSpec) -> Iterator[str]:
    for s, slot in enumerate(spec.slots):
        for value in dict.fromkeys(lineup[:, s].tolist()):
            if not rules.is_count[s] and value >= 0 and value not in rules.pool[s, : rules.pool_size[s]]:
                yield f"{spec.pieces[value].name} may not be fielded"
        if rules.is_count[s]:
            many = lineup[lineup[:, rules.partner[s]] >= 0, s]
            if ((many < rules.low[s]) | (many > rules.high[s])).any():
                yield f"{slot.title} must be {rules.low[s]} to {rules.high[s]}"


def _repeats(lineup: Lineup, rules: CompiledRules, spec: GameSpec) -> Iterator[str]:
    pieces = [row[~rules.is_count & (row >= 0)].tolist() for row in lineup]
    for piece in dict.fromkeys(piece for team in pieces for piece in team):
        scope, counts = rules.scope[rules.category[piece]], [team.count(piece) for team in pieces]
        if scope != FREE and (max(counts) > 1 or (scope == IN_LINEUP and sum(counts) > 1)):
            yield f"{spec.pieces[piece].name} may not stand in it twice"


def _weights(lineup: Lineup, rules: CompiledRules) -> Iterator[str]:
    cost, units = costs(rules, lineup), lineup[:, rules.is_count].sum(axis=1)
    low, high = rules.budget
    if (cost < low - ROUNDING).any() or (cost > high + ROUNDING).any():
        dear = cost.max() > high + ROUNDING
        end, word = (high, "most") if dear else (low, "least")
        own = float(cost.max() if dear else cost.min())
        yield f"a team costs {figures(own)}, and {figures(float(end))} is the {word}"
    if (units < rules.units[0]).any() or (units > rules.units[1]).any():
        yield f"a team must have {rules.units[0]} to {rules.units[1]} units"
    if cost.max() > rules.dearest(cost.min()) + ROUNDING:
        apart = 100 * (cost.max() / cost.min() - 1) if cost.min() > 0 else np.inf
        yield f"its teams cost {apart:.1f} % apart, and {figures(100 * rules.tolerance)} % is the most"


def _missing(lineup: Lineup, rules: CompiledRules, spec: GameSpec) -> Iterator[str]:
    there = set(lineup[:, ~rules.is_count].ravel().tolist())
    yield from (f"{spec.pieces[piece].name} is required" for piece in rules.required.tolist() if piece not in there)
