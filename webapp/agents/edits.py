"""An agent's name, notes and tags, edited by several people at once."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any, NamedTuple

from engine.simulators.contract import content_hash

Texts = Mapping[str, Any]


class Edit(NamedTuple):
    """What an agent's texts are after an edit; whether somebody ``clashes``: two changed the same one differently."""

    texts: dict[str, Any]
    clashes: bool


def as_typed(texts: Texts) -> dict[str, Any]:
    """Texts as their form has them."""
    return {**texts, "tags": ", ".join(texts["tags"])}


def merged(saved: Texts, typed: Texts, opened: str) -> Edit:
    """What was ``typed``, and of what was left as it was when the form was opened (``Agent.text_hashes``), what is
    ``saved`` by now. Without these hashes all count as changed, by both."""
    texts, clashes = dict(saved), False
    for name, before in zip_longest(saved, opened.split(",")[: len(saved)]):
        if content_hash(typed[name]) != before and typed[name] != saved[name]:
            texts[name] = typed[name]
            clashes |= content_hash(saved[name]) != before
    return Edit(texts, clashes)
