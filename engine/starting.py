"""Settings of a game that say where its episodes begin: what a program of somebody else's tells of them, how a Python
factory declares them, and what is wrong with values for them."""

from __future__ import annotations

import contextlib
import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import msgspec


class StartSetting(msgspec.Struct, frozen=True):
    """A number that says where an episode begins, from ``low`` to ``high``; ``usual``: what it is where nobody says
    anything; ``title``: what people call it (empty: its name); ``whole``: it has no fraction."""

    name: str
    low: float
    high: float
    usual: float
    title: str = ""
    whole: bool = False


class StartRange(NamedTuple):
    """Marks a parameter of a factory as such a setting: ``x: Annotated[float, StartRange(0, 12, "Along")] = 0``. Its
    default is the usual value."""

    low: float
    high: float
    title: str = ""


def declared(factory: Callable[..., Any]) -> tuple[StartSetting, ...]:
    """The settings that a factory's parameters are marked as, in order."""
    hints: dict[str, Any] = {}
    made: Any = factory
    with contextlib.suppress(NameError, TypeError):  # a name in them is there for type checkers only
        hints = get_type_hints(made.__init__ if isinstance(factory, type) else made, include_extras=True)
    found = []
    for name, hint in hints.items():
        marks = [mark for mark in get_args(hint)[1:] if isinstance(mark, StartRange)] if _marked(hint) else []
        if marks:
            usual = inspect.signature(factory).parameters[name].default
            (low, high, title), whole = marks[0], get_args(hint)[0] is int
            found.append(StartSetting(name, low, high, usual, title, whole))
    return tuple(found)


def _marked(hint: Any) -> bool:
    return get_origin(hint) is Annotated


def description_problems(settings: Sequence[StartSetting]) -> Iterator[str]:
    """What cannot be in a description of such settings, as sentences."""
    names = [each.name for each in settings]
    yield from (f"start {name!r} comes twice" for name in dict.fromkeys(names) if names.count(name) > 1)
    for each in settings:
        if not each.name:
            yield "a setting that says where an episode begins has no name"
        if not (math.isfinite(each.low) and math.isfinite(each.high) and each.low <= each.usual <= each.high):
            yield f"start {each.name!r} is usually {each.usual:g}, and it says that it is {each.low:g} to {each.high:g}"


def value_problems(settings: Sequence[StartSetting], given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(setting, sentence) of each value that is not one of a setting's."""
    known = {each.name: each for each in settings}
    there = f"There are {', '.join(known)}" if known else "This game has none"
    for name, value in given.items():
        if name not in known:
            yield name, f"there is no such setting. {there}"
        elif isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            yield name, f"must be a number, not {value!r}"
        elif known[name].whole and value != int(value):
            yield name, f"must be a whole number, not {value:g}"
        elif not known[name].low <= value <= known[name].high:
            yield name, f"must be {known[name].low:g} to {known[name].high:g}, not {value:g}"


def as_declared(settings: Sequence[StartSetting], given: Mapping[str, float]) -> dict[str, float]:
    """Valid values as a factory takes them: whole numbers as such."""
    whole = {each.name for each in settings if each.whole}
    return {name: int(value) if name in whole else float(value) for name, value in given.items()}
