"""What people do to jobs, and that the row and its history always say the same."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from engine.config import GameConfig, SampleConfig, SearchConfig, study_hash
from tests.factories import Studio, search_job
from webapp.balance.models import Draft
from webapp.studies import actions
from webapp.studies.models import Job, Status

pytestmark = pytest.mark.django_db(transaction=True)


def search(**more: Any) -> SearchConfig:
    return SearchConfig(game=GameConfig(simulator="builtin:herobattle"), **more)


def submitted(team: Studio, **more: Any) -> Job:
    return actions.submit(team.project, team.designer, search(**more), title="Which teams are unfair?")


def told(job: Job) -> list[str]:
    return [f"{e.kind} {e.body.get('status', '')}".strip() for e in job.events.all()]


def now(job: Job) -> Job:
    return Job.objects.get(pk=job.pk)


def test_a_submitted_job_is_sent_with_nothing_but_its_id(team: Studio, redis_client: Any) -> None:
    job = submitted(team)
    message = json.loads(redis_client.lpop("jobs"))
    arguments, named, _ = json.loads(base64.b64decode(message["body"]))
    assert (message["headers"]["task"], arguments, named) == ("workers.tasks.run_job", [job.pk], {})
    assert now(job).enqueued_at is not None
    assert told(job) == ["status queued"]


SUBMIT_ANOTHER = """
import django; django.setup()
from engine.studies import load
from webapp.studies import actions
from webapp.studies.models import Job
known = Job.objects.get()
actions.submit(known.project, known.created_by, load(known.config), title="Another")
"""


def test_redis_being_away_neither_fails_nor_loses_a_job(team: Studio, process_environment: dict[str, str]) -> None:
    submitted(team)
    environment = {**process_environment, "REDIS_URL": "unix:///nowhere/redis.sock?db=0"}
    subprocess.run([sys.executable, "-c", SUBMIT_ANOTHER], env=environment, check=True, timeout=60)
    job = Job.objects.get(title="Another")
    assert (job.status, job.enqueued_at) == (Status.QUEUED, None)


def test_a_job_without_a_place_waits_from_the_start(team: Studio, settings: Settings) -> None:
    settings.JOB_SLOTS = 1
    search_job(team.project, status=Status.RUNNING)
    job = submitted(team)
    assert job.status == Status.WAITING
    assert job.message.startswith("Waits for a free place")
    assert told(job) == ["status waiting"]


def test_the_same_work_has_the_same_hash_whatever_it_is_called_and_wherever_it_runs() -> None:
    plain = study_hash(search())
    assert study_hash(search(name="another", pool={"kind": "local", "workers": 7})) == plain
    assert study_hash(search(seed=2)) != plain


def test_jobs_made_before_are_found_by_the_hash_of_their_study(team: Studio) -> None:
    old = submitted(team)
    Job.objects.filter(pk=old.pk).update(config_hash="0" * 64)
    import_module("webapp.studies.migrations.0007_hashes_of_studies").hash_anew(apps, None)
    assert now(old).config_hash == study_hash(search())


@pytest.mark.parametrize("status", [Status.QUEUED, Status.WAITING, Status.PAUSED])
def test_a_job_that_does_not_run_stops_at_once(team: Studio, status: Status) -> None:
    job = submitted(team)
    Job.objects.update(status=status)
    actions.stop(job)
    assert (now(job).status, now(job).message) == (Status.STOPPED, "Stopped before the first round was complete.")
    assert told(job)[-1] == "stopped"


def test_a_running_job_is_asked_and_asked_once(team: Studio) -> None:
    job = submitted(team)
    Job.objects.update(status=Status.RUNNING)
    actions.pause(job)
    actions.pause(job)
    assert (now(job).status, now(job).command) == (Status.RUNNING, "pause")
    actions.stop(job)
    assert now(job).command == "stop"
    assert told(job)[1:] == ["status running", "status running"]


def test_a_pause_can_be_taken_back(team: Studio) -> None:
    job = submitted(team)
    Job.objects.update(status=Status.RUNNING)
    actions.pause(job)
    actions.resume(job)
    assert (now(job).status, now(job).command) == (Status.RUNNING, "")


@pytest.mark.parametrize("status", [Status.PAUSED, Status.FAILED])
def test_paused_and_failed_jobs_go_on(team: Studio, status: Status) -> None:
    job = submitted(team)
    Job.objects.update(status=status, stalled_attempts=3, message="why", error="died")
    actions.resume(job)
    row = now(job)
    assert (row.status, row.stalled_attempts, row.message, row.error) == (Status.QUEUED, 0, "", "")


@pytest.mark.parametrize("status", [Status.FINISHED, Status.STOPPED])
@pytest.mark.parametrize("act", [actions.stop, actions.pause, actions.resume])
def test_what_has_ended_stays_ended(team: Studio, status: Status, act: Any) -> None:
    job = search_job(team.project, status=status)
    with pytest.raises(actions.Refused):
        act(job)
    assert now(job).status == status


def test_a_recheck_plays_replicates_nobody_played_before(team: Studio) -> None:
    job = search_job(team.project)
    genomes, anchors = [[[1, 2, 3]]], [[0, 0]]
    first = actions.recheck(job, team.designer, genomes, anchors, [10])
    second = actions.recheck(job, team.designer, genomes, anchors, [32])
    assert (first.kind, first.parent) == ("recheck", job)
    assert second.config["first"] == first.config["first"] + 10
    assert first.config["genomes"] == genomes


def sample(**more: Any) -> SampleConfig:
    return SampleConfig(game=GameConfig(simulator="builtin:herobattle"), **more)


def test_a_sample_is_played_once_and_waits_aside_while_another_one_has_its_place(team: Studio) -> None:
    first = actions.sample(team.project, team.designer, sample())
    assert actions.sample(team.project, team.owner, sample()) == first
    second = actions.sample(team.project, team.designer, sample(seed=2))
    assert second != first
    assert now(first).status == Status.PAUSED
    assert actions.sample(team.project, team.designer, sample()) == first
    assert (now(first).status, now(second).status) == (Status.QUEUED, Status.PAUSED)


def test_a_sample_that_failed_is_played_again_only_when_asked(team: Studio) -> None:
    first = actions.sample(team.project, team.designer, sample())
    Job.objects.filter(pk=first.pk).update(status=Status.FAILED)
    assert actions.sample(team.project, team.designer, sample()) == first
    assert actions.sample(team.project, team.designer, sample(), again=True) != first


def test_buttons_act_and_answer_scripts_and_forms_alike(team: Studio) -> None:
    client = Client()
    client.force_login(team.designer)
    job = submitted(team)
    address = reverse("studies:pause", args=[team.project.slug, job.pk])
    assert client.post(address, HTTP_ACCEPT="application/json").json() == {"refused": ""}
    assert now(job).status == Status.PAUSED
    refused = client.post(address, HTTP_ACCEPT="application/json").json()["refused"]
    assert refused == "Only a job that runs or waits can be paused."
    page = client.post(address, follow=True)
    assert refused in page.content.decode()


def test_clone_fills_the_form_and_keeps_the_draft_that_was_there(team: Studio) -> None:
    client = Client()
    client.force_login(team.designer)
    job = search_job(team.project)
    typed = {"question": "price", "line": "7"}
    Draft.objects.create(project=team.project, user=team.designer, form=typed)
    for _ in range(2):  # the second clone must not bury the draft under the first
        client.post(reverse("studies:clone", args=[team.project.slug, job.pk]))
    draft = Draft.objects.get()
    assert (draft.form["question"], draft.form["seed"], draft.form["before"]) == ("unfair", "1", typed)
    client.post(reverse("studies:forget", args=[team.project.slug]))
    assert Draft.objects.get().form == typed
    client.post(reverse("studies:forget", args=[team.project.slug]))
    assert not Draft.objects.exists()
