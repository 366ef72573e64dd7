"""Lines over what a job has done: axes with round numbers, and nothing drawn that nobody told."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from webapp.lib.words import number, percent
from webapp.studies.lines import BOTTOM, END, GAP, LEFT, LETTER, RIGHT, TOP, LineRange, Lines, from_nought, marks, shown


def test_a_line_leaves_out_what_nobody_told_and_ends_at_the_ends_of_the_axes() -> None:
    drawn = Lines("Decisions → more", [10, 20, 30], [
        ("other", "Evolving", [1.0, None, 3.0]), ("first", "Learning", [None, math.nan, None]),
    ])  # fmt: skip
    (line,) = drawn.lines
    assert line.points == [(LEFT, BOTTOM), (RIGHT, TOP)]
    assert drawn.keys == {"other": "evolving"}
    assert drawn.heads == ["Decisions", "Evolving", "Learning"]
    assert drawn.rows[1] == ["20", "", ""]


def test_where_nobody_knows_what_is_between_the_points_of_a_line_each_is_shown() -> None:
    gaps, alone = [1.0, None, None, 3.0, 2.0], [None, 1.0, None, None, None]
    whole, many = [None, 1.0, 2.0, 3.0, None], [float(i % 2) if i % 3 else None for i in range(200)]
    drawn = Lines("Decisions → more", range(5), [("other", "Gaps", gaps), ("first", "Alone", alone),
                                                 ("second", "Whole", whole)])  # fmt: skip
    assert [len(line.dots) for line in drawn.lines] == [3, 1, 0]
    assert not Lines("Decisions → more", range(200), [("other", "Many", many)]).lines[0].dots


def test_axes_name_round_numbers_within_their_ends() -> None:
    assert marks(0, 1) == [0, 0.5, 1] or marks(0, 1) == [0, 0.25, 0.5, 0.75, 1]
    for low, high in ((-1623.4, -148.2), (0.0, 0.031), (12.0, 12.0), (3.0, 1_000_000.0)):
        found = marks(low, high)
        assert 1 <= len(found) <= 6
        assert low - 1e-9 <= found[0] <= found[-1] <= high + 1e-9


@settings(max_examples=500)
@example(1174, 0.875)
@given(st.integers(1, 10**9), st.floats(0.0, 1.0))
def test_an_axis_names_three_places_wherever_their_texts_are_short_enough(span: int, share: float) -> None:
    first = round(share * span)
    drawn = Lines("Decisions → more", [first, first + span], [("a", "Score", [0.0, 1.0])], lambda x: number(round(x)))
    longest = LETTER * len(number(first + span)) + GAP
    if span >= 10 and 6 * longest < RIGHT - LEFT:
        assert len(drawn.places) >= 3, drawn.places
    assert len({text for text, _ in drawn.places}) == len(drawn.places) <= 6


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_an_axis_beside_a_drawing_names_three_levels_unless_their_texts_would_be_alike(low: float, span: float) -> None:
    drawn = Lines("x", [0, 1], [("a", "Score", [low, low + span])])
    assert 3 <= len(drawn.levels) <= 6 or span < abs(low) / 50


def test_no_two_levels_have_one_text() -> None:
    drawn = Lines("x", [0, 1], [("a", "Wins", [0.4991, 0.5034])], says=percent)
    assert [text for text, _ in drawn.levels] == ["50\N{NO-BREAK SPACE}%"]


def test_what_is_never_below_0_begins_there() -> None:
    assert from_nought([[None, 3.0], [math.nan, 2.0]]) == (0.0, 3.0)
    assert from_nought([[0.0, None]]) == from_nought([]) == (0.0, 1.0)


def test_numbers_have_three_digits_and_true_minus_signs() -> None:
    told = {0.0: "0", -0.25: "−0.25", 12.5: "12.5", 1234.4: "1,234", -1623.4: "−1,623", 0.01234: "0.0123", 7.0: "7"}
    assert {value: shown(value) for value in told} == told
    assert shown(3.2e-9) == "3.2e−09"


def test_the_range_of_a_single_point_is_a_bar_so_that_it_is_seen() -> None:
    around = LineRange([None, 1.0], [None, 3.0], lambda value, low, high: f"{value} ({low} to {high})")
    (line,) = Lines("x", [0, 10], [("first", "Near", [None, 2.0])], up=(0.0, 4.0), ranges={"Near": around}).lines
    assert line.band == "M612.0 67.0 L620.0 67.0 L620.0 169.0 L612.0 169.0 Z"


@pytest.mark.parametrize("last", [9_000.0, 60_000.0, 401_920.0, 4_000_000.0, 80_000_000.0, 1e11])
def test_texts_below_an_axis_leave_room_between_each_other_even_in_large_letters(last: float) -> None:
    drawn = Lines("Decisions → more", [0.0, last], [("first", "Score", [0.0, 1.0])], lambda x: number(round(x)))
    widths = [(text, x, LETTER * len(text)) for text, x in drawn.places]
    ends = [(x - width, x) if x > END else (x - width / 2, x + width / 2) for _, x, width in widths]
    assert len(ends) >= (3 if last < 1e10 else 2)
    assert all(right - left >= GAP for (_, left), (right, _) in pairwise(ends))


def test_a_range_is_drawn_around_its_line_where_both_ends_are_known_and_told_with_each_value() -> None:
    words = "{:g} ({:g} to {:g})".format
    around = LineRange([0.0, None, 0.5], [0.5, None, 1.0], words, "100 episodes")
    drawn = Lines(
        "Steps → later", [0, 10, 20], [("a", "Near", [0.25, None, 0.75]), ("b", "Far", [0.0, 0.5, 1.0])],
        up=(0.0, 1.0), ranges={"Near": around},
    )  # fmt: skip
    near, far = drawn.lines
    assert near.band == "M64.0 118.0 L616.0 16.0 L616.0 118.0 L64.0 220.0 Z", "high ends, then low ends back"
    assert (far.band, far.tips) == ("", ())
    assert [tip.text for tip in near.tips] == [
        "Near, 0: 0.25 (0 to 0.5), 100 episodes", "Near, 20: 0.75 (0.5 to 1), 100 episodes",
    ]  # fmt: skip
    assert [(tip.x, tip.y) for tip in near.tips] == near.points
    assert [row[1] for row in drawn.rows] == ["0.25 (0 to 0.5)", "", "0.75 (0.5 to 1)"]


def test_of_a_range_nobody_knows_nothing_is_drawn() -> None:
    around = LineRange([None, None], [0.5, 1.0], "{:g} ({:g} to {:g})".format, "2 episodes")
    (line,) = Lines("Steps → later", [0, 10], [("a", "Near", [0.0, 1.0])], ranges={"Near": around}).lines
    assert line.band == ""
    assert [tip.text for tip in line.tips] == ["Near, 0: 0, 2 episodes", "Near, 10: 1, 2 episodes"]
