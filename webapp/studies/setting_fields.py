"""Form fields for the engine's settings, made from its pydantic models: title, explanation, bounds and default."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, Union, cast, get_args, get_origin

import annotated_types
from django import forms
from pydantic.fields import FieldInfo

from engine.config import Config
from webapp.games import numbers
from webapp.games.fields import NumberField, NumberRange
from webapp.lib.first import first


class Setting(NamedTuple):
    """One setting in a form: the form field's name, the model's, and the value that an empty field stands for."""

    name: str
    key: str
    field: forms.Field
    default: Any


def settings_of(model: type[Config], prefix: str = "", leave: Iterable[str] = ()) -> tuple[Setting, ...]:
    """The settings of a model that people may change, in its order; ``leave`` names those asked for elsewhere."""
    hidden = {"kind", *leave}
    return tuple(
        Setting(f"{prefix}{key}", key, field_of(info), info.get_default(call_default_factory=True))
        for key, info in model.model_fields.items()
        if key not in hidden
    )


def field_of(info: FieldInfo) -> forms.Field:
    """The form field of one setting; what is typed is checked again by the model itself."""
    kind, text = _plain(info.annotation), info.description or ""
    shown: dict[str, Any] = {"label": info.title, "required": False, "help_text": text}
    if kind is bool:
        return forms.BooleanField(**shown)
    if get_origin(kind) is Literal:
        options = [(value, str(value).capitalize()) for value in get_args(kind)]
        return forms.ChoiceField(choices=options, initial=info.default, **shown)
    if get_origin(kind) is tuple:
        return NumbersField(**{**shown, "help_text": _sentences(text, "Several numbers: put spaces between them")})
    if kind in (int, float):
        return _number(info, shown, whole=kind is int)
    most = next((m.max_length for m in info.metadata if isinstance(m, annotated_types.MaxLen)), 200)
    return forms.CharField(max_length=most, **shown)


def choices_of(field: forms.ChoiceField) -> list[tuple[str, str]]:
    """(value, label) of each choice; those made here stand in no groups."""
    return [(str(value), str(label)) for value, label in cast("Iterable[tuple[Any, Any]]", field.choices)]


def _number(info: FieldInfo, shown: dict[str, Any], *, whole: bool) -> NumberField:
    span = span_of(info)
    text = _sentences(shown["help_text"], span.sentence.capitalize())
    return NumberField(whole=whole, **span._asdict(), **{**shown, "help_text": text})


_ENDS = {"ge": ("low", "above"), "gt": ("low", "above"), "le": ("high", "below"), "lt": ("high", "below")}


def span_of(info: FieldInfo) -> NumberRange:
    """The numbers that a setting takes, as its model bounds them."""
    found: dict[str, Any] = {}
    for mark in info.metadata:
        for name, (end, strict) in _ENDS.items():
            if hasattr(mark, name):
                open_end = name in ("gt", "lt") or getattr(mark, strict, False)
                found |= {end: float(getattr(mark, name)), strict: open_end}
    return NumberRange(**found)


def _sentences(*parts: str) -> str:
    return " ".join(f"{part.removesuffix('.')}." for part in parts if part)


def _plain(annotation: Any) -> Any:
    """The type behind ``X | None``."""
    if get_origin(annotation) in (Union, types.UnionType):
        return first(each for each in get_args(annotation) if each is not type(None))
    return annotation


class NumbersField(forms.CharField):
    """Several numbers with spaces or semicolons between them. Empty: an empty list."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=200, **kwargs)

    def clean(self, value: Any) -> list[float]:
        found = []
        for text in super().clean(value).replace(";", " ").split():
            number = numbers.value_of(text, None, "")
            if number is None:
                raise forms.ValidationError(f"{text[:40]} is not a number. Type numbers with spaces between them.")
            found.append(number)
        return found


def values_typed(settings: Iterable[Setting], cleaned: Mapping[str, Any]) -> dict[str, Any]:
    """What was typed, by the model's names; what was left empty is left out, so that its default holds."""
    found = {s.key: cleaned.get(s.name) for s in settings}
    return {key: value for key, value in found.items() if value is not None and value != "" and value != []}


def typed_of(settings: Iterable[Setting], values: Mapping[str, Any]) -> dict[str, Any]:
    """The form's texts that would give ``values`` (a model's, as JSON): those that differ from their defaults."""
    found: dict[str, Any] = {}
    for s in settings:
        value = values.get(s.key, s.default)
        if value != s.default and not (isinstance(s.default, tuple) and list(s.default) == value):
            found[s.name] = _text(value)
    return found


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return "on" if value else ""
    if isinstance(value, list | tuple):
        return " ".join(_text(each) for each in value)
    return numbers.field_text(value) if isinstance(value, float) else str(value)


def shown_default(setting: Setting) -> str:
    """What an empty field stands for, as its placeholder."""
    value = setting.default
    if value is None or isinstance(value, bool) or value in ("", ()):
        return ""
    return str(_text(value))


def range_text(value: Iterable[Any]) -> str:
    """A range as it is typed."""
    low, high, *scale = value
    return " ".join((f"{low:.12g} to {high:.12g}", *scale))


def is_range(value: Any) -> bool:
    """Whether a value of a study, as JSON, is a range."""
    known = isinstance(value, list | tuple) and len(value) in (2, 3)
    return known and all(isinstance(end, int | float) for end in value[:2])
