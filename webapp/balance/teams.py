"""A studio's own teams, pasted as a sheet: one row a team, one column a slot, pieces by name or id."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from engine.config.lineups import TeamRow
from engine.errors import ConfigError
from engine.lineups.schema import team_costs, team_name, team_parts, team_row, team_slots
from engine.simulators.contract import GameSpec, Slot
from webapp.games import csvfile
from webapp.games.errors import SheetError
from webapp.games.limits import check_bytes

MOST_TEAMS = 64
_NAME = "name"
_NAMES = {"name", "team", "teamname", "lineup", "who"}


@dataclass(frozen=True)
class Team:
    """A team that was understood: its name, what it is made of in words, and its cost."""

    name: str
    parts: list[str]
    cost: float


@dataclass
class TypedTeams:
    """``rows``: the teams as the engine reads them; ``problems``: a sentence for each thing wrong."""

    rows: list[TeamRow] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


def read(text: str, spec: GameSpec) -> TypedTeams:
    """The teams in pasted text, with or without a row of column names."""
    found = TypedTeams()
    try:
        check_bytes(len(text.encode()))
        table = [[c.text.strip() for c in row] for row in csvfile.rows_of(text.strip("\r\n"), csvfile.sniff(text))]
    except SheetError as error:
        found.problems.append(str(error))
        return found
    rows = [(i + 1, row) for i, row in enumerate(table) if any(row)]
    if not rows:
        found.problems.append("There are no teams here. Paste one row a team.")
        return found
    columns, body = _columns(rows, spec, found)
    if len(body) > MOST_TEAMS:
        found.problems.append(f"{len(body)} teams are more than the {MOST_TEAMS} that can be kept. Take the main ones.")
    elif not found.problems:
        for number, row in body:
            _team(number, row, columns, spec, found)
        if not body:
            found.problems.append("Below the column names there is no team.")
    return found


def _columns(
    rows: list[tuple[int, list[str]]], spec: GameSpec, found: TypedTeams
) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """What each column is (a slot's id, ``name`` or ""), and the rows that hold teams."""
    head = rows[0][1]
    taken: list[str] = []
    for cell in head:
        taken.append(_slot(cell, spec, taken))
    known = [key for key in taken if key]
    if known and not _is_team(head, spec):
        missing = [s.title for s in spec.slots if s.kind == "piece" and not s.optional and s.id not in known]
        if missing:
            found.problems.append(f"No column is called {', '.join(missing)}. The column names are: {header(spec)}.")
        return taken, rows[1:]
    slots = [slot.id for slot in spec.slots]
    width = max(len(row) for _, row in rows)
    if width > len(slots) + 1:
        found.problems.append(f"There are {width} columns; a team has {len(slots)}: {header(spec)}.")
    named = width == len(slots) + 1 or _is_name_first(head, spec)
    return ([_NAME, *slots] if named else slots), rows


def _slot(cell: str, spec: GameSpec, taken: list[str]) -> str:
    word = _plain(cell)
    for slot in spec.slots:
        if slot.id not in taken and word in {_plain(slot.id), _plain(slot.title)}:
            return slot.id
    return _NAME if word in _NAMES and _NAME not in taken else ""


def _is_team(row: list[str], spec: GameSpec) -> bool:
    """Whether the row names pieces rather than columns: a game may have a piece that is called like a slot."""
    pieces = {_plain(p.name) for p in spec.pieces} | {_plain(p.id) for p in spec.pieces}
    return sum(_plain(cell) in pieces for cell in row if cell) > 1


def _is_name_first(row: list[str], spec: GameSpec) -> bool:
    first = {_plain(p.name) for p in spec.pieces} | {_plain(p.id) for p in spec.pieces}
    return len(row) > 1 and _plain(row[0]) not in first and _plain(row[1]) in first


def _team(number: int, row: list[str], columns: list[str], spec: GameSpec, found: TypedTeams) -> None:
    cells = {key: cell for key, cell in zip(columns, row, strict=False) if key and cell}
    name = cells.pop(_NAME, "")[:120]
    try:
        team = team_row(spec, TeamRow(name=name, slots=dict(cells)))
    except ConfigError as error:
        titles = {slot.id: slot.title for slot in spec.slots}
        named = {f"{title} is needed" for title in titles.values()}
        told = [
            p.message if p.message in named else f"{titles.get(p.place, p.place)}: {p.message}" for p in error.problems
        ]
        found.problems += [f"Row {number}, {text}." for text in dict.fromkeys(told)]
        return
    wrong = _counts(spec.slots, team.tolist())
    if wrong:
        found.problems += [f"Row {number}, {sentence}" for sentence in wrong]
        return
    found.rows.append(TeamRow(name=name or team_name(spec, team.tolist()), slots=team_slots(spec, team.tolist())))


def _counts(slots: tuple[Slot, ...], row: list[int]) -> list[str]:
    """Counts outside what their slot takes."""
    at = {slot.id: i for i, slot in enumerate(slots)}
    return [
        f"{slot.title}: {value} is outside {slot.low} to {slot.high}."
        for slot, value in zip(slots, row, strict=True)
        if slot.kind == "count" and row[at[slot.of]] >= 0 and not slot.low <= value <= slot.high
    ]


def header(spec: GameSpec) -> str:
    """The column names of a sheet of teams, in words."""
    return ", ".join(["Name", *(slot.title for slot in spec.slots)])


def example(spec: GameSpec) -> str:
    """The column names, tab-separated, to be pasted into an empty spreadsheet."""
    return "\t".join(["Name", *(slot.title for slot in spec.slots)])


def as_text(rows: tuple[TeamRow, ...], spec: GameSpec) -> str:
    """Saved teams as the text that was pasted, with pieces by name."""
    names = {p.id: p.name for p in spec.pieces}
    lines = [example(spec)]
    for row in rows:
        cells = [str(row.slots.get(slot.id, "")) for slot in spec.slots]
        lines.append("\t".join([row.name, *(names.get(cell, cell) for cell in cells)]))
    return "\n".join(lines)


def described(rows: tuple[TeamRow, ...], spec: GameSpec) -> list[Team]:
    """The teams in words, for the page. Teams that no longer fit the game are left out."""
    found = []
    for row in rows:
        try:
            team = team_row(spec, row)
        except ConfigError:
            continue
        found.append(Team(row.name, team_parts(spec, team.tolist()), float(team_costs(spec, team[None])[0])))
    return found
