"""Who plays whom as people type it: "main vs old, main vs random", or lists as AI Arena's paper writes them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from webapp.training.games import Offer

VERSUS = " vs "
UNREADABLE = (
    "Write who plays whom like “main vs old, main vs random”, or as lists with a policy for each entity, such as "
    "[[1, 1, 2, 2], [[1, 1], 3, 3]]."
)


def matches(text: str, offer: Offer) -> list[Any]:
    """The match list that was typed for a game. Raises ValueError with a sentence."""
    text = text.strip()
    if text.startswith("["):
        return _lists(text)
    found = [[side.strip() for side in each.split(VERSUS)] for each in text.split(",") if each.strip()]
    sides = max(1, len(offer.sides))
    if not found or any(len(match) != sides or not all(match) for match in found):
        raise ValueError(UNREADABLE if sides > 1 else "Write one policy for each match, separated by commas.")
    return [[policy for policy in match for _ in range(offer.squad)] for match in found]


def _lists(text: str) -> list[Any]:
    try:
        found = json.loads(text)
    except ValueError:
        raise ValueError(UNREADABLE) from None
    if not isinstance(found, list) or not all(isinstance(match, list) for match in found):
        raise ValueError(UNREADABLE)
    return found


def match_list(found: Sequence[Any], offer: Offer) -> str:
    """A match list as it would be typed."""
    if any(isinstance(match, dict) for match in found):
        lists = [match["who"] for match in found]
    else:
        lists = list(found)
    sides = [_sides(who, max(1, len(offer.sides)), offer.squad) for who in lists]
    if all(sides):
        return ", ".join(VERSUS.join(each) for each in sides)
    return json.dumps(lists)


def _sides(who: Sequence[Any], sides: int, squad: int) -> list[str]:
    """The one policy of each side of a match; empty where it is no such match."""
    each = [who[i * squad : (i + 1) * squad] for i in range(sides)]
    plain = len(who) == sides * squad and all(isinstance(name, str) for name in who)
    return [side[0] for side in each] if plain and all(len(set(side)) == 1 for side in each) else []
