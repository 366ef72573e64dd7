"""A project's lineup rules joined with the game's own, as arrays; all reasons why rules cannot be met, at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.config.lineups import LineupConfig
from engine.errors import ConfigError
from engine.simulators.contract import GameSpec

FREE, IN_TEAM, IN_LINEUP = 0, 1, 2
"""Scope in which pieces of a category must not repeat."""


class CompiledRules(NamedTuple):
    """Rules as arrays. S slots, P pieces, C categories; ``pool[s, :pool_size[s]]`` are the pieces slot s may hold."""

    teams: int
    is_count: NDArray[np.bool_]  # [S]
    partner: NDArray[np.int32]  # [S] piece slot <-> its count slot, -1 where none
    optional: NDArray[np.bool_]  # [S]
    low: NDArray[np.int32]  # [S] of count slots
    high: NDArray[np.int32]  # [S]
    group: NDArray[np.int32]  # [S] interchangeable piece slots share a number, -1 where none
    pool: NDArray[np.int32]  # [S, largest pool]
    pool_size: NDArray[np.int32]  # [S]
    price: NDArray[np.float64]  # [P]
    category: NDArray[np.int32]  # [P]
    scope: NDArray[np.int32]  # [C] FREE, IN_TEAM or IN_LINEUP
    required: NDArray[np.int32]  # pieces each lineup contains
    apart: NDArray[np.int32]  # [n, 2] pieces that no team has both of
    budget: NDArray[np.float64]  # [2] cost of one team
    units: NDArray[np.int32]  # [2] sum of the count slots of one team
    tolerance: float  # largest (dearest - cheapest) / cheapest; inf where prices may differ

    def dearest(self, cheapest: NDArray[np.float64]) -> NDArray[np.float64]:
        """The highest permitted cost of another team beside these; infinite where costs may differ, even beside a team
        that costs nothing."""
        free = np.isinf(self.tolerance)
        return np.full_like(cheapest, np.inf) if free else cheapest * (1 + self.tolerance)


def compile_rules(spec: GameSpec, config: LineupConfig) -> CompiledRules:
    """Join the game's rules and the project's. Raises ConfigError with every reason why they cannot be met."""
    reasons = feasibility(spec, config)
    if reasons:
        raise ConfigError([(f"lineups.{place}" if place else "lineups", text) for place, text in reasons])
    return _compile(spec, config)


def _compile(spec: GameSpec, config: LineupConfig) -> CompiledRules:
    slot_at = {slot.id: s for s, slot in enumerate(spec.slots)}
    category_at = {c.id: i for i, c in enumerate(spec.categories)}
    banned = {*spec.rules.banned, *config.banned}
    partner = np.full(len(spec.slots), -1, dtype=np.int32)
    for s, slot in enumerate(spec.slots):
        if slot.kind == "count":
            partner[s], partner[slot_at[slot.of]] = slot_at[slot.of], s
    pools = [
        [i for i, p in enumerate(spec.pieces) if p.category == slot.category and p.id not in banned]
        if slot.kind == "piece"
        else []
        for slot in spec.slots
    ]
    pool = np.full((len(pools), max(1, *map(len, pools))), -1, dtype=np.int32)
    for s, pieces in enumerate(pools):
        pool[s, : len(pieces)] = pieces
    groups = {name: g for g, name in enumerate(sorted({slot.group for slot in spec.slots if slot.group}))}
    index = spec.piece_index()
    low, high = limits(spec, config)
    return CompiledRules(
        teams=config.teams,
        is_count=np.array([slot.kind == "count" for slot in spec.slots]),
        partner=partner,
        optional=np.array([slot.optional for slot in spec.slots]),
        low=np.array([slot.low for slot in spec.slots], dtype=np.int32),
        high=np.array([slot.high for slot in spec.slots], dtype=np.int32),
        group=np.array([groups.get(slot.group, -1) for slot in spec.slots], dtype=np.int32),
        pool=pool,
        pool_size=np.array([len(p) for p in pools], dtype=np.int32),
        price=np.array([p.cost for p in spec.pieces], dtype=np.float64),
        category=np.array([category_at[p.category] for p in spec.pieces], dtype=np.int32),
        scope=_scopes(spec, config),
        required=np.array([index[i] for i in dict.fromkeys((*spec.rules.required, *config.required))], dtype=np.int32),
        apart=np.array([[index[i] for i in pair] for pair in config.apart], dtype=np.int32).reshape(-1, 2),
        budget=np.array([low[0], high[0]], dtype=np.float64),
        units=np.array([low[1], high[1]], dtype=np.int32),
        tolerance=np.inf if config.cost_tolerance is None else config.cost_tolerance,
    )


def limits(spec: GameSpec, config: LineupConfig) -> tuple[tuple[float, int], tuple[float, int]]:
    """((lowest cost, fewest units), (highest cost, most units)) of one team: the narrower of game and project."""
    rules = spec.rules
    low = (max(rules.budget_low, config.budget_low or 0.0), max(rules.units_low, config.units_low or 0))
    high = (
        min(rules.budget_high, np.inf if config.budget_high is None else config.budget_high),
        min(rules.units_high, 10**6 if config.units_high is None else config.units_high),
    )
    return low, high


def _scopes(spec: GameSpec, config: LineupConfig) -> NDArray[np.int32]:
    scope = dict.fromkeys((c.id for c in spec.categories), FREE)
    for rule in spec.rules.distinct:
        wide = rule.scope == "lineup" and rule.category not in config.repeat
        scope[rule.category] = IN_LINEUP if wide else IN_TEAM
    return np.array(list(scope.values()), dtype=np.int32)


def feasibility(spec: GameSpec, config: LineupConfig) -> list[tuple[str, str]]:
    """Reasons why no lineup can meet these rules, as (field, sentence); empty when none was found."""
    found = _unknown_names(spec, config)
    if found:
        return found
    compiled = _compile(spec, config)
    return _too_few_pieces(spec, config, compiled) + _required_fit(spec, config, compiled) + _costs_fit(compiled)


def _unknown_names(spec: GameSpec, config: LineupConfig) -> list[tuple[str, str]]:
    pieces, categories = spec.piece_index(), {c.id for c in spec.categories}
    found = [("required", f"{i!r} is not a piece of this game") for i in config.required if i not in pieces]
    found += [("banned", f"{i!r} is not a piece of this game") for i in config.banned if i not in pieces]
    every = dict.fromkeys(piece for pair in config.apart for piece in pair)
    found += [("apart", f"{i!r} is not a piece of this game") for i in every if i not in pieces]
    found += [("repeat", f"{c!r} is not a category of this game") for c in config.repeat if c not in categories]
    both = set(config.required) & set(spec.rules.banned) | set(config.banned) & set(spec.rules.required)
    names = {p.id: p.name for p in spec.pieces}
    found += [("required", f"{names.get(i, i)} is both required and banned") for i in sorted(both)]
    return found


def _too_few_pieces(spec: GameSpec, config: LineupConfig, rules: CompiledRules) -> list[tuple[str, str]]:
    found = []
    for c, category in enumerate(spec.categories):
        slots = [s for s, slot in enumerate(spec.slots) if slot.kind == "piece" and slot.category == category.id]
        needed = sum(not rules.optional[s] for s in slots)
        if rules.scope[c] == IN_LINEUP:
            needed *= config.teams
        elif rules.scope[c] == FREE:
            needed = min(needed, 1)
        have = int(rules.pool_size[slots[0]]) if slots else 0
        if have < needed:
            each = f" for {config.teams} teams that share none" if rules.scope[c] == IN_LINEUP else ""
            what = f"1 {category.title.lower()} is" if needed == 1 else f"{needed} {category.plural.lower()} are"
            left = "none is" if not have else "only 1 is" if have == 1 else f"only {have} are"
            text = f"{what} needed{each}, but {left} allowed"
            found.append(("banned", text))
    return found


def _required_fit(spec: GameSpec, config: LineupConfig, rules: CompiledRules) -> list[tuple[str, str]]:
    found = []
    for c, category in enumerate(spec.categories):
        wanted = int((rules.category[rules.required] == c).sum())
        places = config.teams * sum(slot.kind == "piece" and slot.category == category.id for slot in spec.slots)
        if wanted > places:
            text = f"{wanted} {category.plural.lower()} are required, but {config.teams} teams have room for {places}"
            found.append(("required", text))
    names, needed = [p.name for p in spec.pieces], set(rules.required.tolist())
    for one, other in rules.apart.tolist() if config.teams == 1 else ():
        if {one, other} <= needed:
            found.append(("apart", f"{names[one]} and {names[other]} are both required, and kept apart"))
    return found


def _costs_fit(rules: CompiledRules) -> list[tuple[str, str]]:
    cheapest, dearest = _cost_by_units(rules)
    units = np.arange(len(cheapest))
    allowed = (units >= rules.units[0]) & (units <= rules.units[1]) & np.isfinite(cheapest)
    low, high = rules.budget
    if not allowed.any():
        possible = units[np.isfinite(cheapest)]
        if not len(possible):
            return []  # a slot without pieces: reported by its own reason
        text = f"a team can have {possible.min()} to {possible.max()} units, not {rules.units[0]} to {rules.units[1]}"
        return [("units_low", text)]
    if cheapest[allowed].min() > high:
        return [("budget_high", f"the cheapest team costs {cheapest[allowed].min():,.0f}, above {high:,.0f}")]
    if dearest[allowed].max() < low:
        return [("budget_low", f"the dearest team costs {dearest[allowed].max():,.0f}, below {low:,.0f}")]
    return []


def _cost_by_units(rules: CompiledRules) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lowest and highest cost of a team for each number of units (inf / -inf where impossible). These are bounds: a
    piece may stand in two slots here, so they are never too strict."""
    most = int(rules.high[rules.is_count].sum())
    best = [np.full(most + 1, np.inf), np.full(most + 1, -np.inf)]
    best[0][0] = best[1][0] = 0.0
    for s in np.flatnonzero(~rules.is_count):
        prices = rules.price[rules.pool[s, : rules.pool_size[s]]]
        mate = rules.partner[s]
        counts = range(rules.low[mate], rules.high[mate] + 1) if mate >= 0 else range(1, 2)
        steps = [(n if mate >= 0 else 0, n) for n in counts] if len(prices) else []
        for pick, better, start in ((np.min, np.minimum, np.inf), (np.max, np.maximum, -np.inf)):
            side = 0 if start > 0 else 1
            new = best[side].copy() if rules.optional[s] else np.full(most + 1, start)
            for shift, n in steps:
                moved = np.full(most + 1, start)
                moved[shift:] = best[side][: most + 1 - shift] + n * pick(prices)
                new = better(new, moved)
            best[side] = new
    return best[0], best[1]
