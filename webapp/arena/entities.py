"""Who plays whom as a table: a row for each entity of a game, a column for each match of a lesson."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from webapp.arena import typed
from webapp.lib.words import number
from webapp.training.games import Offer

SHOWN = 12
"""Matches that a table has room for."""
OTHERWISE = (
    "A table of entities cannot show this list: it names another number of them than the game has, another order, or "
    "steers a part of a side as one. The text holds."
)
MANY = f"A table of entities has room for {SHOWN} matches, and this lesson has more. The text holds."


class EntityCell(NamedTuple):
    """Who has an entity in a match, from 0; nobody yet in a new one."""

    match: int
    player: str


class EntitySide(NamedTuple):
    """A side: each of its entities with a cell a match, and in which matches they are steered as one."""

    name: str
    entities: list[tuple[str, list[EntityCell]]]
    together: list[bool]


class EntityTable(NamedTuple):
    """``settings``: those of each match alone, as JSON; ``why`` there is no table, where it has no sides."""

    sides: list[EntitySide]
    settings: list[str]
    why: str = ""


def count(offer: Offer) -> int:
    """Entities of a game."""
    return max(1, len(offer.sides) * offer.squad)


def counted(offer: Offer) -> str:
    """How many entities a game has, in a sentence."""
    of_sides = " and then ".join(f"{number(offer.squad)} {side}" for side in offer.sides)
    which = of_sides if offer.squad > 1 else " and ".join(offer.sides)
    return f"{offer.title} has {number(count(offer))} entities: {which}. Lists name a player for each, in this order."


def entity_name(place: int, offer: Offer) -> str:
    """What an entity is called."""
    side, within = divmod(place, offer.squad)
    named = offer.sides[side] if side < len(offer.sides) else f"entity {place + 1}"
    return f"{named} {within + 1}" if offer.squad > 1 else named


def entity_table(text: str, offer: Offer) -> EntityTable:
    """The table of a match list that was typed, with a column for a new match."""
    try:
        found = typed.matches(text, offer) if text.strip() else []
    except ValueError:
        return EntityTable([], [], "Once this can be read, a table of entities stands here.")
    matches = [match if isinstance(match, dict) else {"who": match} for match in found]
    if len(matches) > SHOWN:
        return EntityTable([], [], MANY)
    sides = [_by_side(match, offer) for match in matches]
    if not all(sides):
        return EntityTable([], [], OTHERWISE)
    empty = [([""] * offer.squad, False) for _ in offer.sides]
    own = [json.dumps(match.get("settings") or {}) for match in matches]
    return EntityTable([*_sides([*sides, empty], offer)], [*own, "{}"])


Steered = list[tuple[list[str], bool]]
"""Who has the entities of each side, and whether these are steered as one."""


def _sides(matches: Sequence[Steered], offer: Offer) -> Iterator[EntitySide]:
    for i, name in enumerate(offer.sides):
        rows = [
            (entity_name(i * offer.squad + k, offer), [EntityCell(m, one[i][0][k]) for m, one in enumerate(matches)])
            for k in range(offer.squad)
        ]
        yield EntitySide(name, rows, [one[i][1] for one in matches])


def _by_side(match: Mapping[str, Any], offer: Offer) -> Steered:
    """A match by its sides; empty where it cannot be told by them."""
    if match.get("entities") or not isinstance(match["who"], list):
        return []
    found: Steered = []
    rest = list(match["who"])
    for _ in offer.sides:
        together = bool(rest) and isinstance(rest[0], list)
        side = rest.pop(0) if together else [rest.pop(0) for _ in range(min(offer.squad, len(rest)))]
        if len(side) != offer.squad or any(isinstance(name, list | dict) for name in side):
            return []
        found.append(([str(name) for name in side], together))
    return [] if rest else found
