"""Between people's words and the engine's rows: teams by piece ids or names, patches by path, names for display."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine.config.lineups import TeamRow
from engine.errors import ConfigError
from engine.simulators.contract import GameSpec

EMPTY = -1
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


def check_patch(spec: GameSpec, patch: Mapping[str, float]) -> list[tuple[str, str]]:
    """What is wrong with a patch, as (path, sentence): unknown paths, values out of bounds, new pieces with no cost."""
    game = spec.extended(patch)
    tunables, found = game.tunables(), []
    for piece in game.pieces[len(spec.pieces) :]:
        if f"{piece.id}.cost" not in patch:
            found.append((f"{piece.id}.cost", f"{piece.name} is new and needs a cost"))
    for path, value in patch.items():
        parameter = tunables.get(path)
        if parameter is None:
            near = get_close_matches(path, tunables, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            found.append((path, f"the game has no such number{hint}"))
        elif not parameter.low <= value <= parameter.high:
            unit = f" {parameter.unit}" if parameter.unit else ""
            found.append((path, f"{value:g} is outside {parameter.low:g} to {parameter.high:g}{unit}"))
    return found


_MOST = 2**31 - 1


def team_row(spec: GameSpec, team: TeamRow, place: str = "") -> NDArray[np.int32]:
    """A team by piece ids or names as int32[slots]. Raises ConfigError naming each slot that is wrong."""
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
        near = get_close_matches(text, [p.name for p in spec.pieces if p.category == category], n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
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
    """What a team is made of in words, in slot order: ``["Frost Captain", "Warhorn", "6 Pikes"]``."""
    counts = {slot.of: int(row[s]) for s, slot in enumerate(spec.slots) if slot.kind == "count"}
    parts = []
    for s, slot in enumerate(spec.slots):
        if slot.kind == "piece" and row[s] >= 0:
            name = spec.pieces[row[s]].name
            parts.append(f"{counts[slot.id]} {name}" if slot.id in counts else name)
    return parts


def team_name(spec: GameSpec, row: Sequence[int]) -> str:
    """The name of a team's first piece: its hero, in hero-led games."""
    parts = team_parts(spec, row)
    return parts[0] if parts else "Empty team"


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
    """Which pieces stand in which team: rows int32[n, slots] gives bool[n, pieces]."""
    have = np.zeros((len(rows), len(spec.pieces) + 1), dtype=bool)
    for s, slot in enumerate(spec.slots):
        if slot.kind == "piece":
            have[np.arange(len(rows)), rows[:, s]] = True
    return have[:, :-1]


def names(spec: GameSpec, pieces: Iterable[int]) -> str:
    """``Frost Captain + Warhorn`` for piece indices."""
    return " + ".join(spec.pieces[i].name for i in pieces)


def variables(spec: GameSpec, teams: int) -> tuple[dict[str, str], dict[str, str]]:
    """Names a formula may use, with what each means: (one number a team, one number a lineup)."""
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
