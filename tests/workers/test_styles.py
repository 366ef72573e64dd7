"""A search for styles of play from its page to its end, with the real engine: sample episodes are played first, and
killed and paused it ends as the undisturbed one."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from tests.factories import person, signed_in
from tests.webapp.bred import SHORT
from tests.workers.test_trainings import fresh, kill, once
from webapp.projects.models import Membership, Project, Role
from webapp.studies import actions, pending
from webapp.studies.models import Job, Status
from workers import runner

ROUNDS = 12
TYPED = {
    "game": "pong", "game.settings": SHORT, "scale": "busy-calm", "population": "4", "rounds": str(ROUNDS),
    "steps": "256", "episodes": "4", "fresh": "4", "learner.batch": "128", "learner.minibatch": "64",
    "learner.fragment": "2", "learner.network.policy": "8", "learner.network.critic": "8",
}  # fmt: skip
FOUND = ("archive", "front", "population", "agents", "policies")


def started(project: Project) -> Job:
    """The job of the page's Start, in this process: a test has no Ray of the site."""
    designer = person(f"designer-{project.jobs.count()}")
    Membership.objects.create(project=project, user=designer, role=Role.DESIGNER)
    answer: Any = signed_in(designer).post(reverse("styles:new", args=[project.slug]), TYPED)
    assert answer.status_code == 302, answer.content.decode()
    job = Job.objects.filter(kind="style").latest("pk")
    Job.objects.filter(pk=job.pk).update(config={**job.config, "pool": {**job.config["pool"], "kind": "local"}})
    return fresh(job)


def test_from_the_page_to_the_end_paused_and_killed_with_the_same_agents(project: Project, redis_server: str) -> None:
    calm = started(project)
    sample = calm.awaits
    assert sample is not None
    runner.run(sample.pk)
    assert "samples" in fresh(sample).artifacts
    pending.settle_all()
    calm = fresh(calm)
    assert (calm.status, calm.asked) == (Status.QUEUED, {})
    Job.objects.filter(pk=calm.pk).update(config={**calm.config, "pool": {**calm.config["pool"], "kind": "local"}})
    runner.run(calm.pk)
    calm = fresh(calm)
    assert (calm.status, calm.tick) == (Status.FINISHED, ROUNDS), calm.message
    assert set(FOUND) <= calm.artifacts.keys()

    job = started(project)
    assert job.awaits is None  # the episodes are played already
    job = once(job, 2, actions.pause)
    assert job.status == Status.PAUSED
    actions.resume(job)
    job = once(job, job.tick + 2, kill)
    assert (job.status, job.attempt) == (Status.QUEUED, 2)
    runner.run(job.pk)
    job = fresh(job)
    assert (job.status, job.attempt) == (Status.FINISHED, 3), job.message
    assert {role: job.artifacts[role] for role in FOUND} == {role: calm.artifacts[role] for role in FOUND}
