"""At which field of the form what is wrong with a course is said, and in the words of the form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from webapp.arena import lesson_fields, player_fields
from webapp.balance.forms import sentence

OWN = "own"
"""Lessons of one's own, in place of a course from the list."""
_POLICY = {"policy": "player", "policies": "players"}
"""What the engine calls players."""


class TypedMatches(NamedTuple):
    """How many matches of a lesson are typed, and whether with a player for each entity."""

    many: int
    by_entity: bool


def field_at(place: str, why: str, found: Mapping[str, Any], lessons: Mapping[int, TypedMatches]) -> tuple[str, str]:
    """(field, sentence) of a place of the study; no field where it is named as the place is. ``lessons``: by the number
    of the row that says who plays."""
    parts, own = place.split("."), found.get("plan") == OWN
    why = sentence(re.sub(r"\bpolic(?:y|ies)\b", lambda word: _POLICY[word.group()], why))
    if "learner" in parts[:-1] and parts[-1] in player_fields.STEPS:
        return parts[-1], why
    if parts[-1] == "warmup":  # the form has no field for it, but for how long lessons last
        return ("steps1" if own else "steps"), f"{why.rpartition(': ')[0]}: let lessons last longer."
    if not own:
        return ("plan" if parts[0] in ("roster", "lessons") else ""), why
    if parts[0] == "roster":
        return _of_player(parts[1:], found), why
    if parts[0] == "lessons" and len(parts) > 1:
        i = [*lessons][int(parts[1])]
        where = ", ".join(_within(parts[2:], lessons[i]))
        return _of_lesson(i, ".".join(parts[2:])), f"{where}: {why}" if where else why
    return "", why


def _within(parts: Sequence[str], matches: TypedMatches) -> Iterator[str]:
    """Where in a field that several things of a lesson share something is wrong: in which match, at which entry, or
    with which setting."""
    if parts[0] == "matches" and matches.many > 1:
        yield f"Match {int(parts[1]) + 1}"
    if parts[-2:-1] == ["who"] and matches.by_entity:
        yield f"{'entry' if matches.many > 1 else 'Entry'} {int(parts[-1]) + 1}"
    if parts[-2:-1] == ["settings"]:
        yield parts[-1]


def _of_player(parts: Sequence[str], found: Mapping[str, Any]) -> str:
    """The field of a place in the roster: what is wrong with a whole player stands at its name."""
    named = [i for i, (own, _) in enumerate(player_fields.rows(found), 1) if parts and own == parts[0]]
    return f"{'plays' if len(parts) > 1 else 'name'}{named[0] if named else 1}"


def _of_lesson(i: int, at: str) -> str:
    """The field of a place in the ``i``-th lesson."""
    named = (field for path, field in lesson_fields.PLACES.items() if f"{at}.".startswith(f"{path}."))
    return lesson_fields.name_of(next(named, "who"), i)
