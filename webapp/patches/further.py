"""How many battles a search for changes that proved nothing needs, by the ranges of what it played."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from django.utils.http import urlencode

from engine.config.patch import MOST_CHANGES, usual_battles
from webapp.lib.first import first
from webapp.lib.words import plural

ROOM = 0.5
"""A range must be no wider to either side than this share of what matters: the rest is for what a change that works
still leaves."""
STEPS = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""Needs are told roughly: the next of these times a power of ten."""
MOST = 100_000_000


class Further(NamedTuple):
    """``battles``: about so many would tell; 0: more battles alone hardly would, or as many as nobody may ask for.
    ``wide``: how far the ranges went to either side, in points, and how far they may go (``goal``); None where no
    change was played on fresh battles. ``changes``: so many must be allowed, as more is to be mended than was; 0: as
    many as were."""

    battles: int
    wide: float | None = None
    goal: float = 0.0
    changes: int = 0

    @property
    def typed(self) -> str:
        """What a form begins with, as an address has it."""
        return urlencode({name: many for name, many in (("battles", self.battles), ("most", self.changes)) if many})

    @property
    def words(self) -> str:
        """ "2,000,000 battles and 5 changes"."""
        parts = [plural(self.battles, "battle")] if self.battles else []
        return " and ".join([*parts, *([plural(self.changes, "change")] if self.changes else [])])


def further(meta: Mapping[str, Any], played: int, most: int) -> Further:
    """After so many battles, where so many changes were allowed ``most``."""
    suspects = sum(each["suspect"] for each in meta["watched"])
    return _battles(meta, played)._replace(changes=min(suspects, MOST_CHANGES) if suspects > most else 0)


def _battles(meta: Mapping[str, Any], played: int) -> Further:
    """By the change whose ranges were narrowest. Ranges narrow with the root of the battles."""
    if takes := int(meta.get("takes", 0)):  # searches from before this was kept have none
        return Further(_rough(max(takes, usual_battles(len(meta["watched"])))))
    goal = ROOM * 100 * float(meta["matters"])
    wide = min(_wide(meta["patches"]), default=None)
    if wide is None or wide <= goal:
        return Further(0, wide, goal)
    battles = _rough(played * (wide / goal) ** 2)
    return Further(battles if battles <= MOST else 0, wide, goal)


def _wide(patches: Sequence[Mapping[str, Any]]) -> Iterable[float]:
    """Of each change that fresh battles looked at, how far the widest of its ranges goes to either side, in points."""
    for patch in patches:
        if patch["words"] and patch["verdict"] != "unproved":
            yield max((50 * (high - low) for _, low, high in patch["worths"] if low is not None), default=0.0)


def _rough(battles: float) -> int:
    power = 10.0 ** math.floor(math.log10(battles))
    return round(power * first(step for step in STEPS if step * power >= battles - 1e-6))
