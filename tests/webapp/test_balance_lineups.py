"""Lineup rules: the form, feasibility told at once, pasted baseline teams, versions."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from engine.lineups.size import Size
from tests.factories import Studio, signed_in, studio
from tests.webapp.games_data import SPEC, with_data
from webapp.balance import feasible, saving, teams
from webapp.balance.models import LineupRules
from webapp.games import versions

LINEUPS = "/p/herobattle/lineups/"
RULES: dict[str, Any] = {
    "name": "Ranked", "teams": "2", "tolerance": "5", "budget_low": "", "budget_high": "", "units_low": "",
    "units_high": "", "baselines": "drawn", "count": "3", "pasted": "",
}  # fmt: skip
PASTED = "Team\tHero\tSoldiers\tHow many\nIce\tFrost Captain\tPikes\t6\nWind\tgale lancer\tBows\t4\n"


@pytest.fixture
def team(db: None) -> Studio:
    found = studio()
    with_data(found.project)
    return found


def rules(team: Studio) -> LineupRules:
    return team.project.lineup_rules.filter(replaced_by=None).get()


def test_rules_are_saved_and_a_change_is_a_new_version(designer: Client, team: Studio) -> None:
    designer.post(f"{LINEUPS}new/", RULES)
    first = rules(team)
    assert first.config["teams"] == 2
    assert first.config["cost_tolerance"] == 0.05
    designer.post(f"{LINEUPS}{first.pk}/", {**RULES, "banned_pieces": ["marrow-duke"], "base": first.pk})
    second = rules(team)
    assert second.config["banned"] == ["marrow-duke"]
    first.refresh_from_db()
    assert first.replaced_by == second
    assert first.config["banned"] == []
    page = designer.get(f"{LINEUPS}{second.pk}/").content.decode()
    assert "1 earlier version" in page
    assert "This is an earlier version" in designer.get(f"{LINEUPS}{first.pk}/").content.decode()


def test_saving_what_did_not_change_makes_no_version(designer: Client, team: Studio) -> None:
    designer.post(f"{LINEUPS}new/", RULES)
    row = rules(team)
    designer.post(f"{LINEUPS}{row.pk}/", {**RULES, "base": row.pk})
    assert LineupRules.objects.count() == 1


def test_a_colleagues_change_is_not_overwritten_unasked(designer: Client, team: Studio) -> None:
    designer.post(f"{LINEUPS}new/", RULES)
    first = rules(team)
    signed_in(team.owner).post(f"{LINEUPS}{first.pk}/", {**RULES, "teams": "4", "base": first.pk})
    answer = designer.post(f"{LINEUPS}{first.pk}/", {**RULES, "teams": "3", "base": first.pk})
    assert answer.status_code == 422
    assert "in the meantime" in answer.content.decode()
    newer = rules(team)
    assert newer.config["teams"] == 4
    designer.post(f"{LINEUPS}{newer.pk}/", {**RULES, "teams": "3", "base": newer.pk})
    assert rules(team).config["teams"] == 3


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"teams": "5"}, "5 heroes are needed for 5 teams that share none, but only 4 are allowed"),
        ({"units_low": "8", "units_high": "4"}, "is above the highest"),
        ({"budget_low": "10000"}, "the dearest team costs"),
        ({"budget_high": "100"}, "the cheapest team costs"),
        ({"required_pieces": ["pikes"], "banned_pieces": ["pikes"]}, "both required and banned"),
        ({"teams": "two"}, "two is not a number"),
        ({"teams": "1.5"}, "whole number"),
        ({"budget_low": "1,234"}, "can mean 1234 or 1.234"),
        ({"banned_pieces": ["nobody"]}, "valid choice"),
        ({"baselines": "pasted", "pasted": ""}, "There are no teams here"),
    ],
)
def test_impossible_rules_are_told_with_the_reason(designer: Client, changes: dict[str, Any], words: str) -> None:
    checked = designer.post(f"{LINEUPS}check/", {**RULES, **changes}).content.decode()
    assert words.lower() in checked.lower()
    saved = designer.post(f"{LINEUPS}new/", {**RULES, **changes})
    assert saved.status_code == 422
    assert words.lower() in saved.content.decode().lower()
    assert not LineupRules.objects.exists()


def test_what_possible_rules_leave_to_choose_from_is_shown(designer: Client) -> None:
    page = designer.post(f"{LINEUPS}check/", {**RULES, "banned_pieces": ["marrow-duke"]}).content.decode()
    assert "Nothing speaks against these rules" in page
    assert "3 of 4" in page


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"tolerance": ""}, "<dt>Lineups that fit</dt><dd>1,536</dd>"),
        (
            {"teams": "3", "tolerance": ""},
            "<dt>Lineups that fit</dt><dd>about 16,000 (16,000 to 17,000, from random draws)",
        ),
    ],
)
def test_how_many_lineups_fit_is_told(designer: Client, changes: dict[str, Any], says: str) -> None:
    assert says in designer.post(f"{LINEUPS}check/", {**RULES, **changes}).content.decode()


def test_how_many_lineups_fit_is_said_with_how_it_is_known() -> None:
    assert feasible.how_many(Size(2e23, 1.7e23, 2.3e23, "estimated")) == (
        "about 2.0 × 10²³ (1.7 to 2.3 × 10²³, from random draws)"
    )
    assert feasible.how_many(Size(1e9, 0.6e9, 1.4e9, "estimated")) == (
        "about 1.0 × 10⁹ (6.0 × 10⁸ to 1.4 × 10⁹, from random draws)"
    )
    assert feasible.how_many(Size(3e28, 0, 3e28, "bound")) == "at most 3.0 × 10²⁸; too few to be met by random draws"


def test_rules_that_only_together_cannot_be_met_are_impossible_too(designer: Client) -> None:
    only = {"banned_pieces": ["marrow-duke", "tide-abbess", "bows"], "tolerance": "0", "units_low": "9"}
    page = designer.post(f"{LINEUPS}check/", {**RULES, **only}).content.decode()
    assert "not all of them together" in page


def test_a_decimal_comma_and_an_empty_tolerance_are_understood(designer: Client, team: Studio) -> None:
    designer.post(f"{LINEUPS}new/", {**RULES, "tolerance": "2,5"})
    assert rules(team).config["cost_tolerance"] == 0.025
    designer.post(f"{LINEUPS}{rules(team).pk}/", {**RULES, "tolerance": "", "base": rules(team).pk})
    assert rules(team).config["cost_tolerance"] is None


def test_own_teams_are_pasted_by_name_and_come_back_as_text(designer: Client, team: Studio) -> None:
    designer.post(f"{LINEUPS}new/", {**RULES, "baselines": "pasted", "pasted": PASTED})
    assert rules(team).config["baselines"] == {
        "kind": "pasted",
        "teams": [
            {"name": "Ice", "slots": {"hero": "frost-captain", "soldiers": "pikes", "count": 6}},
            {"name": "Wind", "slots": {"hero": "gale-lancer", "soldiers": "bows", "count": 4}},
        ],
    }
    page = designer.get(f"{LINEUPS}{rules(team).pk}/").content.decode()
    assert "Ice\tFrost Captain\tPikes\t6" in page
    assert "Frost Captain, Pikes ×6" in page
    designer.post(f"{LINEUPS}{rules(team).pk}/", {**RULES, "baselines": "pasted", "pasted": PASTED})
    assert LineupRules.objects.count() == 1


def test_a_bad_row_of_pasted_teams_is_named_and_the_text_stays(designer: Client) -> None:
    text = "Hero;Soldiers;How many\nFrost Captian;Pikes;6\nGale Lancer;Bows;12\n"
    answer = designer.post(f"{LINEUPS}new/", {**RULES, "baselines": "pasted", "pasted": text})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Row 2, Hero: " in page
    assert "did you mean Frost Captain?" in page
    assert "Row 3, How many: 12 is outside 1 to 9." in page
    assert "Frost Captian;Pikes;6" in page


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Frost Captain,Pikes,6\nGale Lancer,Bows,4\n", ["Frost Captain", "Gale Lancer"]),
        ("Ice;Frost Captain;Pikes;6\n", ["Ice"]),
        ("hero\tsoldiers\nFrost Captain\tPikes\n", ["Frost Captain"]),
    ],
)
def test_teams_need_no_column_names(text: str, found: list[str]) -> None:
    read = teams.read(text, SPEC)
    assert not read.problems
    assert [row.name for row in read.rows] == found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hero\tHow many\nFrost Captain\t3\n", "No column is called Soldiers"),
        ("a,b,c,d,e,f\n", "There are 6 columns"),
        ("Hero,Soldiers\n", "no team"),
        ('"open,Pikes\n', "never closes"),
        ("Frost Captain,Pikes,6\n" * 65, "more than the 64"),
    ],
)
def test_teams_that_cannot_be_read_say_why(text: str, words: str) -> None:
    assert words in " ".join(teams.read(text, SPEC).problems)


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader_of_teams(text: str) -> None:
    read = teams.read(text, SPEC)
    assert read.rows or read.problems


def test_a_producer_reads_the_rules_and_cannot_save(team: Studio) -> None:
    row, _ = saving.ensure_defaults(team.project, team.designer)
    page = signed_in(team.producer).get(f"{LINEUPS}{row.pk}/").content.decode()
    assert "disabled" in page
    assert "Save as a new version" not in page


def test_rules_of_another_project_are_not_found(designer: Client) -> None:
    other = studio("other")
    row, objectives = saving.ensure_defaults(other.project, other.designer)
    assert designer.get(f"{LINEUPS}{row.pk}/").status_code == 404
    assert designer.get(f"/p/herobattle/objectives/{objectives.pk}/").status_code == 404
    assert designer.post(f"{LINEUPS}{row.pk}/", RULES).status_code == 404


def test_rules_that_a_newer_data_version_breaks_are_marked(designer: Client, team: Studio) -> None:
    designer.post(f"{LINEUPS}new/", {**RULES, "budget_high": "700"})
    assert "Cannot be met" not in designer.get(LINEUPS).content.decode()
    version = versions.current(team.project)
    assert version is not None
    patch = {f"{p.id}.cost": 700.0 for p in SPEC.pieces if p.category == "hero"}
    versions.save(team.project, version.simulator, SPEC, patch, user=None)
    assert "Cannot be met" in designer.get(LINEUPS).content.decode()


def test_what_is_wrong_names_pieces_and_numbers_as_designers_do_all_at_once(designer: Client) -> None:
    wrong = {"required_pieces": ["marrow-duke"], "banned_pieces": ["marrow-duke"], "budget_low": "1600"}
    answer = designer.post(f"{LINEUPS}new/", {**RULES, **wrong, "budget_high": "900", "units_low": "x"})
    page = answer.content.decode()
    name = next(p.name for p in SPEC.pieces if p.id == "marrow-duke")
    assert f"{name} is both required and banned. Take it out of one list." in page
    assert "The lowest cost (1,600) is above the highest (900)." in page
    assert "x is not a number. Type one from 0 to 1,000." in page
    told = teams.read("Name\tHero\tSoldiers\tHow many\nIce\t\t\t6\n", SPEC).problems
    assert [text for text in told if "Hero" in text] == ["Row 2, Hero is needed."]


def test_two_clicks_on_save_make_one_set_of_rules_and_one_version(designer: Client, team: Studio) -> None:
    places = {designer.post(f"{LINEUPS}new/", RULES)["Location"] for _ in range(2)}
    first = rules(team)
    assert places == {f"{LINEUPS}{first.pk}/"}
    changed = {**RULES, "teams": "3", "base": first.pk}
    answers = [designer.post(f"{LINEUPS}{first.pk}/", changed) for _ in range(2)]
    assert {answer["Location"] for answer in answers} == {f"{LINEUPS}{rules(team).pk}/"}
    assert LineupRules.objects.count() == 2
