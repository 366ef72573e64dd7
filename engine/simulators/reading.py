"""Reports all faults in the shape of a JSON value, each with its place; msgspec stops at the first.

Used only after msgspec has refused a value, so it may take its time.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect

_PLAIN: dict[type[inspect.Type], tuple[type, str]] = {
    inspect.StrType: (str, "a text"),
    inspect.IntType: (int, "a whole number"),
    inspect.FloatType: (float, "a number"),
    inspect.BoolType: (bool, "true or false"),
}
_STAND_IN = re.compile(r"\bnan\b|<unread ")


class Read(NamedTuple):
    """``value`` has a placeholder wherever a text, a number or a boolean was missing or wrong; None if more than that
    was wrong, so that nothing further can be said about it."""

    value: Any
    problems: list[str]


def read(kind: type[msgspec.Struct], value: object, place: str = "") -> Read:
    """The struct in a plain JSON value, with all its faults."""
    reader = _Reader()
    made = reader.read(inspect.type_info(kind), value, place)
    return Read(made if reader.usable else None, reader.problems)


def certain(problems: list[str]) -> list[str]:
    """Those sentences about a ``Read.value`` that do not concern one of its placeholders."""
    return [problem for problem in problems if not _STAND_IN.search(problem)]


class _Reader:
    """Walks through one value."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.usable = True

    def read(self, kind: inspect.Type, value: object, place: str) -> Any:
        if isinstance(kind, inspect.UnionType):
            kind = _chosen(kind, value)
        if isinstance(kind, inspect.StructType):
            return self._struct(kind, value, place)
        if isinstance(kind, inspect.VarTupleType | inspect.ListType):
            return self._list(kind, value, place)
        if isinstance(kind, inspect.DictType):
            return self._dict(kind, value, place)
        return self._single(kind, value, place)

    def _struct(self, kind: inspect.StructType, value: object, place: str) -> Any:
        if not isinstance(value, dict):
            return self._wrong(place, "an object {…}", value)
        made: dict[str, Any] = {}
        for field in kind.fields:
            at = f"{place}.{field.encode_name}".lstrip(".")
            if field.encode_name in value:
                made[field.name] = self.read(field.type, value[field.encode_name], at)
            elif field.required:
                self.problems.append(f"{at} is missing; it has to be {_needed(field.type)}")
                made[field.name] = self._stand_in(field.type, at)
        return kind.cls(**made) if self.usable else None

    def _list(self, kind: inspect.VarTupleType | inspect.ListType, value: object, place: str) -> Any:
        if not isinstance(value, list):
            return self._wrong(place, "a list […]", value)
        return tuple(self.read(kind.item_type, item, f"{place}[{i}]") for i, item in enumerate(value))

    def _dict(self, kind: inspect.DictType, value: object, place: str) -> Any:
        if not isinstance(value, dict):
            return self._wrong(place, "an object {…}", value)
        return {key: self.read(kind.value_type, item, f"{place}.{key}") for key, item in value.items()}

    def _single(self, kind: inspect.Type, value: object, place: str) -> Any:
        if isinstance(kind, inspect.LiteralType):
            return value if value in kind.values else self._wrong(place, _needed(kind), value)
        if type(kind) not in _PLAIN:
            return value
        try:
            return msgspec.convert(value, _PLAIN[type(kind)][0])
        except msgspec.ValidationError:
            self._wrong(place, _needed(kind), value, usable=self.usable)
            return self._stand_in(kind, place)

    def _wrong(self, place: str, needed: str, value: object, *, usable: bool = False) -> None:
        self.problems.append(f"{place} is {_shown(value)}; it has to be {needed}")
        self.usable = usable

    def _stand_in(self, kind: inspect.Type, place: str) -> Any:
        if isinstance(kind, inspect.StrType):
            return f"<unread {place}>"
        if isinstance(kind, inspect.IntType | inspect.FloatType):
            return float("nan")
        if isinstance(kind, inspect.BoolType):
            return False  # booleans have no constraints
        self.usable = False
        return None


def _chosen(kind: inspect.UnionType, value: object) -> inspect.Type:
    """The member of a union that applies to the value: by its tag, or the one that is not null."""
    if value is None and any(isinstance(member, inspect.NoneType) for member in kind.types):
        return inspect.NoneType()
    tagged = [member for member in kind.types if isinstance(member, inspect.StructType)]
    if tagged and isinstance(value, dict):
        tags = tuple(str(member.tag) for member in tagged)
        field = tagged[0].tag_field or "type"
        named = [member for member in tagged if member.tag == value.get(field)]
        return named[0] if named else _untagged(field, tags)
    return next(member for member in kind.types if not isinstance(member, inspect.NoneType))


def _untagged(field: str, tags: tuple[str, ...]) -> inspect.Type:
    """A type that reports only the missing or unknown tag of a value."""
    one = inspect.Field(field, field, inspect.LiteralType(tags), required=True)
    return inspect.StructType(dict, (one,))  # type: ignore[arg-type]  # never constructed, because its only field is invalid


def _shown(value: object) -> str:
    if isinstance(value, list | dict):
        return "a list […]" if isinstance(value, list) else "an object {…}"
    shown = msgspec.json.encode(value).decode()
    return shown if len(shown) <= 60 else f"{shown[:60]}…"


def _needed(kind: inspect.Type) -> str:
    if isinstance(kind, inspect.LiteralType):
        return "one of " + ", ".join(f'"{value}"' for value in kind.values)
    if isinstance(kind, inspect.UnionType):
        return _needed(next(member for member in kind.types if not isinstance(member, inspect.NoneType)))
    if isinstance(kind, inspect.VarTupleType | inspect.ListType):
        return "a list […]"
    return _PLAIN[type(kind)][1] if type(kind) in _PLAIN else "an object {…}"
