"""Tags of agents: those that differ only in the case or the width of their letters are one."""

from __future__ import annotations

from collections.abc import Iterable

from engine.text import folded


def one_of_each(tags: Iterable[str]) -> list[str]:
    """The first spelling of each, in their order."""
    found: dict[str, str] = {}
    for tag in tags:
        found.setdefault(folded(tag), tag)
    return list(found.values())


def has_tag(tags: Iterable[str], tag: str) -> bool:
    """Whether it is one of these, however it is spelt."""
    return folded(tag) in map(folded, tags)


def as_listed(tag: str, tags: Iterable[str]) -> str:
    """It as it is spelt among these, or as it is."""
    return next((each for each in tags if folded(each) == folded(tag)), tag)
