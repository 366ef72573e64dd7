"""How long a job took means the same everywhere: from its first start to its end, without its pauses."""

from __future__ import annotations

import csv
import io
from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.factories import Studio, search_job
from tests.webapp.test_compare import another
from webapp.studies import wire
from webapp.studies.models import Job, JobEvent, Status
from webapp.studies.took import took

pytestmark = pytest.mark.django_db
BEGAN = timezone.now() - timedelta(hours=2)


def at(seconds: float) -> datetime:
    return BEGAN + timedelta(seconds=seconds)


def told(job: Job, *entries: tuple[float, str, dict[str, object]]) -> None:
    for sequence, (seconds, kind, body) in enumerate(entries, 1):
        JobEvent.objects.create(job=job, sequence=sequence, kind=kind, at=at(seconds), body=body)


RUNNING, QUEUED = {"status": "running", "attempt": 1, "message": ""}, {"status": "queued", "message": ""}


def test_every_page_and_the_api_say_the_same_of_how_long_a_search_took(team: Studio) -> None:
    counters = {"evaluations": 600, "battles": 57_600, "cached": 0, "steps": 0, "seconds": 52.0}
    job = search_job(team.project, counters=counters, started_at=at(0), finished_at=at(64), attempt=1)
    other = another(job)
    client = Client()
    client.force_login(team.designer)
    state = wire.state(job)
    assert state["took"] == 64.0 == state["ended"] - state["started"]
    said = "1 min 4 s"
    for address in (
        reverse("studies:explore", args=["herobattle", job.pk]),
        f"{reverse('studies:compare', args=['herobattle'])}?job={job.pk}&job={other.pk}",
    ):
        page = client.get(address).content.decode().replace("\u00a0", " ")
        assert said in page, address
        assert "52 s" not in page, address
    text = client.get(f"{reverse('studies:compare-csv', args=['herobattle'])}?job={job.pk}&job={other.pk}")
    rows = list(csv.DictReader(io.StringIO(text.content.decode("utf-8-sig"))))
    assert [float(row["Took, in seconds"]) for row in rows] == [64.0, 64.0]


def test_pauses_and_waits_are_no_part_of_it(team: Studio) -> None:
    job = search_job(team.project, started_at=at(0), finished_at=at(1000), attempt=3)
    told(
        job,
        (-5, "status", QUEUED),
        (0, "status", RUNNING),
        (3, "started", {"workers": 2}),
        (20, "status", {"status": "running", "command": "pause", "message": ""}),
        (30, "paused", {}),
        (400, "status", QUEUED),
        (500, "status", RUNNING),
        (520, "incident", {"what": "lost-worker", "message": "It died."}),
        (520, "status", QUEUED),
        (980, "status", RUNNING),
        (1000, "finished", {}),
    )
    assert took(job) == pytest.approx(30 + 20 + 20)


def test_a_job_that_goes_on_or_never_ran_took_nothing_yet(team: Studio) -> None:
    running = search_job(team.project, status=Status.RUNNING, started_at=at(0), finished_at=None)
    never = another(running, status=Status.FAILED, finished_at=at(5))
    Job.objects.filter(pk=never.pk).update(started_at=None)
    never.refresh_from_db()
    assert (took(running), took(never)) == (None, None)


def test_the_history_begins_when_its_time_begins(team: Studio) -> None:
    job = search_job(team.project, started_at=at(0), finished_at=at(64), attempt=1)
    told(job, (-5, "status", QUEUED), (0, "status", RUNNING), (16, "started", {"workers": 2}), (64, "finished", {}))
    events = [wire.message(event) for event in wire.readable(job.events.order_by("sequence"))]
    worded = [event for event in events if event["words"]]
    assert [event["words"] for event in worded][:2] == [
        "Put in the queue.",
        "Starting.",
    ]
    assert worded[-1]["at"] - worded[1]["at"] == 64.0 == worded[-1]["took"]
