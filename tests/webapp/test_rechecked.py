"""A re-check says on its own page, on Home and in the list of jobs what the explorer says of its lineups."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from time import sleep
from typing import Any

import numpy as np
import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from engine.arrays import unpack
from engine.confidence import Range
from engine.indicators import STRONG
from engine.verdicts import Sample
from tests.factories import Studio, archive, boundless, bundle, search_job, signed_in, studio
from tests.webapp.test_explore_shortlist import finished_recheck, shortlist
from webapp.lib.locks import only_one
from webapp.lib.page_json import PageJson, embedded, written
from webapp.lib.storage import store
from webapp.studies import explore_build as build
from webapp.studies import explore_source, progress, rechecked
from webapp.studies import reckoned as reckoned_of
from webapp.studies.explore_recheck import confirmed_by, findings, furthest
from webapp.studies.found_counts import found_by
from webapp.studies.journal import Entry, append
from webapp.studies.models import Job, ShortlistEntry, Status
from webapp.studies.reckoned import Form, reckoned
from workers import tasks

pytestmark = pytest.mark.django_db
OVER, UNDER, UNSURE = [2.6, 50.0, 28.0], [1.7, 30.0, 28.0], [2.2, 50.0, 28.0]


@pytest.fixture
def team() -> Studio:
    cache.clear()
    return studio()


@pytest.fixture
def search(team: Studio) -> Job:
    return search_job(team.project, rows=200)


@pytest.fixture
def client(team: Studio) -> Client:
    return signed_in(team.designer)


def rechecked_as(search: Job, rows: list[int], mean: list[float], error: float = 0.05, **row: Any) -> Job:
    """A re-check as the site stores it, on the shortlist of its search."""
    job = finished_recheck(search, rows, mean, [error, 1.0, 1.0])
    job.config = {**search.config, **job.config, "kind": "recheck"}
    job.game_version, job.template, job.tick, job.finished_at = search.game_version, search.template, 1, job.created_at
    for name, value in row.items():
        setattr(job, name, value)
    job.save()
    genomes = archive(200)["genome"]
    for lineup in rows:
        ShortlistEntry.objects.create(job=search, individual=lineup, genome=genomes[lineup].tolist(), reason="Odd")
    return job


def replaced(job: Job, columns: dict[str, Any]) -> None:
    """The re-check came out like this instead."""
    job.artifacts = {"result": store().put(bundle(columns))}
    job.save()


def test_a_lineup_of_which_no_battle_was_finished_still_waits_for_a_recheck(search: Job, client: Client) -> None:
    job = rechecked_as(search, [3, 5], OVER)
    columns = {name: column[[3, 5]] for name, column in archive(200).items()}
    columns["samples"], columns["status"] = np.array([0, 32], np.int32), np.array([1, 0], np.uint8)
    for name in ("objective", "error", "cost"):
        columns[name] = np.where(columns["status"][:, None] == 0, columns[name], np.nan)
    replaced(job, columns | {"verdict": np.ones(2, np.uint8)})
    assert len(findings(search)) == 1
    assert shortlist(search).due[0] == 3
    assert "NaN" not in page(client, job)
    assert "NaN" not in page(client, search)


def test_a_recheck_that_was_stopped_before_its_first_lineup_says_nothing_of_any(search: Job, client: Client) -> None:
    job = rechecked_as(search, [3], OVER)
    columns = {name: column[:0] for name, column in archive(200).items()}
    replaced(job, columns | {"genome": np.empty(0)})
    assert findings(search) == {}
    assert shortlist(search).due == [3]
    page(client, job)


def page(client: Client, job: Job) -> str:
    return client.get(reverse("studies:job", args=["herobattle", job.pk])).content.decode()


def listed(client: Client, address: str, job: Job) -> str:
    """The row of a job in a list, once a worker has reckoned what it says."""
    tasks.reckon(job.pk)
    text = client.get(address).content.decode()
    return re.sub(r"\s+", " ", text.partition(f'id="job-{job.pk}"')[2].partition("</li>")[0])


JOBS = "/p/herobattle/jobs/"


@pytest.mark.parametrize(("mean", "mark"), [(OVER, "strong"), (UNDER, "fair"), (UNSURE, "unsure")])
def test_a_re_check_of_one_lineup_says_the_sentence_of_the_explorer_everywhere(
    client: Client, search: Job, mean: list[float], mark: str
) -> None:
    job = rechecked_as(search, [12], mean, 0.1 if mean == UNSURE else 0.05)
    (told,) = shortlist(search).on
    state = client.get(reverse("studies:explore-state", args=["herobattle", search.pk])).json()
    assert told.words in state["html"]
    rows = [listed(client, address, job) for address in (JOBS, "/")]  # Home does not tell of it once it was seen
    shown = page(client, job)
    assert told.words in shown
    assert told.name in shown
    assert "none was found" not in shown
    for row in rows:
        assert told.words in row
        assert re.findall(r"vm-(\w+)", row) == [mark]
        assert "Finished" in row


def test_a_re_check_of_several_is_counted_in_lists_and_told_one_by_one_on_its_page(client: Client, search: Job) -> None:
    rechecked_as(search, [40, 41], UNDER)
    job = rechecked_as(search, [12], OVER)
    both = Job.objects.get(pk=job.pk)
    both.pk, genomes = None, archive(200)["genome"]
    both.config["genomes"], both.artifacts = genomes[[12, 40, 41]].tolist(), {}
    both.save()
    assert rechecked.found(both) == (
        "1 confirmed, 2 under the line, by all their re-checks together",
        "strong",
    )
    assert rechecked.found(job) == ("Confirmed on 768 fresh battles", "strong"), "no other has played its lineup"
    assert [each.words for each in rechecked.checked(both)] == [
        "Confirmed on 768 fresh battles", *["Under the line on 768 fresh battles"] * 2
    ]  # fmt: skip
    assert "1 confirmed, 2 under the line" in listed(client, JOBS, both)


def test_while_it_plays_nothing_is_said_of_its_lineups_yet(client: Client, search: Job) -> None:
    job = rechecked_as(search, [12], OVER, status=Status.RUNNING)
    assert "Being played again on fresh battles" in page(client, job)
    told = client.get(reverse("studies:checked", args=["herobattle", job.pk])).json()
    assert told["marks"] == [{"verdict": None, "mark": "", "short": "being played again on fresh battles"}]
    Job.objects.filter(pk=job.pk).update(status=Status.FINISHED)
    told = client.get(reverse("studies:checked", args=["herobattle", job.pk])).json()
    assert told["marks"] == [{"verdict": 2, "mark": "strong", "short": "confirmed"}]
    assert "Confirmed on 768 fresh battles" in told["html"]


def test_one_that_was_stopped_before_it_played_a_lineup_says_so(client: Client, search: Job) -> None:
    job = rechecked_as(search, [12], OVER, status=Status.STOPPED, artifacts={}, tick=0)
    assert "Not re-checked yet" in page(client, job)
    assert "vm-" not in listed(client, JOBS, job)


def test_one_whose_search_is_gone_says_what_its_own_battles_say(client: Client, search: Job) -> None:
    job = rechecked_as(search, [12], OVER)
    job.parent = None
    job.save()
    assert rechecked.found(job).words == "Confirmed on 768 fresh battles"
    assert "Confirmed on 768 fresh battles" in page(client, job)


def test_one_whose_game_is_no_longer_described_still_opens(client: Client, search: Job) -> None:
    job = rechecked_as(search, [12], OVER)
    assert search.game_version is not None
    search.game_version.simulator.spec = {}
    search.game_version.simulator.save()
    assert "no longer described" in page(client, job)
    assert "not known any more" in listed(client, JOBS, job)


def test_without_a_line_lineups_are_measured_and_nothing_is_marked(client: Client, search: Job) -> None:
    for objective in search.config["objectives"]["objectives"]:
        objective["threshold"] = None
    search.save()
    job = rechecked_as(search, [12], OVER)
    row = listed(client, JOBS, job)
    assert "Measured on 768 fresh battles" in row
    assert "vm-" not in row
    assert "no line was set" in listed(client, JOBS, search)


def test_a_search_has_no_red_mark_for_what_it_did_not_find(client: Client, search: Job) -> None:
    search.config["objectives"]["objectives"][0]["threshold"] = 99.0
    search.save()
    row = listed(client, JOBS, search)
    assert "0 found by the search" in row
    assert "vm-" not in row
    search.config["objectives"]["objectives"][0]["threshold"] = 2.0
    strong = np.flatnonzero(build.build(search).core["verdict"] == STRONG)
    search.metrics = {"strong": len(strong), "evaluated": 200}
    search.save()
    rechecked_as(search, [int(strong[0])], UNDER)
    row = listed(client, JOBS, search)
    assert f"0 confirmed on fresh battles, {len(strong) - 1} found by the search" in row
    assert "vm-unsure" in row


def test_the_history_of_a_re_check_counts_parts_and_finds_no_lineups(search: Job) -> None:
    job = rechecked_as(search, [12], OVER, metrics={"strong": 1})
    said = [Entry("progressed", {"metrics": {"strong": 1}}, 1), Entry("finished", {"artifacts": {}}, 1)]
    append(job, {}, said)
    job.refresh_from_db()
    assert [line["words"] for line in progress.history(job)] == ["Finished."]


def test_headings_are_by_state(client: Client, search: Job) -> None:
    assert ">What was found<" in page(client, search)
    assert ">How the search went<" in page(client, search)
    Job.objects.filter(pk=search.pk).update(status=Status.RUNNING)
    assert ">What has been found so far<" in page(client, search)
    assert ">How the search is going<" in page(client, search)


def test_what_the_end_of_a_search_played_again_is_not_mixed_with_re_checks(search: Job) -> None:
    columns = {name: column[[12]] for name, column in archive(200).items()}
    columns["samples"] = np.full(1, 16, dtype=np.int32)
    search.artifacts["fresh"] = store().put(bundle(columns))
    search.save()
    rechecked_as(search, [30], OVER)
    assert explore_source.searched_again(search) == [search.artifacts["fresh"]]
    assert len(explore_source.replayed(search)) == 2
    assert sorted(fresh.samples for fresh in findings(search).values()) == [16, 32]


def test_a_range_without_an_end_is_none_in_the_explorer_and_in_every_answer(client: Client, search: Job) -> None:
    boundless(search)
    rechecked_as(search, [12], OVER, 0.0)
    (fresh,) = findings(search).values()
    assert fresh.half[0] is None
    address = reverse("studies:explore-data", args=["herobattle", search.pk, explore_source.key(search), "core"])
    meta = unpack(client.get(address).content).meta
    json.dumps(meta, allow_nan=False)
    assert meta["fresh"]["12"]["now"]["half"][0] is None
    assert np.isinf(build.build(search).core["half"][0, 12])
    rows = client.get(reverse("studies:export-csv", args=["herobattle", search.pk]))
    assert b"inf" not in rows.content.lower().replace(b"info", b"")
    assert client.get(reverse("projects:home")).status_code == 200


def test_json_for_pages_has_no_number_that_browsers_cannot_read() -> None:
    odd = {"a": float("inf"), "b": [float("nan"), 1.5], "c": (float("-inf"), "Infinity")}
    plain = {"a": None, "b": [None, 1.5], "c": [None, "Infinity"]}
    assert json.loads(written(odd)) == json.loads(PageJson(odd).content) == plain
    assert embedded(odd, "told") == embedded(plain, "told")


def unwanted(*args: object) -> float:
    pytest.fail("This was worked out before.")


def forgotten() -> None:
    """The site is started again."""
    cache.clear()


def test_what_fresh_battles_say_is_kept_for_the_next_start(search: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    rechecked_as(search, [3, 5, 7], OVER)
    said = [findings(search), found_by(search), furthest(search), confirmed_by(search, [2.0, None, None], None)]
    monkeypatch.setattr(Sample, "evidence", unwanted)
    forgotten()
    again = Job.objects.get(pk=search.pk)
    assert [findings(again), found_by(again), furthest(again), confirmed_by(again, [2.0, None, None], None)] == said


def test_a_range_is_worked_out_once_whatever_the_line_is_and_whatever_else_is_played_again(
    search: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    rechecked_as(search, [3, 5, 7], OVER)
    before = findings(search)
    worked_out: list[int] = []
    plain = Sample._range

    def counted(sample: Sample, j: int, error: float) -> Range:
        worked_out.append(j)
        return plain(sample, j, error)

    monkeypatch.setattr(Sample, "_range", counted)
    forgotten()
    moved = [{**each, "threshold": each["threshold"] and 2.5} for each in search.config["objectives"]["objectives"]]
    search.config["objectives"]["objectives"] = moved
    search.save()
    assert {fresh.half for fresh in findings(search).values()} == {fresh.half for fresh in before.values()}
    assert not worked_out
    rechecked_as(search, [9], [2.7, 51.0, 29.0])
    assert len(findings(search)) == 4
    assert len(worked_out) == len(OVER)  # of the one that is new, each once


def test_what_is_asked_for_by_many_at_once_is_reckoned_once(search: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, made = Barrier(4), list[int]()

    def make() -> list[int]:
        made.append(1)
        sleep(0.2)
        return [7]

    def ask(_: int) -> list[int]:
        asked.wait()
        return reckoned(search, "by", "a state", make, Form(list, list))

    monkeypatch.setattr(reckoned_of, "recall", lambda job, name: {})
    monkeypatch.setattr(reckoned_of, "keep", lambda job, name, content: None)
    monkeypatch.setattr(reckoned_of, "_whole", lambda job: True)
    with ThreadPoolExecutor(4) as people:
        assert list(people.map(ask, range(4))) == [[7]] * 4
    assert len(made) == 1


def test_what_another_process_reckons_is_waited_for(search: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, Any] = {}
    monkeypatch.setattr(reckoned_of, "recall", lambda job, name: dict(kept))
    with ThreadPoolExecutor(1) as here:
        with only_one(reckoned_of._lock_of(search, "by"), 1.0):
            asked = here.submit(reckoned, search, "by", "a state", unwanted, Form(list, list))
            sleep(0.2)
            kept[f"a state-{reckoned_of.version()}"] = [7]
        assert asked.result() == [7]


def test_a_worker_reckons_what_pages_say_as_soon_as_a_job_has_ended(
    client: Client, search: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, sent = rechecked_as(search, [3, 5, 7], OVER, status=Status.RUNNING), list[tuple[str, int]]()
    monkeypatch.setattr(tasks.runner, "run", lambda pk: None)
    monkeypatch.setattr(tasks.reconcile, "admit", lambda: None)
    monkeypatch.setattr(tasks, "enqueue", lambda *message: sent.append(message))
    tasks.run_job(job.pk)
    assert not sent, "it goes on"
    Job.objects.filter(pk=job.pk).update(status=Status.FINISHED)
    tasks.run_job(job.pk)
    assert sent == [("reckon", job.pk)]
    tasks.reckon(job.pk)
    forgotten()
    monkeypatch.setattr(Sample, "evidence", unwanted)
    monkeypatch.setattr(build, "build", unwanted)
    assert "3 confirmed on fresh battles" in page(client, search) + listed(client, JOBS, search)
    assert client.get(reverse("projects:home")).status_code == 200
    at = [search.project.slug, search.pk, explore_source.key(search), "core"]
    assert client.get(reverse("studies:explore-data", args=at)).status_code == 200


@pytest.mark.parametrize("address", [JOBS, "/"])
def test_lists_neither_reckon_nor_wait_but_tell_a_worker_and_ask_again(
    client: Client, search: Job, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    again, sent = rechecked_as(search, [3, 5, 7], OVER), list[tuple[str, int]]()
    ShortlistEntry.objects.all().delete()
    monkeypatch.setattr(reckoned_of, "enqueue", lambda *message: sent.append(message))
    with monkeypatch.context() as elsewhere:  # another process is at it
        elsewhere.setattr(Sample, "evidence", unwanted)
        elsewhere.setattr(reckoned_of, "only_one", unwanted)
        for _ in range(2):
            told = client.get(address).content.decode()
            assert "What its fresh battles say is being counted." in told
            assert re.search(r'hx-trigger="load delay:\d+s" hx-target="closest \[data-changes\]"', told)
            assert "data-changes" in told
    assert sent == [("reckon", search.pk)]
    tasks.reckon(again.pk)
    told = client.get(address).content.decode()
    assert "being counted" not in told
    assert "3 confirmed" in told


def test_a_list_does_not_wait_for_what_cannot_be_reckoned(client: Client, search: Job) -> None:
    job = rechecked_as(search, [3], OVER)
    store().discard([job.artifacts["result"]])
    assert "being counted" not in client.get(JOBS).content.decode()


def test_what_is_reckoned_while_a_file_is_lost_is_not_kept(search: Job) -> None:
    job = rechecked_as(search, [3], OVER)
    lost, there = job.artifacts["result"], store().get(job.artifacts["result"])
    store().discard([lost])
    assert findings(search) == {}
    store().put(there)
    forgotten()
    assert len(findings(search)) == 1
