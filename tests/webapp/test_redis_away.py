"""While the Redis-compatible server hangs every address of the site answers, and waits for it once at most."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from django.db import transaction
from django.http import HttpResponseBase
from django.test import Client
from django.test.client import MULTIPART_CONTENT
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks
from pytest_django.fixtures import Settings

from engine.arrays import unpack
from tests.factories import Studio, search_job, studio
from tests.own_redis import OwnRedis
from tests.webapp.test_pages_access import PROJECT, ROWS, Row
from webapp.accounts import rights
from webapp.api import tokens
from webapp.balance.saving import ensure_defaults
from webapp.lib import alive
from webapp.lib.deadline import SECONDS
from webapp.lib.storage import store
from webapp.studies.form_values import first_values
from webapp.studies.models import Job, JobEvent, Status
from workers.app import app, enqueue

PATIENCE = 0.2
"""Seconds that these tests let the site wait for an answer."""
STREAMS = {"studies:events", "api-v1:events"}
"""They look into the database in threads of their own, which see only what is committed."""


class Frozen:
    """The server of this process, which hangs. ``waits``: how often it was asked and gave no answer."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.waits = 0
        asked: Callable[..., Any] = redis.Redis.execute_command

        def counted(client: redis.Redis, *words: Any, **options: Any) -> Any:
            try:
                return asked(client, *words, **options)
            except redis.TimeoutError:
                self.waits += 1
                raise

        monkeypatch.setattr(redis.Redis, "execute_command", counted)

    def begin(self) -> None:
        """As a process finds it that has not asked for a while."""
        alive.believe_back()
        self.waits = 0


@pytest.fixture
def frozen(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Frozen]:
    server = OwnRedis(tmp_path)
    settings.REDIS_URL = server.url
    monkeypatch.setattr(alive, "PATIENCE", PATIENCE)
    monkeypatch.setattr(app, "send_task", lambda *_, **__: pytest.fail("Celery waits for a server that hangs"))
    alive.believe_back()
    server.freeze()
    yield Frozen(monkeypatch)
    server.end()
    alive.believe_back()


def _signed_in(team: Studio) -> Client:
    """The owner, who operates the site as well, by session and by token."""
    team.owner.is_staff = True
    team.owner.save()
    rights.grant(team.owner, team.owner)
    client = Client(headers={"Authorization": f"Bearer {tokens.make(team.owner, 'a build', None, 30)[1]}"})
    client.force_login(team.owner)
    return client


def _answers(client: Client, row: Row, team: Studio) -> Iterator[tuple[str, Callable[[], HttpResponseBase]]]:
    """A GET and a POST of one address, each to be made."""
    address = reverse(row.name, kwargs=row.arguments(team)) + row.query
    yield f"GET {row.name}", lambda: client.get(address)
    kind = "application/json" if row.by_token else MULTIPART_CONTENT
    yield f"POST {row.name}", lambda: client.post(address, row.data, content_type=kind)


def _wrong(told: str, frozen: Frozen, answer: HttpResponseBase, seconds: float) -> str:
    """What is wrong with an answer; empty when nothing is."""
    if answer.status_code >= 500 and "health" not in told:
        return f"{told}: {answer.status_code}"
    if frozen.waits > 1 or seconds > SECONDS:
        return f"{told}: waited {frozen.waits} times, {seconds:.1f} s"
    return ""


@pytest.mark.django_db
def test_every_address_answers_the_owner_and_waits_once_at_most(
    frozen: Frozen, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    team = studio(PROJECT)
    search_job(team.project, rows=40)
    wrong = []
    for row in (row for row in ROWS if row.name not in STREAMS):
        with transaction.atomic():  # what one address changes is there for the next one as it was
            for told, request in _answers(_signed_in(team), row, team):
                frozen.begin()
                began = time.monotonic()
                with django_capture_on_commit_callbacks(execute=True):
                    answer = request()
                    answer.getvalue()
                wrong.append(_wrong(told, frozen, answer, time.monotonic() - began))
            transaction.set_rollback(True)
    assert not any(wrong), [each for each in wrong if each]


def _typed(job: Job) -> dict[str, Any]:
    assert job.created_by is not None
    ensure_defaults(job.project, job.created_by)
    return first_values(job.project) | {"population": "50", "rounds": "20", "replicates": "4", "fresh": "16"}


def _shortlisted(job: Job) -> dict[str, Any]:
    columns = unpack(store().get(job.artifacts["archive"])).arrays
    genome, anchors = columns["genome"][0].tolist(), columns["anchor"][0].tolist()
    job.shortlist.create(individual=0, reason="Far out", genome=genome, anchors=anchors)
    return {}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "status", "prepared"),
    [
        ("studies:stop", Status.PAUSED, None),
        ("studies:stop", Status.RUNNING, None),
        ("studies:pause", Status.QUEUED, None),
        ("studies:pause", Status.RUNNING, None),
        ("studies:resume", Status.PAUSED, None),
        ("studies:resume", Status.FAILED, None),
        ("studies:new", Status.FINISHED, _typed),
        ("studies:preview", Status.FINISHED, _typed),
        ("studies:explore-recheck", Status.FINISHED, _shortlisted),
    ],
)
def test_what_changes_a_job_is_done_and_the_job_is_sent_later(
    frozen: Frozen,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    name: str, status: Status, prepared: Callable[[Job], dict[str, Any]] | None,
) -> None:  # fmt: skip
    team = studio(PROJECT)
    job = search_job(team.project, rows=40, status=status)
    data = prepared(job) if prepared else {}
    arguments = [PROJECT] if name in ("studies:new", "studies:preview") else [PROJECT, job.pk]
    frozen.begin()
    with django_capture_on_commit_callbacks(execute=True):
        answer = _signed_in(team).post(reverse(name, args=arguments), data)
    assert answer.status_code in (200, 302), answer.content
    assert JobEvent.objects.exists()
    assert frozen.waits == 1
    assert not Job.objects.filter(enqueued_at__isnull=False).exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("address", [f"/events/?project={PROJECT}&poll=1", f"/api/v1/projects/{PROJECT}/jobs/1/events"])
def test_what_is_new_is_told_without_it(frozen: Frozen, address: str) -> None:
    team = studio(PROJECT)
    job = search_job(team.project, rows=40)
    frozen.begin()
    answer = _signed_in(team).get(address.replace("jobs/1", f"jobs/{job.pk}"))
    assert answer.status_code == 200
    assert frozen.waits == 0


@pytest.mark.django_db
def test_health_asks_once_and_says_that_it_does_not_answer(frozen: Frozen) -> None:
    frozen.begin()
    parts = Client().get("/health/").json()["parts"]
    assert frozen.waits == 1
    assert parts["redis"] == "does not answer"
    assert parts["workers"] == parts["reconciler"] == "unknown while the Redis-compatible server is away"


def test_it_is_left_alone_for_a_while_and_then_asked_again(frozen: Frozen, monkeypatch: pytest.MonkeyPatch) -> None:
    frozen.begin()
    assert [enqueue("run_job", 1) for _ in range(3)] == [False] * 3
    assert frozen.waits == 1
    later = time.monotonic() + alive.PAUSE
    monkeypatch.setattr("webapp.lib.alive.time.monotonic", lambda: later)
    assert not enqueue("run_job", 1)
    assert frozen.waits == 2
