"""Training settings that a search may choose: fields that take numbers, or ranges such as "0.0001 to 0.01"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django import forms

from engine.config.genes import Evolvable
from webapp.games.numbers import value_of
from webapp.studies.setting_fields import NumbersField, Setting, is_range, range_text
from webapp.training.settings import REWARDS, ConvField, LinesField, SettingGroup, conv_text

_APART = re.compile(r"\s*(?:\bto\b|,|;|–)\s*|(?<=\d)-(?=\d)", re.IGNORECASE)
_COMMA = re.compile(r"\d,\d")
"""A decimal comma, one between thousands, or one between the ends of a range: nobody can tell."""
_SCALE = re.compile(r"[\s,;]*\b(linear|log)\s*$", re.IGNORECASE)
_NUMBER = r"[^\s,;\[\]–]+"
_ITEM = re.compile(rf"\[[^\[\]]*\]|{_NUMBER}(?:\s*(?:\bto\b|–)\s*{_NUMBER})?(?:\s+(?:linear|log)\b)?", re.IGNORECASE)
"""One number or range of several."""
_LAYERS = ("policy", "critic")
HOW = "Type a number with a decimal point, or a range such as 0.0001 to 0.01."
HOW_LAYERS = (
    "Type the units of each layer with spaces between them, such as 64 64; a layer may be a range: 16 to 64 64."
)
IN_LAYERS = (
    "Units in each, with spaces between them. A layer may be a range: 16 to 64 64. Not with population based training, "
    "whose players hand their networks on."
)
IN_REWARDS = (
    "A line for each: its name and weight, then, where they differ, its discount and trace: score 1 0.99. Each may be "
    "a range: score 0.5 to 2."
)
IN_CONVOLUTIONS = "Channels, kernel and stride of each, such as 32K4S2; for pictures. Each may be a range: 16-64K4S2."


def read(text: str) -> Any:
    """The number that a text stands for, or its range as a tuple with how it is searched behind, where that is said;
    None for what is neither."""
    inside = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    if inside == text and _COMMA.search(text):
        return None
    scale = _SCALE.search(inside)
    ends = [value_of(part, ".") for part in _APART.split(_SCALE.sub("", inside).strip())]
    numbers = [end for end in ends if end is not None]
    if len(numbers) < len(ends) or len(ends) > 2 or (scale and len(ends) == 1):
        return None
    return numbers[0] if len(numbers) == 1 else (*numbers, *((scale[1].lower(),) if scale else ()))


def has_range(value: Any) -> bool:
    """Whether a field's value is a range, or holds one."""
    if isinstance(value, Mapping):
        return any(map(has_range, value.values()))
    return isinstance(value, tuple) or (isinstance(value, list) and any(map(has_range, value)))


class RangeField(forms.CharField):
    """A number, or a range: ``0.0001 to 0.01``, ``[0.0001, 0.01]``; with ``log`` or ``linear`` behind it where how it
    is searched should be said. A range is a tuple."""

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        found = read(text) if text else None
        if text and found is None:
            raise forms.ValidationError(f"{text[:40]} is neither a number nor a range. {HOW}")
        return found


class LayersField(forms.CharField):
    """Layers with spaces between them, each a number of units or a range: ``16 to 64 64``. Empty: an empty list."""

    def clean(self, value: Any) -> list[Any]:
        text = super().clean(value).replace(";", " ")
        found = [read(item) for item in _ITEM.findall(text)]
        if None in found or _ITEM.sub("", text).strip():
            raise forms.ValidationError(f"{text[:40]} cannot be read. {HOW_LAYERS}")
        return found


class ConvRangesField(ConvField):
    """Convolutions of which any number may be a range: ``16-64K4S2``."""

    number = r"\d{1,4}(?:-\d{1,4}(?:log|linear)?)?"

    def read(self, text: str) -> Any:
        return read(re.sub(r"(?=log|linear)", " ", text))


class RewardsField(LinesField):
    """Named rewards whose weight, discount and trace may be ranges: ``score 0.5 to 2 0.99``."""

    def read(self, values: list[str]) -> list[Any]:
        text = " ".join(values)
        found = [read(item) for item in _ITEM.findall(text)]
        if None in found or _ITEM.sub("", text).strip():
            raise forms.ValidationError(f"{text[:40]} cannot be read. {HOW}")
        return found


def opened(group: SettingGroup, model: type[Any]) -> SettingGroup:
    """The group with a field that takes a range wherever the engine does."""
    return group._replace(settings=tuple(_opened(setting, model) for setting in group.settings))


def _opened(setting: Setting, model: type[Any]) -> Setting:
    info, old = model.model_fields.get(setting.key), setting.field
    shown: dict[str, Any] = {"label": old.label, "required": False, "max_length": 200}
    if setting.name == REWARDS:
        return setting._replace(field=RewardsField(label=old.label, most=3, help_text=IN_REWARDS))
    if isinstance(old, ConvField):
        return setting._replace(field=ConvRangesField(**shown, help_text=IN_CONVOLUTIONS))
    if isinstance(old, NumbersField):
        return setting._replace(field=LayersField(**shown, help_text=IN_LAYERS))
    if info is None or not any(isinstance(mark, Evolvable) for mark in info.metadata):
        return setting
    return setting._replace(field=RangeField(**{**shown, "max_length": 60}, help_text=old.help_text))


def number_text(value: Any) -> str:
    """A number or a range as it is typed."""
    return range_text(value) if is_range(value) else f"{value:.12g}"


def ranges_in(learner: Mapping[str, Any], prefix: str) -> dict[str, str]:
    """The texts of a learner's ranges, by field, and of lists that hold one."""
    network, inside = learner.get("network", {}), f"{prefix}network."
    found = {f"{prefix}{key}": range_text(value) for key, value in learner.items() if is_range(value)}
    for key, value in network.items():
        if key in _LAYERS and any(map(is_range, value)):
            found[inside + key] = " ".join(map(number_text, value))
        elif key == "conv" and any(is_range(number) for layer in value for number in layer.values()):
            found[inside + key] = conv_text(value)
        elif key not in _LAYERS and is_range(value):
            found[inside + key] = range_text(value)
    return found
