"""The numbers of a build that a script sends: a sheet in any of the forms that an import takes, read without asking.

Columns are those that were confirmed for such a sheet, or that the site writes itself, or that look like one. Where a
person would be asked (a column that could be two, a number with two readings) a script is told, at the cell.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.errors import ConfigError
from engine.gate.numbers import EMPTY, has_paths, read_numbers
from engine.simulators.contract import GameSpec
from webapp.games import columns, exports, importing, reading, sheets
from webapp.games.errors import SheetError
from webapp.games.models import GameVersion
from webapp.games.sheets import How, Sheet
from webapp.games.specs import version_spec

HEAD_ROWS = 200
"""Rows by which a worksheet is known as game data."""
PLACE = "data"


def read(content: bytes, version: GameVersion) -> dict[str, float]:
    """Path to value, at least one: whoever sends a file means it to say something. Raises ConfigError with all that is
    wrong, each at its cell: ``data.D7``, of a workbook ``data.Heroes.D7``."""
    if not content.strip():
        raise ConfigError([(PLACE, EMPTY)])
    spec = version_spec(version)
    if content.lstrip()[:1] == b"{":
        return read_numbers(content, spec)
    try:
        found = list(_sheets(content, spec))
    except SheetError as error:
        raise ConfigError([(PLACE, str(error))]) from error
    if len(found) == 1 and has_paths(found[0].columns) and found[0].kind == sheets.TEXT:
        return read_numbers(content, spec)
    values: dict[str, float] = {}
    wrong: list[tuple[str, str]] = []
    for sheet in found:
        where = f"{PLACE}.{sheet.worksheet}" if len(found) > 1 else PLACE
        wrong += _taken(sheet, version, spec, where, values)
    if wrong or not values:
        raise ConfigError(wrong or [(PLACE, EMPTY)])
    return values


def _sheets(content: bytes, spec: GameSpec) -> Iterator[Sheet]:
    """The sheet, or each worksheet of a workbook that is game data; the first one where none is. Raises SheetError."""
    if sheets.kind_of(content) != sheets.XLSX:
        yield reading.read(content)
        return
    names = [head.worksheet for head in reading.heads(content, HEAD_ROWS) if is_game_data(head, spec)]
    for name in names or [""]:
        yield reading.read(content, How(worksheet=name))


def is_game_data(sheet: Sheet, spec: GameSpec) -> bool:
    """Whether its columns look like those of a table of the game."""
    suggested = columns.suggest(spec, sheet)
    return bool(suggested) and not columns.problems(spec, suggested, sheet.columns)


def _taken(
    sheet: Sheet, version: GameVersion, spec: GameSpec, where: str, values: dict[str, float]
) -> Iterator[tuple[str, str]]:
    """Add what a sheet says to ``values``; what is wrong with it."""
    known = {int(c): key for c, key in exports.known_columns(version, sheet).items()} or columns.suggest(spec, sheet)
    problems = columns.problems(spec, known, sheet.columns)
    if problems:
        for column, message in problems.items():
            yield (where if column < 0 else f"{where}.{sheet.columns[column]}"), message
        return
    said = importing.read_values(sheet, known, spec)
    yield from ((f"{where}.{each.place}", f"{each.text} {each.message}".strip()) for each in said.problems)
    yield from ((f"{where}.{each.place}", f"{each.text} {each.question}") for each in said.doubts)
    for path, value in said.values.items():
        if values.setdefault(path, value) != value:
            yield f"{where}.{path}", "is said twice, with two values: leave one of the two out"
