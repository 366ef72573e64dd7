"""What is switched off, changed or removed is executed by nothing: not by Resume, not by Try again, not by a worker."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from tests.factories import Studio, person, search_job, studio
from tests.webapp import trainings
from webapp.api import tokens
from webapp.games import simulators
from webapp.games.models import GameVersion, Simulator
from webapp.studies import actions
from webapp.studies.models import Job, Status
from workers import claims, runner

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def left_a_mark(tmp_path: Path) -> Path:
    """The file that the registered program writes when it is executed."""
    return tmp_path / "executed"


@pytest.fixture
def team(left_a_mark: Path) -> Studio:
    """A project with a search and a training whose program is registered for it alone."""
    made = studio()
    program = left_a_mark.with_name("game.py")
    program.write_text(f"open({str(left_a_mark)!r}, 'w').close()")
    command = f"command:{sys.executable} {program}"
    job = search_job(made.project, rows=40)
    row = Simulator.objects.get()
    row.reference, row.kind, row.everybody = command, Simulator.Kind.COMMAND, False
    row.save()
    row.projects.add(made.project)
    job.config["game"]["simulator"] = command
    job.config["pool"] = {"kind": "local", "workers": 1}
    job.save()
    config = trainings.config(game={"name": command}, pool={"kind": "local"})
    trainings.training(made.project, config=config)
    return made


def _off() -> None:
    simulators.switch_off(Simulator.objects.get(), person("operator", is_staff=True))


def _another_program() -> None:
    Simulator.objects.update(reference="command:another-program")


def _removed() -> None:
    GameVersion.objects.exclude(jobs=None).update(
        simulator=Simulator.objects.create(name="Other", reference="command:x")
    )
    Simulator.objects.exclude(name="Other").delete()


def _taken_from_the_project() -> None:
    Simulator.objects.get().projects.clear()


CHANGES = [_off, _another_program, _removed, _taken_from_the_project]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("status", [Status.PAUSED, Status.FAILED])
def test_neither_the_page_nor_the_api_resumes_what_may_not_be_played_any_more(
    team: Studio, change: Callable[[], None], status: Status
) -> None:
    Job.objects.update(status=status, message="as it was", error="died", stalled_attempts=3)
    change()
    browser = Client()
    browser.force_login(team.designer)
    script = Client(headers={"Authorization": f"Bearer {tokens.make(team.designer, 'a build', None, 30)[1]}"})
    for job in team.project.jobs.all():
        page = reverse("studies:resume", args=[team.project.slug, job.pk])
        assert browser.post(page, headers={"accept": "application/json"}).json()["refused"]
        assert script.post(f"/api/v1/projects/{team.project.slug}/jobs/{job.pk}/resume").status_code == 409
        row = Job.objects.get(pk=job.pk)
        assert (row.status, row.message, row.error, row.stalled_attempts) == (status, "as it was", "died", 3)
        assert row.events.count() == job.events.count()


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("status", [Status.QUEUED, Status.WAITING])
def test_a_worker_starts_no_program_that_may_not_be_played_any_more(
    team: Studio, left_a_mark: Path, change: Callable[[], None], status: Status
) -> None:
    Job.objects.update(status=status, finished_at=None)
    change()
    for job in team.project.jobs.all():
        runner.run(job.pk)
        row = Job.objects.get(pk=job.pk)
        assert (row.status, row.attempt, row.finished_at is None) == (Status.FAILED, job.attempt, False)
        assert row.message.endswith(".")
        assert row.events.get().body["message"] == row.message
    assert not left_a_mark.exists()


def test_what_is_switched_on_again_goes_on(team: Studio) -> None:
    Job.objects.update(status=Status.PAUSED)
    _off()
    job = team.project.jobs.get(kind="train")
    with pytest.raises(actions.Refused, match="switched it off"):
        actions.resume(job)
    simulators.switch_on(Simulator.objects.get(), person("second", is_staff=True))
    actions.resume(job)
    assert claims.take(job.pk, "a worker") is not None


def test_a_search_whose_program_was_changed_is_not_re_checked_with_the_old_one(team: Studio) -> None:
    job = team.project.jobs.get(kind="search")
    _another_program()
    with pytest.raises(actions.Refused, match="changed or removed"):
        actions.recheck(job, team.designer, [[[0]]], [[0, 0]], [32])
