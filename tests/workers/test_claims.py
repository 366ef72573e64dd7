"""Who may run a job, and who may write about it."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django.fixtures import Settings

from engine.studies import load
from tests.workers.conftest import MakeJob
from webapp.projects.models import Project
from webapp.studies import queue
from webapp.studies.journal import Entry
from webapp.studies.models import Job, JobEvent, Status
from workers import claims, process, reconcile
from workers.claims import Claim, Superseded

LINE = [Entry("logged", {"message": "here"})]


def claimed(job: Job) -> Claim:
    claim = claims.take(job.pk, process.label(os.getpid()))
    assert claim is not None
    return claim


def end_lease(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_of_many_workers_that_get_the_same_job_one_runs_it(make_job: MakeJob) -> None:
    job = make_job()

    def take(i: int) -> bool:
        try:
            return claims.take(job.pk, f"worker {i}") is not None
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(take, range(8))) == 1
    assert Job.objects.get(pk=job.pk).attempt == 1


def test_a_claim_writes_numbered_events_and_renews_its_lease(make_job: MakeJob) -> None:
    claim = claimed(make_job())
    before = Job.objects.get(pk=claim.job.pk).lease_until
    claim.write(LINE * 2)
    assert list(JobEvent.objects.values_list("sequence", flat=True)) == [1, 2, 3]
    assert Job.objects.get(pk=claim.job.pk).lease_until > before


@pytest.mark.parametrize("act", [lambda c: c.write(LINE), Claim.renew, Claim.command, lambda c: c.give_back(LINE)])
def test_a_worker_that_wakes_after_its_lease_writes_nothing(make_job: MakeJob, act: object) -> None:
    claim = claimed(make_job())
    end_lease(claim.job)
    before = Job.objects.filter(pk=claim.job.pk).values().get()
    with pytest.raises(Superseded):
        act(claim)
    assert Job.objects.filter(pk=claim.job.pk).values().get() == before
    assert JobEvent.objects.count() == 1


def test_the_earlier_of_two_attempts_writes_nothing(make_job: MakeJob) -> None:
    first = claimed(make_job())
    end_lease(first.job)
    reconcile.release()
    second = claimed(first.job)
    assert (first.attempt, second.attempt) == (1, 2)
    with pytest.raises(Superseded):
        first.write(LINE)
    second.write(LINE)


def test_a_silent_worker_loses_its_job_and_a_living_one_keeps_it(make_job: MakeJob) -> None:
    silent, living = claimed(make_job()), claimed(make_job())
    end_lease(silent.job)
    reconcile.release()
    assert Job.objects.get(pk=silent.job.pk).status == Status.QUEUED
    assert Job.objects.get(pk=living.job.pk).status == Status.RUNNING


def test_a_dead_worker_loses_its_job_at_once(make_job: MakeJob) -> None:
    with subprocess.Popen(["sleep", "60"]) as worker:
        claim = claims.take(make_job().pk, process.label(worker.pid))
        reconcile.release()
        assert Job.objects.get(pk=claim.job.pk).status == Status.RUNNING
        worker.kill()
    reconcile.release()
    job = Job.objects.get(pk=claim.job.pk)
    assert job.status == Status.QUEUED
    assert job.events.filter(kind="incident").get().body["what"] == "lost-worker"


def test_a_process_number_that_was_used_again_is_another_process() -> None:
    name = process.label(os.getpid())
    assert process.find(name) == os.getpid()
    assert not process.gone(name)
    assert process.gone(name[:-1] + ("1" if name[-1] != "1" else "2"))
    assert not process.gone("elsewhere " + name.partition(" ")[2])


def test_a_job_beyond_the_places_waits_and_says_for_what(make_job: MakeJob, settings: Settings) -> None:
    settings.JOB_SLOTS = 1
    first = claimed(make_job())
    other = make_job()
    assert claims.take(other.pk, "worker") is None
    other.refresh_from_db()
    assert other.status == Status.WAITING
    assert other.message == "Waits for a free place: this site runs 1 job at one time."
    first.give_back([], status=Status.FINISHED)
    assert claims.take(other.pk, "worker") is not None


def test_what_waits_for_a_place_says_how_many_there_are_not_how_many_run(make_job: MakeJob, settings: Settings) -> None:
    settings.JOB_SLOTS = 8
    claimed(make_job())
    claimed(make_job())
    settings.JOB_SLOTS = 1
    assert queue.room_obstacle(make_job()) == "Waits for a free place: this site runs 1 job at one time."


def test_a_project_runs_no_more_jobs_than_its_quota(make_job: MakeJob, project: Project, settings: Settings) -> None:
    settings.JOB_SLOTS = 8
    Project.objects.update(job_quota=1)
    elsewhere = Project.objects.create(name="Other", slug="other")
    claimed(make_job())
    second, stranger = make_job(), make_job({"project": elsewhere})
    assert claims.take(second.pk, "worker") is None
    second.refresh_from_db()
    assert second.message == "Waits for another job of this project to end: 1 may run at one time."
    assert claims.take(stranger.pk, "worker") is not None


def test_a_sample_never_waits_for_searches(make_job: MakeJob, settings: Settings) -> None:
    settings.JOB_SLOTS = 1
    claimed(make_job())
    assert claims.take(make_job({"kind": "sample"}).pk, "worker") is not None


def test_a_job_for_ray_waits_until_ray_answers(make_job: MakeJob, settings: Settings) -> None:
    job = make_job({"config": {"pool": {"kind": "ray"}}})
    assert claims.take(job.pk, "worker") is None
    job.refresh_from_db()
    assert job.status == Status.WAITING
    assert "battle workers" in job.message


def test_waiting_jobs_are_sent_oldest_first_as_places_come_free(make_job: MakeJob, settings: Settings) -> None:
    settings.JOB_SLOTS = 1
    first = claimed(make_job())
    second, third = make_job(), make_job()
    reconcile.admit()
    assert set(Job.objects.filter(status=Status.WAITING)) == {second, third}
    first.give_back([], status=Status.FINISHED)
    reconcile.admit()
    second.refresh_from_db()
    third.refresh_from_db()
    assert (second.status, third.status) == (Status.QUEUED, Status.WAITING)


@pytest.mark.parametrize(("command", "ends"), [("stop", Status.STOPPED), ("pause", Status.PAUSED)])
def test_a_command_is_carried_out_when_its_worker_died(make_job: MakeJob, command: str, ends: Status) -> None:
    claim = claimed(make_job())
    Job.objects.update(command=command)
    end_lease(claim.job)
    reconcile.release()
    job = Job.objects.get()
    assert (job.status, job.command) == (ends, "")


def test_the_third_attempt_without_a_round_fails_the_job(make_job: MakeJob) -> None:
    job = make_job()
    for _ in range(3):
        claimed(job)
        end_lease(job)
        reconcile.release()
    job.refresh_from_db()
    assert job.status == Status.FAILED
    assert "third attempt in a row" in job.message
    assert job.events.last().kind == "failed"


TRAIN = {"kind": "train", "game": "pong"}
GOSSIP = {"kind": "gossip", "game": "pong"}
AES = {"kind": "aes-rl", "game": "pendulum", "spread": 1000.0}


@pytest.mark.parametrize(
    ("study", "same"),
    [
        (TRAIN, True),
        ({**TRAIN, "sampling": "asynchronous"}, False),
        ({**TRAIN, "minutes": 5}, False),
        (GOSSIP, True),
        ({**GOSSIP, "staleness": 3}, False),
        ({**GOSSIP, "staleness": None}, False),
        ({**AES, "method": {"kind": "aes-rl", "waiting": True}}, True),
        ({**AES, "method": {"kind": "aes-rl", "waiting": False}}, False),
        ({**AES, "method": {"kind": "cem-rl"}}, True),
    ],
)
def test_a_death_is_said_to_change_no_result_only_where_nobody_was_faster_than_another(
    study: dict[str, Any], same: bool
) -> None:
    """Where nobody waits, or a clock ends it, a job that goes on from its last round ends otherwise."""
    job = Job(kind=study["kind"], config=load(study).model_dump(mode="json"))
    (incident, _), _ = claims.after_death(job, "The worker stopped.")
    assert incident.body["message"].endswith("No result changed.") == same


def test_of_a_study_that_cannot_be_read_any_more_nothing_is_said() -> None:
    (incident, _), _ = claims.after_death(Job(config={"kind": "gone"}), "The worker stopped.")
    assert incident.body["message"] == "The worker stopped. The job starts again."
