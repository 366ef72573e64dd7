"""Trying a change: what can be changed, what the page says of it, and what is made of it."""

from __future__ import annotations

import csv
import io
import json
import re
from html import unescape
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from engine.arrays import pack, unpack
from engine.config.lineups import TeamRow
from engine.lineups.schema import team_row
from tests.factories import Studio, search_job, signed_in, studio
from tests.webapp.experiments import CAPTAIN, DUKE, HORN, ROWS, experiment
from tests.webapp.replays import CHANGE, finished, shortlist, tried
from webapp.api import tokens
from webapp.changes import meant, numbers, picking, starting
from webapp.changes.picking import lineups
from webapp.changes.proposing import offered
from webapp.changes.reading import Lineup, Measured, read
from webapp.changes.sentences import fixed, head, of_those, rest
from webapp.changes.standing import standing
from webapp.changes.untouched import met_by_it
from webapp.games import arrivals, versions
from webapp.games.specs import version_spec
from webapp.lib.storage import store
from webapp.lib.words import lower_first
from webapp.studies import companion
from webapp.studies import explore_source as source
from webapp.studies.explore_build import explored
from webapp.studies.models import Job, ShortlistEntry, Status
from webapp.suspects import decisions
from webapp.suspects.reading import read as suspects_of

pytestmark = pytest.mark.django_db
COST = "marrow-duke.cost"
PAIR_ALONE = [row for row in ROWS if row[0] in ((CAPTAIN,), (HORN,), (CAPTAIN, HORN))]
"""An experiment that names the pair and nothing else."""


@pytest.fixture
def team() -> Studio:
    return studio()


@pytest.fixture
def search(team: Studio) -> Job:
    return search_job(team.project)


def address(job: Job, name: str = "page") -> str:
    return reverse(f"changes:{name}", args=[job.project.slug, job.pk])


def plain(markup: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", markup)).replace("\xa0", " ").split())


def shown(user: Any, where: str, **query: Any) -> str:
    answer = signed_in(user).get(where, query)
    assert answer.status_code == 200
    return plain(answer.content.decode())


def attempt(user: Any, search: Job, value: str, path: str = COST, **more: Any) -> Any:
    typed = {"action": "try", "number": path, f"v:{path}": value, **more}
    return signed_in(user).post(address(search), typed)


def test_without_a_shortlist_and_suspects_the_page_says_what_to_do(team: Studio, search: Job) -> None:
    page = shown(team.designer, address(search))
    assert "Nothing is on the shortlist of this search" in page
    assert "Put lineups on the shortlist" in page


def test_a_shortlist_offers_the_pieces_of_its_lineups(team: Studio, search: Job) -> None:
    shortlist(search)
    page = shown(team.designer, address(search))
    assert "Choose a piece, then one of its numbers." in page
    assert re.search(r"\(in [123] of 3\)", page)
    added = signed_in(team.designer).post(address(search), {"action": "add", "piece": DUKE}).content.decode()
    assert f'name="v:{COST}"' in added
    more = {"action": "add", "add": "marrow-duke.health", "number": COST, f"v:{COST}": "333"}
    both = signed_in(team.designer).post(address(search), more).content.decode()
    assert 'value="333"' in both, "what was typed stays"


def test_a_suspect_has_sliders_with_the_games_range_and_its_fair_price(team: Studio, search: Job) -> None:
    experiment(search)
    where = reverse("suspects:page", args=["herobattle", search.pk])
    page = shown(team.designer, where, suspect=DUKE)
    assert "Try a change Nothing is saved to your game until you save it as a new data version" in page
    assert "Marrow Duke: cost" in page
    assert "fair price 385 (352 to 431)" in page
    assert "the game’s range" in page
    assert "Try it on 5 lineups" in page


def test_until_a_change_is_tried_the_lineups_are_drawn_as_they_are(team: Studio, search: Job) -> None:
    shortlist(search)
    replayed = lineups(search)
    found, now, spec = explored(search), standing(search, replayed), source.spec(search)
    assert now is not None
    assert [each.name for each in now.lineups] == [each["name"] for each in replayed]
    for each, given in zip(now.lineups, replayed, strict=True):
        genome = np.stack([team_row(spec, TeamRow(**given_team)) for given_team in given["teams"]])
        (row,) = np.flatnonzero((found.genome == genome).all(axis=(1, 2)))[:1]
        assert each.before.value == pytest.approx(float(found.core["value"][0, row]))
        assert now.value_of(each.before) in shown(team.designer, address(search))
    assert standing(search, []) is None


def test_lineups_that_stand_for_a_suspect_hold_it_in_their_strongest_team(search: Job) -> None:
    suspect = suspects_of(experiment(search)).of(DUKE)
    assert suspect is not None
    found = lineups(search, suspect)
    assert len(found) == 5
    for each in found:
        assert DUKE in each["teams"][each["anchors"][0]]["slots"].values()
        assert "Marrow Duke" in each["name"], "one sees in the name who holds it"
        assert "with Marrow Duke" not in each["name"], "not twice: it is the team’s own name"
    shortlist(search, 2)
    assert len(lineups(search, suspect)) in (5, 6, 7)
    assert len({json.dumps(each) for each in lineups(search, suspect)}) == len(lineups(search, suspect))


def test_a_slider_goes_around_what_is_now_and_the_fair_price_and_the_box_takes_the_whole_range(search: Job) -> None:
    path, fair = f"{DUKE}.cost", {f"{DUKE}.cost": (385.0, 352.0, 431.0)}
    (slider,) = numbers.sliders(source.spec(search), [path], {}, fair)
    low, high = slider.track
    assert float(slider.low) <= 155 <= low <= 160
    assert 862.0 - float(slider.step) < high <= 862.0
    for end in (low, high):
        assert abs(slider.now - end) % float(slider.step) == pytest.approx(0)
    assert not any("." in words for words in slider.track_words), "whole prices have whole ends"
    assert slider.now_at != slider.fair_at


def test_a_team_whose_name_does_not_tell_that_it_holds_the_suspect_says_so(search: Job) -> None:
    suspect = suspects_of(experiment(search)).of(f"{CAPTAIN}+{HORN}")
    assert suspect is not None
    found = lineups(search, suspect)
    assert found
    for each in found:
        strongest = each["name"].split(" · ")[each["anchors"][0]]
        assert strongest.startswith("Frost Captain with Warhorn")


def test_lineups_of_one_name_are_set_apart_by_their_numbers(search: Job) -> None:
    spec, (genome, *_) = source.spec(search), unpack(store().get(search.artifacts["archive"])).arrays["genome"].tolist()
    other = [list(team) for team in genome]
    counts = [s for s, slot in enumerate(spec.slots) if slot.kind == "count"]
    other[0][counts[0]] += 1
    for number, rows in ((7, genome), (12, other)):
        ShortlistEntry.objects.create(job=search, individual=number, reason="strong", genome=rows, anchors=[0, 1])
    first, second = (each["name"] for each in lineups(search))
    assert (first.rpartition(", ")[2], second.rpartition(", ")[2]) == ("lineup 7", "lineup 12")
    assert first.rpartition(", ")[0] == second.rpartition(", ")[0]
    ShortlistEntry.objects.filter(individual=12).delete()
    assert "lineup" not in lineups(search)[0]["name"]


def test_a_try_starts_one_job_however_often_it_is_sent(team: Studio, search: Job) -> None:
    shortlist(search)
    for _ in range(2):
        answer = attempt(team.designer, search, "400", once="abc")
        assert answer.status_code == 302
    job = Job.objects.get(kind="change")
    assert (job.parent, job.created_by, job.config["change"]) == (search, team.designer, {COST: 400.0})
    assert len(job.config["replayed"]) == 3
    assert job.config["lineups"]["baselines"]["kind"] == "pasted"
    assert job.config["seed"] != search.config["seed"]
    attempt(team.designer, search, "410")
    assert Job.objects.filter(kind="change").latest("pk").config["tried"] == 1
    assert "Try a change" in shown(team.designer, reverse("studies:jobs", args=["herobattle"]))
    waiting = shown(team.designer, address(search))
    assert "Waiting to start" in waiting
    assert waiting.count("by the search’s own battles") >= 3, "the lineups stay drawn until it tells something"


def test_what_is_wrong_stands_at_its_number_and_what_was_typed_stays(team: Studio, search: Job) -> None:
    shortlist(search)
    for value, why in (("a lot", "This is not a number"), ("1e9", "outside"), ("", "nothing differs")):
        answer = attempt(team.designer, search, value)
        assert answer.status_code == 422, value
        assert why.lower() in plain(answer.content.decode()).lower(), value
        if value:
            assert f'value="{value}"' in answer.content.decode()
    assert not Job.objects.filter(kind="change").exists()


def test_a_replay_says_what_the_change_does(team: Studio, search: Job) -> None:
    shortlist(search)
    job = tried(search)
    found = read(job)
    assert found is not None
    number = found.numbers[0]
    assert (number.path, number.piece, number.name, number.new) == (COST, "Marrow Duke", "cost", 400.0)
    assert head(found).startswith("With Marrow Duke’s cost at 400, ")
    page = shown(team.producer, reverse("studies:job", args=["herobattle", job.pk]))
    assert "Fresh battles, both versions" in page, "a verdict has only those of one"
    assert head(found) in page
    for each in found.lineups:
        assert each.name in page
        assert plain(each.words) in page
    assert "Save as a new data version" not in page, "producers read"
    assert "Save as a new data version" in shown(team.designer, address(search))


def test_a_difference_has_as_many_digits_as_its_column_however_close_to_the_line_it_is(search: Job) -> None:
    shortlist(search)
    found = read(tried(search))
    assert found is not None
    assert found.line is not None
    near = Measured(found.line - 0.0004, found.line - 0.0007, found.line - 0.0001)
    assert len(found.value_of(near).partition(".")[2]) > found.digits + 1
    difference = near._replace(difference=True)
    told = [found.value_of(difference), *found.ends_of(difference).split(" to ")]
    assert {len(words.rstrip("×").partition(".")[2]) for words in told} == {found.change_digits}
    assert all(each.change.difference for each in found.lineups)


def test_a_number_that_is_missing_says_why(team: Studio, search: Job) -> None:
    shortlist(search)
    job = tried(search)
    body = unpack(store().get(job.artifacts["table"]))
    none = {name: np.full_like(column, np.nan) for name, column in body.arrays.items() if column.dtype.kind == "f"}
    Job.objects.filter(pk=job.pk).update(artifacts={"table": store().put(pack(body.meta, {**body.arrays, **none}))})
    assert "– not played yet" in shown(team.producer, reverse("studies:job", args=["herobattle", job.pk]))


def test_while_it_is_played_the_first_numbers_show_and_it_asks_anew(team: Studio, search: Job) -> None:
    shortlist(search)
    job = tried(search)
    Job.objects.filter(pk=job.pk).update(status=Status.RUNNING)
    markup = signed_in(team.designer).get(address(job, "trial")).content.decode()
    assert 'hx-trigger="every 1s"' in markup
    assert "Re-testing on the same battles" in markup
    Job.objects.filter(pk=job.pk).update(status=Status.QUEUED, artifacts={})
    assert "Waiting to start" in signed_in(team.designer).get(address(job, "trial")).content.decode()


def test_a_lost_table_is_said(team: Studio, search: Job) -> None:
    shortlist(search)
    job = tried(search)
    Job.objects.filter(pk=job.pk).update(artifacts={"table": "0" * 64})
    assert "lost from the store" in shown(team.designer, address(job, "trial"))
    assert offered(search) == []


def test_the_table_goes_out_as_csv_and_through_the_api(team: Studio, search: Job) -> None:
    shortlist(search)
    job = tried(search)
    content = signed_in(team.producer).get(reverse("studies:results", args=["herobattle", job.pk])).content.decode()
    rows = list(csv.DictReader(io.StringIO(content)))
    assert [row["lineup"] for row in rows] == [each["name"] for each in job.config["replayed"]]
    assert all(float(r["after_low"]) <= float(r["after"]) <= float(r["after_high"]) for r in rows)
    script = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})
    told = script.get(f"/api/v1/projects/herobattle/jobs/{job.pk}/results").json()
    assert {"lineup", "before", "after_low", "difference", "verdict"} <= set(told["rows"][0])


def api(team: Studio, body: dict[str, Any]) -> Any:
    script = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'ci', None, 30)[1]}"})
    return script.post("/api/v1/projects/herobattle/jobs", json.dumps(body), content_type="application/json")


def test_the_api_replays_a_shortlist_or_lineups_by_the_ids_of_their_pieces(team: Studio, search: Job) -> None:
    body: dict[str, Any] = {"kind": "change", "search": search.pk, "config": {"change": CHANGE}}
    assert "shortlist" in api(team, body).content.decode()
    shortlist(search)
    answer = api(team, body)
    assert answer.status_code == 201, answer.content
    job = Job.objects.get(kind="change")
    assert (job.parent, len(job.config["replayed"])) == (search, 3)
    own = {"kind": "change", "config": {"change": CHANGE, "replayed": job.config["replayed"][:1]}}
    assert api(team, own).status_code == 201
    wrong = {"kind": "change", "config": {"change": {"marrow-duke.cst": 3}, "replayed": job.config["replayed"][:1]}}
    assert "config.change.marrow-duke.cst" in api(team, wrong).content.decode()


def test_a_change_is_saved_as_a_version_once(team: Studio, search: Job) -> None:
    shortlist(search)
    job = tried(search)
    for _ in range(2):
        answer = signed_in(team.designer).post(address(job, "save"))
        assert answer["Location"] == reverse("games:version", args=["herobattle", 15])
    version = team.project.versions.get(number=15)
    assert version.patch == CHANGE
    assert version.note == "Marrow Duke’s cost at 400"
    assert "It is version 15" in shown(team.designer, address(search))
    assert signed_in(team.producer).post(address(job, "save")).status_code == 403


def test_a_version_that_came_meanwhile_is_in_the_way(team: Studio, search: Job) -> None:
    shortlist(search)
    job = tried(search)
    before = search.game_version
    versions.save(team.project, before.simulator, version_spec(before), {"frost-captain.cost": 200.0}, user=team.owner)
    assert "Version 15 was saved since this was tried" in shown(team.designer, address(search))
    answer = signed_in(team.designer).post(address(job, "save"), follow=True)
    assert "Version 15 was saved since this was tried" in plain(answer.content.decode())
    assert team.project.versions.count() == 2


def test_searching_again_saves_the_change_and_asks_the_same_of_it(team: Studio, search: Job) -> None:
    shortlist(search)
    job = tried(search)
    for _ in range(2):
        answer = signed_in(team.designer).post(address(job, "search"), {"once": "x"})
        assert answer.status_code == 302
    new = Job.objects.filter(kind="search").latest("pk")
    assert Job.objects.filter(kind="search").count() == 2
    assert answer["Location"] == reverse("studies:job", args=["herobattle", new.pk])
    assert new.game_version.number == 15
    assert new.config["game"]["patch"] == CHANGE
    same = ("algorithm", "ticks", "replicates", "seed", "lineups", "objectives")
    assert {name: new.config[name] for name in same} == {name: search.config[name] for name in same}
    assert new.title == "Which teams are unfair? With Marrow Duke’s cost at 400"


def arrive(team: Studio, patch: dict[str, float]) -> Any:
    """Another version, and what comes with it."""
    before = versions.current(team.project)
    assert before is not None
    made = versions.save(team.project, before.simulator, version_spec(before), patch, user=team.designer)
    arrivals.arrived(made)
    return made


def test_with_a_new_version_the_old_shortlist_is_replayed_by_itself(team: Studio, search: Job) -> None:
    arrive(team, {COST: 350.0})
    assert not Job.objects.filter(kind="change").exists(), "nothing is on the shortlist"
    shortlist(search)
    version = arrive(team, CHANGE)
    arrivals.arrived(version)
    job = Job.objects.get(kind="change")
    assert (job.game_version, job.parent, job.accompanies) == (version, search, search)
    assert job.config["change"] == CHANGE
    assert job.title == "Did version 16 work?"
    assert companion.of(search) is None, "it is no experiment"
    assert "Did version 16 work?" not in shown(team.designer, reverse("studies:jobs", args=["herobattle"]))


def test_with_a_new_version_confirmed_suspects_are_replayed_without_a_shortlist(team: Studio, search: Job) -> None:
    experiment(search, PAIR_ALONE)
    version = arrive(team, {"warhorn.cost": 120.0})
    job = Job.objects.get(kind="change")
    assert (job.game_version, job.parent) == (version, search)
    assert 0 < len(job.config["replayed"]) <= picking.FOR_A_SUSPECT
    for each in job.config["replayed"]:
        assert any({CAPTAIN, HORN} <= {*map(str, one["slots"].values())} for one in each["teams"])
    decisions.decide(search, f"{CAPTAIN}+{HORN}", "Both", team.owner, "intended", "the theme of spring")
    assert not picking.suspects(search), "what is meant to be so is no suspect"


def test_the_same_numbers_are_not_replayed(team: Studio, search: Job) -> None:
    shortlist(search)
    arrive(team, dict(search.game_version.patch))
    assert not Job.objects.filter(kind="change").exists()


def test_compare_opens_with_whether_it_worked(team: Studio, search: Job) -> None:
    shortlist(search)
    experiment(search, PAIR_ALONE)
    where = reverse("studies:compare", args=["herobattle"])
    assert "Did it work?" not in shown(team.producer, where)
    version = arrive(team, CHANGE)
    assert "What was found before is replayed on" in shown(team.producer, where)
    job = finished(starting.of_version(version))
    found = read(job)
    assert found is not None
    page = shown(team.producer, where)
    assert f"Did it work? The replay in full {fixed(found)}" in page
    about = of_those(found, found.holding([CAPTAIN, HORN]))
    assert f"Frost Captain + Warhorn: {about}" in page, "the suspects come first"
    assert of_those(found, []) == "its lineups are not counted.", "it follows a name and a colon"
    for each in found.lineups:
        assert plain(each.words) in page


def test_home_and_the_older_version_s_suspects_tell_whether_it_worked(team: Studio, search: Job) -> None:
    shortlist(search)
    experiment(search)
    version = arrive(team, CHANGE)
    job = finished(starting.of_version(version))
    found = read(job)
    assert found is not None
    suspects = shown(team.producer, reverse("suspects:page", args=["herobattle", search.pk]))
    assert f"Version {version.number} : {lower_first(fixed(found))}" in suspects
    markup = signed_in(team.producer).get("/").content.decode()
    assert f"Did version {version.number} work?" in markup
    assert fixed(found).rstrip(".") in shown(team.producer, "/")
    assert reverse("studies:job", args=["herobattle", job.pk]) in markup
    shown(team.producer, reverse("studies:job", args=["herobattle", job.pk]))
    assert "Did version" not in shown(team.producer, "/"), "it was looked at"
    assert "Did version" not in shown(team.stranger, "/")


def test_reports_are_offered_the_replays_of_a_search_the_last_first(search: Job) -> None:
    assert offered(search) == []
    shortlist(search)
    first = tried(search)
    last = tried(search, {COST: 410.0})
    assert [each.job for each in offered(search)] == [last, first]
    found = offered(search)[0]
    assert found.numbers[0].new == 410.0
    assert all(each.before.value is not None and each.after.low is not None for each in found.lineups)


def test_what_a_change_refits_is_told_and_never_as_the_lineup_it_was(search: Job) -> None:
    shortlist(search)
    found = read(tried(search))
    assert found is not None
    first = found.lineups[0]

    def told(*lineups: Lineup) -> str:
        found.__dict__["lineups"] = list(lineups)
        return " ".join([head(found), fixed(found), *rest(found)])

    kept = first._replace(name="Kept", finding="confirmed", refitted="", unfit=False)
    dearer = kept._replace(name="Dearer", refitted="Bows ×3 → Pikes ×4")
    said = told(kept, dearer)
    assert re.search(r"Kept( \([^)]*\))? is still over the line\.", said)
    assert re.search(r"Dearer, refitted( \([^)]*\))?, is over the line\.", said)
    assert "Dearer is not allowed any more as it was: refitted by the least change (Bows ×3 → Pikes ×4), it was" in said
    many = told(kept, *[dearer] * 3)
    assert "Three are over the line, refitted." in many
    assert "3 of 4 lineups are not allowed any more as they were" in many
    fair = told(kept._replace(finding="refuted"), dearer._replace(finding="refuted"))
    assert "both lineups are under the line, one of them refitted." in fair
    assert "Both lineups are under the line on this data, one of them refitted." in fair


def test_while_a_change_is_tried_only_lineups_with_a_verdict_are_counted(team: Studio, search: Job) -> None:
    shortlist(search)
    job = tried(search)
    found = read(job)
    assert found is not None
    first = found.lineups[0]._replace(refitted="", unfit=False, after=Measured(1.2, first=True))

    def told(*findings: str) -> str:
        found.__dict__["lineups"] = [first._replace(finding=finding) for finding in findings]
        return head(found)

    with_it = "With Marrow Duke’s cost at 400"
    job.status = Status.RUNNING
    assert told("", "", "more").startswith(f"{with_it}: nothing is decided yet.")
    assert fixed(found).startswith("Nothing is decided yet.")
    assert told("", "more", "confirmed").endswith(
        "so far one of the three lineups has a verdict, and it is not under the line."
    )
    assert told("refuted", "more", "refuted").endswith(
        "so far two of the three lineups have a verdict, and all of those are under the line."
    )
    assert fixed(found).startswith("So far two of the three lineups have a verdict")
    assert told("refuted", "confirmed").endswith("and one of those is under the line.")
    job.status = Status.FINISHED
    assert told("close", "more", "confirmed") == f"{with_it}, none of the three lineups is surely under the line."
    assert told("more", "close") == f"{with_it}, fresh battles do not decide about any lineup."
    assert told("refuted", "more") == f"{with_it}, one of the two lineups is under the line."
    assert told("refuted") == f"{with_it}, {first.name} is under the line."
    assert fixed(found) == f"{first.name} is under the line on this data."
    assert told("confirmed") == f"{with_it}, {first.name} is not under the line."


def test_a_lineup_that_something_intended_explains_is_replayed_and_not_counted(team: Studio, search: Job) -> None:
    shortlist(search)
    job = tried(search)
    lineup = job.config["replayed"][0]
    slots = lineup["teams"][lineup["anchors"][0]]["slots"]
    piece = next(each for each in slots.values() if isinstance(each, str) and each != DUKE)
    assert not any(meant.meant(job, 3))
    decisions.decide(search, piece, piece, team.owner, "intended", "the theme of spring")
    found = read(job)
    assert found is not None
    first = found.lineups[0]
    assert (first.short, first.mark, first.counts, first.decided) == ("Meant to be so", "", False, False)
    assert any("meant to be so, and not counted." in said for said in rest(found))
    assert "Meant to be so, so not counted" in shown(team.producer, reverse("studies:job", args=["herobattle", job.pk]))
    job.config["under"] = {"kind": "script"}
    led = read(job)
    assert led is not None
    assert not led.lineups[0].counts, "the same holds whoever leads"
    assert any("meant to be so, and not counted." in said for said in rest(led))
    job.config["change"] = {f"{piece}.cost": 1.0}
    assert not meant.meant(job, 3)[0], "nobody has said that its new number is meant"


def test_a_lineup_that_holds_nothing_that_is_changed_says_why_it_is_there(team: Studio, search: Job) -> None:
    shortlist(search)
    job = tried(search)
    found = read(job)
    assert found is not None
    without = [all("Marrow Duke" not in team for team in each.teams) for each in found.lineups]
    assert [each.apart for each in found.lineups] == without
    why = "holds nothing that is changed"
    assert shown(team.designer, address(search)).count(why) == sum(without)
    body = unpack(store().get(job.artifacts["table"]))
    body.meta["changes"][0]["piece"] = "Nobody"
    Job.objects.filter(pk=job.pk).update(artifacts={"table": store().put(pack(body.meta, body.arrays))})
    assert shown(team.designer, address(search)).count(why) == len(without)


def test_the_difference_of_a_lineup_that_nothing_changed_can_reach_is_none_exactly(team: Studio, search: Job) -> None:
    shortlist(search)
    job = tried(search)
    body = unpack(store().get(job.artifacts["table"]))
    body.meta["changes"][0]["piece"] = "Nobody"  # so that no lineup holds it
    ends = {"change": 0.0, "change_low": -0.97, "change_high": 0.97}
    arrays = {**body.arrays, **{name: np.full_like(body.arrays[name], value) for name, value in ends.items()}}
    lineups = {**job.config["lineups"], "baselines": {"kind": "drawn", "count": 3}}
    config = {**job.config, "change": {"nobody.cost": 1.0}, "lineups": lineups}
    Job.objects.filter(pk=job.pk).update(artifacts={"table": store().put(pack(body.meta, arrays))}, config=config)

    def told() -> tuple[list[bool], set[str]]:
        found = read(Job.objects.get(pk=job.pk))
        assert found is not None
        return [each.untouched for each in found.lineups], {found.ends_of(each.change) for each in found.lineups}

    assert met_by_it(config), "who they meet is drawn, so nobody knows it"
    assert told() == ([False] * 3, {"−1.0× to 1.0×"})
    config["lineups"] = {**lineups, "baselines": {"kind": "pasted", "teams": [{"slots": {"hero": "bows"}}]}}
    Job.objects.filter(pk=job.pk).update(config=config)
    assert told() == ([True] * 3, {"not touched by the change"})
    assert "not touched by the change" in shown(team.designer, address(search))
    config["change"] = {"bows.cost": 1.0}
    Job.objects.filter(pk=job.pk).update(config=config)
    assert not any(told()[0]), "the teams that they meet hold it"


def test_values_and_the_ends_of_their_ranges_have_equally_many_digits_in_a_row(search: Job) -> None:
    shortlist(search)
    found = read(tried(search))
    assert found is not None
    near = Measured(found.line - 0.004 if found.line else 1.0, 1.0, 2.5)
    first = found.lineups[0]._replace(before=near, after=Measured(2.4, 2.41, 2.48))
    found.__dict__["lineups"] = [first, *found.lineups[1:]]
    for each in found.lineups:
        told = " to ".join(words for m in (each.before, each.after) for words in (found.value_of(m), found.ends_of(m)))
        assert len({len(number.rstrip("×").partition(".")[2]) for number in told.split(" to ") if number}) == 1, told


def test_what_is_saved_before_a_verdict_says_so(team: Studio, search: Job) -> None:
    shortlist(search)
    job = tried(search)
    early = "What is saved now is saved before its verdict."
    assert early not in shown(team.designer, address(search))
    Job.objects.filter(pk=job.pk).update(status=Status.RUNNING)
    assert early in shown(team.designer, address(search))


def test_who_may_not_change_the_project_tries_nothing(team: Studio, search: Job) -> None:
    shortlist(search)
    assert attempt(team.producer, search, "400").status_code == 403
    assert attempt(team.stranger, search, "400").status_code == 404
    page = shown(team.producer, address(search))
    assert "Whoever may change this project can try changes here." in page
    job = tried(search)
    for name in ("save", "search"):
        assert signed_in(team.stranger).post(address(job, name)).status_code == 404
    assert signed_in(team.stranger).get(address(job, "trial")).status_code == 404
    assert not Job.objects.filter(kind="search").exclude(pk=search.pk).exists()


def test_names_are_text(team: Studio, search: Job) -> None:
    shortlist(search)
    bad = '"><script>alert(1)</script>'
    page = signed_in(team.designer).post(
        address(search), {"action": "add", "number": COST, f"v:{COST}": bad, "piece": bad, "suspect": bad}
    )
    assert "<script>alert" not in page.content.decode()
