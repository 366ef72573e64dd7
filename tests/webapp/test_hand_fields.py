"""The limits of a player on the forms: what is typed, what the chosen game will hold of it, and what it cannot hold."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import Studio, signed_in
from webapp.training import hands
from webapp.training.forms import TrainForm

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def client(team: Studio) -> Client:
    return signed_in(team.designer)


HELD = "This game decides 3 times a second: "


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"react": "400", "pace": "2"}, HELD + "0.33 s and 1.5 actions a second will be held."),
        ({"react": "200"}, HELD + "a delay of 0.33 s will be held."),
        ({"react": "0", "pace": "1.4"}, HELD + "1 action a second will be held."),
        (
            {"react": "900", "game.settings": "every 6"},
            "This game decides 2 times a second: a delay of 1 s will be held.",
        ),
        ({"react": "100", "pace": "2"}, ""),
        ({}, ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize("page", ["training:preview", "training:evolve-preview", "styles:preview"])
def test_every_form_says_what_the_chosen_game_will_hold_of_limits_before_the_start(
    client: Client, team: Studio, page: str, typed: dict[str, str], said: str
) -> None:
    told = client.post(reverse(page, args=[team.project.slug]), {"game": "commanders", **typed}).json()
    assert told["hands"]["held"] == said


@pytest.mark.parametrize("page", ["training:new", "training:evolve", "styles:new"])
def test_without_a_script_the_page_that_comes_back_says_what_is_held_and_what_suits_the_game(
    client: Client, team: Studio, page: str
) -> None:
    typed = {"game": "commanders", "react": "400", "pace": "2", "seed": "wrong"}
    shown = client.post(reverse(page, args=[team.project.slug]), typed).content.decode()
    assert HELD + "0.33 s and 1.5 actions a second will be held." in shown
    assert "This game decides 3 times a second, so it is held in steps of 333 ms." in shown
    assert "In this game 1.5 is the most, then 1, 0.75.</p>" in shown, "no person’s 5, which it cannot hold"
    for name in ("react", "pace"):
        assert f'id="id_{name}_notes"><div class="field-errors" data-errors="{name}"></div><p class="help">' in shown


@pytest.mark.parametrize(
    ("typed", "field", "why"),
    [
        ({"react": "100"}, "react", HELD + "100 ms is no delay; 333 ms is the least."),
        ({"pace": "5"}, "pace", HELD + "5 actions a second is no limit; 1.5 is the most."),
        ({"react": "1", "pace": "2"}, "react", HELD + "1 ms is no delay; 333 ms is the least."),
    ],
)
def test_a_limit_that_comes_to_nothing_is_an_error_at_its_field(
    team: Studio, typed: dict[str, str], field: str, why: str
) -> None:
    made = TrainForm({"game": "commanders", **typed}, project=team.project)
    assert not made.is_valid()
    assert made.errors == {field: [why]}


@pytest.mark.parametrize("line", ["every 0", "every x", "every 1 to 4"])
def test_a_setting_that_cannot_be_read_leaves_the_limits_unsaid(team: Studio, line: str) -> None:
    made = TrainForm({"game": "commanders", "react": "400", "game.settings": line}, project=team.project)
    assert not made.is_valid()
    assert "game.settings" in made.errors
    assert made.hands["held"] == ""


def test_a_limit_beyond_what_a_game_can_hold_is_no_silently_smaller_one(team: Studio) -> None:
    fast = {"name": "atari-pong", "settings": {"frame_skip": 1}}
    assert hands.problems(fast, 5000, 0.2) == {
        "react": "This game decides 60 times a second: 3,333 ms is the longest delay.",
        "pace": "This game decides 60 times a second: 0.3 actions a second is the least.",
    }
    assert hands.problems(fast, 3333, 0.3) == {}


@pytest.mark.parametrize("settings", ["frame_skip = 0", {"frame_skip": 0}, {"frame_skip": [1, 4]}, {"frame_skip": "x"}])
def test_the_speed_of_a_game_whose_settings_cannot_be_read_is_not_known(settings: Any) -> None:
    assert hands.decisions_a_second({"name": "pong", "settings": settings}) is None
