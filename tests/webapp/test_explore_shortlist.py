"""The shortlist keeps every decision, and re-checks say what fresh battles say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from engine.config.lineups import FAIRNESS
from tests.factories import Studio, archive, bundle, search_job, studio
from webapp.lib.storage import store
from webapp.studies import explore_build as build
from webapp.studies import explore_source as source
from webapp.studies.explore_recheck import Fresh, judge
from webapp.studies.explore_shortlist import Shortlist
from webapp.studies.models import Job, ShortlistEntry, Status

pytestmark = pytest.mark.django_db

Decide = Callable[..., Any]


@pytest.fixture
def team() -> Studio:
    return studio()


@pytest.fixture
def job(team: Studio) -> Job:
    return search_job(team.project, rows=200)


@pytest.fixture
def decide(team: Studio, job: Job) -> Decide:
    """``decide(action, lineup, reason, who)``: the answer to a decision."""

    def post(action: str, lineup: object, reason: str = "Rally never wears off", who: str = "designer") -> Any:
        client = Client()
        client.force_login(getattr(team, who))
        address = reverse("studies:explore-shortlist", args=[team.project.slug, job.pk])
        return client.post(address, {"action": action, "lineup": lineup, "reason": reason})

    return post


def shortlist(job: Job) -> Shortlist:
    return Shortlist(job, build.build(job), source.spec(job))


def finished_recheck(job: Job, rows: list[int], mean: list[float], error: list[float], samples: int = 32) -> Job:
    """A re-check of these lineups that came out like this for each."""
    columns = {name: column[rows] for name, column in archive(200).items()}
    columns["objective"] = np.tile(np.array(mean), (len(rows), 1))
    columns["error"] = np.tile(np.array(error), (len(rows), 1))
    columns["samples"] = np.full(len(rows), samples, dtype=np.int32)
    config = {"genomes": columns["genome"].tolist(), "replicates": samples, "first": 1_000_016}
    return Job.objects.create(
        project=job.project, kind=Job.Kind.RECHECK, title="Re-check", config=config, parent=job,
        status=Status.FINISHED, artifacts={"result": store().put(bundle(columns))},
    )  # fmt: skip


def test_a_decision_keeps_who_when_why_and_what_was_known(team: Studio, job: Job, decide: Decide) -> None:
    assert decide("add", 12).status_code == 200
    entry = ShortlistEntry.objects.get()
    assert (entry.individual, entry.action, entry.created_by) == (12, "add", team.designer)
    assert entry.genome == archive(200)["genome"][12].tolist()
    mean, low, high = entry.objectives[0]
    assert low < mean < high
    assert mean == pytest.approx(archive(200)["objective"][12, 0], rel=1e-6)


def test_nothing_is_ever_overwritten(job: Job, decide: Decide) -> None:
    decide("add", 12, "First")
    decide("withdraw", 12, "Seen in play, fine")
    decide("add", 12, "Not fine after all")
    assert [(e.action, e.reason) for e in job.shortlist.all()] == [
        ("add", "First"), ("withdraw", "Seen in play, fine"), ("add", "Not fine after all"),
    ]  # fmt: skip
    assert [listed.reason.reason for listed in shortlist(job).on] == ["Not fine after all"]


def test_a_second_person_with_the_same_idea_adds_a_remark(job: Job, decide: Decide) -> None:
    decide("add", 12, "Mine")
    decide("add", 12, "Mine too", who="engineer")
    (listed,) = shortlist(job).on
    assert (listed.reason.reason, [e.reason for e in listed.remarks]) == ("Mine", ["Mine too"])


@pytest.mark.parametrize(
    ("action", "lineup", "reason", "says"),
    [
        ("add", 12, "  ", "Write a few words"),
        ("add", 9999, "Why not", "not among those"),
        ("add", "", "Why not", "Choose a lineup"),
        ("withdraw", 12, "", "not on the shortlist"),
        ("burn", 12, "Why not", "none of the things"),
        ("add", 12, "x" * 2001, "under 2,000"),
    ],
)
def test_what_cannot_be_written_down_is_said(
    decide: Decide, action: str, lineup: object, reason: str, says: str
) -> None:
    answer = decide(action, lineup, reason)
    assert answer.status_code == 400
    assert says in answer.json()["error"]
    assert not ShortlistEntry.objects.exists()


def test_a_producer_reads_the_shortlist_but_does_not_write_it(team: Studio, job: Job, decide: Decide) -> None:
    decide("add", 12, "<script>alert(1)</script>")
    assert decide("remark", 12, who="producer").status_code == 403
    client = Client()
    client.force_login(team.producer)
    state = client.get(reverse("studies:explore-state", args=[team.project.slug, job.pk])).json()
    assert "&lt;script&gt;" in state["html"]
    assert "<script>" not in state["html"]
    assert "<form" not in state["html"]


def test_a_re_check_plays_what_is_due_on_battles_nobody_played_before(
    team: Studio, job: Job, decide: Decide, django_capture_on_commit_callbacks: Any
) -> None:
    job.config["fresh"] = 16
    job.save()
    for lineup in (12, 30, 31):
        decide("add", lineup)
    decide("withdraw", 31)
    finished_recheck(job, [30], [3.2, 50.0, 30.0], [0.01, 0.5, 0.5])
    client = Client()
    client.force_login(team.designer)
    answer = client.post(reverse("studies:explore-recheck", args=[team.project.slug, job.pk])).json()
    started = Job.objects.get(pk=answer["started"])
    assert started.config["genomes"] == [archive(200)["genome"][12].tolist()]
    assert started.config["anchors"] == [archive(200)["anchor"][12].tolist()]
    assert started.config["first"] == 1_000_016 + 32
    assert answer["due"] == []
    assert answer["checking"] is True
    again = client.post(reverse("studies:explore-recheck", args=[team.project.slug, job.pk]))
    assert again.status_code == 400


@pytest.mark.parametrize(
    ("mean", "error", "words"),
    [
        ([2.6, 50.0, 28.0], [0.05, 1.0, 1.0], "Confirmed on 768 fresh battles"),
        ([1.7, 30.0, 28.0], [0.05, 1.0, 1.0], "Under the line on 768 fresh battles"),
        ([2.6, 50.0, 15.0], [0.05, 1.0, 1.0], "Over the line but weak, on 768 fresh battles"),
        ([2.05, 50.0, 15.0], [0.05, 1.0, 1.0], "Near the line but weak, on 768 fresh battles"),
        ([2.1, 50.0, 28.0], [0.10, 1.0, 1.0], "Needs 2,500 more battles"),
        ([2.001, 50.0, 28.0], [0.10, 1.0, 1.0], "Too close to the line to tell after 768 fresh battles"),
    ],
)
def test_fresh_battles_confirm_refute_or_ask_for_more(
    job: Job, decide: Decide, mean: list[float], error: list[float], words: str
) -> None:
    decide("add", 12)
    finished_recheck(job, [12], mean, error)
    (listed,) = shortlist(job).on
    assert listed.words == words
    assert listed.due == ("Needs" in words or "close" in words)
    assert listed.settled == (not listed.due)


def test_what_is_settled_is_played_again_when_asked_and_as_often_as_before(
    team: Studio, job: Job, decide: Decide, django_capture_on_commit_callbacks: Any
) -> None:
    for lineup in (12, 30):
        decide("add", lineup)
    finished_recheck(job, [12, 30], [2.6, 50.0, 28.0], [0.05, 1.0, 1.0], samples=48)
    client = Client()
    client.force_login(team.designer)
    address = reverse("studies:explore-recheck", args=[team.project.slug, job.pk])
    assert client.post(address).status_code == 400
    answer = client.post(address, {"again": "1"}).json()
    started = Job.objects.get(pk=answer["started"])
    assert len(started.config["genomes"]) == 2
    assert started.config["replicates"] == 48
    assert client.post(address, {"again": "1"}).status_code == 400  # they are being played


@pytest.mark.parametrize(
    ("mean", "verdict", "sure"),
    [
        ([2.6, 50.0, 28.0], 2, "Confirmed"),
        ([2.6, 50.0, 15.0], 1, "Over, weak"),
        ([1.7, 30.0, 28.0], 0, "Under the line"),
    ],
)
def test_fresh_numbers_stand_in_the_place_of_the_searchs_which_are_kept_beside_them(
    job: Job, mean: list[float], verdict: int, sure: str
) -> None:
    state, before = source.key(job), build.build(job)
    finished_recheck(job, [12], mean, [0.05, 1.0, 1.0])
    after = build.build(job)
    assert source.key(job) != state
    assert after.core["value"][:, 12].tolist() == pytest.approx(mean)
    assert (after.core["verdict"][12], build.SURE[after.core["sure"][12]]) == (verdict, sure)
    assert after.searched[12].mean == pytest.approx(before.core["value"][:, 12].tolist())
    others = np.arange(200) != 12
    assert (after.core["value"][:, others] == before.core["value"][:, others]).all()


def test_without_a_line_fresh_battles_measure_and_refute_nothing() -> None:
    plain = tuple(o.model_copy(update={"threshold": None}) for o in FAIRNESS.objectives)
    found = judge(np.array([2.5, 50.0, 28.0]), np.array([0.1, 1.0, 1.0]), 32, 24.0, plain, 20.0)
    assert (found.finding, found.words) == ("measured", "Measured on 768 fresh battles")


def test_two_re_checks_of_a_lineup_are_pooled_by_their_replicates(job: Job, decide: Decide) -> None:
    decide("add", 12)
    finished_recheck(job, [12], [2.0, 50.0, 28.0], [0.1, 1.0, 1.0], samples=16)
    finished_recheck(job, [12], [2.6, 50.0, 28.0], [0.1, 1.0, 1.0], samples=32)
    fresh = shortlist(job).fresh[12]
    assert fresh.samples == 48
    assert fresh.mean[0] == pytest.approx(2.4)
    assert fresh.half[0] < 0.1 * 2.0


def test_the_front_that_the_search_replayed_counts_without_a_shortlist(team: Studio) -> None:
    job = search_job(team.project, rows=200)
    best = int(np.flatnonzero(build.build(job).core["best"])[0])
    columns = {name: column[[best]] for name, column in archive(200).items()}
    columns["samples"] = np.full(1, 16, dtype=np.int32)
    job.artifacts["fresh"] = store().put(bundle(columns))
    job.save()
    assert set(shortlist(job).fresh) == {best}


def test_a_search_for_small_numbers_is_judged_the_other_way_round() -> None:
    low = tuple(o.model_copy(update={"direction": "min"}) for o in FAIRNESS.objectives[:1])
    found: Fresh = judge(np.array([1.5]), np.array([0.1]), 32, 24.0, low, None)
    assert found.finding == "confirmed"
    assert judge(np.array([2.5]), np.array([0.1]), 32, 24.0, low, None).finding == "refuted"
