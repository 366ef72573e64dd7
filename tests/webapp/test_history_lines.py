"""The lines of a job’s history as the site draws them: what the script of live pages makes of them, too."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.utils import timezone

from webapp.lib import words
from webapp.studies.templatetags.jobs import lines


def test_lines_that_say_the_same_are_one_and_something_serious_begins_boldly() -> None:
    told = [
        {"at": 30.0, "words": "A worker was lost: it was replaced.", "serious": True, "waits": False},
        {"at": 20.0, "words": "A worker was lost: it was replaced.", "serious": True, "waits": False},
        {"at": 10.0, "words": "Started on 1 worker.", "serious": False, "waits": False},
    ]
    lost, started = lines(told)
    assert (lost.head, lost.words, lost.many, lost.at, lost.first) == (
        "A worker was lost:", " it was replaced.", 2, 30.0, 20.0,
    )  # fmt: skip
    assert (started.head, started.words, started.many) == ("", "Started on 1 worker.", 1)


@pytest.mark.parametrize(
    ("at", "told"), [((2026, 11, 27, 3, 47, 12), "03:47:12"), ((2026, 11, 26, 3, 47, 12), "26 Nov 03:47:12"),
                     ((2025, 11, 26, 3, 47, 12), "26 Nov 2025 03:47:12")],
)  # fmt: skip
def test_a_time_to_the_second_names_its_day_where_that_is_not_today(
    monkeypatch: pytest.MonkeyPatch, at: tuple[int, ...], told: str
) -> None:
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 11, 27, 12, tzinfo=UTC))
    assert words.exactly(datetime(*at, tzinfo=UTC)) == told  # type: ignore[misc, arg-type]
