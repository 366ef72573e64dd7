"""What a job was warned of stands above what it found, not in its history alone."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.contracts.asked_kind import page
from tests.factories import Studio, search_job
from tests.webapp.hunted import hunted
from tests.webapp.styles_bred import bred
from tests.webapp.test_self_play import played
from webapp.studies import journal, warned
from webapp.studies.journal import Entry
from webapp.studies.models import Job, Status

pytestmark = pytest.mark.django_db

SHORT = "Nobody saw an episode end: each saw 16 decisions of one. So nobody learns how episodes end."
OLD, LOST = "An older loss.", "Worker 2 was lost: it went silent. Another one takes its place."


def incident(what: str, message: str) -> Entry:
    return Entry("incident", {"what": what, "message": message})


def above(page: str) -> str:
    """What stands before the first picture or table, and before the history."""
    return page.partition("What happened")[0].partition("<h2")[0]


@pytest.mark.parametrize("kind", ["self-play", "hunt", "style"])
def test_the_gravest_warning_stands_above_the_charts_while_the_job_runs_and_once_it_has_ended(
    team: Studio, designer: Client, kind: str
) -> None:
    job: Job = {"self-play": played, "hunt": hunted, "style": lambda team: bred(team.project, 2)}[kind](team)
    assert SHORT not in designer.get(page(job)).content.decode()
    told = [incident("short-trainings", SHORT), incident("lost-worker", OLD), incident("lost-worker", LOST)]
    journal.append(job, {}, told)
    for status, losses in ((Status.RUNNING, 1), (Status.FINISHED, 0)):
        Job.objects.filter(pk=job.pk).update(status=status)
        shown = above(designer.get(page(job)).content.decode())
        assert SHORT in shown
        assert shown.count(LOST) == losses
        assert OLD not in shown
        assert shown.count("This happened 2 times, last at") == losses
        assert not losses or shown.index(SHORT) < shown.index(LOST)


def test_a_search_says_above_what_it_found_what_it_was_warned_of_and_asks_for_more_itself(
    team: Studio, designer: Client
) -> None:
    job = search_job(team.project)
    Job.objects.filter(pk=job.pk).update(status=Status.RUNNING)
    journal.append(job, {}, [incident("lost-worker", LOST)])
    shown = above(designer.get(page(job)).content.decode())
    assert LOST in shown
    assert f'hx-get="{page(job)}" hx-trigger="warned" hx-select="#job-warned > *"' in shown


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ([incident("waiting-for-capacity", "Every processor is taken by other jobs.")], []),
        ([Entry("logged", {"message": "Measuring again, on fresh episodes."})], []),
        ([journal.note("One way."), journal.note("Another way.")], ["Another way.", "One way."]),
        ([incident("lost-experience", "300 decisions never arrived.")], []),
        ([incident(f"sort-{i}", f"Warning {i}.") for i in range(5)], ["Warning 4.", "Warning 3.", "Warning 2."]),
    ],
)
def test_a_job_is_said_to_be_warned_of_what_matters_and_of_a_few_things_at_once(
    team: Studio, told: list[Entry], said: list[str]
) -> None:
    job = hunted(team)
    journal.append(job, {}, told)
    assert [each.words for each in warned.of(Job.objects.get(pk=job.pk))] == said


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (["redis", "redis-restarted"], [("redis 0", 1)]),
        (["redis", "redis-well"], []),
        (["redis", "redis-well", "redis"], [("redis 2", 2)]),
    ],
)
def test_trouble_with_redis_is_a_warning_until_it_is_over_and_each_is_counted_once(
    team: Studio, told: list[str], said: list[tuple[str, int]]
) -> None:
    job = hunted(team)
    Job.objects.filter(pk=job.pk).update(status=Status.RUNNING)
    journal.append(job, {}, [incident(what, f"{what} {i}") for i, what in enumerate(told)])
    assert [(each.words, each.many) for each in warned.of(Job.objects.get(pk=job.pk))] == said
