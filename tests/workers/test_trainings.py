"""Attempts at trainings with the real engine: put aside, killed and gone on with, they end with the curve of the
undisturbed run; a trial measures; what the game says is wrong names its place."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.urls import reverse

from engine.config import TrainConfig
from engine.studies import load
from tests.factories import person
from webapp.accounts import rights
from webapp.games import handshake
from webapp.games.models import Simulator
from webapp.projects.models import Membership, Project, Role
from webapp.studies import actions, estimates
from webapp.studies.journal import TIME_IS_UP
from webapp.studies.models import Job, Status
from webapp.training import curve, parts, trials
from workers import process, runner

TIMES = {"seconds", "steps_per_second", "sampling_seconds", "learning_seconds"}


def config(**more: Any) -> TrainConfig:
    """Sixty rounds of a very short Pong."""
    small = {"policy": [16], "critic": [16]}
    found = load({
        "kind": "train", "game": {"name": "pong", "settings": {"points": 1, "max_ticks": 60}}, "steps": 60 * 512,
        "learner": {"kind": "ppo", "batch": 128, "fragment": 16, "minibatch": 32, "reuse": 4, "network": small},
        "samplers": 2, "environments": 4, "checkpoint_every": 512, "evaluate_every": 10, "episodes": 4,
        "pool": {"kind": "local"}, **more,
    })  # fmt: skip
    assert isinstance(found, TrainConfig)
    return found


def submitted(project: Project, study: TrainConfig | None = None, **row: Any) -> Job:
    user = project.members.first() or person("trainer")
    project.members.add(user)
    return actions.submit(project, user, study or config(), title="An agent for Pong", **row)


def fresh(job: Job) -> Job:
    return Job.objects.get(pk=job.pk)


def once(job: Job, tick: int, act: Callable[[Job], object]) -> Job:
    """One attempt; after ``tick`` rounds somebody else acts."""
    over = threading.Event()

    def wait_and_act() -> None:
        while fresh(job).tick < tick and not over.is_set():
            time.sleep(0.01)
        act(fresh(job))
        connection.close()

    other = threading.Thread(target=wait_and_act)
    other.start()
    runner.run(job.pk)
    over.set()
    other.join()
    return fresh(job)


def kill(job: Job) -> None:
    study: psutil.Process | int | None = process.find((Path(settings.JOBS_DIR) / str(job.pk) / "process").read_text())
    assert study is not None
    psutil.Process(study if isinstance(study, int) else study.pid).kill()


def told(job: Job) -> dict[str, list[float | None]]:
    """The whole curve but for what the clock says."""
    return {name: column for name, column in curve.columns(job, most=1000).items() if name not in TIMES}


def test_put_aside_and_killed_a_training_goes_on_with_the_same_curve(project: Project, redis_server: str) -> None:
    calm = submitted(project)
    runner.run(calm.pk)
    calm = fresh(calm)
    assert (calm.status, calm.tick, calm.ticks, calm.counters["steps"]) == (Status.FINISHED, 60, 60, 60 * 512)
    assert {"policy", "policy_description", "onnx"} <= calm.artifacts.keys()
    assert np.isfinite(calm.summary["evaluation_return"])

    job = once(submitted(project), 5, actions.pause)
    assert job.status == Status.PAUSED
    assert 5 <= job.tick < 60
    actions.resume(job)
    job = once(job, job.tick + 5, kill)
    assert (job.status, job.attempt) == (Status.QUEUED, 2)
    assert (
        job.events.filter(kind="incident").get().body["message"].startswith("The training ended unexpectedly. The job")
    )
    runner.run(job.pk)
    job = fresh(job)
    assert (job.status, job.attempt) == (Status.FINISHED, 3)
    assert told(job) == told(calm)
    assert job.artifacts["policy"] == calm.artifacts["policy"]


def test_a_trial_trains_until_it_has_shown_its_pace(
    project: Project, redis_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "SAMPLE_TIME", 0.5)
    trial = submitted(project, trials.of(config(samplers=3)), kind="sample")
    runner.run(trial.pk)
    trial = fresh(trial)
    assert (trial.status, trial.message) == (Status.STOPPED, TIME_IS_UP)
    assert trial.counters["steps"] >= parts.TRIAL_UPDATES * 128
    pace = trials.pace_of(trial)
    assert pace is not None
    assert pace.playing > 0
    assert pace.learning > 0


def test_what_the_game_finds_wrong_names_its_place(project: Project, redis_server: str) -> None:
    wrong = submitted(project, config(game={"name": "gym:NoSuchGame-v0"}), kind="sample")
    while fresh(wrong).status == Status.QUEUED:  # where memory is short a study may be ended from outside
        runner.run(wrong.pk)
    wrong = fresh(wrong)
    assert (wrong.status, wrong.error) == (Status.FAILED, "ConfigError")
    ((place, message),) = estimates.problems(wrong)
    assert place == "game.name"
    assert "NoSuchGame-v0" in message
    assert wrong.message.startswith("Gymnasium has no")


def test_a_program_of_somebody_else_s_is_registered_tested_tried_and_trained_in(
    project: Project, redis_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole way through the pages: Simulators, its handshake test, Train an agent, its trial, the job."""
    monkeypatch.setattr(runner, "SAMPLE_TIME", 0.5)
    engineer = Client()
    user = person("engineer")
    Membership.objects.create(project=project, user=user, role=Role.ENGINEER)
    rights.grant(user, by=None)
    engineer.force_login(user)
    lake = {"name": "Frozen lake", "kind": "command", "target": f"{sys.executable} -m tests.engine.frozen_lake"}
    engineer.post(reverse("games:simulator-new"), {**lake, "projects": str(project.pk)})
    row = Simulator.objects.get(name="Frozen lake")
    assert handshake.run(row.pk), (row.test, row.message)
    page = engineer.get(reverse("games:simulator", args=[row.pk])).content.decode()
    assert "frozen-lake 1: one seat sees lake [2]; chooses among 2; is told arrival, cold" in page

    typed = {"game": "simulator", "simulator": str(row.pk), "steps": "8192", "episodes": "20", "environments": "8",
             "samplers": "1", "learner.batch": "512", "learner.fragment": "64", "learner.minibatch": "128",
             "learner.reuse": "4", "learner.rate": "0.003"}  # fmt: skip
    new = reverse("training:new", args=[project.slug])
    assert f'<option value="{row.pk}">Frozen lake</option>' in engineer.get(new).content.decode()
    told = engineer.post(reverse("training:preview", args=[project.slug]), typed).json()
    assert told["errors"] == {}
    runner.run(told["trial"])
    told = engineer.post(reverse("training:preview", args=[project.slug]), typed).json()
    assert "decisions a second" in told["before"]["note"]
    answer = engineer.post(new, typed)
    assert answer.status_code == 302, answer.content.decode()
    job = Job.objects.get(kind="train")
    job.config["pool"]["kind"] = "local"  # no Ray is up here
    job.save()
    runner.run(job.pk)
    job = fresh(job)
    assert job.status == Status.FINISHED, (job.message, list(job.events.values_list("kind", "body")))
    assert job.counters["steps"] == 8192
    assert job.summary["evaluation_return_arrival"] > 0.9
    assert {"policy", "onnx"} <= job.artifacts.keys()
    page = engineer.get(answer["Location"]).content.decode()
    assert "Frozen lake" in page
    assert "arrival" in page
