"""Numbers beside a line are written with the digits that tell them from it, and from each other."""

from __future__ import annotations

import numpy as np
import pytest

from tests.figures import SHOWN
from webapp.lib.figures import level, telling, with_unit


@pytest.mark.parametrize(("value", "ends", "digits", "lines", "shown"), SHOWN)
def test_a_value_and_its_range_have_the_digits_that_tell_them_from_the_line(
    value: float, ends: tuple[float, float] | None, digits: int, lines: list[float], shown: int
) -> None:
    assert telling(value, ends, digits, lines) == shown


def test_whatever_the_numbers_they_read_as_they_are() -> None:
    rng = np.random.default_rng(1)
    for _ in range(2000):
        line = round(float(rng.uniform(-3, 300)), int(rng.integers(0, 3)))
        value = float(np.float32(line + rng.normal() * 10.0 ** rng.integers(-4, 2)))
        half = float(abs(rng.normal()) * 10.0 ** rng.integers(-3, 2)) + 1e-3
        ends = (value - half, value + half)
        digits = telling(value, ends, 0, [line])
        for number in (value, *ends):
            shown = round(number, digits)
            if abs(number - line) < 1e-6 * max(abs(number), 1):
                continue  # 32 bits do not tell them apart
            assert np.sign(shown - line) == np.sign(number - line), (number, line, digits)
        assert round(ends[0], digits) < round(ends[1], digits)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(2.0, "×", "2.0×"), (2.35, "×", "2.35×"), (20.0, "points", "20\u00a0points"), (31.25, "%", "31.25\u00a0%"),
     (-1.5, "", "−1.5"), (12_000.0, "", "12,000")],
)  # fmt: skip
def test_a_line_is_written_with_all_of_its_digits(value: float, unit: str, text: str) -> None:
    assert with_unit(value, unit) == text


@pytest.mark.parametrize(
    ("value", "half", "unit", "said"),
    [
        (0.25, None, "", "0.25"),
        (0.25, float("inf"), "", "0.25"),
        (0.25, 0.0, "", "0.25"),
        (0.2512, 0.004, "", "0.251"),
        (21.3, 2.4, "%", "21 %"),
        (21.3, 0.4, "%", "21.3 %"),
        (21.3, 2.4, "", "21.3"),
        (1.0, None, "×", "1.0×"),
    ],
)
def test_the_median_team_s_strength_is_written_as_exactly_as_it_is_known(
    value: float, half: float | None, unit: str, said: str
) -> None:
    assert level(value, half, unit).replace("\u00a0", " ") == said
