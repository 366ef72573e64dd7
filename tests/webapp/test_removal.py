"""Tests of suspects: when they begin, how large they are, what the pages say of them, and a battle to watch."""

from __future__ import annotations

import csv
import io
import json
import re
from html import unescape
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from engine.arrays import pack, unpack
from engine.config.removal import RemovalConfig
from tests.factories import Studio, search_job, signed_in, studio
from tests.webapp.experiments import CAPTAIN, DUKE, HORN, NOTHING, experiment, removal, table
from tests.webapp.test_api_access import token
from webapp.lib.storage import store
from webapp.removal import reading
from webapp.studies import actions, afterwards, companion
from webapp.studies.models import Job, Status
from webapp.suspects import removals
from webapp.suspects.evidence import SearchLineups
from webapp.suspects.reading import read

pytestmark = pytest.mark.django_db

PAIR = f"{CAPTAIN}+{HORN}"


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


def test_they_begin_by_themselves_once_the_experiment_has_named_something(search: Job) -> None:
    found = experiment(search, status=Status.RUNNING, artifacts={})
    afterwards.begin()
    assert removals.of(search) is None
    Job.objects.filter(pk=found.pk).update(
        status=Status.FINISHED, artifacts={"table": table()}, summary={"told": 4.0, "looked_at": 542.0}
    )
    for _ in range(2):
        afterwards.begin()
    made = removals.of(search)
    assert made is not None
    assert search.companions.filter(kind="removal").count() == 1
    assert made.active
    assert not Job.objects.listed().filter(pk=made.pk).exists()


def test_none_begin_where_nothing_is_named_or_they_were_stopped(search: Job) -> None:
    found = experiment(search, NOTHING, summary={"told": 0.0})
    afterwards.begin()
    assert removals.of(search) is None
    Job.objects.filter(pk=found.pk).update(artifacts={"table": table()}, summary={"told": 4.0})
    afterwards.begin()
    made = removals.of(search)
    assert made is not None
    actions.stop(made)
    afterwards.begin()
    assert search.companions.filter(kind="removal").count() == 1


def test_they_play_no_more_than_the_experiment_did_on_seeds_and_baselines_of_their_own(search: Job) -> None:
    found = experiment(search)
    config = removals.planned(search)
    assert isinstance(config, RemovalConfig)
    assert config.seed == removals.seed(search.config["seed"]) not in (search.config["seed"], found.config["seed"])
    assert config.lineups.baselines.seed == search.config["seed"]  # type: ignore[union-attr]
    assert [each.pattern.key for each in config.suspects] == [each.key for each in read(found).named]
    weak = [each for each in config.suspects if each.pattern.side == "weakest"]
    assert {each.pattern.key for each in weak} == {f"{CAPTAIN}+{DUKE}", "coil-bow*2"}
    held = next(each for each in config.suspects if each.pattern.key == PAIR)
    assert held.genomes
    assert config.rounds == 0, "a search that found nothing strong cannot tell without a suspect either"
    for few in (60_000, 4_000):
        Job.objects.filter(pk=found.pk).update(config={**found.config, "battles": few})
        smaller = removals.planned(search)
        assert smaller is None or (smaller.replicates, smaller.fresh) < (config.replicates, config.fresh)


def finds(search: Job, lineups: int) -> None:
    """The search had two lineups over the line and strong when it had played so many."""
    for tick, (evaluated, strong) in enumerate([(lineups // 2, 1), (lineups, 2), (4 * lineups, 9)], 1):
        body = {"metrics": {"evaluated": evaluated, "strong": strong}, "counters": {}}
        search.events.create(kind="progressed", sequence=1000 + tick, tick=tick, at=timezone.now(), body=body)
    Job.objects.filter(pk=search.pk).update(tick=3, ticks=3)
    search.refresh_from_db()


def test_nobody_searches_without_a_suspect_for_too_short_to_tell(team: Studio, search: Job) -> None:
    found = experiment(search)
    search.events.all().delete()
    finds(search, 4_000)
    assert removals.enough(search) == 4_000
    for battles in (20_000, 150_000, 40_000_000):
        Job.objects.filter(pk=found.pk).update(config={**found.config, "battles": battles})
        config = removals.planned(search)
        assert config is not None
        assert config.rounds == 0 or config.population * config.rounds >= 4_000
    assert config.rounds, "where there is room, one that is long enough comes by itself"


def test_a_search_that_is_long_enough_is_offered_with_what_it_takes(team: Studio, search: Job) -> None:
    experiment(search)
    search.events.all().delete()
    finds(search, 4_000)
    job = removal(search)
    meta, arrays = unpack(store().get(job.artifacts["table"]))
    nothing = {**meta["everything"], "confirmed": 0}
    suspects = [
        {**each, "without": each["without"] and {**each["without"], "confirmed": 0}} for each in meta["suspects"]
    ]
    told = {**meta, "everything": nothing, "suspects": suspects, "searched": 72}
    Job.objects.filter(pk=job.pk).update(artifacts={"table": store().put(pack(told, arrays))})
    page = shown(team.designer, search, PAIR)
    assert "Search for long enough without each suspect" in page
    assert f"{removals.longer(search):,} battles" in page
    assert "Search for long enough" not in shown(team.producer, search, PAIR)
    signed_in(team.designer).post(address(search, "test"), {"suspect": PAIR, "longer": "yes"})
    made = removals.of(search)
    assert made is not None
    assert made.config["population"] * made.config["rounds"] >= 4_000


@pytest.mark.parametrize("count", [1, 4, 12])
def test_every_size_keeps_within_what_it_says(count: int) -> None:
    sizes = [size.battles(count, 24) for size in removals.SIZES]
    assert sizes == sorted(sizes, reverse=True)


def test_a_short_experiment_leaves_no_room_and_the_page_says_so(team: Studio, search: Job) -> None:
    found = experiment(search)
    Job.objects.filter(pk=found.pk).update(config={**found.config, "battles": 2_000})
    assert removals.NO_ROOM in shown(team.designer, search, PAIR)
    assert signed_in(team.designer).post(address(search, "test")).status_code == 302
    assert removals.of(search) is None


def test_who_may_change_the_project_starts_them_by_a_click_and_others_do_not(team: Studio, search: Job) -> None:
    experiment(search)
    assert "Test the suspects" in shown(team.designer, search, PAIR)
    assert "Test the suspects" not in shown(team.producer, search, PAIR)
    for user, status in ((team.producer, 403), (team.stranger, 404)):
        assert signed_in(user).post(address(search, "test")).status_code == status
    for _ in range(2):
        signed_in(team.designer).post(address(search, "test"), {"suspect": PAIR})
    assert search.companions.filter(kind="removal").count() == 1
    assert "You can close this page" in shown(team.designer, search, PAIR)


def test_the_page_shows_the_swaps_with_ranges_and_what_has_no_neighbour(team: Studio, search: Job) -> None:
    experiment(search)
    removal(search)
    page = shown(team.producer, search, PAIR)
    assert "As it is 2.6× 2.4× to 2.8×" in page
    assert "Warhorn → Drum of Haste 1.4× 1.2× to 1.6×" in page
    assert "Both swapped 1.2×" in page
    assert "Frost Captain was not exchanged: nothing of its kind costs as much." in page
    assert "Resource advantage of the same 25 lineups after the swap" in page


def test_a_swap_whose_value_is_close_to_the_line_reads_on_its_side_of_it(search: Job) -> None:
    experiment(search)
    tests = reading.tests_of(removal(search), PAIR)
    assert tests is not None
    assert {tests.shown(row.value) for row in tests.rows} >= {"2.6×", "1.4×"}
    close = reading.Tests({**tests.meta}, {**tests.told, "rows": [
        *tests.told["rows"], {**tests.told["rows"][1], "value": [1.97, 1.7, 2.2]},
    ]})  # fmt: skip
    assert [close.shown(value) for value in (1.97, 1.7, 2.2)] == ["1.97×", "1.70×", "2.20×"]
    assert close.shown(close.rows[0].value) == "2.60×", "one chart, one number of digits"
    assert close.shown(close.line) == "2.00×"
    told = {**tests.told, "rows": [*tests.told["rows"], {**tests.told["rows"][1], "value": [1.9996, 1.7, 2.0003]}]}
    closer = reading.Tests({**tests.meta}, told)
    assert [closer.shown(value) for value in (1.9996, 1.7, 2.0003)] == ["just under 2.00×", "1.70×", "just over 2.00×"]


def test_the_page_shows_what_a_ban_leaves(team: Studio, search: Job) -> None:
    experiment(search)
    removal(search)
    page = shown(team.producer, search, PAIR)
    said = "Without it, a short search finds nothing that fresh battles confirm; with it, 14 of 16."
    assert said in page
    assert "Everything allowed 14 of 16 confirmed 3.1× 2.8× to 3.4×" in page
    assert "It cannot be left out. The rules want it in every lineup." in shown(team.producer, search, DUKE)


def test_a_battle_can_be_watched_where_there_is_one_and_is_told_in_words(team: Studio, search: Job) -> None:
    experiment(search)
    removal(search)
    page = signed_in(team.producer).get(address(search), {"suspect": DUKE}).content.decode()
    assert "js/battle.js" in page
    assert "Left wins" in page
    answer = signed_in(team.producer).get(address(search, "battle"), {"suspect": DUKE})
    assert answer.json()["places"] == [[[0.0, 1.0, 1.0]], [[2.0, 1.0, 0.5]]]
    assert signed_in(team.producer).get(address(search, "battle"), {"suspect": PAIR}).status_code == 404
    assert "This game gives no battle to watch." in shown(team.producer, search, PAIR)
    assert signed_in(team.stranger).get(address(search, "battle"), {"suspect": DUKE}).status_code == 404
    assert Client().get(address(search, "battle")).status_code == 302


def test_unfair_lineups_are_counted_by_the_suspects_that_explain_them(team: Studio, search: Job) -> None:
    found = read(experiment(search))
    lineups = SearchLineups(search)
    *families, none = lineups.families(found.named)
    assert none.place == -1
    assert sum(family.only for family in families) + none.many <= len(lineups.unfair[0])
    for family in families:
        share = lineups.shares(found.named[family.place])[0]
        assert share.count == family.many, "the card and the page of the suspect count alike"
    assert families[0].name == "Frost Captain + Warhorn"
    page = shown(team.producer, search)
    if none.many:
        hold = "holds" if none.many == 1 else "hold"
        assert f"{none.many} of the {len(lineups.unfair[0])} {hold} none of these" in page


@pytest.mark.parametrize(("count", "holds"), [(1, "1 of them holds no"), (2, "2 of them hold no")])
def test_one_lineup_holds_and_two_hold(count: int, holds: str) -> None:
    family = {"place": 0, "name": "Warhorn", "only": count, "many": 3}
    assert holds in render_to_string("suspects/families.html", {"families": [family]})


def test_the_explorer_names_families_after_suspects(team: Studio, search: Job) -> None:
    from webapp.studies.explore_build import explored

    before = explored(search).meta
    experiment(search)
    after = explored(search).meta
    assert not before["explained"]
    assert after["explained"]
    named = [each.line.name for each in read(companion.of(search)).named]  # type: ignore[arg-type]
    assert [family["name"] for family in after["families"]] == named
    page = signed_in(team.producer).get(reverse("studies:explore", args=["herobattle", search.pk])).content.decode()
    assert "by suspects" in page
    assert "not proved to be the cause" not in page
    experiment_of = Job.objects.get(accompanies=search)
    Job.objects.filter(pk=experiment_of.pk).delete()
    page = signed_in(team.producer).get(reverse("studies:explore", args=["herobattle", search.pk])).content.decode()
    assert "Pieces these lineups share more often than others (not proved to be the cause)" in page


def test_a_job_of_its_own_has_a_page_and_rows(team: Studio, search: Job) -> None:
    experiment(search)
    job = removal(search)
    page = signed_in(team.producer).get(reverse("studies:job", args=["herobattle", job.pk])).content.decode()
    assert "What is left without each suspect" in page
    assert page.count("No lineup that the search found is so because of it") == 1, "of the Duke"
    assert ("and a short search looks again" in page) == bool(job.config["rounds"])
    Job.objects.filter(pk=job.pk).update(config={**job.config, "rounds": 0})
    alone = signed_in(team.producer).get(reverse("studies:job", args=["herobattle", job.pk])).content.decode()
    assert "and a short search looks again" not in alone
    text = signed_in(team.producer).get(reverse("studies:results", args=["herobattle", job.pk])).content.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["test"] for row in rows][:2] == ["As it is", "Warhorn → Drum of Haste"]
    assert [row["confirmed"] for row in rows if row["test"] == "Without it"] == ["0"]


def test_a_script_is_told_what_does_not_fit_as_it_asks_and_no_job_is_made(team: Studio, search: Job) -> None:
    experiment(search)
    suspects = removal(search).config["suspects"]
    (whole,) = [each for each in suspects if each["pattern"]["pieces"] == [DUKE]]
    wrong = {**whole, "genomes": [[[0, 0]]], "anchors": [[0, 0]]}
    client, before = Client(headers={"Authorization": f"Bearer {token(team.designer)}"}), Job.objects.count()

    def post(suspect: dict[str, Any]) -> Any:
        body = json.dumps({"kind": "removal", "config": {"suspects": [suspect]}})
        return client.post(f"/api/v1/projects/{team.project.slug}/jobs", body, content_type="application/json")

    refused = post(wrong)
    assert refused.status_code == 422
    assert [problem["place"] for problem in refused.json()["problems"]] == ["config.suspects.0.genomes"]
    assert Job.objects.count() == before
    assert post(whole).status_code == 201


def test_stopping_a_search_stops_tests_that_wait(search: Job) -> None:
    experiment(search)
    config = removals.planned(search)
    assert config is not None
    made = actions.accompany(search, None, config)
    actions.pause(made)
    Job.objects.filter(pk=search.pk).update(status=Status.RUNNING)
    actions.stop(Job.objects.get(pk=search.pk))
    made.refresh_from_db()
    assert made.status == Status.STOPPED


def test_what_weighs_most_is_said_first_where_a_ban_was_not_looked_at(team: Studio, search: Job) -> None:
    experiment(search)
    job = removal(search)
    meta, arrays = unpack(store().get(job.artifacts["table"]))
    told = {**meta, "suspects": [{**each, "without": None} for each in meta["suspects"]]}
    Job.objects.filter(pk=job.pk).update(artifacts={"table": store().put(pack(told, arrays))})
    few, never = "the experiment left too few battles", "the search never had two lineups that are"
    search.events.all().delete()
    page = shown(team.designer, search, PAIR)
    assert "Not looked at. " in page
    assert (few in page, never in page) == (False, True), "more battles would not help"
    finds(search, 4_000)
    page = shown(team.designer, search, PAIR)
    assert (few in page, never in page) == (True, False)
