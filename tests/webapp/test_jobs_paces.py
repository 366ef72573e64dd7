"""What earlier searches tell of how long the next one takes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.utils import timezone

from engine.config import GameConfig, PoolConfig, SearchConfig
from tests.factories import Studio, game_version, studio
from webapp.projects.models import Project
from webapp.studies import journal, paces, plans
from webapp.studies.journal import Entry
from webapp.studies.models import Job, Status

USUAL = 200 * 96
"""Battles of a round of the usual size."""
TINY = 50 * 96
WORKERS = 2

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Studio:
    made = studio()
    game_version(made.project)
    return made


def search(
    project: Project, rounds: int, battles: int, took: Callable[[int], float] | float, start: float = 6.0
) -> Job:
    """A finished search: each round of so many battles ``took`` so many seconds, after ``start`` seconds."""
    study = SearchConfig(
        name="Which?", game=GameConfig(simulator="builtin:herobattle"), pool=PoolConfig(workers=WORKERS)
    )
    job = Job.objects.create(
        project=project, kind=Job.Kind.SEARCH, config=study.model_dump(mode="json"), status=Status.RUNNING,
        game_version=project.versions.first(), ticks=rounds,
    )  # fmt: skip
    seconds = start
    for tick in range(1, rounds + 1):
        seconds += took(tick) if callable(took) else took
        counters = {"seconds": seconds, "battles": battles * tick, "cached": 0, "evaluations": tick}
        assert journal.append(job, {}, [Entry("progressed", {"counters": counters}, tick)], tick=tick)
    Job.objects.filter(pk=job.pk).update(status=Status.FINISHED, finished_at=timezone.now())
    return job


def sample(of: Job) -> Job:
    """The random lineups for the search that somebody composes next."""
    lineups = of.config["lineups"]
    return Job.objects.create(
        project=of.project, kind=Job.Kind.SAMPLE, config={"lineups": lineups}, game_version=of.game_version
    )


def usual_takes(of: Job) -> tuple[float, float]:
    """Shortest and longest time of a search of 100 rounds, by what is known."""
    found = plans.seconds(100 * USUAL, WORKERS, paces.known(sample(of)))
    assert found is not None
    return found


def test_the_start_of_the_workers_is_no_part_of_the_pace(team: Studio) -> None:
    job = search(team.project, 100, USUAL, 0.45, start=60.0)
    low, high = usual_takes(job)
    assert low < 6 + 45 < high < 1.4 * (6 + 45)


def test_two_tiny_searches_that_waited_for_a_processor_change_nothing(team: Studio) -> None:
    job = search(team.project, 100, USUAL, 0.45)
    before = usual_takes(job)
    for _ in range(2):
        search(team.project, 2, TINY, 5.0)
    assert usual_takes(job) == before
    for _ in range(2):
        search(team.project, 6, TINY, 5.0)
    assert usual_takes(job) == before


def test_tiny_searches_alone_are_nothing_to_go_by(team: Studio) -> None:
    job = search(team.project, 2, TINY, 5.0)
    assert paces.known(sample(job)).ends is None
    search(team.project, 6, TINY, 0.1)
    assert paces.known(sample(job)).ends is None, "half a second of playing"


def test_a_wait_in_the_middle_of_a_search_is_not_its_pace(team: Studio) -> None:
    job = search(team.project, 100, USUAL, lambda tick: 900.0 if tick == 50 else 0.45)
    assert usual_takes(job)[1] < 1.4 * (6 + 45)


def test_searches_at_different_paces_give_a_range_that_has_both(team: Studio) -> None:
    search(team.project, 50, USUAL, 0.4)
    job = search(team.project, 50, USUAL, 0.8)
    low, high = usual_takes(job)
    assert low < 6 + 40 < 6 + 80 < high


def test_searches_with_lineups_of_another_size_are_not_asked(team: Studio) -> None:
    job = search(team.project, 100, USUAL, 0.45)
    asked = sample(job)
    asked.config["lineups"] = job.config["lineups"] | {"teams": 1}
    asked.save()
    assert paces.known(asked).earlier is None
