"""Match lists as AI Arena writes them (Staley et al. 2021, Fig. 5, 9 and 12): ``[[1, 1, 2, 2], [[3, 3], 2, 2]]``.

A match names the policy of every entity of a game. A nested list is a group: its entities are steered together, by one
worker of one policy. A match may also be a table that says more: settings of the game that are its own, and which
entity of the game each entry stands for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field, field_validator

from engine.config.base import Config, refuse
from engine.config.roster import LONGEST_NAME, MemberConfig, MemberName
from engine.config.train import Setting

MOST_ENTITIES = 1000
SHOWN = 20
"""Policies that a sentence names."""
ENTRY = f"write a policy's name, {LONGEST_NAME} characters at most, or a list of names that are steered as one"
ACROSS = "this group has entities of both sides, and opponents are not steered as one: make a group for each side"


class Seated(NamedTuple):
    """Who steers which entities of the game: more than one, or ``together``, is a group. ``place``: the entry that says
    so, such as ``who.3``."""

    policy: str
    entities: tuple[int, ...]
    together: bool
    place: str

    def steers_side(self, side: int) -> bool:
        """Whether its entities are all of a side of so many, in the game's order."""
        if not self.entities or side < 1:  # a list that names too few, or a game without sides
            return False
        first = min(self.entities)
        return first % side == 0 and self.entities == tuple(range(first, first + side))


Entry = MemberName | tuple[MemberName, ...]


class MatchConfig(Config):
    """One match: who plays whom, in which variant of the game."""

    who: tuple[Entry, ...] = Field(
        min_length=1, max_length=MOST_ENTITIES, title="Who plays whom",
        description="for every entity of the game the name of its policy; a nested list is steered as one",
    )  # fmt: skip
    settings: dict[str, Setting] = Field(
        default_factory=dict, title="Settings of the game", description="in this match alone"
    )
    entities: tuple[Annotated[int, Field(ge=0, lt=MOST_ENTITIES)], ...] = Field(
        (), max_length=MOST_ENTITIES, title="Entities",
        description="which entity of the game each entry stands for, nested ones counted; empty: in the game's order",
    )  # fmt: skip

    @field_validator("who", mode="before")
    @classmethod
    def _names(cls, given: Any) -> Any:
        """Each entry is a name or a group of names."""
        listed = given if isinstance(given, list | tuple) else []
        refuse((str(i), ENTRY) for i, entry in enumerate(listed) if not _is_entry(entry))
        return given

    @property
    def count(self) -> int:
        """Entities that are named."""
        return _count(self.who)

    @property
    def order(self) -> tuple[int, ...]:
        """The entity of the game that each entry stands for, nested ones counted."""
        return self.entities or tuple(range(self.count))

    @property
    def seated(self) -> tuple[Seated, ...]:
        """Who steers what, in the order of the list: the paper's workers."""
        return _seated(self.who, self.entities)

    @property
    def policies(self) -> tuple[str, ...]:
        """Those that play in it, each once."""
        return _policies(self.who)

    def misfits(self, roster: Mapping[str, MemberConfig]) -> Iterator[tuple[str, str]]:
        """(place, sentence) of everything that is wrong without knowing the game."""
        yield from self._misnamed(roster)
        if self.entities and sorted(self.entities) != list(range(self.count)):
            each = f"{self.count} entities are named, so say each of 0 to {self.count - 1} once, in the order"
            one = "1 entity is named, so say 0, once"
            yield "entities", one if self.count == 1 else f"{each} in which they are named"

    def miscounted(self, entities: int, game: str) -> Iterator[tuple[str, str]]:
        """Whether as many entities are named as the game has: of too many, at the first that there is none for."""
        if self.count != entities:
            first = next((one.place for one in self.seated if self._last(one) >= entities), "who")
            yield first, f"this list names {self.count} entities, and {game} has {entities}"

    def across(self, squad: int) -> Iterator[tuple[str, str]]:
        """Groups of opponents, in a game whose sides have ``squad`` entities each."""
        for one in self.seated:
            if one.together and len({entity // squad for entity in one.entities}) > 1:
                yield one.place, ACROSS

    def _last(self, one: Seated) -> int:
        """The position of an entry's last entity, nested ones counted."""
        return max(self.order.index(entity) for entity in one.entities)

    def _misnamed(self, roster: Mapping[str, MemberConfig]) -> Iterator[tuple[str, str]]:
        for i, entry in enumerate(self.who):
            names = (entry,) if isinstance(entry, str) else entry
            if not names:
                yield f"who.{i}", "this group is empty: name a policy for each entity in it"
            for name in dict.fromkeys(names):
                if name not in roster:
                    yield f"who.{i}", f"there is no policy {name!r}; there are {_listed([*roster])}"
            if len(set(names)) > 1:
                several = _listed([repr(name) for name in sorted(set(names))])
                yield f"who.{i}", f"a group is steered by one policy, and this one names {several}"
            elif not isinstance(entry, str) and names and names[0] in roster and roster[names[0]].alone:
                yield (
                    f"who.{i}",
                    f"{names[0]!r} is a script and plays one entity at a time: leave the inner brackets out",
                )


Who = tuple[Entry, ...]
_remembered = lru_cache(maxsize=10_000)
"""A long course has few different lists, and asks for what is in them very often."""


def _count(who: Who) -> int:
    return sum(1 if isinstance(entry, str) else len(entry) for entry in who)


@_remembered
def _seated(who: Who, entities: tuple[int, ...]) -> tuple[Seated, ...]:
    order, found, at = entities or tuple(range(_count(who))), [], 0
    for i, entry in enumerate(who):
        names = (entry,) if isinstance(entry, str) else entry
        taken, at = order[at : at + len(names)], at + len(names)
        if names:
            found.append(Seated(names[0], taken, not isinstance(entry, str), f"who.{i}"))
    return tuple(found)


@_remembered
def _policies(who: Who) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.policy for one in _seated(who, ())))


def _is_entry(entry: Any) -> bool:
    names = entry if isinstance(entry, list | tuple) else [entry]
    return all(type(name) is int or (isinstance(name, str) and len(name) <= LONGEST_NAME) for name in names)


def _listed(names: Sequence[str]) -> str:
    """As many names as a sentence has room for."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _table(given: Any) -> Any:
    return {"who": given} if isinstance(given, list | tuple) else given


Match = Annotated[MatchConfig, BeforeValidator(_table)]
