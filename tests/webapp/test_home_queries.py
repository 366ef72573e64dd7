"""Home and lists of jobs ask the database as often for many jobs as for a few."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.factories import Studio, copies, search_job
from tests.webapp.test_explore_shortlist import finished_recheck
from webapp.studies import kinds
from webapp.studies.models import Job, Status

pytestmark = pytest.mark.django_db


def several(team: Studio, first: Job) -> None:
    """Of everything that Home lists one more: a search with a companion, its re-check, jobs that run and that wait."""
    search = Job.objects.get(pk=first.pk)
    search.pk = None
    search.save()
    finished_recheck(search, [12, 30], [2.6, 50.0, 28.0], [0.05, 1.0, 1.0])
    plain = {"project": team.project, "config": search.config, "title": "Which teams are unfair?"}
    for kind, status in (("search", Status.RUNNING), ("search", Status.PAUSED), ("search", Status.STOPPED)):
        Job.objects.create(**plain, kind=kind, status=status, tick=2, ticks=9, finished_at=search.finished_at)
    Job.objects.create(**plain, kind="worth", accompanies=search, status=Status.RUNNING)


@pytest.mark.parametrize("page", ["projects:home", "studies:jobs", "projects:detail"])
def test_many_jobs_take_no_more_queries_than_a_few(team: Studio, page: str) -> None:
    client = Client()
    client.force_login(team.designer)
    address = reverse(page, args=[] if page == "projects:home" else [team.project.slug])

    def asked() -> int:
        for search in Job.objects.filter(kind="search"):
            kinds.of(search).reckon(search)
        client.get(address)
        with CaptureQueriesContext(connection) as queries:
            assert client.get(address).status_code == 200
        return len(queries)

    first = search_job(team.project, rows=200)
    several(team, first)
    few = asked()
    for _ in range(4):
        several(team, first)
    assert asked() <= few + 1  # one more counts the jobs beyond those that are listed
    assert few <= 45


def test_more_jobs_are_under_way_than_one_query_can_name(team: Studio) -> None:
    """Each is a re-check of a search of its own, which came with another one."""
    first = copies(search_job(team.project, rows=40), [{}] * 1_100)
    second = copies(first[0], [{"accompanies_id": each.pk} for each in first])
    copies(first[0], [{"parent_id": each.pk, "kind": "recheck", "status": Status.QUEUED} for each in second])
    client = Client()
    client.force_login(team.designer)
    for address in (reverse("projects:home"), reverse("studies:jobs", args=[team.project.slug])):
        assert client.get(address).status_code == 200
