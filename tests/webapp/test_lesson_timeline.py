"""The form of lessons: a timeline whose rows are added, copied, moved and removed by buttons that need no script."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from tests.contracts.asked_kind import form
from tests.factories import Studio
from tests.webapp.test_arena import MINE
from webapp.arena.lesson_fields import HELD
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db
SUMMARY = re.compile(r'<span id="says-(\d+)"[^>]*>(.*?)</span>', re.S)


def pressed(team: Studio, client: Client, action: str, **more: str) -> Any:
    """The page after a button of the timeline was pressed."""
    answer = client.post(form(team, "arena"), {**MINE, **more, "action": action})
    assert answer.status_code == 200
    return answer


def lists(answer: Any) -> list[str]:
    """Who plays whom in each row that the page shows, from above."""
    found = re.findall(r'name="who(\d+)"(?: value="([^"]*)")?', answer.content.decode())
    assert [number for number, _ in found] == [str(i) for i in range(1, len(found) + 1)]
    return [who for _, who in found]


def summaries(answer: Any) -> list[str]:
    """What the rows say while they are folded."""
    found = SUMMARY.findall(answer.content.decode())
    return [" ".join(re.sub("<[^>]*>", " ", text).split()).replace(" .", ".") for _, text in found]


FIRST, SECOND = MINE["who1"], MINE["who2"]


@pytest.mark.parametrize(("action", "after"), [
    ("add", [FIRST, SECOND, ""]),
    ("insert:1", [FIRST, "", SECOND]),
    ("copy:1", [FIRST, FIRST, SECOND]),
    ("up:2", [SECOND, FIRST]),
    ("down:1", [SECOND, FIRST]),
    ("remove:1", [SECOND]),
    ("draw", [FIRST, SECOND]),
])  # fmt: skip
def test_a_button_changes_the_rows_and_starts_nothing(
    team: Studio, designer: Client, action: str, after: list[str]
) -> None:
    answer = pressed(team, designer, action)
    assert lists(answer) == after
    assert not Job.objects.filter(kind="arena").exists()
    assert answer.context["form"].initial["name2"] == "rival", "what stands elsewhere stays"


@pytest.mark.parametrize(
    "action", ["up:1", "down:2", "remove:9", "copy:x", "insert:-1", "up:", "nothing:1", "remove:0"]
)
def test_a_button_that_the_page_does_not_have_changes_nothing(team: Studio, designer: Client, action: str) -> None:
    assert lists(pressed(team, designer, action)) == [FIRST, SECOND]


def test_a_row_takes_all_of_it_along(team: Studio, designer: Client) -> None:
    answer = pressed(team, designer, "down:1", lesson_title1="Warm up", times1="3", then1="keep", only2="rival")
    initial = answer.context["form"].initial
    assert (initial["lesson_title2"], initial["times2"], initial["then2"]) == ("Warm up", "3", "keep")
    assert (initial["steps2"], initial["until2"], initial["only1"]) == ("300000", "70", "rival")


def test_the_last_lesson_is_emptied_and_not_removed(team: Studio, designer: Client) -> None:
    answer = designer.post(form(team, "arena"), {"plan": "own", "who1": "main vs luck", "action": "remove:1"})
    assert lists(answer) == [""]


@pytest.mark.parametrize("at", [1, 2])
def test_a_lesson_that_was_removed_comes_back_with_all_of_it(team: Studio, designer: Client, at: int) -> None:
    whole = pressed(team, designer, "draw", steps1="3000", copies2="rival from main")
    answer = pressed(team, designer, f"remove:{at}", steps1="3000", copies2="rival from main")
    assert f"Lesson {at} was removed." in answer.content.decode()
    sent = {name: str(text) for name, text in answer.context["form"].initial.items() if name not in ("open", "focus")}
    again = designer.post(form(team, "arena"), {**sent, "action": "restore"})
    assert lists(again) == lists(whole) == [FIRST, SECOND]
    for name in ("steps1", "copies2", "title", "name2"):
        assert again.context["form"].initial.get(name) == whole.context["form"].initial.get(name)
    assert "was removed." not in again.content.decode()


@pytest.mark.parametrize("text", ["", "[", "[0, {}]", "[1]", '["1", {}]', "[1, []]", "[99999, {}]", "[" * 99_999])
def test_what_is_no_removed_lesson_brings_none_back(team: Studio, designer: Client, text: str) -> None:
    answer = pressed(team, designer, "restore", removed=text)
    assert lists(answer) == [FIRST, SECOND]


def test_there_are_as_many_rows_as_the_form_takes_and_no_more(team: Studio, designer: Client) -> None:
    many = {f"who{i}": FIRST for i in range(1, HELD + 1)}
    for action in ("add", "insert:1", "copy:3"):
        answer = pressed(team, designer, action, **many)
        assert len(lists(answer)) == HELD
        assert 'value="add"' not in answer.content.decode()


def test_the_summary_of_a_row_says_what_is_in_it(team: Studio, designer: Client) -> None:
    more = {"lesson_title1": "Warm up", "times1": "3", "then2": "best", "copies2": "main from rival"}
    answer = pressed(team, designer, "draw", **more)
    first, second = summaries(answer)
    assert first == (
        "Lesson 1: Warm up. main vs luck, rival vs luck. At most 300,000 decisions, until the first who learns wins "
        "70 %. Held 3 times. Then all who learn join the earlier selves."
    )
    assert second == (
        "Lesson 2. main vs old, main vs rival. 400,000 decisions. Then the best goes on in place of the others; "
        "main from rival."
    )
    assert summaries(pressed(team, designer, "remove:1", who2="", steps2="")) == ["Lesson 1. Nobody plays yet."]


def test_empty_rows_at_the_end_do_not_show(team: Studio, designer: Client) -> None:
    empty = {"who3": "", "then3": "pool", "who4": "", "then4": "pool"}
    answer = designer.post(form(team, "arena"), {**MINE, **empty, "who2": "main vs nobody"})
    assert answer.status_code == 422
    assert lists(answer) == [FIRST, "main vs nobody"]
    fresh = designer.get(form(team, "arena"))
    assert lists(fresh) == [""]


def test_a_row_with_an_error_is_open_and_the_others_are_not(team: Studio, designer: Client) -> None:
    content = designer.post(form(team, "arena"), {**MINE, "who2": "main vs nobody"}).content.decode()
    rows = re.findall(r'<details class="[^"]*lesson-row[^"]*"([^>]*)>', content)
    assert ["open" in row for row in rows] == [False, True]


def test_the_row_that_was_added_is_open_and_the_keyboard_is_in_it(team: Studio, designer: Client) -> None:
    content = pressed(team, designer, "insert:1", open="2").content.decode()
    rows = re.findall(r'<details class="[^"]*lesson-row[^"]*"([^>]*)>', content)
    assert ["open" in row for row in rows] == [False, True, True], "the second one was open and is the third one now"
    (focused,) = re.findall(r"<[^>]*autofocus[^>]*>", content)
    assert "summary" in focused
