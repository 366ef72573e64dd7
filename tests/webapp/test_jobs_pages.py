"""The list of jobs, the page of one, and the pictures it fetches."""

from __future__ import annotations

import json
from datetime import timedelta

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from engine.arrays import unpack
from tests.factories import MEDIAN_BASELINE, Studio, archive, bundle, search_job, signed_in
from tests.webapp.rounds import played
from webapp.lib.storage import store
from webapp.studies import front, journal, progress, wire
from webapp.studies.journal import Entry, status_entry
from webapp.studies.kind_words import kind_and_game
from webapp.studies.models import Job, JobEvent, Status

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(team: Studio) -> Client:
    return signed_in(team.designer)


def address(name: str, job: Job, query: str = "") -> str:
    return reverse(f"studies:{name}", args=[job.project.slug, job.pk]) + query


def test_the_list_shows_searches_and_rechecks_but_no_samples(client: Client, team: Studio) -> None:
    running = search_job(team.project, title="A running one", status=Status.RUNNING, tick=40, finished_at=None)
    running.config["fresh"] = 0  # nothing is played again at its end: its rounds are all of its work
    running.save()
    for kind, title in (("recheck", "A re-check"), ("sample", "A sample")):
        Job.objects.create(project=team.project, kind=kind, title=title, config={}, config_hash="", status="finished")
    page = client.get(reverse("studies:jobs", args=[team.project.slug])).content.decode()
    assert page.index("A running one") < page.index("A re-check")
    assert "A sample" not in page
    assert 'aria-valuenow="40"' in page
    assert running.title in page


@pytest.mark.parametrize(("kind", "says"), [("sample", "where the line falls"), ("train", "short trial")])
def test_what_was_played_for_a_form_has_no_page_but_says_what_it_was(
    client: Client, team: Studio, kind: str, says: str
) -> None:
    job = search_job(team.project, rows=30, kind="sample", config={"kind": kind})
    answer = client.get(address("job", job), follow=True)
    assert answer.redirect_chain == [(reverse("studies:jobs", args=[team.project.slug]), 302)]
    assert says in answer.content.decode()


def test_htmx_gets_the_list_alone(client: Client, team: Studio) -> None:
    answer = client.get(reverse("studies:jobs", args=[team.project.slug]), HTTP_HX_REQUEST="true").content.decode()
    assert answer.lstrip().startswith('<div id="jobs-list"')
    assert "<html" not in answer


@pytest.mark.parametrize("status", Status.values)
def test_the_page_of_a_job_opens_in_every_state(client: Client, team: Studio, status: str) -> None:
    job = search_job(team.project, status=status, message="A sentence why.")
    page = client.get(address("job", job))
    assert page.status_code == 200
    assert f'data-status="{status}"' in page.content.decode()


def test_the_page_of_a_job_that_has_not_begun_opens(client: Client, team: Studio) -> None:
    job = search_job(team.project, status=Status.QUEUED, tick=0, counters={}, artifacts={}, finished_at=None)
    assert client.get(address("job", job)).status_code == 200


def test_a_producer_sees_no_buttons_that_change_things(team: Studio) -> None:
    client, job = Client(), search_job(team.project, status=Status.RUNNING)
    client.force_login(team.producer)
    page = client.get(address("job", job)).content.decode()
    assert "Explore what is found so far" in page
    assert "data-act" not in page


def test_a_title_and_a_message_cannot_break_out_of_the_page(client: Client, team: Studio) -> None:
    nasty = "</script><script>alert(1)</script>"
    job = search_job(team.project, status=Status.RUNNING, title=nasty, message=nasty)
    journal.append(job, {}, [Entry("incident", {"what": "x", "message": nasty})])
    assert nasty not in client.get(address("job", job)).content.decode()


def test_a_picture_shows_the_verdicts_and_the_edge(client: Client, team: Studio) -> None:
    job, columns = search_job(team.project, rows=400, seed=3), archive(400, 3)
    picture = json.loads(client.get(address("front", job)).content)
    assert picture["median"] == MEDIAN_BASELINE
    rows = unpack(store().get(job.artifacts["front"])).arrays
    assert picture["count"] == len(rows["id"])
    by_id = dict(zip(columns["id"].tolist(), columns["objective"].tolist(), strict=True))
    for i, x, y, edge in zip(*(picture[name] for name in ("id", "x", "y", "edge")), strict=True):
        assert (x, y) == pytest.approx((by_id[i][2], by_id[i][0]), rel=1e-4)  # strength to the right, advantage up
        beaten = any(a >= x and b >= y and (a, b) != (x, y) for a, b in zip(picture["x"], picture["y"], strict=True))
        assert edge == (not beaten)


def test_the_picture_of_a_round_is_kept_for_good(client: Client, team: Studio) -> None:
    job = played(team.project, 3)
    answer = client.get(address("front", job, "?tick=2"))
    assert "immutable" in answer["Cache-Control"]
    assert "private" in answer["Cache-Control"]
    again = client.get(address("front", job, "?tick=2"), HTTP_IF_NONE_MATCH=answer["ETag"])
    assert (again.status_code, again.content) == (304, b"")
    assert client.get(address("front", job, "?tick=3"))["ETag"] != answer["ETag"]


def test_the_engine_s_own_container_is_there_too(client: Client, team: Studio) -> None:
    job = played(team.project, 1)
    answer = client.get(address("front", job, "?tick=1&as=arrays"))
    assert np.array_equal(unpack(answer.content).arrays["id"], archive(30, seed=1)["id"])


@pytest.mark.parametrize("query", ["?tick=9", "?tick=x", "?tick=-1", "?tick=99999999999", "?of=fresh"])
def test_a_round_that_is_not_there_is_not_found(client: Client, team: Studio, query: str) -> None:
    assert client.get(address("front", played(team.project, 2), query)).status_code == 404


def test_a_lost_artifact_is_not_found_and_not_a_crash(client: Client, team: Studio) -> None:
    job = played(team.project, 1)
    store().discard([job.events.get().body["artifacts"]["front"]])
    assert client.get(address("front", job, "?tick=1")).status_code == 404


def test_dots_around_the_edge_are_a_sample_of_a_round(client: Client, team: Studio) -> None:
    job = played(team.project, 1)
    big = store().put(bundle(archive(5000, 1)))
    job.events.update(body={"artifacts": {"chunk": big}})
    picture = json.loads(client.get(address("around", job, "?tick=1")).content)
    assert len(picture["x"]) <= front.MOST_DOTS
    assert picture["count"] == 5000


def test_failed_lineups_are_in_no_picture(client: Client, team: Studio) -> None:
    columns = archive(20, 1)
    columns["status"][:5] = 1
    columns["objective"][5] = np.nan
    job = search_job(team.project, artifacts={"front": store().put(bundle(columns))})
    assert json.loads(client.get(address("front", job)).content)["count"] == 14


def test_rounds_come_as_columns_and_long_ones_thinned(client: Client, team: Studio) -> None:
    job = played(team.project, 5)
    columns = client.get(address("rounds", job)).json()
    assert columns["tick"] == [1, 2, 3, 4, 5]
    assert columns["battles"] == [100, 200, 300, 400, 500]
    assert columns["worst"] == [None, None, 2.06, 2.08, 2.1]
    rows = [
        JobEvent(
            job=job, sequence=s, kind="progressed", tick=s, at=timezone.now(), body={"counters": {}, "metrics": {}}
        )
        for s in range(6, 3002)
    ]
    JobEvent.objects.bulk_create(rows)
    Job.objects.update(tick=3001)
    ticks = progress.rounds(Job.objects.get())["tick"]
    assert len(ticks) <= progress.MOST_POINTS + 1
    assert ticks[-1] == 3001


def entries(job: Job, *said: Entry) -> list[str]:
    journal.append(job, {}, said)
    job.refresh_from_db()
    return [line["words"] for line in progress.history(job)]


def test_events_become_sentences(team: Studio) -> None:
    job = search_job(team.project, status=Status.QUEUED)
    found = entries(
        job,
        status_entry("queued"),
        status_entry("running", attempt=1),
        Entry("started", {"workers": 2, "resumed": False}),
        status_entry("running", command="pause"),
        Entry("paused", {}, 12),
        Entry("started", {"workers": 1, "resumed": True}, 12),
        Entry("incident", {"what": "lost-worker", "message": "A worker stopped. No result changed."}, 13),
        Entry("finished", {"artifacts": {}}, 100),
    )
    assert found[::-1] == [
        "Put in the queue.",
        "Starting.",
        "Started on 2 workers.",
        "Pause was asked for.",
        "Paused at round 12.",
        "Went on from round 12 on 1 worker.",
        "A worker stopped. No result changed.",
        "Finished after 100 rounds.",
    ]


def test_the_history_of_a_page_ends_with_its_state_so_that_no_event_is_told_twice(team: Studio) -> None:
    """The page asks for what came later."""
    job = search_job(team.project, status=Status.QUEUED)
    assert entries(job, status_entry("queued")) == ["Put in the queue."]
    as_read = Job.objects.get(pk=job.pk)
    assert entries(job, status_entry("running", attempt=1)) == ["Starting.", "Put in the queue."]
    assert [line["words"] for line in progress.history(as_read)] == ["Put in the queue."]


def test_the_first_lineup_over_the_line_is_worth_a_line(team: Studio) -> None:
    words = [line["words"] for line in progress.history(played(team.project, 4))]
    assert words == ["First lineup over the line and strong, in round 3."]


def test_a_message_says_what_changed(team: Studio) -> None:
    job = search_job(team.project, status=Status.RUNNING)
    journal.append(job, {}, [Entry("finished", {"counters": {"battles": 5}, "artifacts": {"fresh": "f"}}, 7)])
    message = wire.message(job.events.get())
    assert (message["status"], message["tick"], message["counters"], message["fresh"]) == (
        "finished", 7, {"battles": 5}, True,
    )  # fmt: skip
    assert (message["fresh_map"], message["fresh_coverage"]) == (False, None)
    mapped = {"artifacts": {"fresh": "f", "fresh_grid": "g"}, "summary": {"fresh_coverage": 0.5}}
    journal.append(job, {}, [Entry("finished", mapped, 7)])
    again = wire.message(job.events.last())
    assert (again["fresh_map"], again["fresh_coverage"]) == (True, 0.5)
    assert abs(message["at"] - timezone.now().timestamp()) < timedelta(minutes=1).total_seconds()


def test_waiting_for_a_processor_is_a_note_and_no_incident(team: Studio) -> None:
    job = search_job(team.project, status=Status.RUNNING)
    said = [
        Entry("incident", {"what": "waiting-for-capacity", "message": "Every processor is taken by other jobs."}),
        status_entry("waiting", "Waits for a free place."),
        Entry("incident", {"what": "lost-worker", "message": "A worker stopped."}),
    ]
    journal.append(job, {}, said)
    told = [wire.message(event) for event in job.events.order_by("sequence")]
    assert [(each["serious"], each["waits"]) for each in told] == [(False, True), (False, True), (True, False)]


def test_details_count_the_workers_that_the_history_counts(client: Client, team: Studio) -> None:
    """A pool of two that plays in the job's own process is one worker, whatever its settings say."""
    job = search_job(team.project)
    job.config["pool"] = {"kind": "local", "workers": 2}
    job.save()
    page = client.get(f"/p/herobattle/jobs/{job.pk}/").content.decode()
    assert "<dt>Workers</dt><dd>1, in the job’s own process</dd>" in page


def test_a_row_says_what_kind_of_job_and_which_game_it_is_unless_its_title_does(client: Client, team: Studio) -> None:
    game = {"name": "pong", "settings": {}}
    for title, status in (("U13", "running"), ("Lazy ones", "finished"), ("Styles of play: Pong, numbers", "finished")):
        Job.objects.create(
            project=team.project, kind="style", title=title, config={"task": {"game": game}, "algorithm": {}},
            config_hash="", status=status,
        )  # fmt: skip
    page = client.get(reverse("studies:jobs", args=[team.project.slug])).content.decode()
    assert page.count("Styles of play · Pong, numbers · ") == 2
    assert kind_and_game(Job.objects.get(title="Styles of play: Pong, numbers")) == ""
    assert kind_and_game(Job(kind="hunt", title="Bugs", config={"game": {"name": "maze"}})) == (
        "Hunt for bugs · Maze with planted bugs"
    )
    assert kind_and_game(Job(kind="measure", title="Measurement: Busy 7", config={"game": game})) == "Pong, numbers"
    assert kind_and_game(Job(kind="search", title="Herobattle search", config={"game": {}})) == ""
