"""Searches for training settings with the real engine, on the way that every job takes: put aside, killed, gone on with
and stopped."""

from __future__ import annotations

import os
import re
import time

from django.conf import settings

from engine.config import EvolveConfig, study_hash
from tests.factories import person
from tests.webapp.evolutions import config
from tests.workers.test_trainings import fresh, kill, once
from webapp.lib.storage import store
from webapp.projects.models import Project
from webapp.studies import actions
from webapp.studies.models import Job, Status
from webapp.training.evolving import EvolveForm, values_of
from workers import runner
from workers.collect import OLD, collect

ROUNDS = 40
FOUND = ("archive", "front", "fresh", "lineage", "policy", "policies")


def submitted(project: Project, study: EvolveConfig) -> Job:
    user = project.members.first() or person("trainer")
    project.members.add(user)
    return actions.submit(project, user, study, title="Settings for Pong", template="pong-ppo")


def test_put_aside_and_killed_a_search_for_settings_ends_as_the_undisturbed_one(
    project: Project, redis_server: str
) -> None:
    calm = submitted(project, config(ticks=ROUNDS))
    runner.run(calm.pk)
    calm = fresh(calm)
    assert (calm.status, calm.tick, calm.ticks, calm.kind) == (Status.FINISHED, ROUNDS, ROUNDS, "evolve")
    assert calm.counters["evaluations"] == 4 * ROUNDS
    said = " ".join(calm.events.filter(kind="logged").values_list("body__message", flat=True))
    assert re.search(
        "Measuring again, on fresh episodes: the [0-9]+ players? that no other of the last round beats", said
    )
    assert "lineup" not in said

    job = once(submitted(project, config(ticks=ROUNDS)), 3, actions.pause)
    assert job.status == Status.PAUSED
    assert 3 <= job.tick < ROUNDS
    actions.resume(job)
    job = once(job, job.tick + 3, kill)
    assert (job.status, job.attempt) == (Status.QUEUED, 2)
    (killed,) = job.events.filter(kind="incident").exclude(body__what="short-trainings")
    assert "search ended unexpectedly" in killed.body["message"]
    runner.run(job.pk)
    job = fresh(job)
    assert (job.status, job.attempt) == (Status.FINISHED, 3)
    assert {role: job.artifacts[role] for role in FOUND} == {role: calm.artifacts[role] for role in FOUND}
    told = job.events.filter(kind="progressed").values_list("tick", flat=True)
    assert list(told) == list(range(1, ROUNDS + 1))


def test_a_stopped_search_gives_its_best_player_and_leaves_no_trainings(project: Project, redis_server: str) -> None:
    study = config("map-elites", ticks=1000)
    job = once(submitted(project, study), 2, actions.stop)
    assert job.status == Status.STOPPED
    assert {"archive", "front", "grid", "policy", "policy_description"} <= job.artifacts.keys()
    (lease,) = (settings.STORE_DIR / "leases").glob(f"{study_hash(study)}-1/*")
    os.utime(lease, 2 * (time.time() - OLD - 60,))
    collect()
    assert not lease.exists()
    assert store().has(job.artifacts["policy"])
    again = EvolveForm(values_of(job, project), project=project)
    assert again.is_valid(), again.errors
    assert again.study is not None
    left = {"task", "pool", "name"}  # the form has no field for battles that a player plays together
    assert again.study.model_dump(exclude=left) == study.model_copy(update={"name": ""}).model_dump(exclude=left)
