"""Checks a game's own settings against the signature of its factory, so that errors name the setting."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from engine.config.base import words
from engine.config.field_paths import leaves
from engine.errors import ConfigError, SimulatorError
from engine.mdp.checks import Blame

_PLAIN = (bool, int, float, str)
_LIKE: dict[type, type] = {bool: bool, int: float, float: float, str: str}
"""Type of a setting without annotation, by its default: an integer default, such as 0, allows any number."""


def check_settings(given: Mapping[str, Any], *makers: Callable[..., Any], taken: Collection[str] = ()) -> None:
    """Raise ConfigError for every setting that none of the ``makers`` accepts (each passes unknown ones on to the
    next), or that has another type than declared. ``taken``: parameters that are not settings."""
    known, anything = _known(makers, taken)
    there = f"There are {', '.join(known)}" if known else "This game has none"
    problems = []
    for name, value in given.items():
        if name in known:
            problem = _problem(known[name], value)
        else:
            problem = "" if anything else f"there is no such setting. {there}"
        if problem:
            problems.append((f"settings.{name}", problem))
    if problems:
        raise ConfigError(problems)


@contextlib.contextmanager
def making(
    reference: str, given: Mapping[str, Any], absent: tuple[type[BaseException], ...] = (ImportError,)
) -> Iterator[None]:
    """Context in which a game is made: exceptions from its code become a ConfigError at the setting concerned or, for
    those in ``absent`` (something is not installed), a permanent SimulatorError."""
    try:
        with Blame(reference, "making it"):
            yield
    except SimulatorError as error:
        cause = error.__cause__
        if isinstance(cause, absent):
            raise SimulatorError(
                f"{reference} needs something that is not installed: {cause}", permanent=True
            ) from cause
        said = f"{reference} cannot be made like this: {type(cause).__name__}: {cause}"
        raise ConfigError([(_about(given, str(cause)), said)]) from cause


def _about(given: Mapping[str, Any], said: str) -> str:
    """The setting that an error message ``said`` is about, as far as that can be recognised."""
    if not given:
        return "game"
    named = [name for name, value in given.items() if name in said or str(value) in said] or list(given)
    return f"settings.{named[0]}" if len(named) == 1 else "settings"


def _known(makers: Sequence[Callable[..., Any]], taken: Collection[str]) -> tuple[dict[str, Any], bool]:
    """The accepted settings with their types, and whether any other setting is accepted, too."""
    known: dict[str, Any] = {}
    for function in _functions(makers):
        hints = _hints(function)
        parameters = inspect.signature(function).parameters.values()
        for parameter in parameters:
            if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                known.setdefault(parameter.name, _type(hints.get(parameter.name), parameter.default))
        if all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters):
            break
    else:
        return _without(known, taken), True
    return _without(known, taken), False


def _without(known: Mapping[str, Any], taken: Collection[str]) -> dict[str, Any]:
    return {name: kind for name, kind in known.items() if name != "self" and name not in taken}


def _functions(makers: Sequence[Callable[..., Any]]) -> Iterator[Callable[..., Any]]:
    """The functions that are called in the end: of a class, its constructor and those of its bases."""
    for maker in makers:
        if isinstance(maker, type):
            yield from (vars(kind)["__init__"] for kind in maker.__mro__ if "__init__" in vars(kind))
        else:
            yield maker


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations; none if a name in them is imported for type checkers only."""
    with contextlib.suppress(NameError, TypeError):
        return get_type_hints(function)
    return {}


def _type(hint: Any, default: Any) -> Any:
    """The type of a value; any type if it cannot be written in a study."""
    if hint is None:
        return _LIKE.get(type(default), Any)
    parts = [leaf for leaf, _ in leaves(hint) if leaf is not NoneType]
    part = parts[0] if len(parts) == 1 else Any
    if get_origin(part) in (list, Sequence):
        part = tuple.__class_getitem__((*get_args(part), ...))
    if get_origin(part) is tuple:
        return part if set(get_args(part)) <= {*_PLAIN, ...} else Any
    return part if part in _PLAIN or get_origin(part) is Literal else Any


def _problem(kind: Any, value: Any) -> str:
    """The problem of a value, for people; empty if there is none."""
    try:
        TypeAdapter(kind).validate_python(tuple(value) if isinstance(value, list) else value, strict=True)
    except ValidationError as error:
        return words(error.errors(include_url=False)[0])
    return ""
