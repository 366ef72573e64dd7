"""The changed numbers of a build, from a file: JSON or CSV of paths and values, or a table as the site gives it away.

    path,value                      Id,Name,Cost,Hit points (points)          {"warhorn.cost": 120,
    warhorn.cost,120                warhorn,Warhorn,120,                       "frost-captain": {"cost": 310}}

Numbers are written for machines: a decimal point, nothing between thousands. Whatever is wrong is told at once, each at
its cell (``data.B7``) or path.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine.errors import ConfigError
from engine.lineups.schema import check_patch, did_you_mean
from engine.simulators.contract import GameSpec, Piece

MOST_BYTES = 5 * 2**20
MOST_NUMBERS = 100_000
EMPTY = "there is nothing in it: send the numbers that changed, or no file where none did"
DELIMITERS = (",", ";", "\t")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_DESCRIPTIONS = ("name", "text", "setting", "lowest", "highest", "unit")
"""Columns of the site's tables that set nothing."""
Wrong = list[tuple[str, str]]


def read_numbers(content: bytes, spec: GameSpec) -> dict[str, float]:
    """Path to value, at least one. Raises ConfigError with all that is wrong."""
    text, wrong = _text(content), Wrong()
    reader = _of_json if text.lstrip()[:1] == "{" else _of_csv
    places, values = reader(text, spec, wrong)
    if not values and not wrong:
        raise ConfigError([("data", EMPTY)])
    wrong += [(places.get(path, f"data.{path}"), message) for path, message in check_patch(spec, values)]
    if wrong:
        raise ConfigError(wrong)
    return values


def has_paths(heads: Sequence[str]) -> bool:
    """Whether a table with these column names holds paths and values."""
    return {"path", "value"} <= {head.strip().casefold() for head in heads}


Read = tuple[dict[str, str], dict[str, float]]
"""By path, the place where it stands, and its value."""


def _text(content: bytes) -> str:
    if len(content) > MOST_BYTES:
        raise ConfigError([("data", f"it is {len(content) / 2**20:.1f} MB; {MOST_BYTES // 2**20} MB is the most")])
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError([("data", "it is no text in UTF-8: save the table as CSV (UTF-8), or send JSON")]) from error
    if not text.strip():
        raise ConfigError([("data", EMPTY)])
    return text


def _of_json(text: str, spec: GameSpec, wrong: Wrong) -> Read:
    twice: list[str] = []

    def table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            twice.extend(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        return found

    try:
        data = json.loads(text, object_pairs_hook=table)
    except json.JSONDecodeError as error:
        why = f"it is not JSON: {error.msg} in line {error.lineno}, column {error.colno}"
        raise ConfigError([("data", why)]) from error
    except ValueError as error:  # a whole number of thousands of digits
        raise ConfigError([("data", "it holds a number of thousands of digits")]) from error
    except RecursionError as error:
        raise ConfigError([("data", "it has too many tables inside each other")]) from error
    wrong += [(f"data.{name}", "stands twice in one table: leave one of the two out") for name in dict.fromkeys(twice)]
    values: dict[str, float] = {}
    for path, value in _flat(data):
        if len(wrong) + len(values) >= MOST_NUMBERS:
            raise ConfigError([("data", f"it holds more than {MOST_NUMBERS:,} numbers")])
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
            wrong.append((f"data.{path}", f"must be a number, not {str(value)[:40]!r}"))
        elif path in values:
            wrong.append((f"data.{path}", "is said twice: leave one of the two out"))
        else:
            values[path] = float(value)
    return {}, values


def _flat(data: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in data.items():
        path = f"{above}.{key}" if above else key
        if isinstance(value, dict) and above.count(".") < 8:
            yield from _flat(value, path)
        else:
            yield path, value


def _of_csv(text: str, spec: GameSpec, wrong: Wrong) -> Read:
    head = text.lstrip("\r\n").partition("\n")[0]
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=max(DELIMITERS, key=head.count), strict=True))
    except csv.Error as error:
        why = "it is no table of cells: a quotation mark is not closed, or a cell is far too long"
        raise ConfigError([("data", why)]) from error
    first = next((i for i, row in enumerate(rows) if any(cell.strip() for cell in row)), 0)
    heads = [cell.strip() for cell in rows[first]]
    body = [(i, row) for i, row in enumerate(rows) if i > first and any(cell.strip() for cell in row)]
    read = _of_paths if has_paths(heads) else _of_table
    return read(heads, body, spec, wrong)


Body = Sequence[tuple[int, Sequence[str]]]
"""Rows with their numbers, from 0."""


def _of_paths(heads: Sequence[str], body: Body, spec: GameSpec, wrong: Wrong) -> Read:
    names = [head.casefold() for head in heads]
    at, number = names.index("path"), names.index("value")
    found = _Found(wrong)
    for r, row in body:
        path, cell = (row[c].strip() if c < len(row) else "" for c in (at, number))
        if not path:
            wrong.append((_place(r, at), "names no number of the game: fill it in, or leave the row out"))
        elif cell:
            found.take(path, cell, _place(r, number))
    return found.places, found.values


def _of_table(heads: Sequence[str], body: Body, spec: GameSpec, wrong: Wrong) -> Read:
    names = [head.casefold() for head in heads]
    if "id" not in names:
        why = "its first row must name its columns: path and value; or id, cost and other numbers of pieces"
        raise ConfigError([("data", why)])
    at, found = names.index("id"), _Found(wrong)
    ids = [row[at].strip() for _, row in body if at < len(row)]
    spec = spec.extended([f"{each}.cost" for each in ids if each])
    pieces = {piece.id: piece for piece in spec.pieces}
    numbers = {c: name for c, name in enumerate(names) if c != at and name and name not in _DESCRIPTIONS}
    for r, row in body:
        key = row[at].strip() if at < len(row) else ""
        piece = pieces.get(key)
        if piece is None:
            hint = did_you_mean(key, pieces, wrong)
            wrong.append((_place(r, at), f"{key!r} is no piece of this game{hint}"))
            continue
        for c, name in numbers.items():
            cell = row[c].strip() if c < len(row) else ""
            if cell:
                found.cell(piece, _attribute(spec, piece, name), cell, _place(r, c), heads[c])
    return found.places, found.values


def _attribute(spec: GameSpec, piece: Piece, head: str) -> str:
    """The number of a piece that a column with this name holds; empty where it has none."""
    plain = head.rpartition("(")[0].rstrip() if head.endswith(")") else head
    known = {"cost": "cost"}
    for attribute in spec.category(piece.category).attributes:
        known |= {attribute.title.casefold(): attribute.id, attribute.id.casefold(): attribute.id}
    return known.get(head) or known.get(plain, "")


class _Found:
    """Numbers as they are read, and what is ``wrong`` with the rest."""

    def __init__(self, wrong: Wrong) -> None:
        self.wrong = wrong
        self.places: dict[str, str] = {}
        self.values: dict[str, float] = {}

    def cell(self, piece: Piece, attribute: str, text: str, place: str, head: str) -> None:
        """A cell of a table of pieces."""
        if attribute:
            self.take(f"{piece.id}.{attribute}", text, place)
        else:
            self.wrong.append((place, f"{piece.name} has no number “{head}”: leave the cell empty"))

    def take(self, path: str, text: str, place: str) -> None:
        """The value of a path."""
        if not _NUMBER.fullmatch(text) or not math.isfinite(float(text)):
            why = "is no number: write it with a decimal point and nothing between thousands"
            self.wrong.append((place, f"{text[:40]!r} {why}"))
        elif path in self.places:
            self.wrong.append((place, f"{path} stands in {self.places[path].removeprefix('data.')} already"))
        else:
            self.places[path], self.values[path] = place, float(text)


def _place(row: int, column: int) -> str:
    """A cell as a spreadsheet names it, ``data.B7``."""
    letters, number = "", column + 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return f"data.{letters}{row + 1}"
