"""The lineups and baseline teams of a study on both versions of its game, refitted where new prices make them
illegal."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.change.refit import fits, refit
from engine.change.table import KEPT, REFITTED, UNFIT
from engine.config.lineups import LineupConfig, PastedBaselines, TeamRow
from engine.config.study import ChangeConfig
from engine.errors import ConfigError
from engine.lineups.baselines import BaselineTeams
from engine.lineups.operators import canonical
from engine.lineups.rules import CompiledRules, compile_rules
from engine.lineups.schema import team_row, team_slots
from engine.simulators.contract import GameSpec

Rows = NDArray[np.int32]


class Fitted(NamedTuple):
    """``rows`` int32[2, n, teams, slots] on both versions; ``fit`` uint8[n]: kept, refitted or unfit."""

    rows: Rows
    fit: NDArray[np.uint8]


def fitted(config: ChangeConfig, before: GameSpec, after: GameSpec) -> Fitted:
    """The lineups of a study on both versions. One that broke the rules before the change is played as it is. Raises
    ConfigError for slots that are wrong."""
    old, new = compile_rules(before, config.lineups), compile_rules(after, config.lineups)
    rows = np.stack([_rows(config, before, old), _rows(config, after, new)])
    tried = repriced(before, after)
    fit = np.full(rows.shape[1], KEPT, np.uint8)
    for i in range(rows.shape[1]):
        if fits(new, rows[1, i]) or not fits(old, rows[0, i]):
            continue
        found = refit(new, rows[1, i], tried)
        fit[i] = UNFIT if found is None else REFITTED
        rows[1, i] = rows[1, i] if found is None else _in_order(found, new)
    return Fitted(rows, fit)


def baselines(config: LineupConfig, found: BaselineTeams, before: GameSpec, after: GameSpec) -> LineupConfig:
    """The same rules with the baseline teams, as they were resolved before the change, given; those that new prices
    make illegal by themselves are refitted, where that can be."""
    alone = config.model_copy(update={"teams": 1, "cost_tolerance": None, "required": ()})
    old, new = compile_rules(before, alone), compile_rules(after, alone)
    teams = []
    for name, row in zip(found.names, found.rows, strict=True):
        slots = team_slots(before, row)
        own = team_row(after, TeamRow(slots=slots))[None]
        if fits(old, row[None]) and not fits(new, own):
            other = refit(new, own, repriced(before, after))
            slots = team_slots(after, (own if other is None else _in_order(other, new))[0])
        teams.append(TeamRow(name=name, slots=slots))
    return config.model_copy(update={"baselines": PastedBaselines(teams=tuple(teams))})


def repriced(before: GameSpec, after: GameSpec) -> frozenset[int]:
    """The pieces whose price is another, by their places after the change."""
    cost = {piece.id: piece.cost for piece in before.pieces}
    return frozenset(i for i, p in enumerate(after.pieces) if p.cost != cost.get(p.id, p.cost))


def replaced(spec: GameSpec, first: Rows, last: Rows) -> list[dict[str, Any]]:
    """What a refit of int32[teams, slots] changed, a row for each piece with its count, in words; by the game after the
    change."""
    counts = {slot.of: s for s, slot in enumerate(spec.slots) if slot.kind == "count"}
    found = []
    for t in range(len(first)):
        for s, slot in enumerate(spec.slots):
            if slot.kind == "piece":
                before, after = (_said(spec, rows[t], s, counts.get(slot.id)) for rows in (first, last))
                found += [{"team": t, "slot": slot.title, "before": before, "after": after}] if before != after else []
    return found


def _said(spec: GameSpec, row: Rows, piece: int, count: int | None) -> str:
    """ "Pikes ×4"; as ``engine.lineups.schema.team_parts`` says it."""
    name = spec.pieces[row[piece]].name if row[piece] >= 0 else "nothing"
    return name if count is None or row[piece] < 0 else f"{name} ×{row[count]}"


def _rows(config: ChangeConfig, spec: GameSpec, rules: CompiledRules) -> Rows:
    """The lineups int32[n, teams, slots], their slots in canonical order and their teams as they stand."""
    rows, wrong = [], list[tuple[str, str]]()
    for i, each in enumerate(config.replayed):
        for t, team in enumerate(each.teams):
            try:
                rows.append(team_row(spec, team, f"replayed.{i}.teams.{t}.slots."))
            except ConfigError as error:
                wrong += error.problems
    if wrong:
        raise ConfigError(wrong)
    return _in_order(np.stack(rows), rules).reshape(len(config.replayed), rules.teams, -1)


def _in_order(teams: Rows, rules: CompiledRules) -> Rows:
    """Teams int32[k, slots] with interchangeable slots in canonical order, the teams as they stand."""
    canonical(alone := np.ascontiguousarray(teams[:, None]), rules)
    return np.asarray(alone[:, 0])
