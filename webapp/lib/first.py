"""The first of some things, where there must be one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def first(things: Iterable[T]) -> T:
    """The first thing. Raises LookupError when there is none. The StopIteration of a bare ``next`` ends a generator too
    early, and a request whose view raises it is never answered, for a Future cannot carry it."""
    for thing in things:
        return thing
    raise LookupError("There is none of what was looked for.")
