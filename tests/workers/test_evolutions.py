"""A search for training settings with the real engine, on the way that every job takes."""

from __future__ import annotations

from tests.factories import person
from tests.webapp.evolutions import config
from tests.workers.test_trainings import fresh
from webapp.projects.models import Project
from webapp.studies import actions
from webapp.studies.models import Job, Status
from workers import runner


def test_a_search_for_settings_runs_to_its_end_and_is_told_in_words_about_players(
    project: Project, redis_server: str
) -> None:
    user = person("trainer")
    project.members.add(user)
    job = actions.submit(project, user, config(), title="Settings for Pong")
    runner.run(job.pk)
    job = fresh(job)
    assert (job.status, job.tick, job.ticks, job.kind) == (Status.FINISHED, 3, 3, Job.Kind.EVOLVE)
    assert {"policy", "policy_description", "lineage", "fresh", "front"} <= job.artifacts.keys()
    assert job.counters["evaluations"] == 12
    said = " ".join(job.events.filter(kind="logged").values_list("body__message", flat=True))
    assert "players of the edge" in said
    assert "lineup" not in said
