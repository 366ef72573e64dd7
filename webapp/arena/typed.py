"""Who plays whom as people type it: "main vs old (penalty 0.1), main vs random", or lists as AI Arena's paper writes
them; and settings of a game and copies, in the same way."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from webapp.training.games import Offer

VERSUS = " vs "
LONGEST = 2000
"""Characters of a match list."""
DEEPEST = 4
"""Brackets within brackets: matches, entities, and who is steered as one are three."""
UNREADABLE = (
    "Write who plays whom like “main vs old, main vs random”, or as lists with a player for each entity, such as "
    "[[main, main, foe, foe], [[old, old], foe, foe]]."
)
SETTINGS = "Write each setting with its value, such as: penalty 0.1, obstacles 6."
COPIES = "Write who becomes a copy of whom, such as: rival from main."
_COMMA = re.compile(r",(?![^(]*\))")
"""One that is in no parentheses."""
_VERSUS = re.compile(r"\s+(?:vs\.?|versus|against)\s+", re.IGNORECASE)
_LIST_PART = re.compile(r'"(?:[^"\\]|\\.)*"|[^\[\]{},:"]+')
"""A text in quotation marks, or what stands between the marks of a list."""
_PLAIN = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?|true|false")
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]{0,18})?([eE][+-]?[0-9]{1,3})?")
_BETWEEN = re.compile(r"\s*=\s*|\s+")
"""What stands between a setting and its value."""
_WORDS = {"yes": True, "true": True, "no": False, "false": False}
MATCH_KEYS = {"who", "settings", "entities"}


def matches(text: str, offer: Offer) -> list[Any]:
    """The match list that was typed for a game. Raises ValueError with a sentence."""
    text = text.strip()
    if len(text) > LONGEST:
        raise ValueError(f"Write {LONGEST:,} characters at most.")
    if text.startswith("["):
        return _lists(text)
    found = [_match(each, max(1, len(offer.sides)), offer.squad) for each in _COMMA.split(text) if each.strip()]
    if not found:
        raise ValueError(UNREADABLE)
    return found


def _match(text: str, count: int, squad: int) -> Any:
    """One match: who has each side, and settings of its own in parentheses."""
    players, _, own = text.strip().partition(" (")
    sides = [side.strip() for side in _VERSUS.split(players)]
    if len(sides) != count or not all(sides) or (own and not own.endswith(")")):
        raise ValueError(UNREADABLE if count > 1 else "Write one player for each match, separated by commas.")
    who = [name_of(player) for player in sides for _ in range(squad)]
    return {"who": who, "settings": settings(own[:-1])} if own else who


def settings(text: str) -> dict[str, Any]:
    """Settings of a game. Raises ValueError with a sentence."""
    found: dict[str, Any] = {}
    for each in (part.strip() for part in text.split(",")):
        name, value = (*_BETWEEN.split(each, maxsplit=1), "")[:2]
        if each and (not value.strip() or set("()") & set(each)):
            raise ValueError(SETTINGS)
        if name in found:
            raise ValueError(f"{name} is set twice.")
        found |= {name: _value(value.strip())} if each else {}
    return found


def _value(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _NUMBER.fullmatch(text) is None:
        return text
    return float(text) if set(".eE") & set(text) else int(text)


def copies(text: str) -> dict[str, str]:
    """Whose copy each player becomes. Raises ValueError with a sentence."""
    pairs = [each.split(" from ") for each in text.split(",") if each.strip()]
    if any(len(pair) != 2 or not all(name.strip() for name in pair) for pair in pairs):
        raise ValueError(COPIES)
    found: dict[str, str] = {}
    for new, old in ((name_of(new), name_of(old)) for new, old in pairs):
        if new in found:
            raise ValueError(f"{new} cannot become a copy of both {found[new]} and {old}.")
        found[new] = old
    return found


def names(text: str) -> list[str]:
    """Names between commas."""
    return [name_of(name) for name in text.split(",") if name.strip()]


def name_of(text: str) -> str:
    """A player's name as the engine has it: capitals make no difference, and spaces are dashes."""
    return "-".join(text.lower().split())


def _lists(text: str) -> list[Any]:
    if _depth(text) > DEEPEST:
        raise ValueError(UNREADABLE)
    try:
        found = json.loads(_LIST_PART.sub(_quoted, text))
    except (ValueError, RecursionError):
        raise ValueError(UNREADABLE) from None
    if isinstance(found, list) and _is_one_match(found):
        found = [found]
    if not isinstance(found, list) or not all(isinstance(match, list | dict) for match in found):
        raise ValueError(UNREADABLE)
    if any(isinstance(match, dict) and not {"who"} <= match.keys() <= MATCH_KEYS for match in found):
        raise ValueError("Of a match that says more than who plays, write who, settings and entities.")
    if any(isinstance(match, dict) and not isinstance(match["who"], list) for match in found):
        raise ValueError(UNREADABLE)
    return [{**match, "who": _named(match["who"])} if isinstance(match, dict) else _named(match) for match in found]


def _depth(text: str) -> int:
    """How many brackets are open at most."""
    return max(accumulate((1 if mark == "[" else -1 for mark in text if mark in "[]"), initial=0))


def _is_one_match(found: Sequence[Any]) -> bool:
    """Whether a list names players itself, perhaps beside groups of them: a list of matches has only matches."""
    return any(not isinstance(entry, list | dict) for entry in found) and not any(isinstance(e, dict) for e in found)


def _named(entry: Any) -> Any:
    """Names in a list, also nested ones."""
    if isinstance(entry, list):
        return [_named(each) for each in entry]
    return name_of(entry) if isinstance(entry, str) else entry


def _quoted(part: re.Match[str]) -> str:
    """A part of a list as JSON has it: names may stand there without quotation marks."""
    text = part.group().strip()
    return text if not text or text.startswith('"') or _PLAIN.fullmatch(text) else json.dumps(text)


def match_list(found: Sequence[Mapping[str, Any]], offer: Offer) -> str:
    """A match list as it would be typed: side by side where every match has one player a side."""
    words = [_words(match, offer) for match in found]
    return ", ".join(words) if all(words) else in_brackets(found)


def in_brackets(found: Sequence[Mapping[str, Any]]) -> str:
    """A match list as the paper writes it, with a player for each entity."""
    plain = [*map(_plain, found)]
    quoted = json.dumps(plain)
    bare = quoted.replace('"', "")
    return bare if _lists_or_none(bare) == plain else quoted


def _lists_or_none(text: str) -> list[Any] | None:
    """A match list in brackets; None where it cannot be read."""
    try:
        return _lists(text)
    except ValueError:
        return None


def _plain(match: Mapping[str, Any]) -> Any:
    more = {name: match[name] for name in ("settings", "entities") if match.get(name)}
    return {"who": match["who"], **more} if more else match["who"]


def _words(match: Mapping[str, Any], offer: Offer) -> str:
    """A match in words; empty where it has none."""
    sides = _sides(match["who"], max(1, len(offer.sides)), offer.squad)
    own = settings_words(match.get("settings") or {})
    if not sides or match.get("entities") or "(" in own:
        return ""
    return VERSUS.join(sides) + (f" ({own})" if own else "")


def settings_words(found: Mapping[str, Any]) -> str:
    """Settings as they would be typed."""
    return ", ".join(f"{name} {_said(value)}" for name, value in found.items())


def _said(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def copies_words(found: Mapping[str, str]) -> str:
    """Copies as they would be typed."""
    return ", ".join(f"{new} from {old}" for new, old in found.items())


def _sides(who: Sequence[Any], sides: int, squad: int) -> list[str]:
    """The one player of each side of a match; empty where it is no such match."""
    each = [who[i * squad : (i + 1) * squad] for i in range(sides)]
    plain = len(who) == sides * squad and all(isinstance(name, str) for name in who)
    return [side[0] for side in each] if plain and all(len(set(side)) == 1 for side in each) else []
