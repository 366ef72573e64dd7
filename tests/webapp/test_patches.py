"""Searches for changes on the site: the form, what is found, and how it becomes a version."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import Studio, ready_studio, search_job, signed_in, studio
from tests.webapp.changes import NOTHING, PATCHES, WATCHED, search_for_changes, table
from tests.webapp.experiments import experiment
from webapp.api import tokens
from webapp.balance.saving import ensure_defaults
from webapp.games.versions import current
from webapp.patches.chart import chart
from webapp.patches.reading import PatchesResult
from webapp.studies.models import Job, Status
from webapp.studies.table_rows import latest


@pytest.fixture
def team(db: None) -> Studio:
    return ready_studio()


@pytest.fixture
def designer(team: Studio) -> Client:
    return signed_in(team.designer)


@pytest.fixture
def found(team: Studio) -> Job:
    return search_for_changes(team.project, team.designer)


def form(team: Studio) -> str:
    return reverse("studies:ask", args=[team.project.slug, "patch"])


def page(job: Job) -> str:
    return reverse("studies:job", args=[job.project.slug, job.pk])


def save(client: Client, job: Job, number: Any) -> str:
    address = reverse("patches:save", args=[job.project.slug, job.pk])
    return client.post(address, {"number": str(number)}, follow=True).content.decode()


def test_nothing_has_to_be_typed_and_what_is_typed_counts(team: Studio, designer: Client) -> None:
    content = designer.get(form(team)).content.decode()
    assert "As a rule 400,000, and 300,000 more for each further suspect" in content
    assert designer.post(form(team), {"rules": "on"}).status_code == 302
    usual = Job.objects.get(kind="patch").config
    assert (usual["battles"], usual["most"], usual["may"], usual["rules"]) == (400_000, 3, ["cost", "attributes"], True)
    typed = {
        "suspects": "Frost Captain + warhorn\nMarrow Duke", "may": "cost", "categories": ["equipment"],
        "fixed": "Pikes", "most": "2", "largest": "25", "matters": "4",
        "battles": "60000", "seed": "7", "title": "Friday",
    }  # fmt: skip
    designer.post(form(team), typed)
    own = Job.objects.filter(kind="patch").order_by("-pk").first()
    assert own is not None
    assert own.title == "Friday"
    assert own.config["suspects"] == [{"pieces": ["frost-captain", "warhorn"]}, {"pieces": ["marrow-duke"]}]
    kept = {key: own.config[key] for key in ("may", "categories", "fixed", "most", "largest", "matters", "rules")}
    assert kept == {"may": ["cost"], "categories": ["equipment"], "fixed": ["pikes"], "most": 2, "largest": 0.25,
                    "matters": 4.0, "rules": False}  # fmt: skip


def test_more_suspects_have_more_battles_and_the_form_says_how_many_and_how_long_before_the_start(
    team: Studio, designer: Client
) -> None:
    before = reverse("studies:before", args=[team.project.slug, "patch"])
    assert before in designer.get(form(team)).content.decode()
    for suspects, battles in (("", 400_000), ("Pikes", 400_000), ("Pikes\nBows\nRiders", 1_000_000)):
        said = designer.post(before, {"suspects": suspects, "rules": "on"}).content.decode()
        assert f"On the built-in game {battles:,} battles take" in said
        assert f"Played on {current(team.project)}." in said, "suspects may be of an earlier version"
    designer.post(form(team), {"suspects": "Pikes\nBows\nFrost Captain + Warhorn", "rules": "on"})
    assert Job.objects.get(kind="patch").config["battles"] == 1_600_000, "the halves are measured, too"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"suspects": "Nobody"}, "“Nobody” is not a piece of this game."),
        ({"suspects": "Pikes + Bows + Riders"}, "Two pieces together at most."),
        ({"fixed": "Nobody"}, "is not a piece of this game"),
        ({"most": "9"}, "8"),
        ({"largest": "0"}, "1"),
        ({"battles": "10"}, "25,000"),
        ({"may": "everything"}, "valid choice"),
    ],
)
def test_what_is_wrong_stands_at_its_field(team: Studio, designer: Client, typed: dict[str, str], said: str) -> None:
    answer = designer.post(form(team), typed)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Job.objects.filter(kind="patch").exists()


def test_a_script_changes_nothing_but_the_project_s_own_game(team: Studio) -> None:
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})
    address = f"/api/v1/projects/{team.project.slug}/jobs"

    def ask(config: dict[str, Any]) -> Any:
        return client.post(address, json.dumps({"kind": "patch", "config": config}), content_type="application/json")

    for config, place in (
        ({"game": {"simulator": "command:sh -c reboot"}}, "config.game.simulator"),
        ({"suspects": [{"pieces": ["nobody"]}]}, "config.suspects.0.pieces"),
        ({"intended": [{"pieces": ["nobody"]}]}, "config.intended.0.pieces.0"),
        ({"may": []}, "config.may"),
        ({"lineups": {"budget_high": 1}}, "config.lineups.budget_high"),
    ):
        answer = ask(config)
        assert answer.status_code == 422
        assert [problem["place"] for problem in answer.json()["problems"]].count(place) == 1
    assert ask({"battles": 25_000}).status_code == 201


@pytest.mark.parametrize("kind", ["search", "worth", "gate"])
def test_what_is_intended_is_of_the_game_or_nothing_is_started(team: Studio, kind: str) -> None:
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})
    body = {"kind": kind, "config": {"intended": [{"pieces": ["warhorn"]}, {"pieces": ["pikes", "nobody"]}]}}
    answer = client.post(
        f"/api/v1/projects/{team.project.slug}/jobs", json.dumps(body), content_type="application/json"
    )
    assert [each["place"] for each in answer.json()["problems"]] == ["config.intended.1.pieces.1"]
    assert not Job.objects.exists()


def test_its_page_tells_its_team_what_to_change_and_nobody_else(team: Studio, found: Job) -> None:
    for user, status in ((team.owner, 200), (team.producer, 200), (team.stranger, 404)):
        answer = signed_in(user).get(page(found))
        assert answer.status_code == status
        if status == 200:
            content = answer.content.decode()
            assert "One small change works: Warhorn costs 120 instead of 90." in content
            assert "in no team any more" in content
            assert "Fresh battles name Warhorn." in content
            assert content.count("Under it an adversary found a team that surely wins more") == 1
            assert "The game as it is" in content
            assert ("Save as a data version" in content) == (user == team.owner)


def test_where_other_pieces_may_matter_more_than_the_goal_a_change_says_what_stays_open(
    found: Job, designer: Client
) -> None:
    patches = [{**PATCHES[0], "largest": 0.068}, *PATCHES[1:]]
    Job.objects.filter(pk=found.pk).update(artifacts={"table": table(patches)})
    content = designer.get(page(found)).content.decode()
    assert "Effects of up to 6.8 points of other pieces stay open, more than the 3 that matter." in content
    assert "Finished" in content


def test_a_change_says_how_many_battles_the_game_did_not_finish(found: Job, designer: Client) -> None:
    assert "did not finish" not in designer.get(page(found)).content.decode()
    patches = [{**PATCHES[0], "unfinished": [431, 9_000]}, {**PATCHES[1], "unfinished": [0, 9_000]}, *PATCHES[2:]]
    Job.objects.filter(pk=found.pk).update(artifacts={"table": table(patches)})
    content = designer.get(page(found)).content.decode()
    assert content.count("The game did not finish 431 of its 9,000 fresh battles.") == 1


def test_what_is_close_to_where_effects_matter_has_the_digits_that_tell(found: Job, designer: Client) -> None:
    close = [0.0302, 0.02996, 0.03044]
    patches = [{**PATCHES[1], "worths": [close, close, [None] * 3], "largest": 0.03004}, PATCHES[3]]
    Job.objects.filter(pk=found.pk).update(artifacts={"table": table(patches)})
    content = designer.get(page(found)).content.decode()
    row, card = content.partition("<tbody>")[2], content.partition('id="change-1"')[2]
    for place in (row.partition("</table>")[0], card):
        assert "2.996 to 3.044" in place, "one digit would put both ends at what matters"
    assert "Effects of up to 3.004 points of other pieces stay open, more than the 3 that matter." in card


def test_a_number_before_says_why_a_page_of_suspects_has_another(found: Job, designer: Client) -> None:
    said = "Suspects rest on other battles, so their number for the same piece may differ by chance."
    pairs = "Of a pair it may differ more"
    content = designer.get(page(found)).content.decode()
    assert (said in content, pairs in content) == (True, True)
    singles = [{**each, "worths": each["worths"][:2]} for each in PATCHES]
    Job.objects.filter(pk=found.pk).update(artifacts={"table": table(singles, WATCHED[:2])})
    content = designer.get(page(found)).content.decode()
    assert (said in content, pairs in content) == (True, False)


def test_the_chart_holds_every_range_and_its_axes_name_round_values(found: Job) -> None:
    patches = [{**PATCHES[0], "worths": [[0.02, 0.01, 0.123]] * 3}, PATCHES[3]]
    Job.objects.filter(pk=found.pk).update(artifacts={"table": table(patches)})
    bundle = latest(Job.objects.get(pk=found.pk))
    assert bundle is not None
    drawn = chart(PatchesResult(bundle))
    assert [words for _, words in drawn.up] == ["0", "5", "10"]
    assert drawn.up[0][0] == "100.00%"
    first, present = drawn.dots
    assert 0 < float(first.high[:-1]) < float(first.y[:-1]) < float(first.low[:-1]) <= 100
    assert (present.x, present.row.number) == ("0.00%", 0)
    assert float(drawn.up[1][0][:-1]) < float(drawn.line[:-1]) < 100, "3 points lie below 5"


def test_nothing_to_change_is_said_with_the_largest_effects_that_are_left_open(found: Job, designer: Client) -> None:
    lost = "The largest effect of a single piece that these battles do not rule out is"
    Job.objects.filter(pk=found.pk).update(artifacts={"table": table(NOTHING, [])})
    assert lost not in designer.get(page(found)).content.decode(), "searches from before it was kept"
    ends = {"single piece": {"points": 4.2, "name": "Marrow Duke"}, "pair": {"points": -8.6, "name": "Pikes + Bows"}}
    config = {**found.config, "intended": [{"pieces": ["warhorn"], "least": 1}]}
    Job.objects.filter(pk=found.pk).update(artifacts={"table": table(NOTHING, [], left_open=ends)}, config=config)
    content = designer.get(page(found)).content.decode()
    assert "Apart from what is meant to be so, nothing stands out, so there is nothing to change." in content
    assert f"{lost} Marrow Duke’s: +4.2 points" in content
    assert "Of a pair it is that of Pikes + Bows: −8.6 points." in content


def test_each_effect_is_drawn_by_its_own_range_and_not_by_the_verdict_of_all(found: Job) -> None:
    patches = [
        {**PATCHES[1], "worths": [[0.002, -0.01, 0.014], [0.05, 0.01, 0.09], [0.067, 0.041, 0.09]]},
        *PATCHES[2:],
    ]
    Job.objects.filter(pk=found.pk).update(artifacts={"table": table(patches)})
    bundle = latest(Job.objects.get(pk=found.pk))
    assert bundle is not None
    fails, unproved, _ = PatchesResult(bundle).rows
    assert [each.mark for each in fails.effects] == ["fair", "unsure", "strong"]
    assert {each.mark for each in unproved.effects} == {""}


def test_the_list_of_jobs_says_whether_something_works(team: Studio, found: Job, designer: Client) -> None:
    listed = reverse("studies:jobs", args=[team.project.slug])
    assert "1 change works" in designer.get(listed).content.decode()
    Job.objects.filter(pk=found.pk).update(artifacts={"table": table(NOTHING, [])})
    assert "Nothing to change" in designer.get(listed).content.decode()
    Job.objects.filter(pk=found.pk).update(artifacts={"table": table(PATCHES[2:])})
    assert "No change is proved" in designer.get(listed).content.decode()


def test_where_nothing_is_told_yet_or_was_lost_the_page_says_so(found: Job, designer: Client) -> None:
    for artifacts, status, said in (
        ({"table": table(NOTHING, [])}, Status.FINISHED, "Nothing stands out, so there is nothing to change."),
        ({"table": table(PATCHES[3:], WATCHED)}, Status.RUNNING, "To be mended: Warhorn, Frost Captain + Warhorn."),
        ({"table": table(PATCHES[2:])}, Status.RUNNING, "Nothing is told before it is proved"),
        ({"table": table(PATCHES[1:])}, Status.FINISHED, "No change was proved to work with 399,000 battles."),
        ({"table": table(PATCHES[3:], free=False)}, Status.FINISHED, "Nothing of that may change in this search."),
        ({"table": table(PATCHES[3:], free=False)}, Status.FINISHED, "or a rule that keeps a pair apart."),
        ({"table": table(PATCHES[3:], takes=500_000)}, Status.FINISHED, "a proof takes about 1,000,000."),
        ({"table": table(PATCHES[3:], takes=500_000)}, Status.FINISHED, "Start it again with 1,000,000 battles"),
        ({"table": table(PATCHES[1:])}, Status.RUNNING, "No change is proved to work yet."),
        ({"table": "0" * 64}, Status.FINISHED, "The table was lost"),
        ({}, Status.RUNNING, "two fifths of the battles"),
        ({}, Status.STOPPED, "It ended before anything was known."),
    ):
        Job.objects.filter(pk=found.pk).update(artifacts=artifacts, status=status)
        assert said in designer.get(page(found)).content.decode()


def test_a_change_becomes_a_version_of_the_data_in_a_click_and_only_once(
    team: Studio, found: Job, designer: Client
) -> None:
    said = save(designer, found, 1)
    assert "Saved as" in said
    assert ("It is version 15" in said, 'name="number" value="1"' in said) == (True, False)
    assert 'name="number" value="3"' in said, "what is not saved can be"
    version = current(team.project)
    assert version is not None
    assert (version.number, version.patch["warhorn.cost"], version.created_by) == (15, 120.0, team.designer)
    assert version.note == f"Warhorn costs 120 instead of 90. Found by job {found.pk}."
    assert "has these numbers already" in save(designer, found, 1)
    assert team.project.versions.count() == 2
    assert "It rests on version 15; the job played on another one." in save(designer, found, 3)
    assert team.project.versions.count() == 3


def test_a_rule_becomes_a_version_of_the_lineup_rules(team: Studio, found: Job, designer: Client) -> None:
    said = save(designer, found, 2)
    assert "keep them apart now" in said
    assert ("It is in the rules" in said, 'name="number" value="2"' in said) == (True, False)
    assert ensure_defaults(team.project, team.owner)[0].config["apart"] == [["frost-captain", "warhorn"]]
    assert "keep them apart already" in save(designer, found, 2)
    assert team.project.versions.count() == 1


@pytest.mark.parametrize("number", ["0", "4", "9", "many", ""])
def test_what_was_not_found_is_not_saved(team: Studio, found: Job, designer: Client, number: str) -> None:
    assert "none of the changes that the job found" in save(designer, found, number)
    assert team.project.versions.count() == 1


def test_the_changes_are_taken_away_as_rows_and_as_csv(team: Studio, found: Job) -> None:
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.producer, 'ci', None, 30)[1]}"})
    where = f"/api/v1/projects/{team.project.slug}/jobs/{found.pk}/results"
    rows = client.get(where).json()["rows"]
    assert rows[0]["patch"] == {"warhorn.cost": 120.0}
    assert rows[1]["apart"] == [["frost-captain", "warhorn"]]
    lines = list(csv.DictReader(io.StringIO(client.get(f"{where}?as=csv").content.decode())))
    assert [line["verdict"] for line in lines] == ["Works", "Does not work", "Not proved", ""]


def test_what_was_not_proved_is_started_again_from_all_that_was_typed(found: Job, designer: Client) -> None:
    config = {**found.config, "suspects": [{"pieces": ["frost-captain", "warhorn"]}], "battles": 30_000, "largest": 0.4}
    Job.objects.filter(pk=found.pk).update(
        artifacts={"table": table(PATCHES[1:])}, status=Status.FINISHED, config=config
    )
    address = f"{reverse('studies:ask', args=[found.project.slug, 'patch'])}?again={found.pk}"
    assert address in designer.get(page(found)).content.decode()
    content = designer.get(address).content.decode()
    assert "Frost Captain + Warhorn</textarea>" in content
    assert 'value="30000"' in content.replace(",", "")
    assert 'value="40"' in content


def test_what_was_not_proved_says_how_many_battles_would_tell_and_begins_with_them(
    found: Job, designer: Client
) -> None:
    wide, narrow = ([[0.01, 0.01 - h, 0.01 + h]] * 3 for h in (0.03, 0.014))
    Job.objects.filter(pk=found.pk).update(artifacts={"table": table([{**PATCHES[1], "worths": wide}, PATCHES[3]])})
    content = designer.get(page(found)).content.decode()
    assert (
        "Ranges went up to 3.0 points to either side; a proof needs about 1.5, which takes about 2,000,000" in content
    )
    asked = reverse("studies:ask", args=[found.project.slug, "patch"])
    assert f'{asked}?again={found.pk}&amp;battles=2000000"' in content
    assert 'value="2000000"' in designer.get(f"{asked}?again={found.pk}&battles=2000000").content.decode()
    Job.objects.filter(pk=found.pk).update(artifacts={"table": table([{**PATCHES[1], "worths": narrow}, PATCHES[3]])})
    content = designer.get(page(found)).content.decode()
    assert "so more battles hardly help" in content
    assert "&amp;battles=" not in content
    Job.objects.filter(pk=found.pk).update(config={**found.config, "most": 1})
    content = designer.get(page(found)).content.decode()
    assert "More is to be mended than 1 change can, and no more were allowed." in content
    assert f'{asked}?again={found.pk}&amp;most=2"' in content
    assert "Start it again with 2 changes" in content


@pytest.mark.django_db
def test_from_the_suspects_it_is_one_click_to_the_form_with_them_in_it() -> None:
    team = studio()
    designer, search = signed_in(team.designer), search_job(team.project)
    experiment(search)
    content = designer.get(reverse("suspects:page", args=[team.project.slug, search.pk])).content.decode()
    assert "Find the smallest change" in content
    asked = designer.get(form(team), {"suspects": "Frost Captain + Warhorn\nMarrow Duke"}).content.decode()
    assert "Frost Captain + Warhorn\nMarrow Duke</textarea>" in asked


def test_lineup_rules_keep_pieces_apart_by_what_is_typed_and_say_what_is_none(team: Studio, designer: Client) -> None:
    rules = ensure_defaults(team.project, team.owner)[0]
    address = reverse("balance:lineup-edit", args=[team.project.slug, rules.pk])
    typed = {"name": "Ours", "teams": "3", "tolerance": "5", "baselines": "drawn", "count": "3", "base": rules.pk}
    wrong = designer.post(address, {**typed, "apart": "Pikes\nPikes + Nobody"}).content.decode()
    assert "“Pikes” is not two pieces with a plus between them." in wrong
    assert "“Nobody” is not a piece of this game." in wrong
    designer.post(address, {**typed, "apart": "Pikes + bows\n\n"})
    made = ensure_defaults(team.project, team.owner)[0]
    assert made.config["apart"] == [["pikes", "bows"]]
    shown = designer.get(reverse("balance:lineup-edit", args=[team.project.slug, made.pk])).content.decode()
    assert "Pikes + Bows</textarea>" in shown
