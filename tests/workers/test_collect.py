"""Storage is given back, and only what nobody points at."""

from __future__ import annotations

import os
import time
from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from engine.config import study_hash
from tests.factories import studio
from tests.own_s3 import OwnS3
from tests.webapp.evolutions import config, evolution
from tests.workers.conftest import MakeJob
from webapp.games.models import SheetImport
from webapp.lib.storage import store
from webapp.studies import journal
from webapp.studies.journal import Entry
from webapp.studies.models import Job, Status
from workers.collect import OLD, SAMPLES_STAY, collect


def put(text: str, *, old: bool = True) -> str:
    digest = store().put(text.encode())
    if old:
        past = time.time() - OLD - 60
        os.utime(settings.STORE_DIR / digest[:2] / digest[2:], (past, past))
    return digest


def test_orphans_go_once_they_are_old_and_everything_mentioned_stays(make_job: MakeJob) -> None:
    orphan, young = put("nobody knows me"), put("just written", old=False)
    sheet, checkpoint, front, chunk, superseded = (put(name) for name in ("sheet", "check", "front", "chunk", "gone"))
    job = make_job({"checkpoint": checkpoint, "artifacts": {"front": front}})
    SheetImport.objects.create(project=studio("elsewhere").project, name="sheet.csv", digest=sheet)
    body = {"metrics": {}, "artifacts": {"chunk": chunk, "checkpoint": superseded}}
    assert journal.append(job, {}, [Entry("progressed", body, 1)])
    collect()
    assert [store().has(d) for d in (orphan, superseded)] == [False, False]
    assert all(store().has(d) for d in (young, sheet, checkpoint, front, chunk))


@pytest.mark.django_db(transaction=True)
def test_a_file_somebody_was_killed_while_writing_goes() -> None:
    folder = settings.STORE_DIR / "ab"
    folder.mkdir(exist_ok=True)
    begun, fresh = folder / ".0123", folder / ".4567"
    for file in (begun, fresh):
        file.write_bytes(b"half")
    past = time.time() - OLD - 60
    os.utime(begun, (past, past))
    collect()
    assert (begun.exists(), fresh.exists()) == (False, True)
    fresh.unlink()


def test_random_samples_go_after_a_month_and_searches_stay(make_job: MakeJob) -> None:
    long_ago = timezone.now() - SAMPLES_STAY - timedelta(days=1)
    sample, young = (
        {"kind": "sample", "status": Status.FINISHED, "finished_at": at} for at in (long_ago, timezone.now())
    )
    make_job(sample)
    kept = {make_job(young), make_job({"status": Status.FINISHED, "finished_at": long_ago})}
    collect()
    assert set(Job.objects.all()) == kept


def trainings(name: str, *, old: bool = True) -> str:
    """A lease with something in it; its name."""
    lease = store().lease(name)
    assert lease is not None
    lease.keep()
    lease.put(b"weights")
    if old:
        past = time.time() - OLD - 60
        os.utime(lease.address, (past, past))
    return name


@pytest.mark.django_db(transaction=True)
def test_the_trainings_of_a_search_that_was_stopped_go_and_those_of_one_that_may_go_on_stay() -> None:
    project = studio("breeders").project
    ended, paused, failed = (config(seed=seed) for seed in (1, 2, 3))
    evolution(project, ended, status=Status.STOPPED)
    evolution(project, paused, status=Status.PAUSED)
    evolution(project, failed, status=Status.FAILED)
    gone, *stay = (trainings(f"{study_hash(study)}-1") for study in (ended, paused, failed))
    stay.append(trainings("somebody-is-at-it-1", old=False))
    collect()
    assert sorted(lease.name for lease in store().leases()) == sorted(stay)
    assert not (settings.STORE_DIR / "leases" / gone).exists()


def test_in_s3_orphans_and_trainings_of_nobody_go_as_they_do_in_a_folder(
    make_job: MakeJob, s3: OwnS3, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = s3.fresh()
    monkeypatch.setattr(settings, "STORE", address)
    orphan, young, needed = (store().put(name) for name in (b"nobody knows me", b"just written", b"checkpoint"))
    make_job({"checkpoint": needed})
    lease = store().lease("of-nobody-1")
    assert lease is not None
    lease.put(b"weights")
    for key in (f"{orphan[:2]}/{orphan[2:]}", f"{needed[:2]}/{needed[2:]}", "holders/of-nobody-1"):
        s3.age(f"{address}/{key}", OLD + 60)
    assert collect() == 1
    assert sorted(store()) == sorted([young, needed])
    assert not list(store().leases())
