"""A full disk: a real one under a whole site, and what jobs do meanwhile."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from deploy.up.layout import ROOT, Layout
from deploy.up.parts import Part
from deploy.up.supervisor import Supervisor
from tests.workers.conftest import MADE_UP, MakeJob
from webapp.lib import disk
from webapp.studies.models import Job, Status
from workers import reconcile, runner


def test_a_site_whose_disk_becomes_full_stays_up_says_so_and_goes_on_by_itself(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(
        ["unshare", "--map-root-user", "--mount", sys.executable, "-m", "tests.workers.full_disk", str(folder)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]


def test_a_job_is_put_aside_while_the_disk_is_full_and_goes_on_afterwards(
    make_job: MakeJob, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = make_job(ticks=400, pace=0.05)
    with monkeypatch.context() as patched:
        patched.setattr(disk, "full", lambda: True)
        runner.run(job.pk, MADE_UP)
    job.refresh_from_db()
    assert (job.status, job.stalled_attempts, job.command) == (Status.QUEUED, 0, "")
    played = job.tick
    enough, settings.DISK_RESERVE = settings.DISK_RESERVE, 2**60
    reconcile.reconcile()
    job.refresh_from_db()
    assert (job.status, job.message) == (Status.WAITING, disk.WAITS)
    settings.DISK_RESERVE = enough
    reconcile.reconcile()
    job.refresh_from_db()
    assert (job.status, job.tick) == (Status.QUEUED, played)


def test_a_checkpoint_that_found_no_room_is_nobody_s_fault(make_job: MakeJob, monkeypatch: pytest.MonkeyPatch) -> None:
    deed = {"tick": 1, "do": "fail", "message": "The disk is full: free some space", "permanent": False}
    job = make_job(ticks=3, deeds=[deed], row={"stalled_attempts": 2})
    monkeypatch.setattr(disk, "full", lambda: True)
    runner.run(job.pk, MADE_UP)
    assert Job.objects.get(pk=job.pk).status == Status.QUEUED


def test_a_study_that_died_while_the_disk_was_full_is_not_to_blame(
    make_job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = make_job(ticks=3, deeds=[{"tick": 0, "do": "die"}], row={"stalled_attempts": 2})
    monkeypatch.setattr(disk, "full", lambda: True)
    runner.run(job.pk, MADE_UP)
    job.refresh_from_db()
    assert (job.status, job.stalled_attempts) == (Status.QUEUED, 2)


def test_the_supervisor_outlives_a_note_that_it_cannot_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = Layout(tmp_path)
    layout.make_folders()
    supervisor = Supervisor(layout, [Part("web", "The web server", ["/bin/true"])], {}, lambda: False, lambda: None)

    def full(self: Layout, **state: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Layout, "remember", full)
        supervisor._note()
    assert layout.recall() == {}
    supervisor._keep_house()
    assert layout.recall() == {"parts": {}}
    layout.forget()
