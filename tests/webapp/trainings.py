"""Trainings in the middle of their life or ended, with rounds whose numbers are made up."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from engine.config import TrainConfig, study_hash
from engine.studies import load
from webapp.lib.storage import store
from webapp.projects.models import Project
from webapp.studies import journal
from webapp.studies.journal import Entry
from webapp.studies.models import Job, Status

TICKS, EACH = 40, 2500


def config(**more: Any) -> TrainConfig:
    """CartPole with PPO, 100,000 moves in 40 rounds."""
    found = load({"kind": "train", "name": "An agent", "game": {"name": "gym:CartPole-v1"}, "steps": TICKS * EACH,
                  "learner": {"preset": "cartpole-ppo"}, "environments": 4, "episodes": 50, "evaluate_every": 5,
                  **more})  # fmt: skip
    assert isinstance(found, TrainConfig)
    return found


def training(project: Project, **row: Any) -> Job:
    """A row of a training; running unless ``row`` says otherwise."""
    plain = row.pop("config", config())
    return Job.objects.create(
        **{
            "project": project,
            "kind": "train",
            "template": "cartpole-ppo",
            "title": "An agent for CartPole",
            "config": plain.model_dump(mode="json"),
            "config_hash": study_hash(plain),
            "status": Status.RUNNING,
            "ticks": TICKS,
            "created_by": project.members.first(),
            "started_at": timezone.now(),
            **row,
        }
    )


def metrics(tick: int, rewards: tuple[str, ...] = ()) -> dict[str, float]:
    """What a round told: its return grows by ten a round, and every fifth has an evaluation."""
    mean = 10.0 * tick
    found = {"return": mean, "return_least": mean - 5, "return_most": mean + 5, "entropy": 0.7 - tick / 100,
             "staleness_mean": 1.0, "staleness_max": 1.0, "policy_loss": -0.01, "episodes": 12.0}  # fmt: skip
    found |= {f"return_{name}": mean / (i + 2) for i, name in enumerate(rewards)}
    if tick % 5 == 0:
        found |= {"evaluation_return": mean + 2, "evaluation_return_low": mean, "evaluation_return_high": mean + 4}
    return found


def learn(job: Job, tick: int, rewards: tuple[str, ...] = ()) -> None:
    """One more round, as the relay would record it."""
    policy = store().put(f"policy {tick}".encode())
    artifacts = {"policy": policy, "policy_description": store().put(b'{"format": 1}')}
    counters = {"steps": EACH * tick, "seconds": 2.0 * tick}
    told = metrics(tick, rewards)
    body = {"artifacts": artifacts, "counters": counters, "metrics": told}
    changes = {"tick": tick, "counters": counters, "metrics": told, "artifacts": artifacts}
    assert journal.append(job, {}, [Entry("progressed", body, tick)], **changes)


def trained(project: Project, ticks: int, rewards: tuple[str, ...] = (), **row: Any) -> Job:
    """A running training with some rounds in its history."""
    job = training(project, **row)
    for tick in range(1, ticks + 1):
        learn(job, tick, rewards)
    return Job.objects.get(pk=job.pk)


def two_sided(project: Project, ticks: int = 10) -> Job:
    """A finished training of both sides of Pong, the right one twice as good; the onnx of each is its name."""
    learns = {side: {"seats": [seat]} for seat, side in enumerate(("left", "right"))}
    plain = config(game={"name": "pong-two-seats"}, learner={"preset": "pong-ppo"}, policies=learns)
    job = training(project, config=plain, title="Pong, both sides learn", template="pong-ppo")
    for tick in range(1, ticks + 1):
        artifacts = {
            f"{role}/{side}": store().put(f"{role} {side} {tick}".encode())
            for side in learns
            for role in ("policy", "policy_description", "onnx")
        }
        told = {"staleness_mean": 1.0, "staleness_max": 1.0, "updates": float(tick)}
        for times, side in enumerate(learns, 1):
            told |= {f"{side}/{name}": times * value for name, value in metrics(tick).items()}
        counters = {"steps": EACH * tick, "seconds": 2.0 * tick}
        body = {"artifacts": artifacts, "counters": counters, "metrics": told}
        changes = {"tick": tick, "counters": counters, "metrics": told, "artifacts": artifacts}
        assert journal.append(job, {}, [Entry("progressed", body, tick)], **changes)
    Job.objects.filter(pk=job.pk).update(status=Status.FINISHED, finished_at=timezone.now(), ticks=ticks)
    return Job.objects.get(pk=job.pk)


def of_a_team(project: Project) -> Job:
    """A training of a team that has ended, whose members can be taken home one by one."""
    job = finished(project)
    Job.objects.filter(pk=job.pk).update(artifacts=job.artifacts | {"members": store().put(b"each by itself")})
    return Job.objects.get(pk=job.pk)


def finished(project: Project) -> Job:
    """A training that ended by its own rule, with its final evaluation and everything to take away."""
    job = trained(project, TICKS)
    artifacts = {**job.artifacts, "onnx": store().put(b"a graph")}
    summary = {"steps_per_second": 1250.0, "evaluation_return": 402.0, "sampling_seconds": 30.0}
    changes = {"status": Status.FINISHED, "artifacts": artifacts, "summary": summary, "finished_at": timezone.now()}
    body = {"artifacts": artifacts, "summary": summary, "counters": job.counters}
    assert journal.append(job, {}, [Entry("finished", body, TICKS)], **changes)
    return Job.objects.get(pk=job.pk)
