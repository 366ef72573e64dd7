"""The largest effects that battles of an experiment do not rule out: what "nothing stands out" leaves open."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from engine.arrays import Bundle

if TYPE_CHECKING:
    from webapp.worth.parts import WorthLine

POINTS = 100


class Furthest(NamedTuple):
    """An effect in points that battles do not rule out, of what has this name; no name: nothing was measured."""

    points: float = 0.0
    name: str = ""


def furthest(lines: Iterable[WorthLine]) -> Furthest:
    """The largest effect that a single piece may still have: what "nothing stands out" leaves open."""
    return _furthest(line for line in lines if len(line.pieces) == 1)


def furthest_pair(lines: Iterable[WorthLine], bundle: Bundle) -> Furthest:
    """The same of a pair: of those of the table, and, beyond what its two pieces bring, of all that it does not
    list."""
    listed, other = _furthest(line for line in lines if len(line.pieces) > 1), bundle.meta.get("furthest_pair")
    if other is None:
        return listed
    name = " + ".join(bundle.meta["pieces"][piece]["name"] for piece in other["piece"])
    end = max(other["low"], other["high"], key=abs)
    return max(listed, Furthest(POINTS * end, name), key=lambda each: abs(each.points))


def _furthest(lines: Iterable[WorthLine]) -> Furthest:
    known = (line for line in lines if not line.stands_out)
    ends = [Furthest(end, line.name) for line in known for end in (line.low, line.high) if end is not None]
    return max(ends, key=lambda end: abs(end.points), default=Furthest())
