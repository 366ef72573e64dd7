"""What each column of a designer's own sheet means: suggested once, confirmed by the designer, then remembered."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

from engine.simulators.contract import GameSpec
from webapp.games.sheets import Sheet

ID, NAME, COST, VALUE = "id", "name", "cost", "value"
_ATTRIBUTE = "attribute:"
_CLOSE = 0.8
_LONGEST_NAME = 200

_SYNONYMS = {
    ID: ("id", "key", "code", "path", "slug"),
    NAME: ("name", "title", "piece", "unit", "item", "setting", "parameter"),
    COST: ("cost", "price", "costs", "gold", "kosten", "preis", "prix", "coste", "costo"),
    VALUE: ("value", "setting value", "number", "wert"),
}
_SHORT = {
    "hp": "hit points", "life": "hit points", "health": "hit points", "dmg": "damage", "atk": "attack",
    "att": "attack", "def": "defence", "spd": "speed", "ms": "speed", "rng": "range", "cd": "cooldown",
    "dur": "duration", "rad": "radius",
}  # fmt: skip


@dataclass(frozen=True)
class Field:
    """Something a column can be. ``key``: id, name, cost, value or attribute:ID."""

    key: str
    title: str
    group: str = ""

    @property
    def attribute(self) -> str:
        """The attribute's id; "" for the other fields."""
        return self.key.removeprefix(_ATTRIBUTE) if self.key.startswith(_ATTRIBUTE) else ""

    @property
    def number(self) -> bool:
        return self.key not in (ID, NAME)


def attribute_field(attribute: str) -> str:
    """The key of the field that an attribute is."""
    return _ATTRIBUTE + attribute


def fields(spec: GameSpec) -> list[Field]:
    """Everything a column of a sheet for this game can be, names first."""
    found = {ID: Field(ID, "Id"), NAME: Field(NAME, "Name"), COST: Field(COST, "Cost")}
    if spec.parameters:
        found[VALUE] = Field(VALUE, "Value of a setting")
    homes: dict[str, list[str]] = {}
    for category in spec.categories:
        for a in category.attributes:
            homes.setdefault(a.id, []).append(category.plural)
            key = attribute_field(a.id)
            found.setdefault(key, Field(key, a.title))
    return [Field(f.key, f.title, ", ".join(homes[f.attribute])) if f.attribute else f for f in found.values()]


def header_hash(columns: list[str]) -> str:
    """One number for a row of column names, by which a confirmed matching is found again."""
    return hashlib.sha256(json.dumps([_plain(c) for c in columns]).encode()).hexdigest()


def _plain(text: str) -> str:
    """Lower case without units in brackets, spaces and signs: ``Hit points (HP)`` becomes ``hitpoints``."""
    text = text[:_LONGEST_NAME]
    bare = re.sub(r"[(\[{][^)\]}]*[)\]}]", "", text.casefold())
    return re.sub(r"[\W_]+", "", bare) or re.sub(r"[\W_]+", "", text.casefold())


def _spellings(field: Field, spec: GameSpec) -> set[str]:
    if not field.attribute:
        words = {*_SYNONYMS[field.key], field.title}
        if field.key == NAME:
            words |= {word for c in spec.categories for word in (c.title, c.plural, f"{c.title} name")}
        return {_plain(word) for word in words}
    words = {field.attribute, field.title}
    initials = "".join(word[0] for word in re.findall(r"\w+", field.title))
    if len(initials) > 1:
        words.add(initials)
    words |= {short for short, long in _SHORT.items() if _plain(long) == _plain(field.title)}
    return {_plain(word) for word in words}


def suggest(spec: GameSpec, sheet: Sheet) -> dict[int, str]:
    """Column to field for the columns that look like one: by what stands in them, then by their names."""
    matched = _by_content(spec, sheet)
    scores = []
    for order, field in enumerate(f for f in fields(spec) if f.key not in matched.values()):
        spellings = _spellings(field, spec)
        for column, name in enumerate(sheet.columns):
            if column not in matched and _plain(name):
                best = max(_likeness(_plain(name), spelling) for spelling in spellings)
                scores.append((-best, order, column, field.key))
    taken: set[str] = set()
    for score, _, column, key in sorted(scores):
        if -score >= _CLOSE and column not in matched and key not in taken:
            matched[column] = key
            taken.add(key)
    return dict(sorted(matched.items()))


def _likeness(a: str, b: str) -> float:
    """From 0 to 1, where 1 is equal; 0 for what cannot be close: comparing in full is slow."""
    if a == b:
        return 1.0
    matcher = SequenceMatcher(None, a, b)
    close = matcher.real_quick_ratio() >= _CLOSE and matcher.quick_ratio() >= _CLOSE
    return matcher.ratio() if close else 0.0


def _by_content(spec: GameSpec, sheet: Sheet) -> dict[int, str]:
    """The columns that hold ids and names of this game, whatever they are called."""
    ids = {p.id.casefold() for p in spec.pieces} | {p.path.casefold() for p in spec.parameters}
    names = {p.name.casefold() for p in spec.pieces} | {p.title.casefold() for p in spec.parameters}
    body = sheet.body[:200]
    scores = []
    for key, known in ((NAME, names), (ID, ids)):
        for column, header in enumerate(sheet.columns):
            cells = [str(sheet.cell(r, column)).strip().casefold() for r in body]
            filled = [cell for cell in cells if cell]
            share = sum(cell in known for cell in filled) / max(1, len(filled))
            if share >= 0.5:
                called = _plain(header) in {_plain(word) for word in _SYNONYMS[key]}
                scores.append((share + 0.1 * called, key, column))
    found: dict[int, str] = {}
    for _, key, column in sorted(scores, key=lambda score: -score[0]):
        if column not in found and key not in found.values():
            found[column] = key
    return found


def problems(spec: GameSpec, columns: Mapping[int, str], names: list[str]) -> dict[int, str]:
    """What is wrong with a matching, by column; -1 for the matching as a whole."""
    known = {f.key: f for f in fields(spec)}
    found: dict[int, str] = {}
    first: dict[str, int] = {}
    for column, key in sorted(columns.items()):
        if key not in known:
            found[column] = "The game has no such number any more. Choose another, or leave the column out."
        elif key in first:
            found[column] = f"“{names[first[key]]}” is {known[key].title} already. Leave one of the two out."
        else:
            first[key] = column
    if not {ID, NAME} & first.keys():
        found[-1] = "Say which column holds the names or ids of the pieces."
    elif not any(known[key].number for key in first):
        found[-1] = "Say which columns hold numbers: at least one is needed."
    return found
