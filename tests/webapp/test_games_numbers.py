"""Numbers as designers type them."""

from __future__ import annotations

import math

import pytest
from django.forms import ValidationError
from hypothesis import given
from hypothesis import strategies as st

from webapp.games import numbers
from webapp.games.fields import NumberField, words


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("450", 450), ("1,5", 1.5), ("1.5", 1.5), ("1.234,5", 1234.5), ("1,234.5", 1234.5), ("1 234,5", 1234.5),
        ("1\u202f234\u202f567", 1234567), ("1'234.5", 1234.5), ("1,234,567", 1234567), ("0,125", 0.125),
        ("-0.500", -0.5), ("−20", -20), ("+3", 3), (".5", 0.5), ("1e3", 1000), ("  7 ", 7), ("1234,567", 1234.567),
    ],
)  # fmt: skip
def test_a_number_with_one_reading_is_read(text: str, value: float) -> None:
    assert numbers.value_of(text, None) == value


@pytest.mark.parametrize(("text", "point", "comma"), [("1,234", 1234, 1.234), ("1.500", 1.5, 1500)])
def test_a_number_with_two_readings_is_not_guessed(text: str, point: float, comma: float) -> None:
    assert numbers.ambiguous(text)
    assert numbers.value_of(text, None) is None
    assert numbers.value_of(text, ".") == point
    assert numbers.value_of(text, ",") == comma


@pytest.mark.parametrize(
    "text", ["", " ", "-", "nan", "inf", "1e999", "12 34", "1,2,3", "1..2", "=1+1", "٣", "0x10", "1_000", "9" * 60]
)
def test_what_is_not_a_number_is_none(text: str) -> None:
    assert numbers.value_of(text, ",") is None


def test_a_unit_behind_the_number_is_accepted_when_it_is_the_right_one() -> None:
    assert numbers.value_of("30 %", None, "%") == 30
    assert numbers.value_of("450 gold", None, "gold") == 450
    assert numbers.value_of("450 gold", None, "points") is None


def test_other_cells_prove_the_decimal_mark() -> None:
    assert numbers.evidence(["450", "1,5", "1,234"]) == {","}
    assert numbers.evidence(["450", "1,234"]) == set()
    assert numbers.evidence(["1.5", "1,5"]) == {".", ","}


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(numbers.MARKS))
def test_a_shown_number_reads_back_as_itself(value: float, mark: numbers.Mark) -> None:
    assert numbers.value_of(numbers.shown(value, mark), mark) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_stands_in_a_field_reads_back_without_a_question(value: float) -> None:
    assert numbers.value_of(numbers.field_text(value), None) == value
    if numbers.sensible(value):
        assert NumberField().clean(NumberField().prepare_value(value)) == value


def test_a_fraction_that_could_be_thousands_gets_a_zero_in_a_field() -> None:
    assert [numbers.field_text(value) for value in (1.125, 1500.5, 0.125, 3000, 1.125e-7)] == [
        "1.1250", "1500.5", "0.125", "3000", "1.1250e-07",
    ]  # fmt: skip


@given(st.integers(-(10**12), 10**12), st.sampled_from([",", ".", " ", "'", "\u202f"]))
def test_a_field_of_whole_numbers_takes_thousands_as_anybody_separates_them(value: int, separator: str) -> None:
    field = NumberField(whole=True)
    texts = (words(value), numbers.shown(value), numbers.field_text(value), f"{value:,}".replace(",", separator))
    assert [field.clean(text) for text in texts] == [value] * 4


@pytest.mark.parametrize(("text", "whole"), [("1.5", True), ("0,500", True), ("3,000.5", True), ("3,000", False)])
def test_fractions_are_no_whole_numbers_and_other_fields_ask_which_was_meant(text: str, whole: bool) -> None:
    with pytest.raises(ValidationError, match="whole number" if whole else "can mean 3000 or 3"):
        NumberField(whole=whole).clean(text)


@given(st.text(max_size=60), st.sampled_from([*numbers.MARKS, None]), st.sampled_from(["", "%", "gold"]))
def test_no_text_breaks_the_reader(text: str, mark: numbers.Mark | None, unit: str) -> None:
    value = numbers.value_of(text, mark, unit)
    assert value is None or math.isfinite(value)


@given(st.sampled_from(["450 gold", " 1,5", "30 %", "7", "1.234,5 gold"]), st.floats(-1e6, 1e6))
def test_a_rewritten_cell_keeps_its_unit_and_reads_back(text: str, value: float) -> None:
    unit = "gold" if "gold" in text else "%" if "%" in text else ""
    new = numbers.rewritten(text, value, ",", unit)
    assert numbers.value_of(new, ",", unit) == value
    assert new.endswith(unit)
