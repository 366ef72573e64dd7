"""Training settings that a search may choose: fields that take a number, or a range such as "0.0001 to 0.01"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from django import forms

from engine.config.genes import Evolvable
from webapp.games.numbers import value_of
from webapp.studies.setting_fields import Setting
from webapp.training.settings import Group

_APART = re.compile(r"\s*(?:\bto\b|,|;|–)\s*", re.IGNORECASE)
_SCALE = re.compile(r"[\s,;]*\b(linear|log)\s*$", re.IGNORECASE)
HOW = "Type a number, or a range such as 0.0001 to 0.01."


class RangeField(forms.CharField):
    """A number, or a range: ``0.0001 to 0.01``, ``[0.0001, 0.01]``; with ``log`` or ``linear`` behind it where how it
    is searched should be said. A range is a list."""

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text:
            return None
        inside = text[1:-1] if text.startswith("[") and text.endswith("]") else text
        scale = _SCALE.search(inside)
        ends = [value_of(part, ".") for part in _APART.split(_SCALE.sub("", inside).strip())]
        numbers = [end for end in ends if end is not None]
        if len(numbers) < len(ends) or len(ends) > 2 or (scale and len(ends) == 1):
            raise forms.ValidationError(f"{text[:40]} is neither a number nor a range. {HOW}")
        return numbers[0] if len(numbers) == 1 else [*numbers, *([scale[1].lower()] if scale else [])]


def opened(group: Group, model: type[Any]) -> Group:
    """The group with a field that takes a range wherever the engine does."""
    return group._replace(settings=tuple(_opened(setting, model) for setting in group.settings))


def _opened(setting: Setting, model: type[Any]) -> Setting:
    info = model.model_fields.get(setting.key)
    if info is None or not any(isinstance(mark, Evolvable) for mark in info.metadata):
        return setting
    old = setting.field
    return setting._replace(field=RangeField(label=old.label, help_text=old.help_text, required=False, max_length=60))


def range_text(value: Iterable[Any]) -> str:
    """A range as it is typed."""
    low, high, *scale = value
    return " ".join((f"{low:.12g} to {high:.12g}", *scale))


def ranges_in(learner: Mapping[str, Any], prefix: str) -> dict[str, str]:
    """The texts of a learner's ranges, by field."""
    found = {key: value for key, value in learner.items() if isinstance(value, list | tuple) and len(value) in (2, 3)}
    return {f"{prefix}{key}": range_text(value) for key, value in found.items()}
