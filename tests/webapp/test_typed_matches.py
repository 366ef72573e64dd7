"""Who plays whom as people type it: words with vs or against, and lists with or without quotation marks; and the table
of entities that stands for it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.contracts.asked_kind import form
from tests.factories import Studio
from webapp.arena import typed
from webapp.arena.entities import entity_table
from webapp.studies.models import Job
from webapp.training.games import OFFERS

PONG, TANKS = OFFERS["pong-two-seats"], OFFERS["tanks-two-teams"]


@pytest.mark.parametrize("between", ["vs", "vs.", "VS", "against", "Against", "versus"])
def test_opponents_stand_on_both_sides_of_vs_or_against(between: str) -> None:
    text = f"main {between} foe, main  {between}  old (points 3)"
    assert typed.matches(text, PONG) == [["main", "foe"], {"who": ["main", "old"], "settings": {"points": 3}}]


def test_a_name_that_holds_such_a_word_is_no_opponent() -> None:
    assert typed.matches("canvas vs vs-fan", PONG) == [["canvas", "vs-fan"]]


@pytest.mark.parametrize(("text", "found"), [
    ("[[main, main, foe]]", [["main", "main", "foe"]]),
    ('[["main", foe]]', [["main", "foe"]]),
    ("[[1, 1, 2, 2], [[3, 3], 2, 2]]", [[1, 1, 2, 2], [[3, 3], 2, 2]]),
    ("[[[main, main], foe-2, 3]]", [[["main", "main"], "foe-2", 3]]),
    ("[main, foe]", [["main", "foe"]]),
    ("[{who: [main, foe], settings: {points: 3, fast: true}}]",
     [{"who": ["main", "foe"], "settings": {"points": 3, "fast": True}}]),
])  # fmt: skip
def test_names_in_lists_need_no_quotation_marks(text: str, found: Any) -> None:
    assert typed.matches(text, PONG) == found


DEEP = "[" * 990 + "main" + "]" * 990


@pytest.mark.parametrize(
    "text",
    ["[[main, foe]", "[[main foe]]]", "[,]", "[]x", '["main]', "[" * 1900, "[{main}]", "[{who: 3}]", "[{who: true}]",
     DEEP, f"[{{who: {DEEP}}}]"],
)  # fmt: skip
def test_a_list_that_cannot_be_read_says_how_one_is_written(text: str) -> None:
    with pytest.raises(ValueError, match="Write who plays whom like"):
        typed.matches(text, PONG)


def test_a_list_longer_than_its_field_is_not_read() -> None:
    for text in ("main vs foe, " * 10_000, "[" * 100_000, " " * 100_000 + "x" + " " * 100_000):
        with pytest.raises(ValueError, match="at most"):
            typed.matches(f"x{text}x", TANKS)
        assert entity_table(f"x{text}x", TANKS).sides == []


def test_the_table_of_entities_has_a_column_for_each_match_and_one_for_a_new_one() -> None:
    table = entity_table("main vs foe (penalty 0.1), main vs main", TANKS)
    assert [side.name for side in table.sides] == [*TANKS.sides]
    assert [len(side.entities) for side in table.sides] == [5, 5]
    name, cells = table.sides[1].entities[0]
    assert name == f"{TANKS.sides[1]} 1"
    assert [cell.player for cell in cells] == ["foe", "main", ""]
    assert table.settings == ['{"penalty": 0.1}', "{}", "{}"]


def test_a_side_that_is_steered_as_one_is_marked() -> None:
    group = "[[[main, main, main, main, main], foe, foe, foe, other, foe]]"
    table = entity_table(group, TANKS)
    assert [[cell.player for _, cells in side.entities for cell in cells[:1]] for side in table.sides] == [
        ["main"] * 5, ["foe", "foe", "foe", "other", "foe"],
    ]  # fmt: skip
    assert [side.together for side in table.sides] == [[True, False], [False, False]]


@pytest.mark.parametrize("text", [
    "[[[main, main], main, main, main, foe, foe, foe, foe, foe]]", "[[main, foe]]", "main",
    "[{who: [m, m, m, m, m, f, f, f, f, f], entities: [5, 6, 7, 8, 9, 0, 1, 2, 3, 4]}]",
])  # fmt: skip
def test_what_no_table_can_show_is_left_to_the_text(text: str) -> None:
    assert not entity_table(text, TANKS).sides
    assert entity_table(text, TANKS).why


@pytest.mark.django_db
def test_the_form_says_how_many_entities_a_game_has_and_has_a_table_where_sides_have_several(
    team: Studio, designer: Client
) -> None:
    def drawn(game: str) -> str:
        sent = {"game": game, "plan": "own", "who1": "main vs foe", "action": "draw"}
        return designer.post(form(team, "arena"), sent).content.decode()

    tanks, pong = drawn("tanks-two-teams"), drawn("pong-two-seats")
    assert "has 10 entities" in tanks
    assert tanks.count("data-entity=") == 20
    assert "has 2 entities" in pong
    assert "data-entity=" not in pong


@pytest.mark.django_db
def test_a_list_of_names_without_quotation_marks_starts_a_course(team: Studio, designer: Client) -> None:
    sent = {
        "game": "tanks-two-teams", "plan": "own", "name1": "main", "plays1": "learn:sac", "name2": "foe",
        "plays2": "script:tanks-static", "who1": "[[main, main, main, main, foe, foe, foe, foe, foe, foe]]",
        "steps1": "400000",
    }  # fmt: skip
    assert designer.post(form(team, "arena"), sent).status_code == 302
    (match,) = Job.objects.get(kind="arena").config["lessons"][0]["matches"]
    assert match["who"] == ["main"] * 4 + ["foe"] * 6


@pytest.mark.parametrize("match", [
    {"who": ["main", ["foe", "foe"]]}, {"who": ["main", "foe"], "settings": {"map": "a, b (c)"}}, {"who": ["1", ["2"]]},
])  # fmt: skip
def test_a_list_as_it_would_be_typed_is_read_as_what_it_was(match: dict[str, Any]) -> None:
    (found,) = typed.matches(typed.match_list([match], PONG), PONG)
    assert (found if isinstance(found, dict) else {"who": found}) == match
