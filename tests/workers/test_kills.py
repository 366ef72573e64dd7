"""Kill anything in the middle of a job: it goes on by itself and ends with the front of the undisturbed run.

Real Celery workers, a real Redis-compatible server, the real engine and game; only the pool is in the study's own
process, so that Ray's start does not fill the minutes (the engine's own tests kill Ray's parts).
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest
from django.conf import settings
from django.db import transaction

from engine.config import GameConfig, LineupConfig, NSGA2Config, PoolConfig, SearchConfig
from tests.workers.site import Site, until
from webapp.accounts.models import User
from webapp.projects.models import Project
from webapp.studies import actions
from webapp.studies.models import Job, JobEvent, Status
from workers import process, runner

TICKS, TRIES = 160, 5


def config(seed: int = 1, ticks: int = TICKS) -> SearchConfig:
    return SearchConfig(
        seed=seed,
        game=GameConfig(simulator="builtin:herobattle"),
        lineups=LineupConfig(teams=2),
        algorithm=NSGA2Config(population=8),
        ticks=ticks,
        replicates=2,
        fresh=4,
        pool=PoolConfig(kind="local", workers=1),
    )


@pytest.fixture(scope="module")
def site(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    parts = Site(tmp_path_factory.mktemp("site"))
    yield parts
    parts.stop()


@pytest.fixture
def calm(transactional_db: None) -> dict[str, str]:
    """The artifacts of the undisturbed run; played once, for what the store holds outlives a test's database."""
    known: dict[str, str] = calm_runs.get("artifacts", {})
    if not known:
        job = submit()
        runner.run(job.pk)
        known = Job.objects.get(pk=job.pk).artifacts
        calm_runs["artifacts"] = known
    return known


calm_runs: dict[str, dict[str, str]] = {}


def submit(search: SearchConfig | None = None) -> Job:
    project, _ = Project.objects.get_or_create(slug="kills", defaults={"name": "Kills"})
    user, _ = User.objects.get_or_create(username="kills", defaults={"email": "kills@studio.example"})
    job = actions.submit(project, user, search or config(), title="Which teams are unfair?")
    Job.objects.filter(pk=job.pk).update(enqueued_at=None)  # sent by this process, that is, to no worker
    return job


def fresh(job: Job) -> Job:
    return Job.objects.get(pk=job.pk)


def study_of(job: Job) -> psutil.Process:
    found = process.find((Path(settings.JOBS_DIR) / str(job.pk) / "process").read_text())
    assert found is not None
    return psutil.Process(found)


def a_tick_in_the_middle(seed: str) -> int:
    return random.Random(seed).randint(TICKS // 5, TICKS // 2)


def dead(gone: psutil.Process) -> bool:
    """A process that only waits for its parent's notice (a zombie) is dead; Celery takes that notice every 5 s."""
    try:
        return not gone.is_running() or gone.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def kill_study(site: Site, job: Job) -> None:
    study = study_of(job)
    study.kill()
    until(lambda: dead(study), "the study is dead")


def kill_worker(site: Site, job: Job) -> None:
    """The Celery worker with its children; its study dies with it."""
    study = study_of(job)
    site.kill("jobs")
    until(lambda: dead(study), "the study died with its worker")
    site.start("jobs")


def kill_worker_child(site: Site, job: Job) -> None:
    """The one process that holds the job."""
    holder = psutil.Process(study_of(job).ppid())
    holder.kill()
    until(lambda: dead(holder), "the worker's child is dead")


def kill_redis(site: Site, job: Job) -> None:
    """Redis, which also loses all it kept; and the worker, so that something has to be sent again."""
    site.kill("redis")
    site.kill("jobs")
    site.empty_redis()
    site.start("redis", "jobs")


def kill_reconciler(site: Site, job: Job) -> None:
    site.kill("reconciler")
    kill_study(site, job)
    site.start("reconciler")


def stop_worker_in_order(site: Site, job: Job) -> None:
    """As the supervisor stops it: the job is given back at once, and nothing of its study is left."""
    study, worker = study_of(job), site.running.pop("jobs")
    worker.send_signal(signal.SIGQUIT)
    worker.wait(60)
    assert not psutil.pid_exists(study.pid)
    site.start("jobs")


DELIVER = "import sys; from workers.app import enqueue; assert all(enqueue('run_job', int(sys.argv[1])) for _ in 'abc')"


def test_a_task_that_is_delivered_again_and_again_runs_once(site: Site, calm: dict[str, str]) -> None:
    if not site.running:
        site.start()
    job = submit()
    until(lambda: fresh(job).tick >= 2, "the job runs")
    subprocess.run([sys.executable, "-c", DELIVER, str(job.pk)], env=site.environment, check=True, timeout=60)
    until(lambda: fresh(job).terminal, "the job has ended")
    ended = fresh(job)
    assert (ended.status, ended.attempt) == (Status.FINISHED, 1)
    assert ended.events.filter(kind="started").count() == 1
    assert ended.artifacts["front"] == calm["front"]


@pytest.mark.parametrize(
    "kill", [kill_study, kill_worker, kill_worker_child, kill_redis, kill_reconciler, stop_worker_in_order]
)
def test_a_job_survives(site: Site, calm: dict[str, str], kill: object, request: pytest.FixtureRequest) -> None:
    if not site.running:
        site.start()
    tick = a_tick_in_the_middle(request.node.name)
    for _ in range(TRIES):  # a fast machine may end a job between the look at its round and the kill
        job = submit()
        until(lambda job=job: fresh(job).tick >= tick, "the job is in its middle")
        if fresh(job).terminal:
            continue
        try:
            kill(site, job)
            until(lambda job=job: fresh(job).terminal, "the job has ended")
        except (AssertionError, psutil.NoSuchProcess) as error:
            if not (fresh(job).status == Status.FINISHED and fresh(job).attempt == 1):
                pytest.fail(f"{error}\n{fresh(job).__dict__}\n{site.logs()}")
        if fresh(job).attempt >= 2:
            break
    ended = fresh(job)
    assert (ended.status, ended.message) == (Status.FINISHED, "")
    again = ended.events.filter(kind="started").order_by("sequence")[1]
    assert ended.events.filter(kind="progressed", sequence__gt=again.sequence).exists()  # the kill was in the middle
    assert {role: ended.artifacts[role] for role in ("front", "archive", "fresh")} == {
        role: calm[role] for role in ("front", "archive", "fresh")
    }
    assert list(ended.events.filter(kind="progressed").values_list("tick", flat=True)) == list(range(1, TICKS + 1))
    assert list(ended.events.values_list("sequence", flat=True)) == list(range(1, ended.sequence + 1))


def test_two_jobs_both_progress_and_a_sample_is_not_kept_waiting(site: Site, transactional_db: None) -> None:
    if not site.running:
        site.start()
    night = [submit(config(seed=seed, ticks=5000)) for seed in (1, 2)]
    until(lambda: all(fresh(job).tick >= 2 for job in night), "both jobs progress")
    before = [fresh(job).tick for job in night]
    until(lambda: all(fresh(job).tick > tick for job, tick in zip(night, before, strict=True)), "both still progress")
    third = submit(config(seed=3, ticks=20))
    until(lambda: fresh(third).status == Status.WAITING, "the third waits")
    assert "this site runs 2 jobs at one time" in fresh(third).message
    quick = Job.objects.create(
        project=third.project, kind="sample", title="Sample", config_hash="", config=sample_config()
    )
    until(lambda: fresh(quick).status == Status.FINISHED, "the sample was played beside the night jobs")
    assert all(fresh(job).status == Status.RUNNING for job in night)
    actions.stop(fresh(night[0]))
    until(lambda: fresh(third).status == Status.FINISHED, "the third job had its turn")
    actions.stop(fresh(night[1]))
    until(lambda: all(fresh(job).terminal for job in night), "the night is over")
    assert all(fresh(job).status == Status.STOPPED for job in night)


def sample_config() -> dict[str, object]:
    shared = config().model_dump(mode="json", include={"name", "seed", "game", "lineups", "objectives", "pool"})
    return {**shared, "kind": "sample", "count": 20, "replicates": 2}


def test_a_frozen_worker_that_wakes_after_its_lease_leaves_no_trace(site: Site, calm: dict[str, str]) -> None:
    if not site.running:
        site.start()
    job = submit()
    tick = a_tick_in_the_middle("frozen")
    until(lambda: fresh(job).tick >= tick, "the job is in its middle")
    study = study_of(job)
    holder = psutil.Process(study.ppid())
    long_ago = datetime(2000, 1, 1, tzinfo=UTC)
    with transaction.atomic():  # this write holds the database's lock, so the study is not stopped while it does
        Job.objects.filter(pk=job.pk).update(lease_until=long_ago)
        for frozen in (holder, study):
            frozen.send_signal(signal.SIGSTOP)
        at = fresh(job)
    until(lambda: fresh(job).attempt == 2 and fresh(job).tick > at.tick, "another worker goes on")
    events = JobEvent.objects.filter(job=job).count()
    for woken in (study, holder):
        if psutil.pid_exists(woken.pid):
            woken.send_signal(signal.SIGCONT)
    until(lambda: fresh(job).terminal, "the job has ended")
    until(lambda: not psutil.pid_exists(study.pid), "the first study is gone")
    ended = fresh(job)
    assert (ended.status, ended.attempt) == (Status.FINISHED, 2)
    assert JobEvent.objects.filter(job=job).count() > events
    assert {
        body.get("attempt", 2) for body in ended.events.filter(sequence__gt=at.sequence).values_list("body", flat=True)
    } == {2}
    assert ended.artifacts["front"] == calm["front"]
