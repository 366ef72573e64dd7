"""What earlier searches tell of how long the next one takes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from engine.config import GameConfig, LineupConfig, PoolConfig, SearchConfig
from tests.factories import Studio, game_version, studio
from webapp.projects.models import Project
from webapp.studies import journal, plans, throughput
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
        project=project, kind="search", config=study.model_dump(mode="json"), status=Status.RUNNING,
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
        project=of.project, kind="sample", config={"lineups": lineups}, game_version=of.game_version
    )


def usual_takes(of: Job) -> tuple[float, float]:
    """Shortest and longest time of a search of 100 rounds, by what is known."""
    found = throughput.seconds(100 * USUAL, WORKERS, throughput.known(sample(of)))
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
    assert throughput.known(sample(job)).ends is None
    search(team.project, 6, TINY, 0.1)
    assert throughput.known(sample(job)).ends is None, "half a second of playing"


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
    assert throughput.known(asked).earlier is None


def ended_after(job: Job, seconds: float) -> Job:
    """The job took so long in all."""
    Job.objects.filter(pk=job.pk).update(started_at=timezone.now() - timedelta(seconds=seconds), attempt=1)
    Job.objects.filter(pk=job.pk).update(finished_at=Job.objects.get(pk=job.pk).started_at + timedelta(seconds=seconds))
    job.refresh_from_db()
    return job


def again(job: Job, battles: int) -> tuple[float, float]:
    """Shortest and longest time of a search of so many battles and the edge, by what is known."""
    pace = throughput.known(sample(job))
    size = plans.Plan(int(job.config["algorithm"]["population"]), 1, 2)
    edge = plans.edge_battles(
        size, LineupConfig.model_validate(job.config["lineups"]), job.config["fresh"], plans.edge_of(job.template, 3)
    )
    found = throughput.seconds(battles + edge, WORKERS, pace)
    assert found is not None
    return found


def test_the_same_search_again_takes_as_long_as_the_last_its_start_and_its_end_included(team: Studio) -> None:
    job = ended_after(search(team.project, 100, USUAL, 0.45, start=16.0), 16 + 45 + 20)
    low, high = again(job, 100 * USUAL)
    assert 0.85 * 81 < low < 81 < high < 1.25 * 81
    assert throughput.known(sample(job)).runs == 1


def test_a_search_of_one_round_tells_how_long_another_takes_in_all(team: Studio) -> None:
    job = ended_after(search(team.project, 1, TINY, 1.0, start=12.0), 22.0)
    asked = sample(job)
    asked.events.create(sequence=1, kind="progressed", tick=1, at=timezone.now(),
                        body={"counters": {"battles": 100_000, "seconds": 2.0}})  # fmt: skip
    pace = throughput.known(asked)
    assert pace.sampled == 50_000
    size = plans.Plan(int(job.config["algorithm"]["population"]), 1, 2)
    edge = plans.edge_battles(
        size, LineupConfig.model_validate(job.config["lineups"]), job.config["fresh"], plans.edge_of(job.template, 3)
    )
    found = throughput.seconds(TINY + edge, WORKERS, pace)
    assert found is not None
    assert found[0] < 22 < found[1] < 30
    assert found[0] > 15, "it said 8 s"


def test_a_wait_in_the_middle_of_a_search_is_not_its_start(team: Studio) -> None:
    job = ended_after(search(team.project, 100, USUAL, lambda tick: 900.0 if tick == 50 else 0.45), 6 + 45 + 900 + 5)
    assert again(job, 100 * USUAL)[1] < 1.6 * (6 + 45 + 5)


def test_only_the_last_three_searches_say_what_is_spent_beside_battles(team: Studio) -> None:
    job = ended_after(search(team.project, 100, USUAL, 0.45), 500.0)
    for _ in range(3):
        ended_after(search(team.project, 100, USUAL, 0.45), 61.0)
    assert again(job, 100 * USUAL)[1] < 100
    assert throughput.known(sample(job)).runs == 3
