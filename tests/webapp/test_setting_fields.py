"""Form fields made from the engine's models: they take what the models take, and say so in words."""

from __future__ import annotations

from math import isfinite

import pytest
from django import forms

from engine.catalog import ALGORITHMS, LEARNERS
from engine.config import Config, parse
from engine.config.noise import EvaluationsRule, MinutesRule, NoiseConfig, PlateauRule
from engine.config.rl import NetworkConfig
from engine.errors import ConfigError
from webapp.games.fields import FAR, NumberField, NumberRange
from webapp.games.numbers import shown
from webapp.studies.setting_fields import settings_of

SEARCHES = [ALGORITHMS[kind].config for kind in ALGORITHMS]
LEARNING = [LEARNERS[kind].config for kind in LEARNERS]
OTHERS: list[type[Config]] = [NetworkConfig, NoiseConfig, PlateauRule, EvaluationsRule, MinutesRule]


@pytest.mark.parametrize(
    ("span", "told"),
    [
        (NumberRange(0, 1), "from 0 to 1"),
        (NumberRange(0, 1, above=True), "more than 0, at most 1"),
        (NumberRange(0, 1, above=True, below=True), "more than 0, less than 1"),
        (NumberRange(0, 0.999999), "from 0 to 0.999999"),
        (NumberRange(0, 1, below=True), "at least 0, less than 1"),
        (NumberRange(1), "at least 1"),
        (NumberRange(0, above=True), "more than 0"),
        (NumberRange(high=10_000), "at most 10,000"),
        (NumberRange(0, 10**12), "at least 0"),
        (NumberRange(), ""),
    ],
)
def test_the_numbers_that_a_field_takes_are_told_in_words(span: NumberRange, told: str) -> None:
    assert span.sentence == told


def test_what_is_refused_is_told_with_what_is_taken() -> None:
    field = NumberField(low=0, high=1, above=True)
    for typed, says in (("0", "Type a number: more than 0, at most 1."), ("x", "Type one: more than 0, at most 1.")):
        with pytest.raises(forms.ValidationError, match=says):
            field.clean(typed)
    with pytest.raises(forms.ValidationError, match="Type one such as 2 or"):
        NumberField().clean("x")


@pytest.mark.parametrize("model", [*LEARNING, *SEARCHES, *OTHERS], ids=lambda model: model.__name__)
def test_a_field_takes_its_ends_exactly_where_the_engine_does(model: type[Config]) -> None:
    for setting in settings_of(model, leave=("population",)):
        field = setting.field
        if not isinstance(field, NumberField):
            continue
        for end in (field.span.low, field.span.high):
            if isfinite(end) and end < FAR:
                assert _takes(field, end) == _parses(model, setting.key, end), (setting.key, end)


def _takes(field: NumberField, value: float) -> bool:
    try:
        field.clean(shown(value))
    except forms.ValidationError:
        return False
    return True


def _parses(model: type[Config], key: str, value: float) -> bool:
    try:
        parse(model, {key: int(value) if value == int(value) else value})
    except ConfigError:
        return False
    return True
