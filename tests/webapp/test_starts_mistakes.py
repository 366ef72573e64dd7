"""What is wrong with a study of easier starts: all of it is told at once, each thing at its field or place."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from tests.contracts.asked_kind import form
from tests.factories import Studio
from tests.webapp.test_starts import CHOSEN
from webapp.api import tokens
from webapp.studies import checks
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db


def tag(content: str, name: str) -> str:
    found = re.search(rf'<input[^>]*name="{name}"[^>]*>', content)
    assert found is not None, name
    return found[0]


def test_a_wrong_cell_of_the_table_is_marked_and_tied_to_what_is_wrong(team: Studio, designer: Client) -> None:
    content = designer.post(
        form(team, "starts"), {**CHOSEN, "ball_x_min2": "2", "name2": "At the goal"}
    ).content.decode()
    for name, why in (("ball_x_min2", "Type a number from 0 to 0.98."), ("name2", "Another start has this name.")):
        box = tag(content, name)
        assert 'aria-invalid="true"' in box
        assert f'aria-describedby="id_{name}_error"' in box
        said = content[content.index(f'id="id_{name}_error"') :]
        assert why in said[:400]
        assert f'href="#id_{name}"' in content, "the list above the form leads to it"
    assert content.count("field-invalid") == 2
    assert "aria-invalid" not in tag(content, "ball_x_min1")
    assert "data-focus-wrong" in content


def test_everything_that_is_wrong_is_told_at_once_and_stays_as_it_was_typed(team: Studio, designer: Client) -> None:
    typed = {**CHOSEN, "ball_x_min1": "left", "ball_x_max2": "0.3", "name3": "Half the way", "apart2": "7",
             "high": "", "iterations": "-1", "rate": "much"}  # fmt: skip
    answer = designer.post(form(team, "starts"), typed)
    said = {name: " ".join(errors) for name, errors in answer.context["form"].errors.items()}
    assert said.keys() == {"ball_x_min1", "ball_x_max2", "name3", "apart2", "high", "iterations", "rate"}
    assert "no episode can begin" in said["ball_x_max2"]
    assert "Say the largest score, too" in said["high"]
    assert "left is not a number" in said["ball_x_min1"]
    content = answer.content.decode()
    for name in said:
        assert f'value="{typed[name]}"' in tag(content, name) or not typed[name], name
    before = designer.post(f"{form(team, 'starts')}before/", typed).content.decode()
    assert before.count("field-error") == 7


def test_what_goes_with_a_wrong_box_is_not_taken_for_wrong(team: Studio, designer: Client) -> None:
    for change, wrong in (
        ({"ball_x_max1": "far"}, {"ball_x_max1"}),
        ({"ball_x_max1": "far", "ball_x_min1": "3"}, {"ball_x_max1", "ball_x_min1"}),
        ({"ball_y_min1": "left", "ball_y_max1": "-0.9"}, {"ball_y_min1"}),
        ({"name2": "At the goal", "ball_y_max3": "-0.9"}, {"name2", "ball_y_max3"}),
        ({"hard": "9"}, {"hard"}),
        ({"low": "few"}, {"low"}),
        ({"game": "pong", "ball_x_min2": "2"}, {"game"}),
    ):
        said = designer.post(form(team, "starts"), {**CHOSEN, **change}).context["form"].errors
        assert wrong <= said.keys() <= wrong | {"ball_x_min2"}, (change, said)


def asked(team: Studio, **config: Any) -> dict[str, str]:
    """What the API says of a study, by place."""
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})
    body = {"kind": "starts", "config": {"game": {"name": "half-field"}, **config}}
    answer = client.post(f"/api/v1/projects/{team.project.slug}/jobs", body, content_type="application/json")
    assert answer.status_code == 422, answer.json()
    return {problem["place"].removeprefix("config."): problem["message"] for problem in answer.json()["problems"]}


def test_a_program_is_told_everything_at_once_what_a_wrong_value_hides_too(team: Studio) -> None:
    tasks = [
        {"name": "a", "settings": {"ball_x_min": [1], "ball_y_min": 0.5, "ball_y_max": 0.1, "strange": 1}},
        {"name": "a", "settings": {"ball_x_min": 0.9, "ball_x_max": 0.5}, "hard": True},
        {"name": "c", "hard": True},
    ]
    said = asked(team, tasks=tasks, iterations=0, scheduler={"kind": "exp3", "gamma": 7, "high": 1},
                 replay={"where": "redis", "address": "redis://10.0.0.1"})  # fmt: skip
    assert said.keys() == {
        "tasks.0.settings.ball_x_min", "tasks.0.settings.ball_y_max", "tasks.0.settings.strange", "tasks.1.name",
        "tasks.1.settings.ball_x_max", "tasks.2.hard", "iterations", "scheduler.gamma", "scheduler.low", "replay.where",
        "replay.address",
    }  # fmt: skip


def test_more_players_than_a_site_has_room_for_are_told_at_the_number_of_them(team: Studio, designer: Client) -> None:
    most = checks.most_workers()
    tasks = [{"name": "a", "settings": {"apart": 0.1}}, {"name": "b", "hard": True}]
    said = asked(team, tasks=tasks, actors=most)
    assert said.keys() == {"actors"}
    assert said["actors"].startswith(f"Must be {most // 2} or less: 2 starts have so many players each")
    errors = designer.post(form(team, "starts"), {**CHOSEN, "actors": str(most)}).context["form"].errors
    assert errors.keys() == {"actors"}
    assert asked(team, tasks=tasks, samplers=3) == {"samplers": "There is no such setting."}
    assert not Job.objects.exists()


def test_more_starts_than_a_site_has_room_for_are_told_at_all_of_them(team: Studio, settings: Any) -> None:
    settings.CPUS = 1
    tasks = [{"name": f"s{i}", "settings": {"apart": i / 10}, "hard": i == 5} for i in range(6)]
    assert asked(team, tasks=tasks)["tasks"].startswith("There may be 4 at most: each has a player of its own")


def test_a_start_like_another_one_is_told_at_its_settings(team: Studio, designer: Client) -> None:
    (said,) = asked(team, tasks=[{"name": "a"}, {"name": "b", "hard": True}]).items()
    assert said[0] == "tasks.1.settings"
    assert "begin as in “a”" in said[1]
    same = {"ball_x_min2": "0.8", "ball_x_max2": "0.9", "apart2": "0"}
    errors = designer.post(form(team, "starts"), {**CHOSEN, **same}).context["form"].errors
    assert len(errors) == 1, errors
    assert "begin as in" in str(errors)
