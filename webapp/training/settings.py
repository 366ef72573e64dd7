"""The settings behind "Details": form fields made from the engine's models, whose defaults are the chosen preset's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from django import forms

from engine.config import TrainConfig
from engine.config.rl import ApartConfig, ConvConfig, NetworkConfig
from webapp.balance.forms import sentence
from webapp.games.numbers import Mark, field_text, value_of
from webapp.studies.setting_fields import Setting, choices_of, settings_of, typed_of, values_typed
from webapp.training.games import Offer
from webapp.training.methods import Preset

SAMPLING = ("samplers", "environments", "checkpoint_every", "evaluate_every", "threads")
LEARNER, NETWORK = "learner.", "learner.network."
CONV, REWARDS, GAME = "learner.network.conv", "learner.rewards", "game.settings"
NAMES = re.compile(rf"learner\.[a-z_.]{{1,60}}|{re.escape(GAME)}|{'|'.join(SAMPLING)}")
"""What a detail's field may be called, whatever the algorithm."""


class ConvField(forms.CharField):
    """Convolutions as the paper writes them, channels in front: ``32K4S2 32K4S2``. Empty: the preset's. ``number``:
    how each of the three may be written; ``read``: what it stands for."""

    number = r"\d{1,4}"

    def read(self, text: str) -> Any:
        return int(text)

    def clean(self, value: Any) -> list[dict[str, Any]]:
        found = []
        for text in super().clean(value).replace(",", " ").split():
            layer = re.fullmatch(rf"({self.number})K({self.number})S({self.number})", text, re.IGNORECASE)
            if layer is None:
                raise forms.ValidationError(
                    f"{text[:40]} is not a convolution. Write 32K4S2: channels, kernel, stride."
                )
            found.append(dict(zip(ConvConfig.model_fields, map(self.read, layer.groups()), strict=True)))
        return found


class LinesField(forms.CharField):
    """A name and its values on each line: {name: [values]}."""

    def __init__(self, *, known: Iterable[str] = (), most: int = 1, **kwargs: Any) -> None:
        super().__init__(max_length=500, widget=forms.Textarea(attrs={"rows": 2}), required=False, **kwargs)
        self.known, self.most = tuple(known), most

    def clean(self, value: Any) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        for line in super().clean(value).splitlines():
            name, *values = line.replace("=", " ").split() or [""]
            if not name:
                continue
            if self.known and name not in self.known:
                raise forms.ValidationError(f"There is no setting {name[:40]}. There are {', '.join(self.known)}.")
            values = self.read(values)
            if not 1 <= len(values) <= self.most:
                raise forms.ValidationError(f"Write {name[:40]} and its value behind it, on a line of their own.")
            found[name] = values
        return found

    def read(self, values: list[str]) -> list[Any]:
        """What stands behind a name."""
        return values


class SettingGroup(NamedTuple):
    """Settings that belong together."""

    title: str
    settings: tuple[Setting, ...]


def groups(offer: Offer, preset: Preset, samplers: int) -> tuple[SettingGroup, ...]:
    """The settings of a training with this game and preset, and what each is while nothing is typed."""
    usual = {"samplers": samplers, "environments": max(1, preset.battles // samplers), "evaluate_every": 5}
    sampling = [s._replace(default=usual.get(s.key, s.default)) for s in settings_of(TrainConfig) if s.key in SAMPLING]
    learner, network = preset.learner, preset.learner.network
    learning = _of(learner, settings_of(type(learner), LEARNER, leave=("network", "rewards")))
    apart = ("sharing", "lstm", "log_std") if isinstance(network, ApartConfig) else ()
    layers = _of(network, settings_of(type(network), NETWORK, leave=("conv", *apart)))
    own = LinesField(
        label="Named rewards", most=3,
        help_text="A line for each: its name and weight, then, where they differ, its discount and trace: score 1 0.99",
    )  # fmt: skip
    found = [
        SettingGroup("Playing", tuple(sampling)),
        SettingGroup("Learning", (*learning, Setting(REWARDS, "rewards", own, {}))),
        SettingGroup("Network", (_conv(network), *layers)),
    ]
    if offer.settings:
        known = ", ".join(offer.settings)
        field = LinesField(
            label="Settings of the game", known=offer.settings, most=4, help_text=f"A line each: {known}"
        )
        found.append(SettingGroup("Game", (Setting(GAME, "settings", field, {}),)))
    return tuple(g._replace(settings=tuple(_optional(_worded(s)) for s in g.settings)) for g in found)


def _of(model: Any, settings: Iterable[Setting]) -> list[Setting]:
    return [s._replace(default=getattr(model, s.key)) for s in settings]


def _conv(network: NetworkConfig) -> Setting:
    field = ConvField(
        label="Convolutions", max_length=120, required=False,
        help_text="Channels, kernel and stride of each, such as 32K4S2; for pictures.",
    )  # fmt: skip
    return Setting(CONV, "conv", field, tuple(conv_text([layer.model_dump() for layer in network.conv]).split()))


def conv_text(layers: Iterable[Mapping[str, Any]]) -> str:
    """Convolutions as they are typed; a range has a hyphen between its ends."""
    return " ".join(f"{_part(c['channels'])}K{_part(c['kernel'])}S{_part(c['stride'])}" for c in layers)


def _part(value: Any) -> str:
    return str(value) if isinstance(value, int) else f"{value[0]}-{value[1]}{''.join(value[2:])}"


def _worded(setting: Setting) -> Setting:
    """What the engine says of a setting, as sentences."""
    if text := str(setting.field.help_text):
        # Not a Greek letter, nor a letter that carries a mark: those are the paper's symbols.
        setting.field.help_text = sentence(text) if text[:2].isascii() else f"{text.removesuffix('.')}."
    return setting


_YES_NO = [("on", "Yes"), ("off", "No")]


def _optional(setting: Setting) -> Setting:
    """Choices with a first one that leaves the matter to the preset."""
    field, default = setting.field, setting.default
    if isinstance(field, forms.BooleanField):
        options, usual = _YES_NO, "Yes" if default else "No"
    elif isinstance(field, forms.ChoiceField):
        options = [(value, label.replace("_", " ")) for value, label in choices_of(field)]
        usual = next((label for value, label in options if value == default), str(default))
    else:
        return setting
    named = [("", f"{usual}, as the preset"), *options]
    changed = forms.ChoiceField(choices=named, label=field.label, help_text=field.help_text, required=False)
    return setting._replace(field=changed)


def typed(groups: Iterable[SettingGroup], cleaned: Mapping[str, Any]) -> dict[str, Any]:
    """What was typed, as the engine's nested settings."""
    data: dict[str, Any] = {}
    for group in groups:
        for setting in group.settings:
            value = values_typed([setting], cleaned).get(setting.key)
            if value is not None and value != {}:
                *path, last = setting.name.split(".")
                at = data
                for part in path:
                    at = at.setdefault(part, {})
                at[last] = _engine_value(setting, value)
    return data


def _engine_value(setting: Setting, value: Any) -> Any:
    if isinstance(value, str) and setting.name in (REWARDS, GAME):
        return value  # it could not be read: the engine says the same of it
    if setting.name == REWARDS:
        numbers = {name: [_number_or(v, ".") for v in values] for name, values in value.items()}
        return {name: dict(zip(("weight", "discount", "trace"), v, strict=False)) for name, v in numbers.items()}
    if setting.name == GAME:
        return {name: _plain(name, v) for name, v in value.items()}
    if isinstance(setting.default, bool):
        return value == "on"
    return value


def _number_or(value: Any, mark: Mark | None) -> Any:
    """The number that a text stands for; anything else as it is, so that the engine says what is wrong with it."""
    number = value_of(value, mark) if isinstance(value, str) else None
    return value if number is None else number


def _plain(name: str, values: list[str]) -> Any:
    """A game's setting as the value it stands for: a range where it says “1 to 5”. Rewards are always a list."""
    found = [_number_or(text, None) for text in values]
    whole = [int(v) if isinstance(v, float) and v == int(v) else v for v in found]
    if len(whole) > 2 and whole[1] == "to":
        return (whole[0], *whole[2:])
    return [str(v) for v in values] if name == "rewards" else whole[0]


def texts(groups: Iterable[SettingGroup], config: Mapping[str, Any]) -> dict[str, str]:
    """What would have to be typed to get a job's settings: those that differ from the preset's."""
    found: dict[str, str] = {}
    for setting in (s for group in groups for s in group.settings):
        value: Any = config
        for part in setting.name.split("."):
            value = value.get(part, {}) if isinstance(value, Mapping) else {}
        if text := _text_of(setting, value):
            found[setting.name] = text
    return found


def _text_of(setting: Setting, value: Any) -> str:
    if setting.name == CONV:
        text = conv_text(value)
        return "" if text.split() == list(setting.default) else text
    if setting.name == REWARDS:
        return "\n".join(" ".join(_said(v) for v in (name, *_terms(terms))) for name, terms in value.items())
    if setting.name == GAME:
        return "\n".join(f"{name} {_said(v)}" for name, v in value.items())
    if isinstance(setting.default, bool):
        return "" if value == setting.default else "on" if value else "off"
    return str(typed_of([setting], {setting.key: value}).get(setting.name, ""))


def _said(value: Any) -> str:
    """A value of a line, as JSON, as it is typed."""
    if not isinstance(value, list):
        return _number(value)
    if value and not isinstance(value[0], str):
        value = [value[0], "to", *value[1:]]
    return " ".join(map(_number, value))


def _terms(terms: Mapping[str, Any]) -> list[Any]:
    found = [terms.get(name) for name in ("weight", "discount", "trace")]
    return found[: 1 + max((i for i, v in enumerate(found) if v is not None), default=0)]


def _number(value: Any) -> str:
    return field_text(value) if isinstance(value, float) else str(value)
