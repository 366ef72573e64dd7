"""The shortlist keeps every decision, and re-checks say what fresh battles say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from engine.arrays import pack, unpack
from engine.confidence import t_half
from engine.config import FURTHER
from engine.lineups.parts import Sums
from tests.factories import Studio, archive, boundless, bundle, search_job
from webapp.lib.storage import store
from webapp.studies import explore_build as build
from webapp.studies import explore_source as source
from webapp.studies.compare.side import Side
from webapp.studies.explore_export import Taken, provenance
from webapp.studies.explore_page import judged
from webapp.studies.explore_recheck import confirmed_count
from webapp.studies.explore_shortlist import Shortlist
from webapp.studies.found_counts import metrics_now, plain_counts
from webapp.studies.models import Job, ShortlistEntry, Status
from webapp.studies.templatetags.verdicts import found
from webapp.studies.verdict_words import LINE

pytestmark = pytest.mark.django_db

Decide = Callable[..., Any]


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
    config = {"genomes": columns["genome"].tolist(), "replicates": samples, "first": 1_000_128}
    return Job.objects.create(
        project=job.project, kind="recheck", title="Re-check", config=config, parent=job,
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


def test_a_reason_or_remark_that_is_sent_twice_is_written_down_once(team: Studio, job: Job, decide: Decide) -> None:
    for _ in range(3):
        assert decide("add", 12, "Mine").status_code == 200
    for reason in ("Odd", "Odd", " Odd "):
        assert decide("remark", 12, reason).status_code == 200
    decide("remark", 12, "Odd", who="engineer")
    decide("remark", 12, "Odd")
    said = list(job.shortlist.values_list("reason", "created_by"))
    assert said == [("Mine", team.designer.pk), ("Odd", team.designer.pk), ("Odd", team.engineer.pk)]
    decide("withdraw", 12, "")
    decide("add", 12, "Odd")
    assert [listed.reason.reason for listed in shortlist(job).on] == ["Odd"]


@pytest.mark.parametrize(
    ("action", "lineup", "reason", "says"),
    [
        ("add", 12, "  ", "Write a few words"),
        ("add", 9999, "Why not", "not among those"),
        ("add", "", "Why not", "Choose a lineup"),
        ("withdraw", 12, "", "not on the shortlist"),
        ("burn", 12, "Why not", "none of the things"),
        ("remark", 12, "Looks odd", "never on the shortlist"),
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


def test_a_remark_of_an_earlier_version_on_a_lineup_that_was_never_listed_does_not_stop_readers(
    team: Studio, job: Job, decide: Decide
) -> None:
    ShortlistEntry.objects.create(job=job, individual=12, action="remark", reason="Looks odd", genome=[[0, 1]])
    decide("add", 13)
    assert [listed.lineup for listed in shortlist(job).all.values()] == [13]
    assert decide("remark", 13, "Seen in play").status_code == 200


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
    assert started.config["first"] == 1_000_000 + 16 * FURTHER + 32
    assert answer["due"] == []
    assert answer["checking"] is True
    again = client.post(reverse("studies:explore-recheck", args=[team.project.slug, job.pk]))
    assert again.status_code == 200, "a second click is no mistake"
    assert "being played now" in again.json()["said"]
    assert job.children.filter(status=Status.QUEUED).count() == 1


@pytest.mark.parametrize(
    ("mean", "error", "words"),
    [
        ([2.6, 50.0, 28.0], [0.05, 1.0, 1.0], "Confirmed on 768 fresh battles"),
        ([1.7, 30.0, 28.0], [0.05, 1.0, 1.0], "Under the line on 768 fresh battles"),
        ([2.6, 50.0, 15.0], [0.05, 1.0, 1.0], "Over the line but weak, on 768 fresh battles"),
        ([2.05, 50.0, 15.0], [0.05, 1.0, 1.0], "Near the line but weak, on 768 fresh battles"),
        (
            [2.2, 50.0, 28.0],
            [0.10, 1.0, 1.0],
            "more battles to tell whether it is over the line: it is at 2.2×, the line at 2.0×",
        ),
        (
            [2.6, 50.0, 22.5],
            [0.05, 1.0, 1.0],
            "more battles to tell whether it is strong: it has 22.5\u00a0%, "
            "the median baseline team 21.0\u00a0% (20.0 to 22.0\u00a0%)",
        ),
        (
            [2.2, 50.0, 22.5],
            [0.10, 1.0, 1.0],
            "more battles to tell whether it is over the line and strong: it is at 2.2×, the line at 2.0×; "
            "it has 22.5\u00a0%, the median baseline team 21.0\u00a0% (20.0 to 22.0\u00a0%)",
        ),
        (
            [2.001, 50.0, 28.0],
            [0.10, 1.0, 1.0],
            "more battles to tell whether it is over the line: it is at 2.001×, the line at 2.000×",
        ),
        (
            [2.6, 50.0, 21.2],
            [0.05, 1.0, 0.02],
            "Too close on 768 fresh battles to tell whether it is strong: it has 21.2\u00a0%, "
            "the median baseline team 21.0\u00a0% (20.0 to 22.0\u00a0%)",
        ),
    ],
)
def test_fresh_battles_confirm_refute_or_ask_for_more(
    job: Job, decide: Decide, mean: list[float], error: list[float], words: str
) -> None:
    decide("add", 12)
    finished_recheck(job, [12], mean, error)
    (listed,) = shortlist(job).on
    assert words in listed.words
    assert listed.due == ("more battles to tell" in words)
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
    assert "every lineup of the shortlist has a verdict already" in client.post(address).json()["said"]
    answer = client.post(address, {"again": "1"}).json()
    started = Job.objects.get(pk=answer["started"])
    assert len(started.config["genomes"]) == 2
    assert started.config["replicates"] == 48
    assert "being played now" in client.post(address, {"again": "1"}).json()["said"]
    assert job.children.count() == 2


def test_a_re_check_of_an_empty_shortlist_is_refused_in_a_sentence(team: Studio, job: Job) -> None:
    client = Client()
    client.force_login(team.designer)
    answer = client.post(reverse("studies:explore-recheck", args=[team.project.slug, job.pk]))
    assert (answer.status_code, answer.json()["error"]) == (400, "Nothing is on the shortlist.")


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
    assert (after.core["verdict"][12], after.meta["sure"][after.core["sure"][12]]) == (verdict, sure)
    assert after.searched[12].mean == pytest.approx(before.core["value"][:, 12].tolist())
    others = np.arange(200) != 12
    assert (after.core["value"][:, others] == before.core["value"][:, others]).all()


def test_without_a_line_fresh_battles_measure_and_refute_nothing(job: Job) -> None:
    for objective in job.config["objectives"]["objectives"]:
        objective["threshold"] = None
    job.save()
    finished_recheck(job, [12], [2.5, 50.0, 28.0], [0.1, 1.0, 1.0])
    assert shortlist(job).fresh[12].sentence(LINE) == "Measured on 768 fresh battles"


def test_a_lineup_picked_after_its_replay_is_judged_by_later_battles_alone(job: Job, decide: Decide) -> None:
    columns = {name: column[[12]] for name, column in archive(200).items()}
    columns["objective"], columns["samples"] = np.array([[3.2, 50.0, 28.0]]), np.full(1, 16, dtype=np.int32)
    job.artifacts["fresh"] = store().put(bundle(columns))
    job.save()
    decide("add", 12)
    finished_recheck(job, [12], [1.7, 30.0, 28.0], [0.05, 1.0, 1.0], samples=32)
    fresh = shortlist(job).fresh[12]
    assert (fresh.samples, fresh.mean[0], fresh.finding) == (32, pytest.approx(1.7), "refuted")


def test_what_fresh_battles_confirm_is_counted_for_every_page(job: Job) -> None:
    assert confirmed_count(job) is None
    finished_recheck(job, [12, 30, 31], [2.6, 50.0, 28.0], [0.05, 1.0, 1.0])
    finished_recheck(job, [40], [1.7, 30.0, 28.0], [0.05, 1.0, 1.0])
    assert confirmed_count(job) == 3
    assert (np.array(LINE.sure)[build.build(job).core["sure"]] == "Confirmed").sum() == 3


def test_the_head_splits_what_is_confirmed_from_what_the_search_found_and_adds_up_to_the_legend(job: Job) -> None:
    before = build.build(job)
    strong = np.flatnonzero(before.core["verdict"] == 2)
    assert judged(before.meta) == f"; {len(strong)} found by the search, some by luck"
    again = [*strong[:3].tolist(), int(np.flatnonzero(before.core["verdict"] == 0)[0])]
    finished_recheck(job, again[:2], [2.6, 50.0, 28.0], [0.05, 1.0, 1.0])
    finished_recheck(job, again[2:], [1.7, 30.0, 28.0], [0.05, 1.0, 1.0])
    after = build.build(job)
    legend, rest = int((after.core["verdict"] == 2).sum()), len(strong) - 3
    assert rest
    assert legend == 2 + rest
    assert judged(after.meta) == (
        f"; {legend} over the line and strong: 2 confirmed on fresh battles (of 4 played again), "
        f"{rest} found by the search, some by luck"
    )
    job.metrics["strong"] = float(len(strong))  # as the search itself counted them
    told = found(job)["found"]
    assert told is not None
    assert told.words == f"Lineups: 2 confirmed on fresh battles, {rest} found by the search"
    counts = plain_counts(job)
    assert [counts[name] for name in ("by_search", "confirmed", "strong", "told")] == [rest, 2, legend, len(strong)]
    assert counts["over"] == int((after.core["verdict"] > 0).sum())
    drawn = after.core["random"].astype(bool)
    assert counts["random"][1] == int(drawn.sum()) > 0
    assert counts["random"][0] <= int((after.core["verdict"][drawn] == 2).sum()) + 3
    assert Side(1, job, "", None).found == rest


def test_what_a_stop_cut_off_is_counted_alike_on_every_page(job: Job) -> None:
    job.status, job.metrics = Status.STOPPED, {"strong": 1.0, "over": 1.0, "evaluated": 200.0}  # of its last round
    job.save()
    rows = build.build(job)
    strong = int((rows.core["verdict"] == 2).sum())
    assert strong > 1
    told = found(job)["found"]
    assert told is not None
    assert told.words == f"Lineups: {strong} found by the search"
    assert judged(rows.meta) == f"; {strong} found by the search, some by luck"
    counts, now = plain_counts(job), metrics_now(job)
    assert (counts["by_search"], counts["strong"], now["strong"]) == (strong, strong, strong)
    assert counts["over"] == now["over"] == int((rows.core["verdict"] > 0).sum())
    assert Side(1, job, "", None).found == strong
    drawn = rows.core["random"] == 1
    usual = int((rows.core["verdict"][drawn] == 2).sum())
    assert f"Of the {drawn.sum()} random ones it began with, {usual or 'none'} w" in counts["random_words"]


@pytest.mark.parametrize(
    ("kind", "status", "why"),
    [
        ("random", Status.STOPPED, "It drew all of them at random."),
        ("cma", Status.STOPPED, "It began with no random ones to compare them with."),
        ("nsga2", Status.RUNNING, "How many of the random ones it began with are so is counted when it ends."),
    ],
)
def test_where_the_share_of_random_lineups_is_not_known_a_sentence_says_why(
    job: Job, kind: str, status: Status, why: str
) -> None:
    job.config["algorithm"], job.status = {"kind": kind, "population": 200}, status
    assert plain_counts(job)["random_words"] == why


def test_where_nothing_was_bred_there_are_no_random_lineups_to_compare_with(job: Job) -> None:
    job.config["algorithm"] = {"kind": "random", "population": 200}
    finished_recheck(job, [12], [2.6, 50.0, 28.0], [0.05, 1.0, 1.0])
    assert list(plain_counts(job)["random"]) == [0, 0]


@pytest.mark.parametrize("direction", ["max", "min"])
def test_the_furthest_that_is_told_is_the_furthest_confirmed_and_its_range_allows_for_all_that_were_played_again(
    job: Job, direction: str
) -> None:
    job.config["objectives"]["objectives"][0]["direction"] = direction
    job.metrics |= {"worst": 9.0, "worst_low": 8.0, "worst_high": 9.5, "replayed": 88.0, "confirmed": 3.0}
    job.save()
    sign = 1 if direction == "max" else -1
    further, near = 2.0 + 0.9 * sign, 2.0 + 0.6 * sign
    finished_recheck(job, [12], [near, 50.0, 28.0], [0.05, 1.0, 1.0])
    finished_recheck(job, [30], [further, 50.0, 28.0], [0.05, 1.0, 1.0])
    finished_recheck(job, [31], [2.0 + 1.5 * sign, 50.0, 15.0], [0.05, 1.0, 1.0])  # further still, but weak
    findings = build.build(job).fresh
    assert [findings[i].finding for i in (12, 30, 31)] == ["confirmed", "confirmed", "weak"]
    counts = plain_counts(job)
    value, low, high = counts["furthest"]
    assert (value, counts["confirmed"], counts["played"]) == (pytest.approx(further), 2, 3)
    assert value - low == pytest.approx(high - value)
    assert high - value > findings[30].half[0]
    now = metrics_now(job)
    assert [now[name] for name in ("worst", "worst_low", "worst_high", "replayed", "confirmed")] == [
        value, low, high, 3.0, 2.0,
    ]  # fmt: skip


def test_a_confirmed_lineup_whose_range_reaches_across_the_line_says_how_that_can_be(team: Studio, job: Job) -> None:
    again = list(range(40))
    crossing, clear = again[0], again[1]
    finished_recheck(job, again[1:], [2.9, 50.0, 28.0], [0.05, 1.0, 1.0])
    finished_recheck(job, [crossing], [2.33, 50.0, 28.0], [0.1, 1.0, 0.5])
    explored = build.build(job)
    half = explored.core["half"][0]
    told = {i: (explored.meta["fresh"][str(i)]["short"], explored.fresh[i].across) for i in (crossing, clear)}
    assert explored.core["value"][0, crossing] - half[crossing] < 2.0
    assert told == {crossing: ("Confirmed", "the line"), clear: ("Confirmed", "")}
    assert "reaches across the line" in explored.meta["fresh"][str(crossing)]["why"]
    assert not explored.meta["fresh"][str(clear)]["why"]
    listed = Shortlist(job, explored, source.spec(job))
    taken = Taken(job, explored, explored.genome, source.spec(job), listed, np.array(again), team.designer, "")
    assert dict(provenance(taken))["Confirmed, with a range across the line"].startswith(
        "1 lineup. A range has two sides"
    )


@pytest.mark.parametrize("mean", [[2.6, 50.0, 28.0], [1.7, 30.0, 28.0]])
def test_families_stay_as_the_search_found_them_whatever_fresh_battles_say(job: Job, mean: list[float]) -> None:
    before = build.build(job)
    strong = np.flatnonzero(before.core["verdict"] == 2)
    finished_recheck(job, strong.tolist(), mean, [0.05, 1.0, 1.0])
    after = build.build(job)
    assert (after.core["verdict"] != before.core["verdict"]).any() == (mean[0] < 2.0)
    assert before.meta["families"]
    assert after.meta["families"] == before.meta["families"]
    np.testing.assert_array_equal(after.core["family"], before.core["family"])


def test_what_the_end_of_the_search_settled_is_not_called_re_checked(team: Studio, job: Job, decide: Decide) -> None:
    columns = {name: column[[12]] for name, column in archive(200).items()}
    columns["objective"], columns["samples"] = np.array([[1.2, 10.0, 28.0]]), np.full(1, 16, dtype=np.int32)
    job.artifacts["fresh"] = store().put(bundle(columns))
    job.save()
    html = decide("add", 12).json()["html"]
    assert "re-checked" not in html
    assert "Every lineup here has a verdict." in html
    assert "The first re-check of a lineup starts afresh" in html
    assert "narrower" not in html


def test_what_is_too_close_to_tell_is_not_called_settled(job: Job, decide: Decide) -> None:
    decide("add", 12)
    finished_recheck(job, [12], [2.6, 50.0, 21.2], [0.05, 1.0, 0.02])
    html = decide("remark", 12).json()["html"]
    assert "Every lineup here has a verdict or is too close to tell." in html
    assert "More battles would make the ranges narrower." in html
    assert "starts afresh" not in html


def test_equal_battles_of_a_game_that_says_no_ends_are_told_as_what_keeps_it_open(job: Job, decide: Decide) -> None:
    boundless(job)
    decide("add", 12)
    again = finished_recheck(job, [12], [9.0, 60.0, 60.0], [0.0, 1.0, 1.0])
    columns = {name: column[[12]] for name, column in archive(200).items()}
    noise = np.random.default_rng(1).normal(size=(1, 32, 3)) * [0.0, 5.0, 5.0]
    columns |= {"values": np.array([9.0, 60.0, 60.0]) + noise, "samples": np.full(1, 32, dtype=np.int32)}
    columns["objective"] = columns["values"].mean(axis=1)
    columns["error"] = columns["values"].std(axis=1, ddof=1) / np.sqrt(32)
    Job.objects.filter(pk=again.pk).update(artifacts={"result": store().put(bundle(columns))})
    (listed,) = shortlist(job).on
    assert listed.words == "768 fresh battles cannot tell whether it is over the line: it is at 9.0×, the line at 2.0×"
    assert build.build(job).meta["fresh"]["12"]["short"] == "Cannot tell"


def test_a_mark_of_the_shortlist_is_named_in_the_words_of_the_question(job: Job, decide: Decide) -> None:
    Job.objects.filter(pk=job.pk).update(template="useless")
    finished_recheck(job, [12], [1.7, 30.0, 28.0], [0.05, 1.0, 1.0])
    html = decide("add", 12).json()["html"]
    assert 'aria-label="Not useless"' in html
    assert "the line" not in html


def test_two_re_checks_of_a_lineup_are_pooled_by_their_replicates(job: Job, decide: Decide) -> None:
    decide("add", 12)
    finished_recheck(job, [12], [2.0, 50.0, 28.0], [0.1, 1.0, 1.0], samples=16)
    finished_recheck(job, [12], [2.6, 50.0, 28.0], [0.1, 1.0, 1.0], samples=32)
    fresh = shortlist(job).fresh[12]
    assert fresh.samples == 48
    assert fresh.mean[0] == pytest.approx(2.4)
    assert fresh.half[0] < t_half(0.1, 32)


def test_a_ratio_of_two_re_checks_is_that_of_all_their_battles_and_lies_within_its_range(job: Job) -> None:
    """The weakest team wins one battle in eight: the average of the batches' own ratios would be far too high."""
    rng, told = np.random.default_rng(5), source.objectives(job).objectives
    sums, won = Sums(source.spec(job), told, 3), []
    for samples in (16, 64):
        again = finished_recheck(job, [12], [3.9, 50.0, 28.0], [0.3, 1.0, 1.0], samples)
        left = rng.normal([600.0, 0.0, 75.0], [30.0, 0.0, 0.0], (samples, 3))
        left[:, 1] = 2000.0 * (rng.random(samples) < 0.125)
        columns = unpack(store().get(again.artifacts["result"])).arrays
        values = rng.normal([3.9, 50.0, 28.0], [0.9, 4.0, 4.0], (1, samples, 3))
        kept = pack({"sums": sums.names}, {**columns, "values": values, "sums": left[None]})
        again.artifacts = {"result": store().put(kept)}
        again.save()
        won.append(left)
    strongest, weakest, floor = np.concatenate(won).mean(axis=0)
    fresh = shortlist(job).fresh[12]
    assert sums.names == ["strongest(resources)", "weakest(resources)", "0.05 * mean(cost)"]
    assert fresh.mean[0] == pytest.approx(strongest / max(weakest, floor))
    assert 0 < fresh.half[0] < np.inf
    assert fresh.finding != "confirmed"


def test_the_front_that_the_search_replayed_counts_without_a_shortlist(team: Studio) -> None:
    job = search_job(team.project, rows=200)
    best = int(np.flatnonzero(build.build(job).core["best"])[0])
    columns = {name: column[[best]] for name, column in archive(200).items()}
    columns["samples"] = np.full(1, 16, dtype=np.int32)
    job.artifacts["fresh"] = store().put(bundle(columns))
    job.save()
    assert set(shortlist(job).fresh) == {best}


def test_a_job_of_an_earlier_version_whose_formula_nests_too_much_says_so_on_its_pages(
    team: Studio, job: Job, designer: Client
) -> None:
    again = finished_recheck(job, [3], [3.0, 10.0, 20.0], [0.1, 0.5, 0.5])
    deep = "max(resources * max(resources * max(resources * max(resources * max(resources * resources)))))"
    job.config["objectives"]["objectives"][0]["formula"] = deep
    job.save()
    own = {name: reverse(f"studies:{name}", args=[team.project.slug, job.pk]) for name in ("job", "explore", "course")}
    checked = reverse("studies:checked", args=[team.project.slug, again.pk])
    jobs = reverse("studies:jobs", args=[team.project.slug])
    for address in (*own.values(), checked, jobs, f"/p/{team.project.slug}/"):
        assert designer.get(address).status_code == 200, address
    state = designer.get(reverse("studies:explore-state", args=[team.project.slug, job.pk])).json()
    assert "“Resource advantage” of this job cannot be worked out: The formula has" in state["error"]
