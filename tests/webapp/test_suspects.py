"""Suspects: what is said of each, why, what is decided about it, and what the page says where there is none."""

from __future__ import annotations

import math
import re
from html import unescape
from typing import Any

import numpy as np
import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse

from engine.arrays import pack, unpack
from engine.config import LineupConfig
from engine.config.patterns import Pattern
from engine.games.herobattle.spec import game_spec
from engine.indicators import wilson
from engine.lineups.companion import seed
from engine.lineups.patterns import Patterns
from tests.factories import Studio, search_job, signed_in, studio
from tests.webapp.experiments import CAPTAIN, DUKE, HORN, NOTHING, ROWS, experiment, table
from webapp.lib.storage import store
from webapp.studies import companion, progress
from webapp.studies import explore_source as source
from webapp.studies.explore_build import explored
from webapp.studies.models import Job, Status
from webapp.suspects.evidence import SearchLineups
from webapp.suspects.models import Decision
from webapp.suspects.reading import fits, read
from webapp.worth.parts import TOO_GOOD, UNTESTED

pytestmark = pytest.mark.django_db

PAIR, BOWS = f"{CAPTAIN}+{HORN}", "coil-bow*2"
CLAIM = "Frost Captain + Warhorn are too good together."
USUAL = "teams with an average pair of the same kinds"


@pytest.fixture
def team() -> Studio:
    return studio()


@pytest.fixture
def search(team: Studio) -> Job:
    return search_job(team.project)


def address(search: Job, name: str = "page") -> str:
    return reverse(f"suspects:{name}", args=[search.project.slug, search.pk])


def shown(user: Any, search: Job, key: str = "") -> str:
    answer = signed_in(user).get(address(search), {"suspect": key} if key else {})
    assert answer.status_code == 200
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).replace("\xa0", " ").split())


def decide(user: Any, search: Job, key: str = PAIR, **typed: Any) -> Any:
    return signed_in(user).post(address(search, "decide"), {"suspect": key, **typed})


def test_each_suspect_is_named_with_what_is_wrong_and_how_much(team: Studio, search: Job) -> None:
    experiment(search)
    assert "Four suspects in Spring data, version 14" in shown(team.producer, search)
    pair = shown(team.producer, search, PAIR)
    assert f"{CLAIM} Alone, each is fine; teams that hold both win 8.2 points more often than {USUAL}." in pair
    assert f"Points: how many percentage points more often such teams win than {USUAL}" in pair
    assert "5,000 fresh battles" in pair
    duke = shown(team.producer, search, DUKE)
    assert (
        "Marrow Duke is too good. Teams that hold it win 6.7 points more often than teams with the average hero" in duke
    )
    assert "percentage points more often such teams win than teams with the average hero" in duke
    half = shown(team.producer, search, f"{CAPTAIN}+{DUKE}")
    assert (
        "are too weak together. Teams that hold both win 5.1 points less often than the two pieces would explain on "
        "their own" in half
    )
    assert "Coil Bow, 2 or more, are too weak." in shown(team.producer, search, BOWS)


def test_a_piece_has_its_fair_price_beside_what_it_costs_and_pairs_and_amounts_have_none(
    team: Studio, search: Job
) -> None:
    experiment(search)
    duke = shown(team.producer, search, DUKE)
    assert re.search(
        r"A fair price It costs 310 385 352 to 431 .*the higher price leaves them less for other pieces", duke
    )
    for other in (PAIR, BOWS):
        assert "fair price" not in shown(team.producer, search, other).lower()
    unknown = [((HORN,), 1, 0.06, 0.04, 0.08, TOO_GOOD, 4000) if row[0] == (HORN,) else row for row in ROWS]
    Job.objects.filter(accompanies=search).update(artifacts={"table": table(unknown)})
    assert "Its fair price cannot be measured with these battles" in shown(team.producer, search, HORN)


def test_the_worst_is_shown_first_and_an_unknown_one_is_the_first(team: Studio, search: Job) -> None:
    experiment(search)
    for key in ("", "nobody"):
        assert CLAIM in shown(team.designer, search, key)


def test_what_is_open_is_counted_and_not_named(team: Studio, search: Job) -> None:
    experiment(search)
    page = shown(team.designer, search)
    assert "1 not settled : the table says how many more battles each needs, or that it is too close to tell." in page
    assert "Coil Bow is" not in page


def test_nothing_stands_out_is_said_with_the_largest_effect_left_open(team: Studio, search: Job) -> None:
    experiment(search, NOTHING)
    page = shown(team.designer, search)
    assert "Nothing stands out in Spring data, version 14" in page
    assert "that these battles do not rule out is Coil Bow’s: +5.0 points" in page
    assert "1 of the 3 pieces, amounts and pairs in the table is not settled: it says how many" in page
    assert "It is not measured" in page


def test_where_nothing_could_be_tested_it_is_not_said_that_nothing_stands_out(team: Studio, search: Job) -> None:
    found = experiment(search, [((piece,), 1, *(math.nan,) * 3, UNTESTED, 0) for piece in (CAPTAIN, HORN)])
    page = shown(team.designer, search)
    assert "Nothing could be tested in Spring data, version 14" in page
    assert "2 pieces could not be tested" in page
    own = signed_in(team.designer).get(reverse("studies:job", args=["herobattle", found.pk])).content.decode()
    assert "Nothing could be tested" in own
    assert "stands out." not in page + own


@pytest.mark.parametrize("rows", [ROWS, NOTHING])
def test_how_many_battles_the_game_did_not_finish_stands_above_what_is_told(
    team: Studio, search: Job, rows: Any
) -> None:
    found = experiment(search, rows)
    assert "did not finish" not in shown(team.producer, search)
    meta, arrays = unpack(store().get(found.artifacts["table"]))
    found.artifacts["table"] = store().put(pack({**meta, "asked": 2_000, "unfinished": 431}, arrays))
    found.save()
    assert "The game did not finish 431 of 2,000 battles, which are left out" in shown(team.producer, search)


def test_while_it_runs_the_page_says_how_far_it_is(team: Studio, search: Job) -> None:
    counters = {"battles": 60_000, "seconds": 30.0}
    running = {"status": Status.RUNNING, "artifacts": {}, "tick": 16, "ticks": 40, "counters": counters}
    experiment(search, **running)
    page = shown(team.designer, search)
    assert "Looking for suspects" in page
    assert "60,000 of 150,000 battles" in page
    assert "Nothing is named yet" in page
    browser = signed_in(team.designer)
    assert 'hx-trigger="every 3s"' in browser.get(address(search)).content.decode()
    again = {"path": address(search), "headers": {"HX-Request": "true"}}
    assert "HX-Refresh" not in browser.get(**again)
    Job.objects.filter(kind="worth").update(artifacts={"table": table()})
    assert browser.get(**again)["HX-Refresh"] == "true"


def test_home_and_jobs_say_that_the_experiment_beside_an_ended_search_goes_on(team: Studio, search: Job) -> None:
    counters = {"battles": 75_000, "seconds": 60.0}
    experiment(search, status=Status.RUNNING, artifacts={}, counters=counters, tick=20, ticks=40)
    browser, told = signed_in(team.designer), "Measuring what each piece is worth, about 1 min left"
    signed_in(team.designer).get(reverse("studies:job", args=["herobattle", search.pk]))  # nothing is left to review
    for place in ("/", reverse("studies:jobs", args=["herobattle"])):
        markup = browser.get(place).content.decode()
        assert told in markup.replace("\xa0", " ")
        assert f'href="{address(search)}"' in markup
        assert "All quiet" not in markup
        assert "Nothing is running" not in markup
    assert told not in signed_in(team.stranger).get("/").content.decode().replace("\xa0", " ")
    Job.objects.filter(pk=search.pk).update(status=Status.RUNNING)
    assert "Measuring what" not in browser.get("/").content.decode(), "it waits, as its search is not over"


def test_once_everything_is_reviewed_home_still_leads_to_the_suspects(team: Studio, search: Job) -> None:
    browser = signed_in(team.designer)
    experiment(search)
    browser.get(address(search))
    markup = browser.get("/").content.decode()
    assert "All quiet" in markup
    assert f'<a href="{address(search)}">its suspects</a>' in markup


def test_a_suspect_that_is_read_stays_as_it_is_while_the_experiment_goes_on(team: Studio, search: Job) -> None:
    found = experiment(search, status=Status.RUNNING)
    markup = signed_in(team.designer).get(address(search), {"suspect": PAIR}).content.decode()
    assert 'id="suspects-progress"' in markup.partition('hx-select="#suspects-progress"')[0]
    assert 'hx-select="#suspects"' not in markup
    Job.objects.filter(pk=found.pk).update(status=Status.FINISHED)
    again = signed_in(team.designer).get(address(search), {"suspect": PAIR}, headers={"HX-Request": "true"})
    assert "Show all that it named" in again.content.decode()


@pytest.mark.parametrize("status", [Status.STOPPED, Status.FAILED, None])
def test_a_search_without_a_table_offers_to_measure_once(team: Studio, search: Job, status: str | None) -> None:
    if status:
        experiment(search, status=status, artifacts={}, message="The game went away.")
        assert "The game went away." in shown(team.designer, search)
    assert "Measure what each piece is worth" in shown(team.designer, search)
    assert "Measure what each piece is worth" not in shown(team.producer, search)
    for _ in range(2):
        signed_in(team.designer).post(address(search, "measure"))
    started = companion.of(search)
    assert search.companions.count() == (2 if status else 1)
    assert started is not None
    assert (started.status in (Status.QUEUED, Status.WAITING), started.created_by) == (True, team.designer)
    assert started.config["seed"] == seed(search.config["seed"])


def test_single_teams_of_any_price_can_be_explained_too_and_what_cannot_be_measured_says_why(
    team: Studio, search: Job
) -> None:
    search.config["lineups"] |= {"teams": 1, "cost_tolerance": None, "budget_low": 1e9}
    search.save()
    why = companion.obstacle(LineupConfig.model_validate(search.config["lineups"]), game_spec())
    assert why
    assert why in shown(team.designer, search)
    signed_in(team.designer).post(address(search, "measure"))
    assert companion.of(search) is None
    del search.config["lineups"]["budget_low"]
    search.save()
    signed_in(team.designer).post(address(search, "measure"))
    started = companion.of(Job.objects.get(pk=search.pk))
    assert started is not None
    assert started.config["lineups"]["teams"] == 2


def test_a_single_team_is_explained_by_suspects_of_its_own_direction(search: Job) -> None:
    good, weak = (Pattern(pieces=("marrow-duke",), side=side) for side in ("strongest", "weakest"))
    assert (fits(search, good), fits(search, weak)) == (True, True), "of several teams both can be why"
    search.config["lineups"]["teams"] = 1
    for question, told in (("useless", (False, True)), ("price", (True, False))):
        search.template = question
        assert (fits(search, good), fits(search, weak)) == told


def test_of_single_teams_the_page_speaks_of_what_was_asked(search: Job) -> None:
    experiment(search)
    search.config["lineups"] |= {"teams": 1}
    search.template = "useless"
    search.save()
    found = read(Job.objects.get(kind="worth")).named
    fit = [fits(search, each.pattern) for each in found]
    assert fit == sorted(fit, reverse=True), "what makes teams useless comes first"
    lineups = SearchLineups(search)
    assert lineups.state == "useless"
    assert lineups.unfair[1] == ("lineup that is useless", "lineups that are useless")
    assert {family.place for family in lineups.families(found)} == {-1, *np.flatnonzero(fit)}, "no other explains any"
    assert lineups.unswapped(found[0]) == (
        "The search found no team that is useless and holds it, so there is nothing to swap it out of."
    )
    assert lineups.unswapped(found[-1]).startswith("No team is useless because of what is too good, ")


def test_where_every_lineup_was_played_shares_are_exact(search: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    suspect, lineups = read(experiment(search)).named[0], SearchLineups(search)
    assert lineups.found is not None
    monkeypatch.setattr("webapp.suspects.evidence.counted", lambda spec, rules: 600)
    assert not lineups.whole, "some of them are relatives"
    core = {**lineups.found.core, "random": np.ones_like(lineups.found.core["random"])}
    lineups = SearchLineups(search)
    assert lineups.found is not None
    lineups.found = lineups.found._replace(core=core)
    assert lineups.whole
    _, usual = lineups.shares(suspect)
    assert usual.words == "In all teams of the 600 lineups that the rules allow"
    assert usual.ends is None


def test_a_lost_table_is_said(team: Studio, search: Job) -> None:
    experiment(search, artifacts={"table": "0" * 64})
    assert "The table is lost" in shown(team.designer, search)


def test_shares_are_of_strongest_teams_against_teams_of_random_lineups(team: Studio, search: Job) -> None:
    found = read(experiment(search)).of(PAIR)
    assert found is not None
    unfair, usual = SearchLineups(search).shares(found)
    data = explored(search)
    strong = np.flatnonzero(data.core["verdict"] == 2)
    names = [piece["id"] for piece in data.meta["pieces"]]
    by_hand = 0
    for row in strong:
        strongest = data.genome[row, data.lineups["anchor"][row, 0]]
        slots = [s for s, slot in enumerate(data.meta["slots"]) if slot["kind"] == "piece" and strongest[s] >= 0]
        pieces = {names[strongest[s]] for s in slots}
        by_hand += {CAPTAIN, HORN} <= pieces
    assert (unfair.count, unfair.total) == (by_hand, len(strong))
    assert unfair.words == f"In the strongest team of {SearchLineups(search).many_unfair[1]}"
    assert usual.total == 3 * int(data.core["random"].sum())
    assert unfair.ends is None, "lineups of a search descend from one another: a range would count them as strangers"
    assert usual.ends is not None
    low, high = usual.ends
    assert 0 <= low <= usual.share < high
    assert usual.share < unfair.share, "the planted pair stands in more of the unfair ones"
    assert high - low > np.subtract(*wilson(usual.count, usual.total)[::-1]), "teams of one lineup may be alike"
    page = shown(team.designer, search)
    assert f"{unfair.count} of {unfair.total}" in page
    assert "those of the search are relatives, so their share is a count without a range" in page


def test_an_amount_is_held_from_its_number_on(search: Job) -> None:
    data = explored(search)
    slots = data.meta["slots"]
    at = next(s for s, slot in enumerate(slots) if slot["kind"] == "piece" and slot["count"] >= 0)
    teams = data.genome[:4, 0].copy()
    soldier = int(teams[0, at])
    teams[:, at] = soldier
    teams[:, slots[at]["count"]] = [1, 2, 3, 2]
    for s, slot in enumerate(slots):
        if s != at and slot["kind"] == "piece" and slot["count"] >= 0:
            teams[:, s] = -1
    rows = [((data.meta["pieces"][soldier]["id"],), 2, 0.05, 0.03, 0.07, 3, 100)]
    found = read(experiment(search, rows)).named[0]
    held = Patterns(source.spec(search), [found.pattern]).held(teams)[:, 0]
    assert held.tolist() == [False, True, True, True]


def test_a_decision_is_kept_with_who_and_when_and_stands_in_the_history(team: Studio, search: Job) -> None:
    experiment(search)
    answer = decide(team.designer, search, choice="fix")
    assert answer["Location"] == f"{address(search)}?suspect=frost-captain%2Bwarhorn"
    made = Decision.objects.get()
    assert (made.search, made.choice, made.created_by) == (search, "fix", team.designer)
    assert "Fix, by" in shown(team.producer, search, PAIR)
    search.refresh_from_db()
    assert any("Frost Captain + Warhorn: Fix" in line["words"] for line in progress.history(search))
    decide(team.designer, search, choice="fix")
    assert Decision.objects.count() == 1, "sent twice, it is one"


def test_intended_needs_a_reason_and_keeps_what_was_typed(team: Studio, search: Job) -> None:
    experiment(search)
    refused = decide(team.designer, search, choice="intended", reason="  ")
    assert refused.status_code == 422
    assert "Write a few words on why" in refused.content.decode()
    long = decide(team.designer, search, choice="intended", reason="x" * 2001)
    assert "x" * 2001 in long.content.decode()
    assert not Decision.objects.exists()
    decide(team.designer, search, choice="intended", reason="<i>Riders</i> are the theme")
    page = signed_in(team.owner).get(address(search), {"suspect": PAIR}).content.decode()
    assert "&lt;i&gt;Riders&lt;/i&gt; are the theme" in page


def test_somebody_of_the_project_can_be_asked_and_nobody_else(team: Studio, search: Job) -> None:
    experiment(search)
    assert decide(team.designer, search, choice="ask", asked=team.stranger.pk).status_code == 422
    assert decide(team.designer, search, choice="ask").status_code == 422
    decide(team.designer, search, choice="ask", asked=team.producer.pk, reason="Is this the tank?")
    assert f"Ask {team.producer}: “Is this the tank?”" in shown(team.producer, search, PAIR)


def test_who_is_asked_finds_it_on_home_until_it_is_decided(team: Studio, search: Job) -> None:
    experiment(search)
    decide(team.designer, search, choice="ask", asked=team.producer.pk, reason="Is this the tank?")
    assert f"{address(search)}?suspect=frost-captain%2Bwarhorn" in signed_in(team.producer).get("/").content.decode()
    assert "You are asked" not in signed_in(team.owner).get("/").content.decode()
    decide(team.owner, search, choice="fix")
    assert "You are asked" not in signed_in(team.producer).get("/").content.decode()


def test_nobody_is_offered_to_ask_themselves(team: Studio, search: Job) -> None:
    experiment(search)
    page = signed_in(team.designer).get(address(search)).content.decode()
    assert f'<option value="{team.owner.pk}">' in page
    assert f'<option value="{team.designer.pk}"' not in page


def test_a_decision_can_be_taken_back_and_what_was_decided_stays_told(team: Studio, search: Job) -> None:
    experiment(search)
    decide(team.designer, search, choice="fix")
    decide(team.owner, search, choice="none")
    page = shown(team.designer, search, PAIR)
    assert "Taken back" in page
    assert page.count("No decision yet") == 4
    assert decide(team.owner, search, choice="none").status_code == 422


def test_a_decision_on_what_is_no_suspect_is_refused(team: Studio, search: Job) -> None:
    experiment(search)
    assert decide(team.designer, search, "nobody", choice="fix").status_code == 422
    assert decide(team.designer, search, choice="burn").status_code == 422
    assert not Decision.objects.exists()


def test_a_decision_outlives_the_suspect_and_changes_no_verdict(team: Studio, search: Job) -> None:
    found = experiment(search)
    decide(team.designer, search, choice="intended", reason="It is the theme")
    assert "Three suspects and one intended in" in shown(team.designer, search)
    Job.objects.filter(pk=found.pk).update(artifacts={"table": table(NOTHING)})
    assert "Nothing stands out" in shown(team.designer, search)
    assert decide(team.designer, search, choice="none").status_code == 302


def test_producers_read_and_decide_nothing(team: Studio, search: Job) -> None:
    experiment(search)
    page = signed_in(team.producer).get(address(search)).content.decode()
    assert 'name="choice"' not in page
    for name in ("decide", "measure"):
        assert signed_in(team.producer).post(address(search, name), {"choice": "fix"}).status_code == 403
        assert signed_in(team.stranger).post(address(search, name), {"choice": "fix"}).status_code == 404
    assert signed_in(team.stranger).get(address(search)).status_code == 404
    assert Client().get(address(search)).status_code == 302


def test_where_nothing_is_swapped_only_lineups_with_the_suspect_are_said_to_be_weak_or_unsure() -> None:
    tests = {"rows": [], "alone": [], "lineups": 0, "impossible": "Every team has it."}
    said = render_to_string(
        "suspects/swap.html",
        {"tests": tests, "standing": {"lineups": [1]}, "state": "over the line and strong", "unswapped": "None."},
    )
    told = " ".join(re.sub(r"<[^>]+>", "", said).split())
    assert "The lineups under Try a change that hold it are not both" in told, "the shortlist may have some that are"


def test_names_are_text(team: Studio, search: Job) -> None:
    experiment(search)
    page = signed_in(team.designer).get(address(search), {"suspect": '"><script>'}).content.decode()
    assert "<script>" not in page.partition("<body")[2].replace('<script type="module"', "")


def test_a_finished_search_opens_on_its_suspects_once_there_is_something_to_see(team: Studio, search: Job) -> None:
    places = [reverse("studies:job", args=["herobattle", search.pk]), "/", reverse("studies:jobs", args=["herobattle"])]
    browser = signed_in(team.designer)
    waits = signed_in(team.owner).get("/").content.decode()
    assert address(search) not in waits
    found = experiment(search, status=Status.RUNNING, artifacts={})
    assert "See the suspects" not in browser.get(places[0]).content.decode()
    Job.objects.filter(pk=found.pk).update(status=Status.FINISHED, artifacts={"table": table()})
    assert f'href="{address(search)}"' in signed_in(team.owner).get("/").content.decode()
    for place in (places[0], places[2]):
        markup = browser.get(place).content.decode()
        assert f'href="{address(search)}"' in markup
        assert reverse("studies:explore", args=["herobattle", search.pk]) in markup
    assert (
        f'href="{address(search)}"'
        in browser.get(reverse("studies:explore", args=["herobattle", search.pk])).content.decode()
    )


def test_who_has_seen_the_suspects_is_not_told_of_them_on_home_again(team: Studio, search: Job) -> None:
    experiment(search)
    browser = signed_in(team.designer)
    assert ">To review<" in browser.get("/").content.decode()
    browser.get(address(search))
    assert ">To review<" not in browser.get("/").content.decode()


def test_other_jobs_have_no_suspects(team: Studio, search: Job) -> None:
    found = experiment(search)
    assert signed_in(team.designer).get(address(found)).status_code == 404


def test_where_nothing_is_compared_the_page_says_which_of_the_two_is_missing(search: Job) -> None:
    suspect = read(experiment(search)).named[0]
    lineups = SearchLineups(search)
    assert lineups.found is not None
    core = {**lineups.found.core, "random": np.zeros_like(lineups.found.core["random"])}
    lineups.found = lineups.found._replace(core=core)
    assert lineups.shares(suspect) == []
    assert "kept no random lineups" in lineups.unshared(suspect)
    one = lineups.unfair[0][:1]
    lineups.__dict__["unfair"] = (one, lineups.unfair[1])
    assert lineups.many_unfair == (1, "1 lineup that is over the line and strong")
    lineups.__dict__["unfair"] = (np.empty(0, np.int64), ("", ""))
    assert "found no lineup that is over the line and strong" in lineups.unshared(suspect)
