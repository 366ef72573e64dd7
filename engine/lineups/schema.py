"""Conversion between what people write and the engine's rows: teams by piece ids or names, patches by path, labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.config.lineups import LineupConfig, ObjectiveConfig, ObjectiveSetConfig, PastedBaselines, TeamRow
from engine.errors import ConfigError
from engine.formula import COST, CURVED, FIXED, parse
from engine.formula_bounds import Span, bounds
from engine.simulators.contract import GameSpec, Metric
from engine.text import figures, written

EMPTY = -1
EMPTY_TEAM = "Empty team"
"""What a team without pieces is called."""
OTHER_GAME = "the simulator now describes another game than the one this data was made for"


def spec_from_json(data: object) -> GameSpec:
    """A GameSpec from plain JSON values. Raises ConfigError."""
    try:
        return msgspec.convert(data, GameSpec)
    except msgspec.ValidationError as error:
        raise ConfigError([("spec", f"the simulator's description is not valid: {error}")]) from error


def spec_to_json(spec: GameSpec) -> dict[str, object]:
    """The spec as plain JSON values."""
    plain: dict[str, object] = msgspec.to_builtins(spec)
    return plain


HINTED, LONGEST_HINTED = 10, 200
"""Problems with a hint at a name that is alike, and characters of a name that gets one."""


def check_patch(spec: GameSpec, patch: Mapping[str, float]) -> list[tuple[str, str]]:
    """Problems of a patch, as (path, sentence): unknown paths, values out of bounds, new pieces without a cost."""
    game = spec.extended(patch)
    tunables, found = game.tunables(), []
    for piece in game.pieces[len(spec.pieces) :]:
        if f"{piece.id}.cost" not in patch:
            found.append((f"{piece.id}.cost", f"{piece.name} is new and needs a cost"))
    for path, value in patch.items():
        parameter = tunables.get(path)
        if parameter is None:
            hint = did_you_mean(path, tunables, found)
            found.append((path, f"the game has no such number{hint}"))
        elif not parameter.low <= value <= parameter.high:
            unit = f" {parameter.unit}" if parameter.unit else ""
            found.append(
                (path, f"{figures(value)} is outside {figures(parameter.low)} to {figures(parameter.high)}{unit}")
            )
    return found


def did_you_mean(name: str, known: Iterable[str], problems: Sequence[object]) -> str:
    """A hint behind the problem of an unknown name; empty where none is alike, or where ``problems`` has many already:
    a comparison with every name takes long."""
    if len(problems) >= HINTED or len(name) > LONGEST_HINTED:
        return ""
    near = get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]}?" if near and _alike(name, near[0]) else ""


def _alike(name: str, near: str) -> bool:
    """Whether each part of a path is near the other's: “nobody.cost” is not near “bows.cost” for its second part."""
    one, other = name.split("."), near.split(".")
    return len(one) == len(other) and all(get_close_matches(a, [b], n=1) for a, b in zip(one, other, strict=True))


def merged_patch(spec: GameSpec, patch: Mapping[str, float], new: Mapping[str, float]) -> dict[str, float]:
    """``patch`` with ``new`` on top; a value that is the simulator's own again leaves the patch."""
    both = {**patch, **new}
    tunables, own = spec.extended(both).tunables(), spec.own().tunables()
    return {
        path: float(v)
        for path, v in sorted(both.items())
        if path in tunables and (path not in own or v != own[path].default)
    }


_MOST = 2**31 - 1


def team_row(spec: GameSpec, team: TeamRow, place: str = "") -> NDArray[np.int32]:
    """A team, given by piece ids or names, as int32[slots]. Raises ConfigError naming each slot that is wrong."""
    index = spec.piece_index()
    by_name = {p.name.casefold(): i for i, p in enumerate(spec.pieces)}
    row = np.full(len(spec.slots), EMPTY, dtype=np.int32)
    found: list[tuple[str, str]] = []
    known = {slot.id for slot in spec.slots}
    found += [(f"{place}{key}", "the game has no such slot") for key in team.slots if key not in known]
    for s, slot in enumerate(spec.slots):
        value = team.slots.get(slot.id)
        if slot.kind == "count":
            filled = team.slots.get(slot.of) not in (None, "")
            row[s] = _count(value, slot.low if filled else 0, f"{place}{slot.id}", found)
        elif value not in (None, ""):
            row[s] = _piece(spec, index, by_name, str(value), slot.category, f"{place}{slot.id}", found)
        elif not slot.optional:
            found.append((f"{place}{slot.id}", f"{slot.title} is needed"))
    if found:
        raise ConfigError(found)
    return row


def _count(value: object, default: int, place: str, found: list[tuple[str, str]]) -> int:
    if value in (None, ""):
        return default
    try:
        number = int(str(value))
    except ValueError:
        found.append((place, f"{value!r} is not a whole number"))
        return default
    if abs(number) > _MOST:
        found.append((place, f"{str(value)[:20]} is more than any slot holds"))
        return default
    return number


def _piece(
    spec: GameSpec,
    index: Mapping[str, int],
    by_name: Mapping[str, int],
    text: str,
    category: str,
    place: str,
    found: list[tuple[str, str]],
) -> int:
    i = index.get(text, by_name.get(text.casefold().strip()))
    if i is None:
        hint = did_you_mean(text, [p.name for p in spec.pieces if p.category == category], found)
        found.append((place, f"{text!r} is not a piece of this game{hint}"))
        return EMPTY
    if spec.pieces[i].category != category:
        found.append((place, f"{spec.pieces[i].name} is not one of the {spec.category(category).plural.lower()}"))
        return EMPTY
    return i


def team_slots(spec: GameSpec, row: Sequence[int]) -> dict[str, str | int]:
    """The inverse of ``team_row``: slot id to piece id or number, empty slots left out."""
    filled = {slot.id for slot, v in zip(spec.slots, row, strict=True) if slot.kind == "piece" and v >= 0}
    return {
        slot.id: int(v) if slot.kind == "count" else spec.pieces[v].id
        for slot, v in zip(spec.slots, row, strict=True)
        if (slot.of in filled if slot.kind == "count" else v >= 0)
    }


def team_parts(spec: GameSpec, row: Sequence[int]) -> list[str]:
    """The pieces of a team in words, in slot order: ``["Frost Captain", "Warhorn", "Pikes ×6"]``. Names are the game's,
    never inflected for number."""
    counts = {slot.of: int(row[s]) for s, slot in enumerate(spec.slots) if slot.kind == "count"}
    parts = []
    for s, slot in enumerate(spec.slots):
        if slot.kind == "piece" and row[s] >= 0:
            name = spec.pieces[row[s]].name
            parts.append(f"{name} ×{counts[slot.id]}" if slot.id in counts else name)
    return parts


def team_name(spec: GameSpec, row: Sequence[int]) -> str:
    """The name of a team's first piece: its hero, in hero-led games."""
    parts = team_parts(spec, row)
    return parts[0] if parts else EMPTY_TEAM


def team_costs(spec: GameSpec, rows: NDArray[np.int32]) -> NDArray[np.float64]:
    """Cost of each team: rows int32[..., slots] gives float64[...]."""
    prices = np.array([p.cost for p in spec.pieces] + [0.0])
    counts = {slot.of: s for s, slot in enumerate(spec.slots) if slot.kind == "count"}
    total = np.zeros(rows.shape[:-1])
    for s, slot in enumerate(spec.slots):
        if slot.kind == "piece":
            price = prices[rows[..., s]]
            total += price * rows[..., counts[slot.id]] if slot.id in counts else price
    return total


def presence(spec: GameSpec, rows: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Presence of each piece in each team: rows int32[n, slots] give bool[n, pieces]."""
    have = np.zeros((len(rows), len(spec.pieces) + 1), dtype=bool)
    for s, slot in enumerate(spec.slots):
        if slot.kind == "piece":
            have[np.arange(len(rows)), rows[:, s]] = True
    return have[:, :-1]


def names(spec: GameSpec, pieces: Iterable[int]) -> str:
    """``Frost Captain + Warhorn`` for piece indices."""
    return " + ".join(spec.pieces[i].name for i in pieces)


def variables(spec: GameSpec, teams: int) -> tuple[dict[str, str], dict[str, str]]:
    """Variables of a formula with their meanings: (those with one number a team, those with one number a lineup)."""
    team: dict[str, str] = {"cost": "what the team costs"}
    for metric in spec.side_metrics:
        what = f"{metric.title.lower()}, average"
        team[metric.name] = f"{what} over all the team's battles"
        team[f"{metric.name}_vs_baselines"] = f"{what} over its battles with the baseline teams"
        team[f"{metric.name}_first"] = f"{what} over the battles in which it had the first seat"
        team[f"{metric.name}_second"] = f"{what} over the battles in which it had the second seat"
        if teams > 1:
            team[f"{metric.name}_vs_teams"] = f"{what} over its battles with the lineup's other teams"
    lineup = {m.name: f"{m.title.lower()}, average over all battles of the lineup" for m in spec.battle_metrics}
    return team, lineup


def metric_of(spec: GameSpec, name: str) -> Metric | None:
    """The metric that a variable of a formula averages; None for a cost."""
    ends = ("", "_vs_baselines", "_first", "_second", "_vs_teams")
    side = [m for m in spec.side_metrics if any(name == f"{m.name}{end}" for end in ends)]
    return next((m for m in (*side, *spec.battle_metrics) if m in side or m.name == name), None)


def unbounded(spec: GameSpec, config: ObjectiveSetConfig, teams: int) -> str:
    """Why these objectives have no bounds before all battles are played, as a sentence; empty where they have, that is,
    where formulas are weighted sums of metrics with a range. Ignores formulas that cannot be parsed."""
    team, lineup = (set(names) for names in variables(spec, teams))
    try:
        constraints = [parse(text, team, lineup) for text in config.constraints]
        formulas = [parse(objective.formula, team, lineup) for objective in config.objectives]
    except ConfigError:
        return ""
    if any(formula.degree != FIXED for formula in constraints):
        return "bounds need conditions that no battle changes: leave out those with numbers of battles"
    for objective, formula in zip(config.objectives, formulas, strict=True):
        if formula.degree == CURVED or objective.low is not None or objective.high is not None:
            return (
                f"bounds need objectives that are weighted sums of what battles end with; “{objective.title}” is none "
                "(strongest, weakest, a ratio, a floor or a cap)"
            )
        for metric in (metric_of(spec, name) for name in sorted(formula.names - {COST})):
            if metric is None or metric.low is None or metric.high is None:
                named = "" if metric is None else f"“{metric.title}” of "
                return f"bounds need numbers with a range; {named}“{objective.title}” has none"
    return ""


class Spans(NamedTuple):
    """Bounds of objectives: ``low`` and ``high`` float64[n, m], infinite where not declared; ``exact`` bool[m]: they do
    not depend on battles, or not on chance; ``plain`` bool[m]: weighted sums of means, with a value for each replicate
    once the strongest and the weakest team are chosen."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    exact: NDArray[np.bool_]
    plain: NDArray[np.bool_]


FARTHEST = 1e15
"""Largest absolute value of a line, as of a number in a formula."""


def unreachable_lines(spec: GameSpec, config: ObjectiveSetConfig, teams: int) -> Iterator[tuple[str, str]]:
    """(place, sentence) for each line that no lineup can cross, or that is no ordinary number. Ignores formulas that
    cannot be parsed."""
    known = known_spans(spec, np.full((1, teams), np.inf))
    known[COST] = Span(np.zeros((1, teams)), np.full((1, teams), np.inf))
    for i, objective in enumerate(config.objectives):
        line, place = objective.threshold, f"objectives.objectives.{i}.threshold"
        if line is None:
            continue
        if not abs(line) <= FARTHEST:
            yield place, f"must be an ordinary number, up to {figures(FARTHEST)}, not {figures(line)}"
            continue
        try:
            parse(objective.formula, *(set(names) for names in variables(spec, teams)))
        except ConfigError:
            continue
        low, high = (float(end[0]) for end in _kept(objective, *bounds(objective.formula, known)))
        above, below = ("nothing can be", "everything is")[:: 1 if objective.direction == "max" else -1]
        said, least, most = (written(each, ",.10g") for each in (line, low, high))
        if line > high:
            yield place, f"{above} over a line at {said}: {objective.title} is {most} at most"
        elif line < low:
            yield place, f"{below} over a line at {said}: {objective.title} is {least} at least"


def exact(spec: GameSpec, objectives: Sequence[ObjectiveConfig], teams: int) -> NDArray[np.bool_]:
    """bool[m]: objectives in which chance has no part."""
    team, lineup = (set(names) for names in variables(spec, teams))
    played = [parse(o.formula, team, lineup).names - {COST} for o in objectives]
    return np.array([not spec.chance or not names for names in played], dtype=bool)


def spans(spec: GameSpec, objectives: Sequence[ObjectiveConfig], costs: NDArray[np.float64]) -> Spans:
    """Bounds of objectives from the game's metric ranges and the objectives' own floors and caps, for lineups whose
    teams cost ``costs`` float64[n, T]."""
    n, teams = costs.shape
    known = known_spans(spec, costs)
    ends = [_kept(o, *(np.broadcast_to(end, n) for end in bounds(o.formula, known))) for o in objectives]
    low, high = (np.stack(columns, axis=1) for columns in zip(*ends, strict=True))
    plain = [is_plain(o, spec, teams) for o in objectives]
    return Spans(low, high, exact(spec, objectives, teams), np.array(plain, dtype=bool))


def is_plain(objective: ObjectiveConfig, spec: GameSpec, teams: int) -> bool:
    """Whether it is a weighted sum of means, given the choice of the strongest and the weakest team."""
    team, lineup = (set(names) for names in variables(spec, teams))
    formula = parse(objective.formula, team, lineup, chosen=True)
    return formula.degree != CURVED and objective.low is None and objective.high is None


def known_spans(spec: GameSpec, costs: NDArray[np.float64]) -> dict[str, Span]:
    """Bounds of every variable of a formula, [n, T] or [n, 1], for lineups whose teams cost float64[n, T]."""
    n, teams = costs.shape
    known = {name: _span(metric, n, count) for name, metric, count in _measured(spec, teams)}
    return {**known, COST: Span(costs, costs)}


def battles_of_replicate(teams: int, baselines: int) -> int:
    """Battles in one replicate of a lineup: every pair of its teams, and every team with every baseline team, from both
    seats."""
    return 2 * (teams * (teams - 1) // 2 + teams * baselines)


def battles_of_lineup(rules: LineupConfig, replicates: int) -> int:
    """Battles of one lineup under these rules, played so many times."""
    baselines = rules.baselines
    others = len(baselines.teams) if isinstance(baselines, PastedBaselines) else baselines.count
    return replicates * battles_of_replicate(rules.teams, others)


def _measured(spec: GameSpec, teams: int) -> Iterable[tuple[str, Metric, int]]:
    """Every variable but the cost: its name, its metric, and how many numbers a lineup has of it."""
    team, _ = variables(spec, teams)
    for metric in spec.side_metrics:
        suffixes = ("", "_vs_baselines", "_first", "_second", "_vs_teams")
        yield from ((name, metric, teams) for s in suffixes if (name := metric.name + s) in team)
    yield from ((metric.name, metric, 1) for metric in spec.battle_metrics)


def _span(metric: Metric, n: int, count: int) -> Span:
    low = -np.inf if metric.low is None else metric.low
    high = np.inf if metric.high is None else metric.high
    return Span(np.full((n, count), low), np.full((n, count), high))


def _kept(o: ObjectiveConfig, low: NDArray[np.float64], high: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    floor, cap = -np.inf if o.low is None else o.low, np.inf if o.high is None else o.high
    return np.clip(low, floor, cap), np.clip(high, floor, cap)
