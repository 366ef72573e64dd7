"""The players of a course on its form: what they may be called, what their menus offer, and what to do where something
is wrong."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.test import Client

from tests.contracts.asked_kind import form
from tests.factories import Studio
from tests.webapp.test_arena import MINE
from webapp.studies.models import Job

pytestmark = pytest.mark.django_db
WOLF = {
    **MINE, "name1": "Red Wolf", "name2": "Main", "who1": "Red Wolf vs luck, Main against luck",
    "who2": "red-wolf vs old, [x]", "only2": "Main", "copies2": "",
}  # fmt: skip


def wrong(team: Studio, client: Client, **change: str) -> dict[str, Any]:
    answer = client.post(form(team, "arena"), {**MINE, **change})
    assert answer.status_code == 422
    return {name: " ".join(found) for name, found in answer.context["form"].errors.items()}


def offered(team: Studio, client: Client, name: str, **more: str) -> list[str]:
    """What a menu of the page offers."""
    sent = {"game": "pong-two-seats", "plan": "own", **more, "action": "draw"}
    content = client.post(form(team, "arena"), sent).content.decode()
    menu = content.partition(f'<select name="{name}"')[2].partition("</select>")[0]
    return [html.unescape(text) for text in re.findall(r"<option[^>]*>([^<]*)</option>", menu)]


def test_a_player_may_have_capitals_and_spaces_in_its_name(team: Studio, designer: Client) -> None:
    sent = {**WOLF, "who2": "red-wolf vs old, RED WOLF vs Main"}
    assert designer.post(form(team, "arena"), sent).status_code == 302
    config = Job.objects.get(kind="arena").config
    assert {"red-wolf", "main"} <= config["roster"].keys()
    assert [match["who"] for match in config["lessons"][1]["matches"]] == [["red-wolf", "old"], ["red-wolf", "main"]]
    assert config["lessons"][1]["frozen"] == ["main"]
    assert config["lessons"][0]["until"]["policy"] == "red-wolf"


def test_names_that_differ_in_capitals_alone_are_one_name(team: Studio, designer: Client) -> None:
    assert "Player 1 has this name, too" in wrong(team, designer, name2="MAIN")["name2"]


@pytest.mark.parametrize("name", ["Main!", "Wölfe", "-", "a/b", "x" * 25])
def test_what_no_player_can_be_called_is_said_at_its_field(team: Studio, designer: Client, name: str) -> None:
    said = wrong(team, designer, name1=name)
    assert [*said] == ["name1"]
    assert "letters from a to z, digits, spaces and dashes" in said["name1"] or "characters" in said["name1"]


def test_the_form_says_before_what_a_name_may_hold_and_what_an_unnamed_player_is_called(
    team: Studio, designer: Client
) -> None:
    content = designer.get(form(team, "arena")).content.decode()
    assert "letters from a to z, digits, spaces and dashes" in content
    assert 'placeholder="player-2"' in content


@pytest.mark.parametrize(("change", "field", "why"), [
    ({"steps1": ""}, "steps1", "A condition may never come true: without a limit it would go on for ever"),
    ({"who1": "[[main, rival], luck]", "game": "pong-two-seats"}, "who1", "A group is steered by one player"),
])  # fmt: skip
def test_a_condition_without_a_limit_and_a_group_of_two_players_are_said_at_their_fields(
    team: Studio, designer: Client, change: dict[str, str], field: str, why: str
) -> None:
    said = wrong(team, designer, **change)
    assert [*said] == [field]
    assert why in said[field]


@pytest.mark.parametrize(("change", "field"), [
    ({"who1": "main vs nobody, main vs luck"}, "who1"), ({"only2": "nobody"}, "only2"),
    ({"name4": "idle", "plays4": "script:random", "who1": "main vs old"}, "name4"),
])  # fmt: skip
def test_the_form_speaks_of_players_and_never_of_policies(
    team: Studio, designer: Client, change: dict[str, str], field: str
) -> None:
    said = wrong(team, designer, **change)
    assert field in said
    assert not any("polic" in text.lower() for text in said.values()), said


def test_no_word_of_the_form_is_policy(team: Studio, designer: Client) -> None:
    content = designer.post(form(team, "arena"), {**MINE, "action": "draw"}).content.decode()
    words = re.sub("<[^>]*>", " ", content[content.index("<main") : content.index("</main")])
    assert "polic" not in words.lower()


def test_the_best_of_one_who_learns_is_refused_with_what_to_do(team: Studio, designer: Client) -> None:
    said = wrong(
        team, designer, then1="best", plays2="script:random", who1="main vs luck, main vs rival", who2="main vs old"
    )
    assert said == {
        "then1": "Only main learns, so there is no best of several. Let another player learn, too, or choose something "
        "else to happen."
    }


def test_earlier_selves_of_who_does_not_learn_are_refused_at_their_player(team: Studio, designer: Client) -> None:
    assert "luck does not learn" in wrong(team, designer, plays3="past:4")["plays3"]
    assert "Player 6 is nobody" in wrong(team, designer, plays3="past:6")["plays3"]
    alone = {"plays1": "script:random", "plays2": "", "name2": "", "who1": "main vs old", "who2": "", "steps2": ""}
    said = wrong(team, designer, **alone, until1="")
    assert "Nobody learns" in said["plays3"]


def test_a_learner_that_cannot_play_the_game_is_refused_where_it_is_chosen(team: Studio, designer: Client) -> None:
    said = wrong(team, designer, plays2="learn:sac", who2="main vs old")
    assert [*said] == ["plays2"]
    assert "SAC steers with numbers" in said["plays2"]
    answer = designer.post(form(team, "arena"), {"game": "pong-two-seats", "plan": "ladder", "learner": "td3"})
    assert [*answer.context["form"].errors] == ["learner"]


def test_a_script_of_another_game_is_refused_where_it_is_chosen(team: Studio, designer: Client) -> None:
    said = wrong(team, designer, plays4="script:tanks-static")
    assert said == {"plays4": "“Stands still” plays another game. Choose another script."}


def test_menus_offer_what_plays_the_game_and_earlier_selves_of_who_is_there(team: Studio, designer: Client) -> None:
    pong = offered(team, designer, "plays2", name1="main", plays1="learn:ppo")
    assert "Script: Looks ahead" in pong
    assert "Script: Stands still" not in pong
    assert not any("SAC" in text for text in pong)
    assert "Earlier selves of main, equally often" in pong
    assert not any("player 2" in text or "player-2" in text for text in pong)
    tanks = offered(team, designer, "plays2", game="tanks-two-teams")
    assert "Script: Stands still" in tanks
    assert any("SAC" in text for text in tanks)
    assert not any("DQN" in text for text in tanks)


def test_the_menu_of_learners_says_which_fits_and_has_those_that_can_play(team: Studio, designer: Client) -> None:
    menu = designer.get(form(team, "arena")).content.decode().partition('<select name="learner"')[2]
    options = dict(re.findall(r'<option value="(\w+)"[^>]* data-games="([^"]*)"', menu.partition("</select>")[0]))
    assert "pong-two-seats" in options["ppo"].split()
    assert "pong-two-seats" not in options["sac"].split()
    assert "tanks-two-teams" in options["masac"].split()
    assert "PPO: the one to begin with" in menu


def test_players_that_are_nobody_at_the_end_do_not_show_and_more_can_be_added(team: Studio, designer: Client) -> None:
    def shown(action: str, **more: str) -> int:
        sent = {"game": "pong-two-seats", "plan": "own", **more, "action": action}
        return designer.post(form(team, "arena"), sent).content.decode().count('<select name="plays')

    four = {f"plays{i}": "learn:ppo" if i == 1 else "script:random" for i in range(1, 5)}
    assert designer.get(form(team, "arena")).content.decode().count('<select name="plays') == 2
    assert shown("draw", **four) == 4
    assert shown("player", **four) == 5
    assert shown("player", **{f"plays{i}": "script:random" for i in range(1, 13)}) == 12


@pytest.mark.parametrize("then", ["", "pool", "best"])
def test_a_player_who_plays_nowhere_is_told_of_once(team: Studio, designer: Client, then: str) -> None:
    alone = {"name3": "", "plays3": "", "who2": "main vs rival", "name5": "pack", "plays5": "learn:ppo",
             "plays2": "learn:ppo"}  # fmt: skip
    said = wrong(team, designer, **alone, then1=then, copies1="pack from main")
    assert said == {"name5": "It plays in no match of any lesson: leave it out, or name it in a match."}


def test_decisions_by_chance_that_are_more_than_a_course_has_are_said_in_words_of_the_form(
    team: Studio, designer: Client
) -> None:
    said = wrong(team, designer, steps1="300", steps2="300")
    assert [*said] == ["steps1"]
    assert "decisions are played by chance" in said["steps1"]
    assert said["steps1"].endswith("let lessons last longer.")
