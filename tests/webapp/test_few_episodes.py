"""What the pages of styles say of ranges by few episodes."""

from __future__ import annotations

import numpy as np

from webapp.styles.few_episodes import words

UNKNOWN = np.full(3, np.inf)


def test_wide_ranges_of_few_episodes_are_said_to_say_little_with_how_many_would_say_more() -> None:
    low, high = np.array([0.1, 0.2, 0.3]), np.array([0.7, 0.8, 0.9])
    assert words(6, low, high, 0.1) == (
        "6 episodes say little: a score may be about 0.30 higher or lower. About 54 would bring that down to 0.1."
    )
    assert words(60, low, high, 0.1).endswith("About 540 would bring that down to 0.1.")
    assert words(1, low, high, 0.1).startswith("1 episode says little")
    assert words(6, low, high, 0.001) == "6 episodes say little: a score may be about 0.30 higher or lower."


def test_ranges_that_are_narrow_enough_or_unknown_are_left_alone() -> None:
    low, high = np.array([0.1, 0.2, 0.3]), np.array([0.25, 0.35, 0.45])
    assert words(100, low, high, 0.1) == ""
    assert words(100, low, high, 0.0) == ""
    assert words(6, -UNKNOWN, UNKNOWN, 0.1) == ""
