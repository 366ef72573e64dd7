"""A course of the list becomes lessons of one's own: its players and lessons are filled in as the course has them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.contracts.asked_kind import form
from tests.factories import Studio
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db
LADDER = {"game": "pong-two-seats", "plan": "ladder", "steps": "1200000", "learner": "ppo", "copies": "3", "seed": "9"}


def edited(team: Studio, client: Client, **more: str) -> Any:
    """The form after “Edit its lessons”."""
    return client.post(form(team, "arena"), {**LADDER, **more, "action": "edit"})


@pytest.mark.parametrize("game", ["tanks-two-teams", "pong-two-seats", "connect-four"])
@pytest.mark.parametrize("plan", ["league", "ladder", "best"])
def test_lessons_as_a_course_of_the_list_has_them_start_the_same_course(
    team: Studio, designer: Client, plan: str, game: str
) -> None:
    sent = {**LADDER, "plan": plan, "game": game}
    designer.post(form(team, "arena"), sent)
    first = Job.objects.get(kind="arena")
    answer = edited(team, designer, **sent)
    filled = answer.context["form"].initial
    assert filled["plan"] == "own"
    again = {name: value for name, value in filled.items() if isinstance(value, str | int | float)}
    assert designer.post(form(team, "arena"), again).status_code == 302
    assert Job.objects.filter(kind="arena").latest("pk").config == first.config


def test_what_the_rows_of_an_edited_ladder_say(team: Studio, designer: Client) -> None:
    content = edited(team, designer).content.decode()
    assert "<b>Lesson 1: Beat the script.</b> agent vs script." in content
    assert "Held 10 times." in content
    assert content.count("autofocus") == 1
    assert not Job.objects.filter(kind="arena").exists()


def test_a_course_for_one_side_is_edited_too(team: Studio, designer: Client) -> None:
    filled = edited(team, designer, plan="best", game="navigation", learner="sac").context["form"].initial
    assert filled["who1"] == "first, second, third"
    assert "name4" not in filled


def test_a_course_that_the_game_cannot_have_says_so_and_is_not_edited(team: Studio, designer: Client) -> None:
    answer = edited(team, designer, plan="league", game="navigation")
    assert answer.status_code == 422
    assert "needs a game with two sides" in answer.content.decode()


def test_so_few_decisions_that_no_lesson_has_any_are_as_usual_in_the_edited_lessons(
    team: Studio, designer: Client
) -> None:
    assert int(edited(team, designer, steps="3").context["form"].initial["steps1"]) > 100_000


def test_lessons_of_one_s_own_stay_as_they_are(team: Studio, designer: Client) -> None:
    filled = edited(team, designer, plan="own", who1="main vs luck").context["form"].initial
    assert filled["who1"] == "main vs luck"
    assert not Job.objects.filter(kind="arena").exists()


def test_a_job_that_runs_again_can_be_edited_too(team: Studio, designer: Client) -> None:
    designer.post(form(team, "arena"), LADDER)
    job = Job.objects.get(kind="arena")
    answer = designer.post(reverse("studies:again", args=[team.project.slug, job.pk]), follow=True)
    assert "Edit its lessons" in answer.content.decode()
    filled = answer.context["form"].initial
    sent = {name: str(value) for name, value in filled.items() if value is not None} | {"action": "edit"}
    own = designer.post(answer.redirect_chain[-1][0], sent).context["form"].initial
    assert (own["plan"], own["lesson_title2"], own["copies"]) == ("own", "Beat yourself", "3")


def test_decisions_are_shown_with_separators_and_read_with_them(team: Studio, designer: Client) -> None:
    shown = edited(team, designer, steps="12000000")
    initial, content = shown.context["form"].initial, shown.content.decode()
    lessons = [int(initial[f"steps{i}"]) for i in (1, 2)]
    for name, steps in (("steps", 12_000_000), ("steps1", lessons[0]), ("steps2", lessons[1])):
        (box,) = re.findall(rf'<input [^>]*name="{name}"[^>]*>', content)
        assert f'value="{steps:,}"' in box, box
    typed = {name: text for name, text in initial.items() if isinstance(text, str | int)}
    again = designer.post(form(team, "arena"), {**typed, "steps1": f"{lessons[0]:,}", "steps2": "oh"})
    assert again.status_code == 422
    assert f'value="{lessons[0]:,}"' in again.content.decode()
    assert 'value="oh"' in again.content.decode(), "what is no number stays as it was typed"
    sent = designer.post(form(team, "arena"), {**typed, "steps1": f"{lessons[0]:,}"})
    assert sent.status_code == 302
    assert Job.objects.get(kind="arena").config["lessons"][0]["steps"] == lessons[0]
